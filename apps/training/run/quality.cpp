#include "apps/training/run/quality.hpp"

#include <algorithm>
#include <cmath>

#include "apps/training/baselines/baselines.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/options/train_options.hpp"
#include "apps/training/run/calibration_fit.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/pretraining.hpp"
#include "datasets/load.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

bool is_small_enough(const LoadedData& data) {
  return static_cast<std::int64_t>(data.split.train.size()) <= kMaxBaselineRows;
}

/// Default of --baselines.
bool wants_baselines(const TrainOptions& o, const LoadedData& data) {
  return is_own_table(o) && o.training.quality != Quality::fast && is_small_enough(data);
}

/// Whether a user can expect a blend by default.
bool expects_blend(const TrainOptions& o, const LoadedData& data) {
  return is_own_table(o) && o.training.quality != Quality::fast && o.training.baselines != Switch::off &&
         o.model.recipe.empty() && !data.training.computed && data.set.computed_targets.empty();
}

/// Reason why there can be no blend; "" if there can be one.
std::string why_no_blend(const TrainOptions& o, const LoadedData& data) {
  const TrainingSettings& t = o.training;
  if (t.baselines == Switch::off) return "--no-baselines leaves out the models to blend with";
  if (!data.set.computed_targets.empty()) return "a blend requires measured targets";
  if (!has_validation(data)) return "there is no validation set to choose the shares on";
  const std::int64_t molecules = data.set.size(), targets = data.set.task.num_targets();
  const auto more_than = [](std::int64_t count, const char* what, std::int64_t limit) {
    return with_thousands(count) + what + " exceed the limit of " + with_thousands(limit);
  };
  if (molecules > kMaxBaselineMolecules) return more_than(molecules, " molecules", kMaxBaselineMolecules);
  const auto learned = static_cast<std::int64_t>(data.split.train.size());
  if (learned * targets > kMaxTreeCells && targets > kMaxTreeCells / kMinTreeRows)
    return with_thousands(targets) + " targets are too many";
  if (t.baselines == Switch::automatic && t.blend == Switch::automatic && !is_small_enough(data))
    return more_than(learned, " training molecules", kMaxBaselineRows) + " (--blend)";
  return {};
}

bool has_member_splits(const TrainOptions& o) {
  const TrainingSettings& t = o.training;
  if (t.member_splits != Switch::automatic) return t.member_splits == Switch::on;
  return t.quality == Quality::best && members_of(o) > 1 && is_own_table(o);
}

}  // namespace

std::int64_t members_of(const TrainOptions& o) {
  return o.training.ensemble_size.value_or(o.training.quality == Quality::best ? kBestMembers : 1);
}

bool is_own_table(const TrainOptions& options) { return named_dataset(options.data.paths).empty(); }

int member_splits_of(const TrainOptions& o) {
  if (!has_member_splits(o)) return 0;
  if (o.data.folds > 0)
    throw UsageError("--quality best and --member-splits divide one split and cannot be combined with --folds");
  if (members_of(o) < 2) throw UsageError("--member-splits would do nothing: there is no --ensemble-size");
  const SplitSizes& sizes = o.data.split_sizes;
  const double requested_splits = sizes[1] > 0 ? std::round((sizes[0] + sizes[1]) / sizes[1]) : 0;
  return static_cast<int>(
      std::clamp(requested_splits, static_cast<double>(members_of(o)), static_cast<double>(kMaxFolds)));
}

int inner_folds_of(const TrainOptions& o) {
  const TrainingSettings& t = o.training;
  if (t.out_of_fold != Switch::automatic) return t.out_of_fold == Switch::on ? kInnerFolds : 0;
  const DataSettings& d = o.data;
  // Users who specify the validation rows want to see how well these rows are predicted.
  const bool chosen = !d.splits_file.empty() || !d.splits_column.empty() || d.paths.size() == 3;
  const bool fits = is_own_table(o) && t.quality != Quality::fast && t.calibrate && o.model.recipe.empty() &&
                    !is_pretraining(o) && !chosen && d.calibration_size == 0 && d.folds == 0;
  return fits ? kInnerFolds : 0;
}

bool needs_out_of_fold(const LoadedData& data) {
  const std::vector<std::int64_t> known = known_molecules(data.split);
  if (data.split_name == "column") return false;  // split of a store
  if (std::ssize(known) > kMaxOutOfFoldRows) return false;
  const std::vector<double> all = targets_of(data.set, known), valid = targets_of(data.set, data.split.valid);
  const auto targets = static_cast<std::size_t>(data.set.task.num_targets());
  bool needed = false;
  std::int64_t labels = 0;
  for (std::size_t t = 0; t < targets; ++t) {
    const std::int64_t of_both = count_labels(all, t, targets);
    needed = needed || (count_labels(valid, t, targets) < kMinCalibrationLabels && of_both >= kMinCalibrationLabels);
    labels += of_both;
  }
  return needed && labels <= kMaxOutOfFoldLabels;
}

std::string why_out_of_fold_by_default(const TrainOptions& requested, const LoadedData& data) {
  if (requested.training.out_of_fold != Switch::automatic || data.inner.empty()) return {};
  return text(
      "The validation set has too few labels for calibration: %zu additional models are trained, each without one fold "
      "of the training and validation rows, which it then predicts (--no-out-of-fold turns this off)",
      data.inner.size());
}

void resolve_quality(TrainOptions& o, const LoadedData& data) {
  TrainingSettings& t = o.training;
  const std::string no_blend = why_no_blend(o, data);
  if (t.blend == Switch::on && t.baselines == Switch::automatic) t.baselines = Switch::on;
  if (t.blend == Switch::on && !no_blend.empty()) throw UsageError("--blend: " + no_blend);
  if (t.blend == Switch::automatic) t.blend = on_or_off(expects_blend(o, data) && no_blend.empty());
  if (t.baselines == Switch::automatic) t.baselines = on_or_off(wants_baselines(o, data));
  if (!data.set.computed_targets.empty()) t.baselines = Switch::off;
  t.member_splits = on_or_off(has_member_splits(o));
  t.ensemble_size = members_of(o);
  t.out_of_fold = on_or_off(!data.inner.empty());
}

std::string why_no_blend_by_default(const TrainOptions& requested, const LoadedData& data) {
  return requested.training.blend == Switch::automatic && expects_blend(requested, data) ? why_no_blend(requested, data)
                                                                                         : "";
}

}  // namespace molgraph
