#include "apps/training/run/run_options.hpp"

#include <algorithm>

#include "apps/scoring/architectures.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/quality.hpp"
#include "apps/training/run/run_identity.hpp"
#include "apps/training/run/shipped_weights.hpp"
#include "attention/spec/terms.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

void check_shape(const EncoderOptions& e) {
  if (e.width % e.heads != 0)
    throw UsageError("--width " + std::to_string(e.width) + " is not a multiple of --heads " + std::to_string(e.heads));
}

TaskKind kind_of(TaskWord word) {
  switch (word) {
    case TaskWord::regression: return TaskKind::regression;
    case TaskWord::classification:
    case TaskWord::binary: return TaskKind::binary;
    case TaskWord::mixed: return TaskKind::mixed;
    case TaskWord::multiclass: break;
  }
  return TaskKind::multiclass;
}

int path_hops(const ModelSettings& m, Features features) {
  return m.path_hops.value_or(features == Features::zinc ? 20 : 5);
}

GateOptions gate_options(const ModelSettings& m, Features features) {
  return {m.gate.use == Switch::on, m.gate.relu, m.gate.per_layer, m.gate.path ? path_hops(m, features) : 0};
}

bool is_small_table(const LoadedData& data) {
  return !data.training.computed && static_cast<std::int64_t>(data.split.train.size()) < kSmallTable;
}

/// Sets architecture, encoding, size and gate if they are not given.
void choose_architecture(ModelSettings& m, const TrainingDefaults& defaults, bool small_table) {
  if (small_table && m.size.empty() && m.recipe.empty() && !m.layers) m.layers = kSmallTableLayers;
  if (m.gate.use == Switch::automatic)
    m.gate.use = m.architecture == nullptr && m.encoding == nullptr ? Switch::on : Switch::off;
  if (m.architecture == nullptr && m.encoding != nullptr)
    m.architecture = &architecture_from_string(m.encoding->path_bias ? "graphormer" : "grpe");
  if (m.architecture == nullptr)
    m.architecture = &architecture_from_string(defaults.model.empty() ? kDefaultModel : defaults.model);
  if (m.encoding == nullptr) m.encoding = &encoding_from_string(m.architecture->name);
  if (m.size.empty()) m.size = m.architecture->default_size;
}

/// Model options without a starting run.
ModelOptions build_model(const ModelSettings& m, Features features) {
  const Encoding& encoding = *m.encoding;
  ModelOptions model = m.architecture->defaults;
  EncoderOptions& e = model.encoder;
  set_encoding(e, encoding);
  set_size(*model.architecture, m.size, e);
  model.max_distance = m.max_distance.value_or(model.max_distance);
  if (model.architecture->has("path_bias")) {
    model.path_bias = encoding.path_bias;
    model.path_hops = path_hops(m, features);
  }
  model.path_rule = m.path_rule;
  model.spatial_pos_max = m.spatial_pos_max;
  model.perturb_noise = m.perturb_noise;
  model.published_classes = m.published_classes;
  if (encoding.terms.edge_key) {  // models with GRPE's terms
    e.key_term = m.key_term;
    set_terms(m.grpe_terms, e.terms);
  }
  e.untie_virtual = e.untie_virtual || m.untie_virtual;
  e.position_dim = m.position_dim.value_or(e.position_dim);
  e.layers = m.layers.value_or(e.layers);
  e.width = m.width.value_or(e.width);
  e.ffn = m.ffn.value_or(e.ffn);
  e.heads = m.heads.value_or(e.heads);
  e.post_ln = m.post_ln;
  if (m.share_encodings != Switch::automatic) e.share_encodings = m.share_encodings == Switch::on;
  e.gate = gate_options(m, features);
  e.readout = m.readout, e.degree_scaler = m.degree_scaler, e.pair_state = m.pair_state;
  if (has_walks(encoding)) set_walks(m, e);
  check_shape(e);
  return model;
}

