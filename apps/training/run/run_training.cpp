#include "apps/training/run/run_training.hpp"

#include <ATen/Context.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/scoring/run_files.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/model_size.hpp"
#include "apps/training/run/compute.hpp"
#include "apps/training/run/label_check.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/quality.hpp"
#include "apps/training/run/run_baselines.hpp"
#include "apps/training/run/run_calibration.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/run_domain.hpp"
#include "apps/training/run/run_inputs.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/run_plan.hpp"
#include "apps/training/run/run_report.hpp"
#include "apps/training/run/shipped_weights.hpp"
#include "apps/training/run/train_model.hpp"
#include "apps/training/run/train_report.hpp"
#include "apps/training/run/warm_start.hpp"
#include "attention/engine.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/label_limits.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

/// Writes run.json. If a finished run is resumed, its record is kept unless blend, calibration or explanation changed;
/// only the checksums are updated.
void record_run(const TrainRun& run, const std::string& folder, RunRecord record) {
  record.checksums = checksums_of(folder);
  if (run.resume) {
    std::optional<RunRecord> before = read_run_record(folder);
    if (before && !before->finished.empty() && before->blend == record.blend &&
        before->calibrated == record.calibrated && before->explained == record.explained) {
      if (std::exchange(before->checksums, record.checksums) != record.checksums) write_run_record(folder, *before);
      return;
    }
  }
  write_run_record(folder, record);
}

/// Removes files of partners that the run does not have, for example from an earlier attempt.
void remove_other_partners(const std::string& folder, const std::vector<std::string>& partners) {
  const RunDirectory directory{folder};
  for (const auto& [file, partner] :
       {std::pair(directory.trees(), kTreesPartner), {directory.process(), kProcessPartner}})
    if (std::ranges::find(partners, partner) == partners.end()) fs::remove(file);
}

/// Records the number of models in run.json before the first one is trained.
void announce_members(const TrainRun& run, const std::string& folder, std::int64_t members) {
  if (members == 1) return;
  const std::optional<RunRecord> before = run.resume ? read_run_record(folder) : std::nullopt;
  if (!before || before->members != members) write_run_record(folder, {.members = members, .program = run.program});
}

/// Text for the weights that a run started from.
std::string start_text(const TrainRun& run, const std::optional<StartingPoint>& start) {
  if (!start) return {};
  const std::string& from = run.options.model.from;
  return is_path(from) ? from : from + ": " + fs::path(start->file).filename().string();
}

/// Record at the end of training.
RunRecord record_of(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                    std::int64_t members, const std::optional<StartingPoint>& start,
                    std::chrono::steady_clock::time_point begin) {
  const MoleculeSet& set = data.set;
  RunRecord record{.members = members > 1 ? members : 0,
                   .finished = now_utc(),
                   .program = run.program,
                   .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                   .data = run.options.data.paths,
                   .source = set.source.name,
                   .sha256 = set.source.sha256,
                   .rdkit = set.source.rdkit_version,
                   .molecules = set.size(),
                   .rejected = static_cast<std::int64_t>(set.rejected.size()),
                   .split = data.split_name,
                   .metric = std::string(to_string(resolved.trainer.metric)),
                   .baseline = baseline_of(data, split, resolved.options),
                   .start = start_text(run, start),
                   .auxiliary_targets = data.auxiliary.task.names,
                   .precision = to_string(precision_of(run))};
  if (is_pretraining(resolved.options)) record.target_descriptors = "rdkit";
  for (std::size_t p = 0; p < record.parts.size(); ++p)
    record.parts[p] = static_cast<std::int64_t>(parts_of(split)[p]->size());
  return record;
}

void write_results(const TrainRun& run, const std::string& folder, const Report& report,
                   const std::string& suffix = {}) {
  write_file_atomically(RunDirectory{folder}.results(), report.csv);
  run.control.report(report.text + "Run directory: " + folder + suffix + "\n");
}

