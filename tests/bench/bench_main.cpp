// molgraph-bench: training and inference of the engine beside the reference, interleaved, with the machine's peak.
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "datasets/load.hpp"
#include "datasets/safetensors.hpp"
#include "datasets/threads.hpp"
#include "graphormer/attention/cpu/gemm_bf16.hpp"
#include "tests/bench/machine.hpp"
#include "tests/bench/models.hpp"
#include "tests/bench/programs.hpp"

namespace molgraph::bench {
namespace {

/// The median, or the fastest.
double typical(std::vector<double> x, bool best) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : x[best ? 0 : x.size() / 2];
}

/// The packed batches for peer.py, as safetensors.
void write_batches(const std::string& path, const std::vector<TrainBatch>& batches) {
  std::vector<std::vector<std::int32_t>> keep;
  std::vector<TensorView> views;
  const auto add = [&](const std::string& name, const auto& values) {
    keep.emplace_back(values.begin(), values.end());
    views.push_back({name, DType::i32, {static_cast<std::int64_t>(values.size())}, nullptr});
  };
  std::vector<std::vector<float>> weights;
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const GraphBatch& b = batches[k].graph;
    const std::string prefix = std::to_string(k) + ".";
    add(prefix + "token_offset", b.token_offset);
    add(prefix + "atoms", b.atoms);
    add(prefix + "degree", b.degree);
    add(prefix + "topology", b.topology);
    add(prefix + "edge", b.edge);
    add(prefix + "paths.pair", b.paths.pair);
    add(prefix + "paths.level_pairs", b.paths.level_pairs);
    add(prefix + "paths.target", b.paths.target);
    add(prefix + "paths.source", b.paths.source);
    add(prefix + "paths.bond", b.paths.bond);
    add(prefix + "paths.level_steps", b.paths.level_steps);
    weights.emplace_back(b.paths.weight.begin(), b.paths.weight.end());
  }
  for (std::size_t i = 0; i < views.size(); ++i) views[i].data = keep[i].data();
  for (std::size_t k = 0; k < weights.size(); ++k)
    views.push_back({std::to_string(k) + ".paths.weight", DType::f32, {static_cast<std::int64_t>(weights[k].size())}, weights[k].data()});
  write_safetensors(path, {}, views);
}

