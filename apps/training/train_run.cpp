#include "apps/training/train_run.hpp"

#include <ATen/Context.h>

#include <chrono>
#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/compute.hpp"
#include "apps/training/model_size.hpp"
#include "apps/training/run_directory.hpp"
#include "apps/training/run_inputs.hpp"
#include "apps/training/run_options.hpp"
#include "apps/training/train_model.hpp"
#include "apps/training/train_report.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

void write_config(const RunDirectory& directory, const TrainOptions& options) {
  write_file_atomically(directory.config(), std::string(kConfigHeading) + "\n" + to_toml(options));
}

/// A finished run that is resumed keeps its record.
void record_run(const TrainRun& run, const std::string& folder, const RunRecord& record) {
  if (run.resume) {
    const std::optional<RunRecord> before = read_run_record(folder);
    if (before && !before->finished.empty()) return;
  }
  write_run_record(folder, record);
}

/// How many models a folder will hold, known to it before the first is trained.
void announce_members(const TrainRun& run, const std::string& folder, std::int64_t members) {
  if (members > 1) record_run(run, folder, {.members = members, .program = run.program});
}

/// What is known at the end of training.
RunRecord record_of(const TrainRun& run, const LoadedData& data, const TrainOptions& options, std::int64_t members,
                    std::chrono::steady_clock::time_point begin) {
  const MoleculeSet& set = data.set;
  RunRecord record{.members = members > 1 ? members : 0, .finished = now_utc(), .program = run.program,
                   .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), .data = options.data,
                   .source = set.source.name, .sha256 = set.source.sha256, .rdkit = set.source.rdkit_version, .molecules = set.size(),
                   .rejected = static_cast<std::int64_t>(set.rejected.size()), .split = data.split_name, .metric = options.metric,
                   .baseline = baseline_of(data, options.metric)};
  for (std::size_t p = 0; p < record.parts.size(); ++p) record.parts[p] = static_cast<std::int64_t>(parts_of(data.split)[p]->size());
  return record;
}

void tell_results(const TrainRun& run, const std::string& folder, const Report& report, const std::string& remark = {}) {
  write_file_atomically(RunDirectory{folder}.results(), report.csv);
  run.control.report(report.text + "Run directory: " + folder + remark + "\n");
}

/// Trains on one split, a model or an ensemble, and reports. Returns the metric of the three parts.
std::array<double, 3> train_split(const TrainRun& run, const TrainOptions& options, const ModelConfig& config,
                                  const LoadedData& data, const std::optional<StartingPoint>& start,
                                  const std::string& folder) {
  const RunDirectory directory{folder};
  const bool first = run.processes->first();
  const auto begin = std::chrono::steady_clock::now();
  if (first) {
    fs::create_directories(folder);
    announce_members(run, folder, options.ensemble_size);
    write_splits(directory.splits(), data.set, data.split);
  }
  const std::int64_t members = options.ensemble_size;
  AllPredictions mean;
  for (std::int64_t m = 0; m < members; ++m) {
    TrainOptions own = options;
    own.seed += static_cast<std::uint64_t>(m);
    own.ensemble_size = 1;
    const std::string member = members == 1 ? folder : folder + "/model_" + std::to_string(m);
    if (members > 1) run.control.note("Model " + std::to_string(m + 1) + " of " + std::to_string(members));
    mean.add_share(train_model(run, own, config, data, start, member), 1.0 / static_cast<double>(members));
  }
  if (!first) return {};
  if (!data.split.test.empty()) write_predictions(directory.test_predictions(), data.set, data.split.test, mean.parts[2], mean.output_scale);
  write_submissions(folder, data, mean, run.control);
  const Report report = report_results(data, options, mean.parts);
  tell_results(run, folder, report);
  record_run(run, folder, record_of(run, data, options, members, begin));
  return report.reached;
}

/// One model per split, each in a folder of its own.
void train_folds(const TrainRun& run, const TrainOptions& options, const ModelConfig& config, LoadedData& data,
                 const std::optional<StartingPoint>& start) {
  if (options.ensemble_size > 1) throw UsageError("--ensemble-size beside several splits: each of them trains one model");
  TrainOptions own = options;
  own.steps = 0;   // folds differ in length by a molecule or a group: all get the same number of epochs
  if (own.warmup_epochs > 0) own.warmup_steps = -1;
  std::vector<std::array<double, 3>> reached;
  const auto begin = std::chrono::steady_clock::now();
  const auto folds = static_cast<std::int64_t>(data.folds.size());
  std::array<double, 3> baseline{};
  if (run.processes->first()) announce_members(run, run.folder, folds);
  for (std::size_t k = 0; k < data.folds.size(); ++k) {
    run.control.note(text("Fold %zu of %zu", k + 1, data.folds.size()));
    data.split = data.folds[k];
    if (k > 0) run.control.warn_of(part_warnings(data.set, data.split));   // the first one's stand with the data's
    reached.push_back(train_split(run, own, config, data, start, run.folder + "/model_" + std::to_string(k)));
    const std::array<double, 3> own_baseline = baseline_of(data, options.metric);
    for (std::size_t p = 0; p < 3; ++p) baseline[p] += own_baseline[p] / static_cast<double>(folds);
  }
  if (!run.processes->first()) return;
  tell_results(run, run.folder, report_folds(options.metric, reached), " (molgraph-score -m takes it as an ensemble)");
  RunRecord record = record_of(run, data, options, folds, begin);
  record.parts = {};   // they are the folds' own
  record.baseline = baseline;
  record_run(run, run.folder, record);
}

}  // namespace

void run_training(const TrainRun& run) {
  // Threads write gradients in a fixed order, so that equal runs give equal files.
  at::globalContext().setDeterministicAlgorithms(true, true);
  torch::set_num_threads(thread_count(run.threads));
  check_compute(run);
  TrainOptions options = run.options;
  const std::optional<StartingPoint> start = starting_point(options);
  const RunDirectory directory{run.folder};
  const bool first = run.processes->first();
  if (start && options.features.empty()) options.features = to_string(start->config.featurizer.features);
  LoadedData data = load_run_data(run, options, start);
  const ModelConfig* const from = start ? &start->config : nullptr;
  const ModelConfig config = resolve_model(options, data.set, from, run.named);
  check_training_flags(options, run.named, data, from);
  check_model_fits(model_plan(config), {options.freeze.empty(), options.ema > 0, options.backend == "cpu" && !run.gpu});
  const std::int64_t batch_size = resolve_training(options, data, run.folder).batch_size;
  if (batch_size < run.processes->count()) {
    throw UsageError(text("--batch-size %lld cannot be divided among %d processes", static_cast<long long>(batch_size), run.processes->count()));
  }
  if (first) {
    write_config(directory, options);
    write_rejected(directory.rejected(), data.set);
  }
  if (data.folds.empty()) {
    train_split(run, options, config, data, start, run.folder);
  } else {
    train_folds(run, options, config, data, start);
  }
}

}  // namespace molgraph