/// Labels of a split for training and for choosing the best epoch: clipped with --clip-labels.
class LearnedLabels {
 public:
  LearnedLabels(const ResolvedRun& resolved, LoadedData& data, const Split& split)
      : set_(data.set), known_(known_molecules(split)),
        limits_(resolved.options.training.clip_labels ? label_limits(set_, known_) : std::vector<LabelLimits>{}) {}
  /// Clips the labels during the lifetime of the result.
  ClippedLabels clip() { return {set_, limits_, known_}; }

 private:
  MoleculeSet& set_;
  std::vector<std::int64_t> known_;
  std::vector<LabelLimits> limits_;
};

/// Trains a model on each inner fold, in folder/inner_0, ... for --resume. Returns the out-of-fold predictions in the
/// first process. All processes call it.
PartPredictions predict_out_of_fold(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                                    const std::optional<StartingPoint>& start, const std::string& folder,
                                    RunPlan& plan) {
  std::vector<PartPredictions> models;
  for (std::size_t k = 0; k < data.inner.size(); ++k) {
    run.control.note(text("Inner fold %zu of %zu", k + 1, data.inner.size()));
    const Split& fold = data.inner[k];
    ResolvedRun one = for_fold(resolved, data, fold);
    one.options.training.refit = false;
    models.push_back(
        train_model(run, for_member(one, data, fold, 0), data, fold, start, RunDirectory{folder}.inner(k), plan).parts);
  }
  if (!run.processes->first()) return {};
  return pooled(models, data.inner, union_of(data.inner));
}

struct SplitResult {
  Report report;
  PredictedRows test;                 ///< uncalibrated
  std::vector<std::int64_t> learned;  ///< molecules
};

