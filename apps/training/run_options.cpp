#include "apps/training/run_options.hpp"

#include <algorithm>

#include "apps/scoring/architectures.hpp"
#include "apps/training/recipes.hpp"
#include "datasets/catalogue/catalogue.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"
#include "attention/spec/encodings.hpp"

namespace molgraph {
namespace {

bool is_zinc(const TrainOptions& options) { return options.data.size() == 1 && dataset_name(options.data[0]) == "zinc"; }

void override_with(int& value, int given) {
  if (given != 0) value = given;
}

void check_shape(const EncoderOptions& e) {
  if (e.width % e.heads != 0) {
    throw UsageError("--width " + std::to_string(e.width) + " is not a multiple of --heads " + std::to_string(e.heads));
  }
}

void set_dropouts(const TrainOptions& o, EncoderOptions& e) {
  e.dropout = o.dropout;
  e.attention_dropout = o.attention_dropout;
  e.activation_dropout = o.activation_dropout;
  e.input_dropout = o.input_dropout;
}

int path_hops(const TrainOptions& o, Features features) {
  return o.path_hops ? o.path_hops : features == Features::zinc ? 20 : 5;
}

GateOptions gate_options(const TrainOptions& o, Features features) {
  return {o.urpe == "on", o.gate_relu, o.gate_per_layer, o.gate_path ? path_hops(o, features) : 0};
}

/// A model built from the options alone.
void build_config(const TrainOptions& o, const Encoding& encoding, ModelConfig& config) {
  EncoderOptions& e = config.encoder();
  const Features features = config.featurizer.features;
  set_encoding(e, encoding);
  ModelOptions& model = config.model;
  set_size(*model.architecture, o.size, e);
  override_with(model.max_distance, o.max_distance);
  if (model.architecture->has("path_bias")) {
    model.path_bias = encoding.path_bias;
    model.path_hops = path_hops(o, features);
  }
  model.path_rule = o.path == "single" ? PathRule::single : PathRule::mean;
  model.spatial_pos_max = o.spatial_pos_max;
  model.perturb_noise = o.perturb_noise;
  model.published_classes = o.published_classes;
  if (encoding.name == "grpe") {
    e.key_term = o.key_term == "row" ? KeyTerm::row : KeyTerm::column;
    set_terms(o.grpe_terms, e.terms);
  }
  e.untie_virtual = e.untie_virtual || o.untie_virtual;
  override_with(e.position_dim, o.pe_dim);
  override_with(e.layers, o.layers);
  override_with(e.width, o.width);
  override_with(e.ffn, o.ffn);
  override_with(e.heads, o.heads);
  e.post_ln = o.post_ln;
  if (o.share_encodings != "auto") e.share_encodings = o.share_encodings == "on";
  e.gate = gate_options(o, features);
  check_shape(e);
}

/// The options that name the architecture, as the configuration has them.
void write_back(const ModelConfig& config, TrainOptions& o) {
  const EncoderOptions& e = config.encoder();
  o.model = config.model.architecture->name;
  o.layers = e.layers;
  o.width = e.width;
  o.ffn = e.ffn;
  o.heads = e.heads;
  o.urpe = e.gate.enabled ? "on" : "off";
  o.share_encodings = e.share_encodings ? "on" : "off";
  o.pe_dim = e.position_dim;
  o.max_distance = config.model.max_distance;
  if (config.model.path_bias) o.path_hops = config.model.path_hops;
  if (e.gate.path_hops > 0) o.path_hops = e.gate.path_hops;
  o.features = std::string(to_string(config.featurizer.features));
}

}  // namespace

LoadOptions to_load_options(const TrainOptions& o, int threads) {
  check_values(o);
  if (o.data.empty()) {
    throw UsageError("what to train on? Name a data set, a table or a store: molgraph-train demo, molgraph-train my.csv");
  }
  LoadOptions load;
  load.paths = o.data;
  load.data_dir = o.data_dir;
  load.subset = o.subset;
  load.table.format = table_format_from_string(o.format);
  load.table.header = o.header;
  load.table.no_header = o.no_header;
  load.table.smiles_column = o.smiles_column;
  load.table.id_column = o.id_column;
  load.target_columns = o.target_columns;
  if (!o.task_type.empty()) load.task = task_kind_from_string(o.task_type);
  load.positive = o.positive;
  if (!o.features.empty()) load.features = features_from_string(o.features);
  if (!o.recipe.empty()) load.table_features = Features::ogb;   // a paper's settings, on any table
  load.limits.max_atoms = o.max_atoms;
  if (!o.split_type.empty()) load.split = split_kind_from_string(o.split_type);
  if (!o.splits_column.empty() && o.split_type.empty()) load.split = SplitKind::column;
  load.splits_column = o.splits_column;
  load.group_column = o.group_column;
  load.time_column = o.time_column;
  load.splits_file = o.splits_file;
  load.folds = o.folds;
  if (o.split_sizes.size() != 3) throw UsageError("--split-sizes takes three numbers: train valid test");
  std::copy(o.split_sizes.begin(), o.split_sizes.end(), load.split_sizes.begin());
  load.limit = o.limit;
  load.seed = o.seed;
  load.threads = threads;
  load.strict = o.strict;
  return load;
}

ModelConfig resolve_model(TrainOptions& o, const MoleculeSet& set, const ModelConfig* start, const NamedFlags& named) {
  check_values(o);
  ModelConfig config;
  if (start) {
    config = *start;
    check_start(o, named, config);
    if (!(set.featurizer == config.featurizer)) {
      throw UsageError("the run named by --from reads \"" + config.featurizer.canonical_text() + "\", the data hold \"" +
                       set.featurizer.canonical_text() + "\"");
    }
    GateOptions& gate = config.encoder().gate;
    if (o.urpe == "on" && !gate.enabled) gate = gate_options(o, config.featurizer.features);
    if (config.model.architecture->has("perturb_noise")) config.model.perturb_noise = o.perturb_noise;
  } else {
    if (o.urpe == "auto") o.urpe = o.model.empty() && o.encoding.empty() ? "on" : "off";
    if (o.model.empty() && !o.encoding.empty()) o.model = encoding_from_string(o.encoding).path_bias ? "graphormer" : "grpe";
    if (o.model.empty()) o.model = is_zinc(o) ? "graphormer" : kDefaultModel;
    if (o.encoding.empty()) o.encoding = o.model;
    config.model = architecture_from_string(o.model).defaults;
    const Encoding& encoding = encoding_from_string(o.encoding);
    check_model_flags(o, named, *config.model.architecture, encoding);
    if (o.size.empty()) o.size = config.model.architecture->default_size;
    config.featurizer = set.featurizer;
    build_config(o, encoding, config);
    check_terms(o, named, config);
  }
  const GateOptions& gate = config.encoder().gate;
  if ((o.gate_relu && !(gate.enabled && gate.relu)) || (o.gate_per_layer && !(gate.enabled && gate.per_layer)) ||
      (o.gate_path && !(gate.enabled && gate.path_hops > 0))) {
    throw UsageError("--gate-relu, --gate-path and --gate-per-layer need a new gate: --urpe");
  }
  set_dropouts(o, config.encoder());
  config.task = set.task;
  config.model.features = config.featurizer.features;
  config.model.outputs = config.task.num_outputs();
  write_back(config, o);
  return config;
}

TrainerOptions resolve_training(TrainOptions& o, const LoadedData& data, const std::string& folder) {
  TrainerOptions t;
  const TaskKind kind = data.set.task.kind;
  const auto count = static_cast<std::int64_t>(data.split.train.size());
  if (count == 0) throw DataError("the training part is empty: no usable molecule is left for it");
  const bool has_valid = !data.split.valid.empty();

  if (o.loss.empty()) o.loss = default_loss(kind);
  t.loss = loss_from_string(o.loss);
  check_loss(t.loss, kind);
  if (o.metric.empty()) o.metric = data.metric.empty() ? std::string(to_string(default_metric(kind))) : data.metric;
  t.metric = metric_from_string(o.metric);
  check_metric(t.metric, kind);

  if (o.batch_size == 0) o.batch_size = is_zinc(o) ? kZincBatch : count < 2000 ? 32 : count < 10000 ? 64 : count < 50000 ? 128 : 256;
  const std::int64_t per_epoch = (count + o.batch_size - 1) / o.batch_size;
  const bool automatic = o.epochs == 0 && o.steps == 0;
  if (automatic && is_zinc(o)) o.steps = kZincSteps;
  if (automatic && !is_zinc(o)) o.epochs = has_valid ? kDefaultEpochs : kEpochsWithoutValidation;
  if (o.epochs > 0 && o.steps > 0 && (o.steps + per_epoch - 1) / per_epoch != o.epochs) {
    throw UsageError("give either --epochs or --steps: " + std::to_string(o.steps) + " steps of " +
                     std::to_string(o.batch_size) + " molecules are not " + std::to_string(o.epochs) + " epochs");
  }
  if (o.steps == 0) o.steps = o.epochs * per_epoch;
  o.epochs = (o.steps + per_epoch - 1) / per_epoch;
  if (o.steps > kMostSteps) {
    throw UsageError("--epochs " + std::to_string(o.epochs) + " are " + with_thousands(o.steps) + " update steps, more than " +
                     with_thousands(kMostSteps));
  }

  const std::int64_t warmup = o.warmup_epochs > 0 ? o.warmup_epochs * per_epoch : o.steps / 10;
  if (o.warmup_epochs > 0 && o.warmup_steps >= 0 && o.warmup_steps != std::min(warmup, o.steps)) {
    throw UsageError("give either --warmup-steps or --warmup-epochs: " + std::to_string(o.warmup_epochs) + " epochs are " +
                     std::to_string(std::min(warmup, o.steps)) + " steps, not " + std::to_string(o.warmup_steps));
  }
  if (o.warmup_steps < 0) o.warmup_steps = warmup;
  o.warmup_steps = std::min(o.warmup_steps, o.steps);
  if (o.patience < 0) o.patience = automatic && has_valid ? kDefaultPatience : 0;
  if (!has_valid) o.patience = 0;

  t.batch_size = o.batch_size;
  t.epochs = o.epochs;
  t.total_steps = o.steps;
  t.warmup_steps = o.warmup_steps;
  t.lr = o.lr;
  t.end_lr = o.end_lr;
  t.weight_decay = o.weight_decay;
  t.grad_clip = o.grad_clip;
  t.patience = o.patience;
  t.ema = o.ema;
  t.flag = flag_from_string(o.flag);
  t.seed = o.seed;
  t.folder = folder;
  t.identity = to_toml(o) + "# molecules " + std::to_string(data.set.size()) + ", training " + std::to_string(count) +
               ", source " + data.set.source.sha256 + ", featuriser " + data.set.featurizer.hash();
  return t;
}

}  // namespace molgraph
