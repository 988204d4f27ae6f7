#include "apps/training/run/run_plan.hpp"

#include <algorithm>

#include "apps/training/loop/checkpoint.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/run_domain.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr double kLongRun = 24 * 3600.0;  ///< seconds
/// Cost of a prediction relative to a forward and backward pass of the same molecules.
constexpr double kPredictionShare = 1.0 / 3;
/// Seconds at the end of an epoch, for a checkpoint and a line of metrics.csv.
constexpr double kEpochSeconds = 0.01;
/// Work below this fraction of the total is not listed.
constexpr double kMinShare = 0.02;

std::int64_t updates_of(std::size_t molecules, std::int64_t batch_size) {
  return (static_cast<std::int64_t>(molecules) + batch_size - 1) / batch_size;
}

std::string counted(std::int64_t count, const std::string& what) {
  return with_thousands(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

RunPlan::RunPlan(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                 const BaselineSeconds& baselines)
    : run_(run), resolved_(resolved), baselines_(baselines),
      updates_per_epoch_(updates_of(data.split.train.size(), resolved.trainer.batch_size)) {
  if (data.folds.empty()) {
    add_split(data, data.split, run.folder);
    add_domain(std::ssize(data.split.train) + std::ssize(data.split.valid));
    return;
  }
  for (std::size_t k = 0; k < data.folds.size(); ++k)
    add_split(data, data.folds[k], run.folder + "/model_" + std::to_string(k));
  add_domain(data.set.size());
}

void RunPlan::add_split(const LoadedData& data, const Split& split, const std::string& folder) {
  const std::int64_t members = *resolved_.options.training.ensemble_size;
  const std::vector<Split> member_splits = splits_of_members(data, split, members);
  for (std::int64_t m = 0; m < members; ++m) {
    const Split& member_split = member_splits.empty() ? split : member_splits[static_cast<std::size_t>(m)];
    const std::string member_folder = members == 1 ? folder : folder + "/model_" + std::to_string(m);
    const bool whole_epochs = !member_splits.empty() || !data.folds.empty();
    add_training(member_split, member_folder, whole_epochs);
    if (resolved_.options.training.refit) {
      Split all = member_split;
      all.train.insert(all.train.end(), all.valid.begin(), all.valid.end());
      all.valid.clear();
      add_training(all, RunDirectory{member_folder}.refit(), whole_epochs);
    }
    add_predictions(member_split);
  }
  for (std::size_t k = 0; k < data.inner.size(); ++k) {
    add_training(data.inner[k], RunDirectory{folder}.inner(k), true);
    add_predictions(data.inner[k]);
  }
  add_baselines(std::max<std::size_t>({member_splits.size(), data.inner.size(), 1}));
}

void RunPlan::add_training(const Split& split, const std::string& folder, bool whole_epochs) {
  const TrainerOptions& t = resolved_.trainer;
  const std::int64_t updates_per_epoch = updates_of(split.train.size(), t.batch_size);
  const std::int64_t all =
      whole_epochs ? t.epochs * updates_per_epoch : t.total_steps * updates_per_epoch / updates_per_epoch_;
  Work work{.what = kTrainingWork, .steps = all};
  if (run_.resume && run_.processes->first())
    if (const auto state = state_of_checkpoint(RunDirectory{folder}.last()))
      work.steps = state->finished ? 0 : std::max<std::int64_t>(0, all - state->step);
  const double left = all > 0 ? static_cast<double>(work.steps) / static_cast<double>(all) : 0;
  const double predicted =
      static_cast<double>(split.valid.size()) / static_cast<double>(t.batch_size * t.flag.passes());
  const auto epochs = static_cast<double>(t.epochs);
  work.updates = left * (static_cast<double>(all) + epochs * kPredictionShare * predicted);
  work.seconds = left * epochs * kEpochSeconds;
  all_work_.push_back(std::move(work));
}

void RunPlan::add_predictions(const Split& split) {
  if (!run_.processes->first()) return;
  const TrainerOptions& t = resolved_.trainer;
  const std::size_t molecules = split.train.size() + split.valid.size() + split.test.size() + split.calibration.size();
  all_work_.push_back({.what = kPredictingWork,
                       .updates = kPredictionShare * static_cast<double>(molecules) /
                                  static_cast<double>(t.batch_size * t.flag.passes())});
}

void RunPlan::add_baselines(std::size_t splits) {
  const auto add = [&](const char* what, double seconds) {
    if (seconds > 0) all_work_.push_back({.what = what, .seconds = seconds});
  };
  for (std::size_t k = 0; k < splits; ++k) {
    add(kNearestWork, baselines_.nearest);
    add(kProcessWork, baselines_.process);
    add(kTreesWork, baselines_.trees);
  }
  if (resolved_.options.training.blend != Switch::on) return;
  add(kTreesWork, baselines_.trees);
  add(kProcessWork, baselines_.process_refit);
}

void RunPlan::add_domain(std::int64_t molecules) {
  if (!stores_domain(run_, molecules)) return;
  all_work_.push_back({.what = kDomainWork,
                       .updates = kPredictionShare * static_cast<double>(molecules) /
                                  static_cast<double>(resolved_.trainer.batch_size)});
}

void RunPlan::log(double step_seconds) {
  logged_ = true;
  std::vector<PlannedWork> planned;
  double trainings = 0;
  for (const Work& work : all_work_) {
    planned.push_back({work.what, work.seconds + work.updates * step_seconds});
    if (work.what == kTrainingWork) trainings += planned.back().seconds;
  }
  run_.control.note(estimate(planned, step_seconds));
  const TrainerOptions& t = resolved_.trainer;
  if (t.epoch_parts > 1)
    run_.control.note(
        text("An epoch is 1/%lld of a pass over the training set", static_cast<long long>(t.epoch_parts)));
  if (trainings > kLongRun && !run_.resume)
    run_.control.warn("Training takes more than a day on this machine; --steps N sets a shorter schedule");
  run_.control.plan(planned);
}

std::string RunPlan::estimate(const std::vector<PlannedWork>& planned, double step_seconds) const {
  const auto seconds_of = [&](const char* what) {
    double seconds = 0;
    for (const PlannedWork& work : planned)
      if (what == nullptr || work.what == what) seconds += work.seconds;
    return seconds;
  };
  const double total = seconds_of(nullptr);
  const TrainerOptions& t = resolved_.trainer;
  std::int64_t trainings = 0, steps = 0;
  for (const Work& work : all_work_)
    if (work.steps > 0) ++trainings, steps += work.steps;
  std::vector<std::string> parts;
  if (trainings > 0)
    parts.push_back((trainings == 1 ? "training " : std::to_string(trainings) + " trainings ") +
                    duration_text(seconds_of(kTrainingWork)) + " (" +
                    (run_.resume ? "" : counted(t.epochs, "epoch") + (trainings == 1 ? ", " : " each, ")) +
                    counted(steps, "step") + (trainings == 1 ? "" : " in total") + " of " +
                    sensible_number(step_seconds) + " s)");
  for (const auto& [what, name] : {std::pair(kPredictingWork, "predictions"),
                                   {kNearestWork, "nearest neighbours"},
                                   {kProcessWork, "Gaussian process"},
                                   {kTreesWork, "trees"},
                                   {kDomainWork, "applicability domain"}})
    if (const double seconds = seconds_of(what); seconds > kMinShare * total)
      parts.push_back(name + (" " + duration_text(seconds)));
  return (run_.resume ? "The rest of the run takes about " : "The run takes about ") + duration_text(total) +
         " on this machine" + (t.patience > 0 && trainings > 0 ? ", less with early stopping" : "") +
         (parts.empty() ? "" : ": " + list_of(parts));
}

}  // namespace molgraph