/// Trains a model or an ensemble on `base_split` and writes the results. The labels of `data` are clipped meanwhile.
SplitResult train_split(const TrainRun& run, const ResolvedRun& resolved, LoadedData& data, const Split& base_split,
                        const std::optional<StartingPoint>& start, const std::string& folder, RunBaselines& baselines,
                        RunPlan& plan, const std::vector<SuspiciousLabel>& suspicious) {
  const RunDirectory directory{folder};
  const bool first = run.processes->first();
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t members = *resolved.options.training.ensemble_size;
  const std::vector<Split> member_splits = splits_of_members(data, base_split, members);
  if (const std::string weights = resolved.trainer.weights.text(data.set.task);
      !weights.empty() && data.set.sparse.targets == 0 && data.auxiliary.empty())  // otherwise another note gives them
    run.control.note("Weight of a label in the loss (for a row of weight 1): " + weights);
  if (first) {
    fs::create_directories(folder);
    announce_members(run, folder, members);
    if (!run.resume || !directory.keeps(directory.splits())) write_splits(directory.splits(), data.set, base_split);
  }
  std::vector<AllPredictions> models;
  LearnedLabels labels(resolved, data, base_split);
  for (std::int64_t m = 0; m < members; ++m) {
    const ClippedLabels clipped = labels.clip();
    const std::string member_folder = members == 1 ? folder : folder + "/model_" + std::to_string(m);
    if (members > 1) run.control.note("Member " + std::to_string(m + 1) + " of " + std::to_string(members));
    const Split& member_split = member_splits.empty() ? base_split : member_splits[static_cast<std::size_t>(m)];
    if (!member_splits.empty() && first) {
      fs::create_directories(member_folder);
      if (const RunDirectory own{member_folder}; !run.resume || !own.keeps(own.splits()))
        write_splits(own.splits(), data.set, member_split);
    }
    const ResolvedRun member = member_splits.empty() ? resolved : for_fold(resolved, data, member_split);
    models.push_back(
        train_model(run, for_member(member, data, member_split, m), data, member_split, start, member_folder, plan));
  }
  PartPredictions out_of_fold;
  if (!data.inner.empty()) {
    const ClippedLabels clipped = labels.clip();
    out_of_fold = predict_out_of_fold(run, resolved, data, start, folder, plan);
  }
  if (!first) return {};
  Difficulty difficulty = ensemble_difficulty(models, member_splits.empty() && data.inner.empty());
  std::vector<MethodResults> members_alone =
      results_of_members(run, resolved, data, base_split, models, member_splits.empty());
  std::vector<PartPredictions> parts;
  if (!member_splits.empty())
    for (AllPredictions& model : models) parts.push_back(std::exchange(model.parts, {}));
  AllPredictions mean;
  for (const AllPredictions& model : models) mean.add_share(model, 1.0 / static_cast<double>(members));
  Split split = base_split;  // pooled over the members or inner folds
  if (!member_splits.empty()) {
    split = union_of(member_splits);
    mean.parts = pooled(parts, member_splits, split);
    run.control.note(
        "Row train: predictions of the members for their own training molecules. Row valid: predictions of the members "
        "for molecules that they were not trained on");
  }
  if (!data.inner.empty()) {
    mean.parts[1] = std::move(out_of_fold[1]);
    split.valid = union_of(data.inner).valid;
    run.control.note(
        text("Row valid: out-of-fold predictions of the inner folds' models for %zu training and validation rows",
             split.valid.size()));
  }
  const std::vector<ComparedMethod> compared =
      baselines.of_split(data, split, member_splits.empty() ? data.inner : member_splits, mean, folder);
  RunCalibration calibration;
  if (members == 1) difficulty = baselines.difficulty();
  else scale_by_shares(data.set.task, baselines.model_shares(), difficulty);
  if (resolved.options.training.calibrate && data.set.computed_targets.empty()) {
    const ClippedLabels clipped = labels.clip();
    calibration = RunCalibration::of_split(data, split, mean, difficulty, members,
                                           !member_splits.empty() || (!data.inner.empty() && members > 1));
  }
  if (data.folds.empty())  // otherwise the notes of the whole run follow
    for (const std::string& note : calibration.notes()) run.control.note(note);
  for (const auto& [path, part] : {std::pair(directory.valid_predictions(), 1), {directory.test_predictions(), 2}})
    if (const auto& rows = *parts_of(split)[part]; !rows.empty() && data.set.computed_targets.empty())
      write_predictions(path, data.set, rows, mean.parts[part], mean.output_scale,
                        part == 2 ? calibration.test_intervals() : std::nullopt);
  write_submissions(folder, data, split, mean, run.control);
  Report report = report_results(data, split, resolved.options, mean.parts, compared);
  calibration.add_results(report);
  write_results(run, folder, report);
  if (!report.warning.empty() && data.folds.empty()) run.control.warn(report.warning);
  const std::vector<std::int64_t> learned =
      learned_molecules(data, split, resolved.options.training.refit || baselines.trained_on_valid());
  if (data.folds.empty()) write_run_domain(run, folder, data.set, learned);
  remove_other_partners(folder, baselines.partners());
  RunRecord record = record_of(run, resolved, data, split, members, start, begin);
  record.baselines = report.baselines;
  record.calibrated = calibration.write(folder);
  record.explained = data.set.computed_targets.empty();
  record.blend = baselines.partners();
  record.refit = resolved.options.training.refit;
  record.measured_labels = measured_labels(data.set, report.valid);
  record.suspicious_labels = suspicious;
  record_run(run, folder, record);
  report_split(run, resolved, data, split, {mean, compared, difficulty, std::move(members_alone), report.recipe},
               folder);
  for (std::size_t k = 0; k < data.inner.size(); ++k) fs::remove_all(directory.inner(k));
  return {std::move(report), calibration.test(), learned};
}

