// molgraph-bench: training and inference speed of the engine and the reference, interleaved, with the machine's peak.
#include <torch/torch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apps/programs/shell/option_values.hpp"
#include "attention/cpu/kernels/kernels.hpp"
#include "attention/engine.hpp"
#include "datasets/load.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/threads.hpp"
#include "tests/bench/gpu.hpp"
#include "tests/bench/machine.hpp"
#include "tests/bench/measured.hpp"
#include "tests/bench/models.hpp"
#include "tests/bench/peer.hpp"
#include "tests/bench/programs.hpp"
#include "tests/bench/stores.hpp"

namespace molgraph::bench {
namespace {

constexpr const char* kPrograms = "programs";

/// Prints "fp32 x1.57 train   x1.42 infer   bf16 x1.75 train ...", leaving out what was not measured.
void print_ratios(const std::string& title, double train, double infer, double train_bf16, double infer_bf16) {
  std::printf("    %s:", title.c_str());
  const auto show = [](const char* precision, double of_train, double of_infer) {
    if (of_infer > 0) std::printf(" %s", precision);
    if (of_train > 0) std::printf(" x%.2f train  ", of_train);
    if (of_infer > 0) std::printf(" x%.2f infer  ", of_infer);
  };
  show("fp32", train, infer);
  show("bf16", train_bf16, infer_bf16);
  std::printf("\n");
}

/// `first` is the first model that was measured.
void print(const Measured& m, const Measured& first, const Options& o, int threads) {
  const double train = m.rate(kTrain), infer = m.rate(kInfer), reference_train = m.rate(kReferenceTrain),
               reference_infer = m.rate(kReferenceInfer), infer_bf16 = m.rate(kInferBf16);
  std::printf("%-20s %8.0f %8.0f %8.0f %9.0f %8.0f %8.0f %6.1f%% %6.1f%%", m.model().name.c_str(), reference_train,
              train, m.rate(kTrainBf16), reference_infer, infer, infer_bf16, 100 * m.train_floor(),
              100 * m.infer_floor());
  if (reference_train > 0) std::printf("   x%.1f train", train / reference_train);
  if (reference_infer > 0) std::printf("   x%.1f infer", infer / reference_infer);
  std::printf("\n");
  if (o.only.size() > 1 && &m != &first) {
    const auto relative = [&](Timing timing) { return m.ratio(timing, first, timing); };
    print_ratios("time relative to " + first.model().name, relative(kTrain), relative(kInfer), relative(kTrainBf16),
                 relative(kInferBf16));
  }
  if (o.scaling)
    print_ratios(std::to_string(threads) + " threads over 1", m.ratio(kTrainAlone, m, kTrain),
                 m.ratio(kInferAlone, m, kInfer), m.ratio(kTrainBf16Alone, m, kTrainBf16),
                 m.ratio(kInferBf16Alone, m, kInferBf16));
  std::array<double, 2> best{};
  const auto peers = m.peers();
  for (const auto& [variant, of] : peers) {
    std::printf("    PyTorch %-24s %8.0f %26.0f\n", variant.c_str(), of[0], of[1]);
    for (std::size_t k = 0; k < 2; ++k) best[k] = std::max(best[k], of[k]);
  }
  if (!peers.empty()) {
    std::printf("    the engine beside the best of PyTorch: x%.1f train   x%.1f infer", train / best[0],
                infer / best[1]);
    if (infer_bf16 > 0)
      std::printf("   bf16 x%.1f train   x%.1f infer", m.rate(kTrainBf16) / best[0], infer_bf16 / best[1]);
    std::printf("\n");
  }
  std::fflush(stdout);
}

nlohmann::json to_json(const Measured& m, bool scaling) {
  nlohmann::json json{{"reference_train", m.rate(kReferenceTrain)},
                      {"train", m.rate(kTrain)},
                      {"train_bf16", m.rate(kTrainBf16)},
                      {"train_floor", m.train_floor()},
                      {"reference_infer", m.rate(kReferenceInfer)},
                      {"infer", m.rate(kInfer)},
                      {"infer_bf16", m.rate(kInferBf16)},
                      {"infer_floor", m.infer_floor()},
                      {"peers", m.peers()}};
  if (scaling)
    json["threads_over_one"] = {{"train", m.ratio(kTrainAlone, m, kTrain)},
                                {"train_bf16", m.ratio(kTrainBf16Alone, m, kTrainBf16)},
                                {"infer", m.ratio(kInferAlone, m, kInfer)},
                                {"infer_bf16", m.ratio(kInferBf16Alone, m, kInferBf16)}};
  return json;
}

nlohmann::json print(const std::vector<Figure>& figures) {
  nlohmann::json json;
  for (const Figure& figure : figures) {
    std::printf("%-46s %10.1f %s\n", figure.name.c_str(), figure.value, figure.unit.c_str());
    json[figure.name] = {{"value", figure.value}, {"unit", figure.unit}};
  }
  return json;
}

/// The models that are measured together: those of --only in its order, else one after the other to save memory.
std::vector<std::vector<Case>> groups_of(const Options& o) {
  std::vector<std::vector<Case>> groups;
  if (o.only.empty()) {
    for (const Case& c : cases()) groups.push_back({c});
    return groups;
  }
  groups.emplace_back();
  for (const std::string& name : o.only)
    for (const Case& c : cases())
      if (c.name == name) groups[0].push_back(c);
  return groups;
}

void run(const Options& o) {
  // Writes the figures so far. It is called after each round, because later ones may fail or be stopped.
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
      if (c.pair_state == 0 && o.is_chosen(c.name)) chosen.push_back(c);
    if (chosen.empty()) throw std::runtime_error("--only " + o.only.front() + " cannot be measured on a GPU");
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
      "%-20s %8s %8s %8s %9s %8s %8s %7s %7s   molecules/s; share of the fp32 floor; fp32's ratio to the reference\n",
      "training:", "ref", "fp32", "bf16", "infer:ref", "fp32", "bf16", "train", "infer");
  for (const std::vector<Case>& group : groups_of(o)) {
    std::vector<std::unique_ptr<Measured>> models;
    for (const Case& c : group) models.push_back(std::make_unique<Measured>(c, loaded, machine, o));
    for (int round = -1; round < o.rounds; ++round) {
      for (const auto& model : models) model->measure(round);
      if (round < 0) continue;
      for (const auto& model : models) report["cases"][model->model().name] = to_json(*model, o.scaling);
      write(report);
    }
    for (const auto& model : models) print(*model, *models.front(), o, threads);
  }
  if (o.time_programs && o.is_chosen(kPrograms)) {
    report["programs"] = print(measure_programs(loaded, o.data, o.programs, threads, o.rounds));
  }
  write(report);
}

void add_options(CLI::App& app, Options& o) {
  std::vector<std::string> parts{kPrograms}, names;
  for (const Case& c : cases()) parts.push_back(c.name);
  for (const cpu::Kernels* kernels : cpu::all_kernels()) names.emplace_back(kernels->name);
  app.add_option("--data", o.data, "data set name, table or store")->capture_default_str();
  choose(app.add_option("--only", o.only, "measure only these parts, and compare the models with the first one"),
         parts);
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
  app.add_flag("--scaling", o.scaling, "also measure the engine on one thread, and print the ratio");
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
  app.add_option("--json", o.json_file, "write the figures to this file, after each round");
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