int run(int argc, char** argv) {
  std::string data = "zinc", only, programs = std::filesystem::path(argv[0]).parent_path().string(), json_file, batches_file, instruction_set;
  int rounds = 7, threads = 0, batch_size = 256;
  double dropout = 0.1;
  bool reference = true, training = true, whole = true, best = false;
  CLI::App app{"Measures the engine beside the reference"};
  app.add_option("--data", data, "data set name, table or store")->capture_default_str();
  app.add_option("--only", only, "the case with this name, or 'programs'");
  app.add_option("--rounds", rounds, "repetitions")->capture_default_str();
  app.add_option("--threads", threads, "CPU threads; 0 = all");
  app.add_option("--batch-size", batch_size)->capture_default_str();
  app.add_option("--dropout", dropout, "in training")->capture_default_str();
  app.add_flag("!--no-reference", reference, "leave the reference out");
  app.add_flag("!--no-train", training, "inference only");
  app.add_flag("!--no-programs", whole, "the models alone, not what stands before them and whole programs");
  app.add_option("--programs", programs, "folder of molgraph-score and molgraph-train")->capture_default_str();
  app.add_flag("--best", best, "the fastest round instead of the median: for tuning on a noisy machine");
  std::vector<std::string> names;
  for (const cpu::Kernels* kernels : cpu::all_kernels()) names.emplace_back(kernels->name);
  app.add_option("--instruction-set", instruction_set, "of the kernels, instead of the best one")->check(CLI::IsMember(names));
  app.add_option("--write-batches", batches_file, "write the batches of the first case for peer.py and stop");
  app.add_option("--json", json_file, "write the figures to this file");
  CLI11_PARSE(app, argc, argv);
  for (const cpu::Kernels* kernels : cpu::all_kernels())
    if (kernels->name == instruction_set) cpu::choose_kernels(*kernels);
  threads = thread_count(threads);
  torch::set_num_threads(threads);

  const Machine machine = measure_machine(threads);
  std::printf("%s, %s, %d threads: product 80 wide %.0f GFLOP/s, 768 wide %.0f GFLOP/s, copy %.1f GB/s\n", machine.processor.c_str(),
              machine.instruction_set.c_str(), threads, machine.gemm_gflops, machine.wide_gemm_gflops, machine.copy_gbps);
  nlohmann::json report{{"processor", machine.processor}, {"instruction_set", machine.instruction_set}, {"threads", threads},
                        {"gemm_gflops", machine.gemm_gflops}, {"wide_gemm_gflops", machine.wide_gemm_gflops},
                        {"copy_gbps", machine.copy_gbps}, {"batch_size", batch_size}, {"dropout", dropout},
                        {"precision", "fp32"}, {"torch", TORCH_VERSION}};
  LoadOptions load;
  load.paths = {data};
  load.limit = 8 * batch_size;
  load.threads = threads;
  const LoadedData loaded = load_data(load, {});
  std::printf("%-18s %8s %8s %8s %8s %8s %8s %7s %7s   molecules/s; share of the fp32 floor; ratio to the reference\n", "training:",
              "ref", "fp32", "bf16", "infer:ref", "fp32", "bf16", "train", "infer");
  for (const Case& c : cases()) {
    if (!only.empty() ? c.name != only : false) continue;
    const auto of_case = static_cast<std::size_t>(c.width > 128 ? batch_size / 4 : batch_size);
    std::vector<TrainBatch> batches;
    const std::unique_ptr<GraphModel> shape = make_model(c, loaded.set.featurizer.features, dropout);
    for (std::size_t first = 0; first + of_case <= loaded.split.train.size() && batches.size() < 4; first += of_case)
      batches.push_back(make_batch(loaded.set, std::span(loaded.split.train).subspan(first, of_case), shape->pack_options()));
    if (!batches_file.empty()) {
      write_batches(batches_file, batches);
      return 0;
    }
    Runner engine(c, loaded.set.featurizer.features, dropout, true, threads), peer(c, loaded.set.featurizer.features, dropout, false, threads);
    Runner rounded(c, loaded.set.featurizer.features, dropout, true, threads,
                   cpu::has_bf16() ? cpu::Precision::bf16 : cpu::Precision::fp32);
    std::array<std::vector<double>, 6> times;
    for (int round = -1; round < rounds; ++round) {   // the first warms up
      const TrainBatch& batch = batches[static_cast<std::size_t>(round + 1) % batches.size()];
      const std::array<double, 6> one{reference && training ? peer.train(batch) : 0, training ? engine.train(batch) : 0,
                                      training && cpu::has_bf16() ? rounded.train(batch) : 0, reference ? peer.predict(batch) : 0,
                                      engine.predict(batch), cpu::has_bf16() ? rounded.predict(batch) : 0};
      for (std::size_t k = 0; k < one.size() && round >= 0; ++k) times[k].push_back(one[k]);
    }
    std::array<double, 6> rates{};
    for (std::size_t k = 0; k < rates.size(); ++k) {
      const double seconds = typical(times[k], best);
      rates[k] = seconds > 0 ? static_cast<double>(of_case) / seconds : 0;
    }
    const double peak = 1e9 * (c.width > 128 ? machine.wide_gemm_gflops : machine.gemm_gflops);
    const double flops = forward_flops(c, batches[0].graph);
    const double train_floor = rates[1] * 3 * flops / peak, infer_floor = rates[4] * flops / peak;
    std::printf("%-18s %8.0f %8.0f %8.0f %9.0f %8.0f %8.0f %6.1f%% %6.1f%%   x%.1f train, x%.1f infer\n", c.name.c_str(), rates[0], rates[1],
                rates[2], rates[3], rates[4], rates[5], 100 * train_floor, 100 * infer_floor, rates[0] > 0 ? rates[1] / rates[0] : 0.0,
                rates[3] > 0 ? rates[4] / rates[3] : 0.0);
    std::fflush(stdout);
    report["cases"][c.name] = {{"reference_train", rates[0]}, {"train", rates[1]}, {"train_bf16", rates[2]},
                               {"reference_infer", rates[3]}, {"infer", rates[4]}, {"infer_bf16", rates[5]},
                               {"floor_train", train_floor}, {"floor_infer", infer_floor}};
  }
  if (whole && (only.empty() || only == "programs")) {
    for (const Figure& figure : measure_programs(loaded, data, programs, threads, rounds)) {
      std::printf("%-46s %10.1f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
      report["programs"][figure.name] = {{"value", figure.value}, {"unit", figure.unit}};
    }
  }
  if (!json_file.empty()) std::ofstream(json_file) << report.dump(2) << "\n";
  return 0;
}

}  // namespace
}  // namespace molgraph::bench

int main(int argc, char** argv) {
  try {
    return molgraph::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "molgraph-bench: %s\n", error.what());
    return 1;
  }
}
