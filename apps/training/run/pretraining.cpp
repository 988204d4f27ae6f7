#include "apps/training/run/pretraining.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/log_targets.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr SplitSizes kCorpusSplitSizes{0.99, 0.01, 0};
constexpr std::int64_t kCorpusBatchSize = 256;
constexpr std::size_t kConstantShown = 10;

/// Keeps the columns `kept` of `inputs` [G, D], in place, and clips them. Non-finite numbers become missing values.
/// Returns the number of clipped values.
std::int64_t keep_columns(std::vector<float>& inputs, std::size_t columns, const std::vector<std::size_t>& kept,
                          const InputScaling& scaling) {
  std::vector<float> low(kept.size()), high(kept.size());
  for (std::size_t t = 0; t < kept.size(); ++t) {
    low[t] = static_cast<float>(scaling.center[t] - scaling.clip * scaling.scale[t]);
    high[t] = static_cast<float>(scaling.center[t] + scaling.clip * scaling.scale[t]);
  }
  std::int64_t clipped = 0;
  std::size_t to = 0;
  for (std::size_t row = 0; row < inputs.size(); row += columns)
    for (std::size_t t = 0; t < kept.size(); ++t) {
      const float value = inputs[row + kept[t]], inside = std::clamp(value, low[t], high[t]);
      const bool finite = std::isfinite(value);
      clipped += finite && inside != value;
      inputs[to++] = finite ? inside : std::numeric_limits<float>::quiet_NaN();
    }
  inputs.resize(to);
  return clipped;
}

}  // namespace

bool is_pretraining(const TrainOptions& options) { return options.data.target_descriptors != DescriptorSet::none; }

TrainOptions pretraining_defaults() {
  TrainOptions o;
  o.data.target_descriptors = DescriptorSet::rdkit;
  o.data.split = SplitKind::random;
  o.data.split_sizes = kCorpusSplitSizes;
  // Each molecule is seen only a few times and the targets have no noise, so the model does not memorise them.
  o.model.dropout = o.model.attention_dropout = 0;
  TrainingSettings& t = o.training;
  t.lr = kPretrainingRate;
  t.loss = Loss::mse;
  t.metric = Metric::loss;
  t.batch_size = kCorpusBatchSize;
  t.patience = 0;
  t.baselines = t.blend = Switch::off;
  return o;
}

std::int64_t steps_for(std::int64_t molecules_seen, std::int64_t batch_size) {
  return std::max<std::int64_t>(1, molecules_seen / batch_size);
}

std::int64_t default_steps(std::int64_t molecules, std::int64_t batch_size) {
  return std::min(steps_for(kMoleculesSeen, batch_size), kMaxPasses * ((molecules + batch_size - 1) / batch_size));
}

void choose_corpus_split(const DataSettings& data, LoadOptions& load) {
  if (!gives_split(data)) {
    load.split_sizes_of = [requested = data.split_sizes](std::int64_t molecules) {
      return corpus_split_sizes(requested, molecules);
    };
    return;
  }
  if (load.split == SplitKind::random) load.split = load.splits_file.empty() ? SplitKind::column : SplitKind::automatic;
  load.split_sizes = LoadOptions{}.split_sizes;
}

SplitSizes corpus_split_sizes(const SplitSizes& requested, std::int64_t molecules) {
  if (requested != kCorpusSplitSizes) return requested;
  const double share = std::clamp(static_cast<double>(kMinValid) / static_cast<double>(molecules), requested[1], 0.1);
  return {1 - share, share, 0};
}

std::int64_t epoch_parts_of(std::int64_t batches_of_pass, std::int64_t steps) {
  return std::clamp<std::int64_t>((kPretrainingEpochs * batches_of_pass + steps - 1) / steps, 1, batches_of_pass);
}

std::int64_t epochs_of(std::int64_t batches_of_pass, std::int64_t parts, std::int64_t steps) {
  const std::int64_t rest = steps % batches_of_pass;
  std::int64_t epochs = 0;
  while (batches_of_pass * epochs / parts < rest) ++epochs;
  return steps / batches_of_pass * parts + epochs;
}