/// Scaling of the inputs, computed on the training set.
std::shared_ptr<const InputScaling> training_scaling(const MoleculeSet& set, const Split& split) {
  std::vector<const float*> rows;
  for (const std::int64_t g : split.train) rows.push_back(set.graph(g).inputs);
  return std::make_shared<const InputScaling>(input_scaling(rows, set.input_names.size()));
}

/// Model options of --from, with the options that may differ.
ModelOptions model_from(const ModelConfig& start, const ModelSettings& m, const FeaturizerOptions& data_options) {
  FeaturizerOptions graphs = data_options;  // descriptors belong to the head, which may be new
  graphs.descriptors = start.featurizer.descriptors;
  if (is_pretrained(start)) graphs.standardize = start.featurizer.standardize;
  if (!(graphs == start.featurizer)) {
    throw UsageError("the run given with --from requires \"" + start.featurizer.canonical_text() +
                     "\", but the data have \"" + data_options.canonical_text() + "\"");
  }
  ModelOptions model = start.model;
  GateOptions& gate = model.encoder.gate;
  if (m.gate.use == Switch::on && !gate.enabled) {
    gate = gate_options(m, start.featurizer.features);
    gate.walk = has_walks(model.encoder.terms) && std::ranges::count(m.walk_terms, WalkTerm::gate) > 0;
  }
  if (model.architecture->has("perturb_noise")) model.perturb_noise = m.perturb_noise;
  return model;
}

/// True if the head of --from is kept: same targets, no auxiliary targets, same inputs.
bool keeps_head(const ModelConfig& start, const ModelConfig& config, const LoadedData& data, const ModelSettings& m) {
  return data.auxiliary.empty() && start.input_names == config.input_names &&
         !needs_new_head(start.task, config.task) && (!m.mix_width || *m.mix_width == start.model.head.mixed);
}

/// Sets the inputs of the head in addition to the embedding: the inputs of the data, scaled on the training set. A head
/// from --from keeps its scaling.
void set_inputs(ModelConfig& config, const LoadedData& data, const ModelConfig* start, const ModelSettings& m) {
  config.input_names = data.set.input_names;
  if (m.mix_width && config.input_names.empty())
    throw UsageError("--mix-width would do nothing: there are no --descriptors or --descriptor-columns");
  if (start != nullptr && keeps_head(*start, config, data, m)) return;
  HeadOptions& head = config.model.head;
  head.inputs = static_cast<int>(config.input_names.size());
  const bool few_classes = is_small_table(data) && m.recipe.empty() && !config.task.has(TaskKind::regression);
  head.mixed = m.mix_width.value_or(few_classes ? kMixWidthOfFewClasses : HeadOptions{}.mixed);
  if (head.inputs > 0) config.model.input_scaling = training_scaling(data.set, data.split);
  else config.model.input_scaling.reset();
}

/// Copies the values of the model into the settings.
void set_model_settings(const ModelOptions& model, ModelSettings& m) {
  const EncoderOptions& e = model.encoder;
  m.architecture = model.architecture;
  m.layers = e.layers;
  m.width = e.width;
  m.ffn = e.ffn;
  m.heads = e.heads;
  m.gate.use = on_or_off(e.gate.enabled);
  m.share_encodings = on_or_off(e.share_encodings);
  m.position_dim = e.position_dim > 0 ? std::optional(e.position_dim) : std::nullopt;
  m.max_distance = model.max_distance;
  m.readout = e.readout, m.degree_scaler = e.degree_scaler, m.pair_state = e.pair_state;
  if (has_walks(e.terms)) set_walk_settings(e, m);
  if (model.path_bias) m.path_hops = model.path_hops;
  if (e.gate.path_hops > 0) m.path_hops = e.gate.path_hops;
}