/// Warnings of part_warnings() for the folds after the first, each text once, without the data's own warnings, which
/// are about the first fold.
std::vector<std::string> warnings_of_folds(const LoadedData& data) {
  std::vector<std::pair<std::string, std::string>> all;  // warning and its folds
  for (std::size_t k = 1; k < data.folds.size(); ++k)
    for (const std::string& warning : part_warnings(data.set, data.folds[k])) {
      if (std::ranges::find(data.warnings, warning) != data.warnings.end()) continue;
      auto found = std::ranges::find(all, warning, [](const auto& one) { return one.first; });
      if (found == all.end()) found = all.insert(found, {warning, "fold "});
      else found->second += ", ";
      found->second += std::to_string(k);
    }
  std::vector<std::string> lines;
  for (const auto& [warning, folds] : all) lines.push_back(folds + ": " + warning);
  return lines;
}

/// Trains one model per split, each in its own folder.
void train_folds(const TrainRun& run, const ResolvedRun& resolved, LoadedData& data,
                 const std::optional<StartingPoint>& start, RunBaselines& baselines, RunPlan& plan,
                 const std::vector<SuspiciousLabel>& suspicious) {
  if (*resolved.options.training.ensemble_size > 1)
    throw UsageError("--ensemble-size cannot be combined with several splits: each split trains one model");
  const Metric metric = resolved.trainer.metric;
  std::vector<Report> reports;
  std::vector<PredictedRows> tests;
  std::set<std::int64_t> learned;                    // in any fold
  std::optional<std::vector<std::string>> partners;  // of all folds; empty if they differ
  const auto begin = std::chrono::steady_clock::now();
  const auto folds = static_cast<std::int64_t>(data.folds.size());
  std::array<double, 3> baseline{};
  if (run.processes->first()) announce_members(run, run.folder, folds);
  run.control.warn_of(warnings_of_folds(data));
  for (std::size_t k = 0; k < data.folds.size(); ++k) {
    run.control.note(text("Fold %zu (%zu of %zu)", k, k + 1, data.folds.size()));
    const Split& split = data.folds[k];
    SplitResult fold = train_split(run, for_fold(resolved, data, split), data, split, start,
                                   run.folder + "/model_" + std::to_string(k), baselines, plan, suspicious);
    reports.push_back(std::move(fold.report));
    fold.test.difficulty.clear();  // CV+ uses absolute errors
    tests.push_back(std::move(fold.test));
    learned.insert(fold.learned.begin(), fold.learned.end());
    if (partners.value_or(baselines.partners()) != baselines.partners()) partners.emplace();
    else partners = baselines.partners();
    const std::array<double, 3> fold_baseline = baseline_of(data, split, resolved.options);
    for (std::size_t p = 0; p < 3; ++p) baseline[p] += fold_baseline[p] / static_cast<double>(folds);
  }
  if (!run.processes->first()) return;
  const Report report = report_folds(metric, reports);
  write_results(run, run.folder, report, " (molgraph-score -m uses it as an ensemble)");
  if (!report.warning.empty()) run.control.warn(report.warning);
  remove_other_partners(run.folder, {});
  write_run_domain(run, run.folder, data.set, {learned.begin(), learned.end()});
  RunRecord record = record_of(run, resolved, data, data.split, folds, start, begin);
  RunCalibration calibration;
  if (resolved.options.training.calibrate) calibration = RunCalibration::of_folds(data.set.task, data.folds, tests);
  for (const std::string& note : calibration.notes()) run.control.note(note);
  record.calibrated = calibration.write(run.folder);
  record.explained = data.set.computed_targets.empty();
  record.parts = {};  // see the records of the folds
  record.baseline = baseline;
  record.baselines = report.baselines;
  record.blend = partners.value_or(std::vector<std::string>{});
  record.refit = resolved.options.training.refit;
  record.suspicious_labels = suspicious;
  record_run(run, run.folder, record);
  report_folds_page(run, resolved, run.folder);
}

