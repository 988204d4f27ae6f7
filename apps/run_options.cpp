#include "apps/run_options.hpp"

#include <algorithm>

#include "apps/program.hpp"
#include "apps/recipes.hpp"
#include "datasets/catalogue.hpp"
#include "featurize/error.hpp"
#include "graphormer/attention/encodings.hpp"

namespace molgraph {
namespace {

bool is_zinc(const TrainOptions& options) { return options.data.size() == 1 && dataset_name(options.data[0]) == "zinc"; }

void override_with(int& value, int given) {
  if (given != 0) value = given;
}

/// Options that would change nothing for this model and encoding are refused.
void check_model_flags(const TrainOptions& o, ModelKind kind, const Encoding& encoding) {
  const TrainOptions unset;
  const auto refuse = [](bool given, const std::string& flag, const std::string& owner) {
    if (given) throw UsageError(flag + " is an option of " + owner);
  };
  const bool grpe_terms = encoding.name == "grpe";
  if (kind == ModelKind::grpe) {
    refuse(o.path != unset.path, "--path", "--model graphormer");
    refuse(o.spatial_pos_max != unset.spatial_pos_max, "--spatial-pos-max", "--model graphormer");
    if (encoding.path_bias) throw UsageError("--encoding graphormer needs --model graphormer: its edge-path bias is there");
  } else {
    refuse(o.published_classes != unset.published_classes, "--published-classes", "--model grpe");
    refuse(o.perturb_noise != unset.perturb_noise, "--perturb-noise", "--model grpe");
  }
  refuse(o.path_hops != 0 && !encoding.path_bias && !o.gate_path, "--path-hops", "--encoding graphormer and --gate-path");
  refuse(o.path != unset.path && !encoding.path_bias && !o.gate_path, "--path", "--encoding graphormer and --gate-path");
  refuse(o.untie_virtual && encoding.untie_virtual, "--untie-virtual", "--encoding graphormer");
  refuse(o.key_term != unset.key_term && !grpe_terms, "--key-term", "--encoding grpe");
  refuse(o.grpe_terms != unset.grpe_terms && !grpe_terms, "--grpe-terms", "--encoding grpe");
  refuse(o.pe_dim != 0 && encoding.position_dim == 0, "--pe-dim", "the encodings laplacian, random-walk, diet-abs, tupe");
}

/// True if the size's name stands for this architecture.
bool is_size(const std::string& name, ModelKind kind, const EncoderOptions& e) {
  EncoderOptions sized;
  kind == ModelKind::grpe ? set_grpe_size(sized, name) : set_graphormer_size(sized, name);
  return sized.layers == e.layers && sized.width == e.width && sized.ffn == e.ffn && sized.heads == e.heads;
}

/// With --from, a model option that was given must be what the other run has.
void demand(bool equal, const std::string& flag) {
  if (!equal) throw UsageError(flag + " contradicts the run named by --from, whose architecture is kept");
}

void set_terms(const std::vector<std::string>& words, RelationTerms& terms) {
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  for (const auto& word : words) {
    if (word != "topology" && word != "edge" && word != "query" && word != "key" && word != "value") {
      throw UsageError("--grpe-terms: '" + word + "' is none of topology, edge, query, key, value");
    }
  }
  terms.topology_query = has("topology") && has("query");
  terms.topology_key = has("topology") && has("key");
  terms.topology_value = has("topology") && has("value");
  terms.edge_query = has("edge") && has("query");
  terms.edge_key = has("edge") && has("key");
  terms.edge_value = has("edge") && has("value");
}

void check_shape(const EncoderOptions& e) {
  const auto positive = [](const char* flag, int value) {
    if (value < 1) throw UsageError(std::string(flag) + " must be at least 1");
  };
  positive("--layers", e.layers);
  positive("--width", e.width);
  positive("--ffn", e.ffn);
  positive("--heads", e.heads);
  if (e.width % e.heads != 0) {
    throw UsageError("--width " + std::to_string(e.width) + " is not a multiple of --heads " + std::to_string(e.heads));
  }
}

void set_dropouts(const TrainOptions& o, EncoderOptions& e) {
  const auto probability = [](const char* flag, double p) {
    if (!(p >= 0.0 && p < 1.0)) throw UsageError(std::string(flag) + " must lie in [0, 1)");
    return p;
  };
  e.dropout = probability("--dropout", o.dropout);
  e.attention_dropout = probability("--attention-dropout", o.attention_dropout);
  e.activation_dropout = probability("--activation-dropout", o.activation_dropout);
  e.input_dropout = probability("--input-dropout", o.input_dropout);
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
  if (config.kind == ModelKind::graphormer) {
    set_graphormer_size(e, o.size);
    GraphormerOptions& g = config.graphormer;
    override_with(g.max_distance, o.max_distance);
    g.path_bias = encoding.path_bias;
    g.path_hops = path_hops(o, features);
    g.path_rule = o.path == "single" ? PathRule::single : PathRule::mean;
    g.spatial_pos_max = o.spatial_pos_max;
  } else {
    set_grpe_size(e, o.size);
    GrpeOptions& g = config.grpe;
    override_with(g.max_distance, o.max_distance);
    g.perturb_noise = o.perturb_noise;
    g.published_classes = o.published_classes;
  }
  if (encoding.name == "grpe") {
    e.key_term = o.key_term == "row" ? KeyTerm::row : KeyTerm::column;
    set_terms(o.grpe_terms, e.terms);
  }
  e.untie_virtual = e.untie_virtual || o.untie_virtual;
  if (o.pe_dim < 0 || o.pe_dim > 1024) throw UsageError("--pe-dim must lie between 1 and 1024");
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
  const bool graphormer = config.kind == ModelKind::graphormer;
  o.model = graphormer ? "graphormer" : "grpe";
  o.layers = e.layers;
  o.width = e.width;
  o.ffn = e.ffn;
  o.heads = e.heads;
  o.urpe = e.gate.enabled ? "on" : "off";
  o.share_encodings = e.share_encodings ? "on" : "off";
  o.pe_dim = e.position_dim;
  o.max_distance = graphormer ? config.graphormer.max_distance : config.grpe.max_distance;
  if (graphormer && config.graphormer.path_bias) o.path_hops = config.graphormer.path_hops;
  if (e.gate.path_hops > 0) o.path_hops = e.gate.path_hops;
  o.features = std::string(to_string(config.featurizer.features));
}

}  // namespace

LoadOptions to_load_options(const TrainOptions& o, int threads) {
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
  load.table.hooks = reading_hooks();
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
  for (double size : o.split_sizes) {
    if (!(size >= 0)) throw UsageError("--split-sizes must not be negative");
  }
  std::copy(o.split_sizes.begin(), o.split_sizes.end(), load.split_sizes.begin());
  if (o.limit < 0) throw UsageError("--limit must not be negative");
  load.limit = o.limit;
  load.seed = o.seed;
  load.threads = threads;
  load.strict = o.strict;
  return load;
}

namespace {

/// The architecture of the run that --from names: what the options say of it must agree.
void check_start(const TrainOptions& o, const ModelConfig& config) {
  const EncoderOptions& e = config.encoder();
  const bool graphormer = config.kind == ModelKind::graphormer;
  const TrainOptions unset;
  demand(o.model.empty() || o.model == (graphormer ? "graphormer" : "grpe"), "--model");
  demand(o.size.empty() || is_size(o.size, config.kind, e), "--size");
  demand(o.layers == 0 || o.layers == e.layers, "--layers");
  demand(o.width == 0 || o.width == e.width, "--width");
  demand(o.ffn == 0 || o.ffn == e.ffn, "--ffn");
  demand(o.heads == 0 || o.heads == e.heads, "--heads");
  demand(!o.post_ln || e.post_ln, "--post-ln");
  demand(o.share_encodings == "auto" || e.share_encodings == (o.share_encodings == "on"), "--share-encodings");
  demand(o.pe_dim == 0 || o.pe_dim == e.position_dim, "--pe-dim");
  demand(o.max_distance == 0 || o.max_distance == config.max_distance(), "--max-distance");
  demand(o.key_term == unset.key_term || e.key_term == KeyTerm::row, "--key-term");
  demand(o.urpe != "off" || !e.gate.enabled, "--no-urpe");
  if (!o.encoding.empty() || o.grpe_terms != unset.grpe_terms) {
    EncoderOptions named = e;
    set_encoding(named, encoding_from_string(o.encoding.empty() ? "grpe" : o.encoding));
    if (o.grpe_terms != unset.grpe_terms) set_terms(o.grpe_terms, named.terms);
    const bool path = encoding_from_string(o.encoding.empty() ? "grpe" : o.encoding).path_bias;
    demand(named.terms == e.terms && named.position == e.position && named.score_terms == e.score_terms &&
               path == (graphormer && config.graphormer.path_bias),
           "--encoding or --grpe-terms");
  }
  if (graphormer) {
    const GraphormerOptions& g = config.graphormer;
    demand(o.path_hops == 0 || o.gate_path || o.path_hops == g.path_hops, "--path-hops");
    demand(o.path == unset.path || g.path_rule == PathRule::single, "--path");
    demand(o.spatial_pos_max == 0 || o.spatial_pos_max == g.spatial_pos_max, "--spatial-pos-max");
    demand(!o.untie_virtual || e.untie_virtual, "--untie-virtual");
  } else {
    demand(!o.published_classes || config.grpe.published_classes, "--published-classes");
  }
}

}  // namespace

ModelConfig resolve_model(TrainOptions& o, const MoleculeSet& set, const ModelConfig* start) {
  ModelConfig config;
  if (start) {
    config = *start;
    check_start(o, config);
    if (!(set.featurizer == config.featurizer)) {
      throw UsageError("the run named by --from reads \"" + config.featurizer.canonical_text() + "\", the data hold \"" +
                       set.featurizer.canonical_text() + "\"");
    }
    GateOptions& gate = config.encoder().gate;
    if (o.urpe == "on" && !gate.enabled) gate = gate_options(o, config.featurizer.features);
    if (config.kind == ModelKind::grpe) config.grpe.perturb_noise = o.perturb_noise;
    else if (o.perturb_noise != 0) throw UsageError("--perturb-noise is an option of --model grpe");
  } else {
    if (o.urpe == "auto") o.urpe = o.model.empty() && o.encoding.empty() ? "on" : "off";
    if (o.model.empty() && !o.encoding.empty()) o.model = encoding_from_string(o.encoding).path_bias ? "graphormer" : "grpe";
    if (o.model.empty()) o.model = is_zinc(o) ? "graphormer" : kDefaultModel;
    if (o.encoding.empty()) o.encoding = o.model;
    config.kind = o.model == "grpe" ? ModelKind::grpe : ModelKind::graphormer;
    const Encoding& encoding = encoding_from_string(o.encoding);
    check_model_flags(o, config.kind, encoding);
    if (o.size.empty()) o.size = config.kind == ModelKind::grpe ? kDefaultGrpeSize : kDefaultGraphormerSize;
    config.featurizer = set.featurizer;
    build_config(o, encoding, config);
  }
  const GateOptions& gate = config.encoder().gate;
  if ((o.gate_relu && !(gate.enabled && gate.relu)) || (o.gate_per_layer && !(gate.enabled && gate.per_layer)) ||
      (o.gate_path && !(gate.enabled && gate.path_hops > 0))) {
    throw UsageError("--gate-relu, --gate-path and --gate-per-layer need a new gate: --urpe");
  }
  set_dropouts(o, config.encoder());
  config.task = set.task;
  config.graphormer.features = config.grpe.features = config.featurizer.features;
  config.graphormer.outputs = config.grpe.outputs = config.task.num_outputs();
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

  if (o.batch_size < 0) throw UsageError("--batch-size must be positive");
  if (o.batch_size == 0) o.batch_size = is_zinc(o) ? kZincBatch : count < 2000 ? 32 : count < 10000 ? 64 : count < 50000 ? 128 : 256;
  const std::int64_t per_epoch = (count + o.batch_size - 1) / o.batch_size;
  const bool automatic = o.epochs == 0 && o.steps == 0;
  if (automatic && is_zinc(o)) o.steps = kZincSteps;
  if (automatic && !is_zinc(o)) o.epochs = has_valid ? kDefaultEpochs : kEpochsWithoutValidation;
  if (o.epochs < 0 || o.steps < 0) throw UsageError("--epochs and --steps must be positive");
  if (o.epochs > 0 && o.steps > 0 && (o.steps + per_epoch - 1) / per_epoch != o.epochs) {
    throw UsageError("give either --epochs or --steps: " + std::to_string(o.steps) + " steps of " +
                     std::to_string(o.batch_size) + " molecules are not " + std::to_string(o.epochs) + " epochs");
  }
  if (o.steps == 0) o.steps = o.epochs * per_epoch;
  o.epochs = (o.steps + per_epoch - 1) / per_epoch;

  if (o.warmup_steps < 0) o.warmup_steps = o.warmup_epochs > 0 ? o.warmup_epochs * per_epoch : o.steps / 10;
  o.warmup_steps = std::min(o.warmup_steps, o.steps);
  if (o.patience < 0) o.patience = automatic && has_valid ? kDefaultPatience : 0;
  if (!has_valid) o.patience = 0;
  if (!(o.lr > 0)) throw UsageError("--lr must be positive");
  if (!(o.weight_decay >= 0)) throw UsageError("--weight-decay must not be negative");
  if (!(o.grad_clip >= 0)) throw UsageError("--grad-clip must not be negative");
  if (!(o.ema >= 0 && o.ema < 1)) throw UsageError("--ema must lie in [0, 1)");
  if (o.ensemble_size < 1) throw UsageError("--ensemble-size must be at least 1");

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