/// Resolves the model and sets its options in `o`.
ModelConfig resolve_model(TrainOptions& o, const LoadedData& data, const ModelConfig* start, const NamedFlags& named) {
  ModelSettings& m = o.model;
  ModelConfig config;
  config.task = data.set.task;
  config.featurizer = data.set.featurizer;
  if (start != nullptr) {
    check_start(o, named, *start);
    config.model = model_from(*start, m, data.set.featurizer);
  } else {
    choose_architecture(m, data.training, is_small_table(data));
    check_model_flags(o, named, *m.architecture, *m.encoding);
    config.model = build_model(m, data.set.featurizer.features);
    check_terms(o, named, config);
  }
  EncoderOptions& e = config.encoder();
  check_gate(m.gate, e.gate);
  set_inputs(config, data, start, m);
  e.dropout = m.dropout;
  e.attention_dropout = m.attention_dropout;
  e.activation_dropout = e.input_dropout = 0;
  config.model.features = config.featurizer.features;
  config.model.outputs = config.task.num_outputs();
  set_model_settings(config.model, m);
  if (config.model.head.inputs > 0) m.mix_width = config.model.head.mixed;
  o.data.features = config.featurizer.features;
  o.data.descriptors = config.featurizer.descriptors;
  const auto columns = config.input_columns();
  o.data.descriptor_columns.assign(columns.begin(), columns.end());
  o.data.standardize = config.featurizer.standardize;
  return config;
}

std::int64_t batch_size_for(std::int64_t molecules) {
  return molecules < 2000 ? 32 : molecules < 10000 ? 64 : molecules < 50000 ? 128 : 256;
}

std::int64_t automatic_epochs(Quality quality, bool computed, bool has_valid, bool only_classes) {
  const std::int64_t share = quality == Quality::fast ? kFastShare : 1;
  if (!computed) return (only_classes ? kClassEpochs : kRegressionEpochs) / share;
  return (has_valid ? kMaxComputedEpochs : kEpochsWithoutValidation) / share;
}

/// Resolves epochs, steps, warm-up (1/`warmup_divisor` of all steps) and patience. `count`: training molecules.
void resolve_schedule(TrainingSettings& t, const NamedFlags& named, const TrainingDefaults& defaults,
                      std::int64_t count, bool has_valid, bool only_classes, std::int64_t warmup_divisor) {
  if (!t.batch_size) t.batch_size = defaults.batch_size > 0 ? defaults.batch_size : batch_size_for(count);
  const std::int64_t batch = *t.batch_size, per_epoch = (count + batch - 1) / batch;
  const bool automatic = !t.epochs && !t.steps;
  if (automatic && defaults.steps > 0) t.steps = defaults.steps / (t.quality == Quality::fast ? kFastShare : 1);
  else if (automatic) t.epochs = automatic_epochs(t.quality, defaults.computed, has_valid, only_classes);
  if (t.epochs && t.steps && (*t.steps + per_epoch - 1) / per_epoch != *t.epochs) {
    if (named.contains("epochs") || named.contains("steps"))
      throw UsageError("give either --epochs or --steps: " + std::to_string(*t.steps) + " steps of " +
                       std::to_string(batch) + " molecules are not " + std::to_string(*t.epochs) + " epochs");
    // Both are from the config.toml of a run with other data.
    const std::int64_t in_run = *t.steps;
    t.steps = *t.epochs * per_epoch;
    if (t.warmup_steps && !named.contains("warmup-steps")) *t.warmup_steps = *t.warmup_steps * *t.steps / in_run;
  }
  if (!t.steps) t.steps = *t.epochs * per_epoch;
  if (t.warmup_epochs && !named.contains("warmup-steps")) t.warmup_steps.reset();
  const std::int64_t steps = *t.steps;
  t.epochs = (steps + per_epoch - 1) / per_epoch;
  if (steps > kMaxSteps) {
    throw UsageError("--epochs " + std::to_string(*t.epochs) + " means " + with_thousands(steps) +
                     " update steps, more than the maximum of " + with_thousands(kMaxSteps));
  }

  const std::int64_t warmup = t.warmup_epochs ? *t.warmup_epochs * per_epoch : steps / warmup_divisor;
  if (t.warmup_epochs && t.warmup_steps && *t.warmup_steps != std::min(warmup, steps)) {
    throw UsageError("give either --warmup-steps or --warmup-epochs: " + std::to_string(*t.warmup_epochs) +
                     " epochs are " + std::to_string(std::min(warmup, steps)) + " steps, not " +
                     std::to_string(*t.warmup_steps));
  }
  t.warmup_steps = std::min(t.warmup_steps.value_or(warmup), steps);
  if (!t.patience) t.patience = automatic && defaults.computed ? kComputedPatience : 0;
  if (!has_valid) t.patience = 0;
}