/// Throws UsageError if this machine or this number of processes cannot train the model.
void check_feasible(const TrainRun& run, const ResolvedRun& resolved) {
  const TrainOptions& o = resolved.options;
  check_model_fits(model_plan(resolved.model), {o.model.frozen == Frozen::nothing, o.training.ema > 0,
                                                o.training.backend == TrainingBackend::engine && !run.device.is_gpu()});
  const std::int64_t batch_size = resolved.trainer.batch_size;
  if (batch_size < run.processes->count()) {
    throw UsageError(text("--batch-size %lld cannot be divided among %d processes", static_cast<long long>(batch_size),
                          run.processes->count()));
  }
}

/// Passes the engines' notes to this run's control during its lifetime.
class EngineNotes {
 public:
  explicit EngineNotes(const RunControl& control) { tell_notes(control.warn); }
  ~EngineNotes() { tell_notes({}); }
  EngineNotes(const EngineNotes&) = delete;
  EngineNotes& operator=(const EngineNotes&) = delete;
};

}  // namespace

void run_training(const TrainRun& requested) {
  TrainRun run = requested;
  const EngineNotes notes(run.control);
  // Threads write gradients in a fixed order, so that identical runs give identical files.
  at::globalContext().setDeterministicAlgorithms(true, true);
  torch::set_num_threads(thread_count(run.threads));
  check_compute(run);
  std::optional<StartingPoint> start = starting_point(run.options);
  check_device(run.device, start ? start->config.encoder() : EncoderOptions{.pair_state = run.options.model.pair_state},
               start ? "--device cuda" : "--device cuda without --pair-state 0");
  LoadedData data = load_run_data(run, start);
  if (run.options.model.from.empty()) {
    run.options.model.from = automatic_start(run.options, data);
    start = starting_point(run.options);
  }
  if (start && !is_path(run.options.model.from)) {
    run.control.note(
        "Training starts from the pre-trained weights included in molgraph (--from none: from scratch). They were "
        "trained on labels of public assays, so results on public tables may be too good: pretrained/README.md");
  } else if (start) {
    run.control.warn_of(leak_warnings(run.options.model.from, start->config.task, data, run.threads));
  }
  const ResolvedRun resolved = resolve(run.options, data, start ? &start->config : nullptr, run.named);
  check_feasible(run, resolved);
  if (const std::string warning = check_calibration_size(data); !warning.empty()) run.control.warn(warning);
  if (const RunDirectory directory{run.folder}; run.processes->first()) {
    const auto kept = [&](const std::string& path) { return run.resume && directory.keeps(path); };
    if (!kept(directory.config()))
      write_file_atomically(directory.config(), std::string(kConfigHeading) + "\n" + to_toml(resolved.options));
    if (!kept(directory.rejected())) write_rejected(directory.rejected(), data.set);
    if (!kept(directory.duplicates()))
      write_duplicates(directory.duplicates(), data.repeated, is_pretraining(run.options) ? Task{} : data.set.task);
  }
  if (const std::string why = why_no_blend_by_default(run.options, data); !why.empty())
    run.control.note("No blend with trees and a Gaussian process: " + why);
  if (const std::string why = why_out_of_fold_by_default(run.options, data); !why.empty()) run.control.note(why);
  std::vector<SuspiciousLabel> suspicious;
  if (run.processes->first()) {
    const TrainOptions& o = run.options;
    suspicious = suspicious_labels(data, o.data.duplicates.value_or(Duplicates::mean), o.training.seed, run.threads);
    run.control.warn_of(suspicious_text(suspicious, o.training.clip_labels));
  }
  RunBaselines baselines(run, resolved);
  RunPlan plan(run, resolved, data, baselines.prepare(data));
  if (data.folds.empty()) {
    train_split(run, resolved, data, data.split, start, run.folder, baselines, plan, suspicious);
  } else {
    train_folds(run, resolved, data, start, baselines, plan, suspicious);
  }
}

}  // namespace molgraph
