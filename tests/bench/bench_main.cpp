// molgraph-bench: training and inference speed of the engine and the reference, interleaved, with the machine's peak.
#include <torch/torch.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "apps/programs/shell/option_values.hpp"
#include "attention/cpu/kernels/kernels.hpp"
#include "attention/engine.hpp"
#include "datasets/archives/safetensors.hpp"
#include "datasets/load.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/threads.hpp"
#include "tests/bench/gpu.hpp"
#include "tests/bench/machine.hpp"
#include "tests/bench/models.hpp"
#include "tests/bench/peer.hpp"
#include "tests/bench/programs.hpp"
#include "tests/bench/stores.hpp"

namespace molgraph::bench {
namespace {

constexpr const char* kPrograms = "programs";

/// The median of `x`, or the smallest value if `best`.
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
    views.push_back({std::to_string(k) + ".paths.weight",
                     DType::f32,
                     {static_cast<std::int64_t>(weights[k].size())},
                     weights[k].data()});
  write_safetensors(path, {}, views);
}

struct Options {
  std::string data = "zinc", only, programs, json_file, batches_file, instruction_set, store, precision, peer_python;
  int rounds = 7, threads = 0, batch_size = 256, gpu = -1, compile_seconds = 300;
  double dropout = 0.1;
  bool reference = true, training = true, time_programs = true, best = false, peer = false;
};

/// Molecules per second, 0 = not measured; and the fp32 engine's share of the floor.
struct Rates {
  double reference_train = 0, train = 0, train_bf16 = 0, reference_infer = 0, infer = 0, infer_bf16 = 0;
  std::map<std::string, std::array<double, 2>> peers = {};  ///< training and inference, by variant
  double train_floor = 0, infer_floor = 0;
};

std::size_t batch_size_of(const Case& c, const Options& o) {
  return static_cast<std::size_t>(c.width > 128 ? std::max(1, o.batch_size / 4) : o.batch_size);
}

std::vector<TrainBatch> batches_of(const Case& c, const LoadedData& loaded, const Options& o) {
  const PackOptions pack = make_model(c, loaded.set.featurizer.features, o.dropout)->pack_options();
  const std::size_t size = batch_size_of(c, o);
  const std::span<const std::int64_t> train(loaded.split.train);
  std::vector<TrainBatch> batches;
  for (std::size_t first = 0; first + size <= train.size() && batches.size() < 4; first += size)
    batches.push_back(make_batch(loaded.set, train.subspan(first, size), pack));
  if (batches.empty())
    throw std::runtime_error(o.data + " has " + std::to_string(train.size()) + " training molecules, a batch has " +
                             std::to_string(size));
  return batches;
}

/// Starts the PyTorch model of the same size. Null if it is not requested or does not exist.
std::unique_ptr<Peer> start_peer(const Case& c, const std::vector<TrainBatch>& batches, const Options& o, int threads) {
  if (!o.peer || !has_peer(c)) return nullptr;
  const std::string file =
      (std::filesystem::temp_directory_path() / ("molgraph-bench-" + std::to_string(::getpid()) + ".safetensors"))
          .string();
  write_batches(file, batches);
  auto peer = std::make_unique<Peer>(c, PeerOptions{o.peer_python, file, threads, o.compile_seconds, o.dropout});
  std::filesystem::remove(file);  // the peer has read it
  return peer;
}

Rates measure(const Case& c, const LoadedData& loaded, const Machine& machine, const Options& o) {
  const std::vector<TrainBatch> batches = batches_of(c, loaded, o);
  const Features features = loaded.set.featurizer.features;
  const bool bf16 = why_unusable({}, Precision::bf16).empty();
  Runner reference(c, features, o.dropout, false, machine.threads),
      engine(c, features, o.dropout, true, machine.threads);
  Runner rounded(c, features, o.dropout, true, machine.threads, bf16 ? Precision::bf16 : Precision::fp32);
  const std::unique_ptr<Peer> pytorch = start_peer(c, batches, o, machine.threads);
  std::array<std::vector<double>, 6> times;
  std::map<std::string, std::array<std::vector<double>, 2>> peer_times;
  for (int round = -1; round < o.rounds; ++round) {  // the first is a warm-up
    const TrainBatch& batch = batches[static_cast<std::size_t>(round + 1) % batches.size()];
    const std::array<double, 6> one{o.reference && o.training ? reference.train(batch) : 0,
                                    o.training ? engine.train(batch) : 0,
                                    o.training && bf16 ? rounded.train(batch) : 0,
                                    o.reference ? reference.predict(batch) : 0,
                                    engine.predict(batch),
                                    bf16 ? rounded.predict(batch) : 0};
    for (std::size_t k = 0; k < one.size() && round >= 0; ++k) times[k].push_back(one[k]);
    if (pytorch)
      for (const auto& [variant, seconds] : pytorch->round(round + 1))
        for (std::size_t k = 0; k < 2 && round >= 0; ++k) peer_times[variant][k].push_back(seconds[k]);
  }
  const auto rate_of = [&](const std::vector<double>& all) {
    const double seconds = typical(all, o.best);
    return seconds > 0 ? static_cast<double>(batch_size_of(c, o)) / seconds : 0.0;
  };
  const auto rate = [&](std::size_t k) { return rate_of(times[k]); };
  const double flops =
      forward_flops(c, batches[0].graph) / (1e9 * (c.width > 128 ? machine.wide_gemm_gflops : machine.gemm_gflops));
  Rates rates{rate(0), rate(1), rate(2), rate(3), rate(4), rate(5)};
  rates.train_floor = rate(1) * 3 * flops, rates.infer_floor = rate(4) * flops;
  for (const auto& [variant, of] : peer_times) rates.peers[variant] = {rate_of(of[0]), rate_of(of[1])};
  return rates;
}

void print(const Case& c, const Rates& r) {
  std::printf("%-18s %8.0f %8.0f %8.0f %9.0f %8.0f %8.0f %6.1f%% %6.1f%%", c.name.c_str(), r.reference_train, r.train,
              r.train_bf16, r.reference_infer, r.infer, r.infer_bf16, 100 * r.train_floor, 100 * r.infer_floor);
  if (r.reference_train > 0) std::printf("   x%.1f train", r.train / r.reference_train);
  if (r.reference_infer > 0) std::printf("   x%.1f infer", r.infer / r.reference_infer);
  std::printf("\n");
  std::array<double, 2> best{};
  for (const auto& [variant, of] : r.peers) {
    std::printf("    PyTorch %-22s %8.0f %26.0f\n", variant.c_str(), of[0], of[1]);
    for (std::size_t k = 0; k < 2; ++k) best[k] = std::max(best[k], of[k]);
  }
  if (!r.peers.empty()) {
    std::printf("    the engine beside the best of PyTorch: x%.1f train   x%.1f infer", r.train / best[0],
                r.infer / best[1]);
    if (r.infer_bf16 > 0)
      std::printf("   bf16 x%.1f train   x%.1f infer", r.train_bf16 / best[0], r.infer_bf16 / best[1]);
    std::printf("\n");
  }
  std::fflush(stdout);
}

nlohmann::json to_json(const Rates& r) {
  return {{"reference_train", r.reference_train},
          {"train", r.train},
          {"train_bf16", r.train_bf16},
          {"train_floor", r.train_floor},
          {"reference_infer", r.reference_infer},
          {"infer", r.infer},
          {"infer_bf16", r.infer_bf16},
          {"infer_floor", r.infer_floor},
          {"peers", r.peers}};
}

nlohmann::json print(const std::vector<Figure>& figures) {
  nlohmann::json json;
  for (const Figure& figure : figures) {
    std::printf("%-46s %10.1f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
    json[figure.name] = {{"value", figure.value}, {"unit", figure.unit}};
  }
  return json;
}

void run(const Options& o) {
  // Writes the figures so far. It is called after each case, because later cases may fail or be stopped.
  const auto write = [&](const nlohmann::json& report) {
    if (!o.json_file.empty()) write_file_atomically(o.json_file, report.dump(2) + "\n");
  };
  if (!o.store.empty()) return write(print(measure_store(o.store, thread_count(o.threads), o.batch_size)));
  for (const cpu::Kernels* kernels : cpu::all_kernels())
    if (kernels->name == o.instruction_set) cpu::choose_kernels(*kernels);
  const int threads = thread_count(o.threads);
  torch::set_num_threads(threads);
  LoadOptions load;
  load.paths = {o.data};
  load.limit = 16 * o.batch_size;  // at least eight batches of them are in the training set
  load.threads = threads;
  const LoadedData loaded = load_data(load, {});
  if (!o.batches_file.empty()) return write_batches(o.batches_file, batches_of(cases().front(), loaded, o));

  if (o.gpu >= 0) {
    std::vector<Case> chosen;
    for (const Case& c : cases())
      if (c.pair_state == 0 && (o.only.empty() || c.name == o.only)) chosen.push_back(c);
    if (chosen.empty()) throw std::runtime_error("--only " + o.only + " cannot be measured on a GPU");
    const std::vector<std::int64_t>& train = loaded.split.train;
    const GpuOptions options{o.gpu, o.batch_size, o.dropout, o.rounds, o.precision};
    return measure_gpu(options, chosen, loaded.set,
                       {train.begin(), train.begin() + std::min<std::ptrdiff_t>(8 * o.batch_size, std::ssize(train))},
                       write);
  }
  if (o.peer && loaded.set.featurizer.features != Features::zinc)
    throw std::runtime_error("--peer: the PyTorch models read ZINC's features, and " + o.data + " has others");
  const Machine machine = measure_machine(threads);
  std::printf("%s, %s, %d threads: product 80 wide %.0f GFLOP/s, 768 wide %.0f GFLOP/s, copy %.1f GB/s\n",
              machine.processor.c_str(), machine.instruction_set.c_str(), threads, machine.gemm_gflops,
              machine.wide_gemm_gflops, machine.copy_gbps);
  if (machine.bf16_gflops > 0)
    std::printf("bfloat16 products: 80 wide %.0f GFLOP/s, 768 wide %.0f GFLOP/s\n", machine.bf16_gflops,
                machine.wide_bf16_gflops);
  const UsedPrecision used = used_precision({}, Precision::bf16);
  std::printf("--precision bf16 computes in %s\n",
              (to_string(used) + (used.note.empty() ? "" : ": " + used.note)).c_str());
  nlohmann::json report{{"processor", machine.processor},
                        {"instruction_set", machine.instruction_set},
                        {"bf16", to_string(used)},
                        {"threads", threads},
                        {"gemm_gflops", machine.gemm_gflops},
                        {"wide_gemm_gflops", machine.wide_gemm_gflops},
                        {"bf16_gflops", machine.bf16_gflops},
                        {"wide_bf16_gflops", machine.wide_bf16_gflops},
                        {"copy_gbps", machine.copy_gbps},
                        {"batch_size", o.batch_size},
                        {"dropout", o.dropout},
                        {"torch", TORCH_VERSION}};
  std::printf(
      "%-18s %8s %8s %8s %9s %8s %8s %7s %7s   molecules/s; share of the fp32 floor; fp32's ratio to the reference\n",
      "training:", "ref", "fp32", "bf16", "infer:ref", "fp32", "bf16", "train", "infer");
  for (const Case& c : cases()) {
    if (!o.only.empty() && c.name != o.only) continue;
    const Rates rates = measure(c, loaded, machine, o);
    print(c, rates);
    report["cases"][c.name] = to_json(rates);
    write(report);
  }
  if (o.time_programs && (o.only.empty() || o.only == kPrograms)) {
    report["programs"] = print(measure_programs(loaded, o.data, o.programs, threads, o.rounds));
  }
  write(report);
}

void add_options(CLI::App& app, Options& o) {
  std::vector<std::string> parts{kPrograms}, names;
  for (const Case& c : cases()) parts.push_back(c.name);
  for (const cpu::Kernels* kernels : cpu::all_kernels()) names.emplace_back(kernels->name);
  app.add_option("--data", o.data, "data set name, table or store")->capture_default_str();
  choose(app.add_option("--only", o.only, "measure only this part"), parts);
  limit(app.add_option("--rounds", o.rounds, "repetitions"), WholeRange{1, 10'000})->capture_default_str();
  limit(app.add_option("--threads", o.threads, "CPU threads; 0 = all"), WholeRange{0, 1024});
  limit(app.add_option("--batch-size", o.batch_size, "molecules; the wide models take a quarter"),
        WholeRange{1, 100'000})
      ->capture_default_str();
  limit(app.add_option("--dropout", o.dropout, "dropout in training"), RealRange{0, 0.9})->capture_default_str();
  app.add_flag("!--no-reference", o.reference, "do not measure the reference");
  app.add_flag("!--no-train", o.training, "measure inference only");
  app.add_flag("!--no-programs", o.time_programs,
               "measure only the models, not the steps before them and whole programs");
  app.add_option("--programs", o.programs, "folder of molgraph-score and molgraph-train")->capture_default_str();
  app.add_flag("--best", o.best, "the fastest round instead of the median: for tuning on a noisy machine");
  choose(
      app.add_option("--instruction-set", o.instruction_set, "instruction set of the kernels instead of the best one"),
      names);
  app.add_flag("--peer", o.peer,
               "also measure PyTorch models of the same size (ZINC's features), alternating with the engine");
  app.add_option("--peer-python", o.peer_python,
                 "with --peer: a Python with PyTorch; by default one is installed into peer/ next to the folder of the "
                 "programs")
      ->needs("--peer");
  limit(app.add_option("--compile-seconds", o.compile_seconds,
                       "with --peer: skip torch.compile if it takes longer; 0 = always skip it"),
        WholeRange{0, 36'000})
      ->needs("--peer");
  app.add_option("--write-batches", o.batches_file, "write batches for peer.py and stop");
  app.add_option("--store", o.store, "measure only how fast this store is read");
  limit(app.add_option("--gpu", o.gpu, "measure only the models on this GPU"), WholeRange{0, 999});
  choose(app.add_option("--precision", o.precision, "with --gpu: measure only this precision"),
         {"fp32", "tf32", "bf16"})
      ->needs("--gpu");
  app.add_option("--json", o.json_file, "write the figures to this file, after each case");
}

}  // namespace
}  // namespace molgraph::bench

int main(int argc, char** argv) {
  molgraph::bench::Options options;
  options.programs =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().string();  // argv[0] may be found through PATH
  CLI::App app{"Measures the speed of the engine and the reference"};
  molgraph::bench::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  try {
    if (options.peer && options.peer_python.empty())
      options.peer_python = molgraph::bench::peer_python(
          std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().string() + "/peer");
    molgraph::bench::run(options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "molgraph-bench: %s\n", error.what());
    return 1;
  }
}