void resolve_training(TrainingSettings& t, const NamedFlags& named, const LoadedData& data, const Split& split,
                      bool pretraining) {
  const TaskKind kind = data.set.task.kind;
  const auto count = static_cast<std::int64_t>(split.train.size());
  if (count == 0) throw DataError("the training set is empty: it has no usable molecule");
  if (!t.loss) t.loss = default_loss(kind, t.metric);  // before t.metric gets its default
  check_loss(*t.loss, kind);
  if (!t.metric) t.metric = data.metric.empty() ? default_metric(kind) : metric_from_string(data.metric);
  if (!pretraining || *t.metric != Metric::loss) check_metric(*t.metric, kind);
  if (pretraining && t.steps && !named.contains("epochs")) t.epochs.reset();
  resolve_schedule(t, named, data.training, count, !split.valid.empty(), !data.set.task.has(TaskKind::regression),
                   pretraining ? kPretrainingWarmup : kWarmup);
}

/// Trainer options for `split` from fully resolved options.
TrainerOptions trainer_options(const TrainOptions& o, const LoadedData& data, const Split& split) {
  const TrainingSettings& t = o.training;
  TrainerOptions trainer;
  trainer.loss = Losses(*t.loss, data.set);
  trainer.metric = *t.metric;
  trainer.weights = LabelWeights(data.set, split.train, {t.task_weights, t.balance_tasks, t.balance_classes});
  trainer.batch_size = *t.batch_size;
  trainer.epochs = *t.epochs;
  if (is_pretraining(o)) {
    const std::int64_t batches =
        (static_cast<std::int64_t>(split.train.size()) + trainer.batch_size - 1) / trainer.batch_size;
    trainer.epoch_parts = epoch_parts_of(batches, *t.steps);
    trainer.epochs = epochs_of(batches, trainer.epoch_parts, *t.steps);
  }
  trainer.total_steps = *t.steps;
  trainer.warmup_steps = *t.warmup_steps;
  trainer.lr = t.lr;
  trainer.end_lr = t.end_lr;
  trainer.schedule = t.schedule;
  trainer.weight_decay = t.weight_decay;
  trainer.grad_clip = t.grad_clip;
  trainer.patience = *t.patience;
  trainer.ema = t.ema;
  trainer.flag = flag_from_string(o.model.flag);
  trainer.seed = t.seed;
  trainer.identity = identity_of(o, data, split);
  return trainer;
}

}  // namespace

LoadOptions to_load_options(const TrainOptions& o, int threads) {
  check_values(o);
  check_pretraining(o);
  const DataSettings& d = o.data;
  if (d.paths.empty()) {
    throw UsageError(
        "no training data: give a data set, a table or a store, as in molgraph-train demo or molgraph-train my.csv");
  }
  LoadOptions load;
  load.paths = d.paths;
  load.data_dir = d.folder;
  load.subset = d.subset;
  load.table.format = d.format;
  load.table.header = d.header;
  load.table.no_header = d.no_header;
  load.table.smiles_column = d.smiles_column;
  load.table.id_column = d.id_column;
  load.target_columns = d.target_columns, load.auxiliary_columns = d.auxiliary_targets;
  if (d.task) load.task = kind_of(*d.task);
  load.positive = d.positive;
  load.censored = d.censored;
  load.weight_column = d.weight_column;
  load.features = d.features;
  load.standardize = d.standardize;
  load.duplicates = d.duplicates;
  load.table_descriptors = DescriptorSet::rdkit;
  if (!o.model.recipe.empty()) {  // the settings of a paper, for any table
    load.table_features = Features::ogb;
    load.table_descriptors = DescriptorSet::none;
  }
  load.corpus = is_pretraining(o), load.table_weights = d.table_weights;
  load.require_targets = !load.corpus;
  load.descriptors = load.corpus ? d.target_descriptors : d.descriptors;
  load.input_columns = d.descriptor_columns;
  load.limits.max_atoms = d.max_atoms;
  load.split = d.split == SplitKind::automatic && !d.splits_column.empty() ? SplitKind::column : d.split;
  load.splits_column = d.splits_column;
  load.group_column = d.group_column;
  load.time_column = d.time_column;
  load.splits_file = d.splits_file;
  load.folds = d.folds;
  load.member_splits = member_splits_of(o), load.inner_folds = inner_folds_of(o);
  if (o.training.out_of_fold == Switch::automatic) load.needs_inner_folds = needs_out_of_fold;
  load.min_member_splits = static_cast<int>(members_of(o));
  load.split_sizes = d.split_sizes, load.calibration_share = d.calibration_size;
  if (load.corpus) choose_corpus_split(d, load);
  load.limit = d.limit;
  load.seed = o.training.seed;
  load.threads = threads, load.strict = d.strict;
  return load;
}