void check_pretraining(const TrainOptions& o) {
  const DataSettings& d = o.data;
  const TrainingSettings& t = o.training;
  const bool has_labels = is_pretraining(o) && !d.target_columns.empty();
  if (!has_labels && (t.labels != LabelOptions{} || !d.table_weights.empty()))
    throw UsageError(
        "--label-weight, --label-balance and --table-weights are for the measured labels of a corpus: "
        "molgraph-pretrain with --target-columns");
  if (!is_pretraining(o)) return;
  if (!d.table_weights.empty() && d.table_weights.size() != d.paths.size())
    throw UsageError("--table-weights: " + std::to_string(d.table_weights.size()) + " weights, but the corpus has " +
                     std::to_string(d.paths.size()) + (d.paths.size() == 1 ? " table" : " tables"));
  const auto reject = [](bool given, const char* flag, const char* why) {
    if (given) throw UsageError(std::string(flag) + " cannot be combined with --target-descriptors: " + why);
  };
  const char* const computed = "the targets are computed from the structures, not read from columns";
  reject(!d.subset.empty(), "--subset", "a corpus is not a named data set");
  reject(d.task.has_value(), "--task-type", "the values of each column determine its task type");
  reject(!d.auxiliary_targets.empty(), "--auxiliary-targets", "use --label-weight for the labels of a corpus");
  const bool log_targets = !d.log_targets.empty() && d.log_targets.front() != kNoLogTargets;
  reject(log_targets, "--log-targets", "give the logarithms as labels");
  reject(!d.positive.empty(), "--positive", "classes of a corpus must be 1 and 0, yes and no or similar");
  reject(d.censored != Censored::bounded && !has_labels, "--censored", computed);
  const Duplicates duplicates = d.duplicates.value_or(Duplicates::keep);
  reject(has_labels && (duplicates == Duplicates::mean || duplicates == Duplicates::median), "--duplicates",
         "labels of a corpus are not merged; use keep or drop");
  reject(!d.weight_column.empty(), "--weight-column", "all molecules of a corpus have the same weight");
  reject(d.descriptors.value_or(DescriptorSet::none) != DescriptorSet::none, "--descriptors",
         "the descriptors are targets and cannot be inputs");
  reject(!d.descriptor_columns.empty(), "--descriptor-columns", "the model is made for tables that lack these columns");
  reject(d.folds > 0 || t.ensemble_size.value_or(1) > 1 || t.member_splits == Switch::on,
         "--folds, --ensemble-size and --member-splits", "only one model is pre-trained");
  reject(t.out_of_fold == Switch::on, "--out-of-fold", "descriptors need no prediction intervals");
  reject(d.calibration_size > 0, "--calibration-size", "descriptors need no prediction intervals");
  reject(t.domain_labels, "--domain-labels", "a pre-trained model stores no training molecules");
  reject(t.quality != Quality::standard, "--quality", "it requires measured targets");
  reject(!t.task_weights.empty() || t.balance_tasks || t.balance_classes,
         "--task-weights, --task-balance and --class-balance", "all descriptors have the same weight");
  reject(t.refit, "--refit", "the validation set is too small to improve the model");
  reject(t.baselines == Switch::on || t.blend == Switch::on, "--baselines and --blend",
         "they require measured targets");
  reject(t.clip_labels, "--clip-labels", "computed targets contain no typing errors");
  reject(!t.scale_targets, "--no-scale-targets", "the scales of the targets differ too much");
  reject(!o.model.recipe.empty(), "--recipe", "no paper pre-trains on descriptors");
}

void learn_inputs(LoadedData& data, const LabelOptions& labels) {
  MoleculeSet& set = data.set;
  const Task measured = set.sparse.targets > 0 ? std::move(set.task) : Task{};
  const std::size_t columns = set.input_names.size();
  const std::size_t computed = std::min(columns, descriptor_names().size());  // the columns of a store follow
  std::vector<const float*> training;
  training.reserve(data.split.train.size());
  for (const std::int64_t g : data.split.train) training.push_back(set.graph(g).inputs);
  const InputScaling all = input_scaling(training, columns);
  InputScaling scaling{.clip = all.clip};
  Task task;
  std::vector<std::size_t> kept;
  std::vector<std::string> constant;
  for (std::size_t d = 0; d < computed; ++d) {
    if (all.scale[d] <= 0) {
      constant.push_back(set.input_names[d]);
      continue;
    }
    kept.push_back(d);
    task.names.push_back(set.input_names[d]);
    scaling.center.push_back(all.center[d]);
    scaling.scale.push_back(all.scale[d]);
  }
  if (kept.empty())
    throw DataError(set.source.name + ": all descriptors are constant in the training set: there is nothing to learn");
  task.units.assign(task.names.size(), "");
  const std::int64_t clipped = keep_columns(set.inputs, columns, kept, scaling);
  set.task = std::move(task);
  set.targets = {};
  set.bound = {};
  set.weight = {};
  set.computed_targets = std::move(set.inputs);
  set.inputs = {};
  set.input_names = {};
  set.featurizer.descriptors = DescriptorSet::none;
  set.target_center = std::move(scaling.center);
  set.target_scale = std::move(scaling.scale);
  data.training.computed = true;
  data.notes.push_back(
      text("The targets are %zu descriptors per molecule, standardised on the training set and "
           "clipped at %g standard deviations (%s of %s values)",
           kept.size(), all.clip, with_thousands(clipped).c_str(),
           with_thousands(static_cast<std::int64_t>(set.computed_targets.size())).c_str()));
  if (!constant.empty())
    data.notes.push_back(text("Left out because constant in the training set: %zu descriptors, ", constant.size()) +
                         list_of(constant, kConstantShown));
  if (set.sparse.targets > 0) append_labels(data, measured, labels);
}

}  // namespace molgraph