ResolvedRun resolve(const TrainOptions& requested, const LoadedData& data, const ModelConfig* start,
                    const NamedFlags& named) {
  check_values(requested);
  ResolvedRun run;
  run.options = requested;
  run.model = resolve_model(run.options, data, start, named);
  run.keeps_head = start != nullptr && keeps_head(*start, run.model, data, run.options.model);
  check_training_flags(run.options, named, data, start);
  const bool pretraining = is_pretraining(requested);
  if (pretraining && !gives_split(requested.data))
    run.options.data.split_sizes = corpus_split_sizes(requested.data.split_sizes, data.set.size());
  TrainingSettings& t = run.options.training;
  if (pretraining && !t.steps && !t.epochs) {
    const auto count = static_cast<std::int64_t>(data.split.train.size());
    t.steps = default_steps(count, t.batch_size.value_or(batch_size_for(count)));
  }
  resolve_training(t, named, data, data.split, pretraining);
  resolve_quality(run.options, data);
  run.trainer = trainer_options(run.options, data, data.split);
  return run;
}

ResolvedRun for_fold(const ResolvedRun& run, const LoadedData& data, const Split& split) {
  ResolvedRun fold = run;
  if (fold.model.model.input_scaling && !fold.keeps_head)
    fold.model.model.input_scaling = training_scaling(data.set, split);
  TrainingSettings& t = fold.options.training;
  t.steps.reset();
  if (t.warmup_epochs) t.warmup_steps.reset();
  resolve_training(t, {}, data, split, false);
  fold.trainer = trainer_options(fold.options, data, split);
  return fold;
}

ResolvedRun for_refit(const ResolvedRun& run, const LoadedData& data, const Split& split, const Split& refit,
                      std::int64_t epochs) {
  ResolvedRun second = run;
  if (second.model.model.input_scaling && !second.keeps_head)
    second.model.model.input_scaling = training_scaling(data.set, refit);
  second.trainer = trainer_options(second.options, data, refit);
  TrainerOptions& t = second.trainer;
  const auto updates = [&](const Split& of) {  // in an epoch
    return (static_cast<std::int64_t>(of.train.size()) + t.batch_size - 1) / t.batch_size;
  };
  const auto stretched = [&](std::int64_t steps) { return steps * updates(refit) / updates(split); };
  t.total_steps = stretched(t.total_steps);
  t.warmup_steps = stretched(t.warmup_steps);
  t.epochs = epochs;
  t.patience = 0;
  return second;
}

ResolvedRun for_member(const ResolvedRun& run, const LoadedData& data, const Split& split, std::int64_t member) {
  ResolvedRun one = run;
  one.options.training.seed += static_cast<std::uint64_t>(member);
  one.options.training.ensemble_size = 1;
  one.options.training.member_splits = Switch::off, one.options.training.out_of_fold = Switch::off;
  one.trainer = trainer_options(one.options, data, split);
  return one;
}

}  // namespace molgraph
