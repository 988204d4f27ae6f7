#include "apps/training/options/option_conflicts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "apps/scoring/architectures.hpp"
#include "apps/scoring/model_limits.hpp"
#include "attention/spec/terms.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// A file without class labels (numeric classes) matches any labels.
bool other_labels(const Task& a, const Task& b) {
  return !a.class_labels.empty() && !b.class_labels.empty() && a.class_labels != b.class_labels;
}

template <class Word>
bool contains(const std::vector<Word>& words, Word word) {
  return std::ranges::count(words, word) > 0;
}

/// Returns true if the size corresponds to these dimensions, apart from dimensions that are given explicitly.
bool is_size(const ModelSettings& m, const Architecture& architecture, const EncoderOptions& e) {
  EncoderOptions expected;
  set_size(architecture, m.size, expected);
  return (m.layers || expected.layers == e.layers) && (m.width || expected.width == e.width) &&
         (m.ffn || expected.ffn == e.ffn) && (m.heads || expected.heads == e.heads);
}

/// Options that were given: a flag on the command line, or a value that differs from the default.
class GivenOptions {
 public:
  GivenOptions(TrainOptions options, const NamedFlags& named) : named_(named) {
    TrainOptions unset;
    const auto all = list_options(options), defaults = list_options(unset);
    for (std::size_t k = 0; k < all.size(); ++k)
      if (all[k].field.get() != defaults[k].field.get()) differing_.insert(all[k].key());
  }
  bool operator()(const std::string& key) const { return named_.contains(key) || differing_.contains(key); }

 private:
  const NamedFlags& named_;
  NamedFlags differing_;
};

/// Flags of some architectures only, with the field that these architectures have (Architecture::fields). Graphormer
/// has a field for published classes too, but only with imported weights, so the flag is tied to GRPE's noise field.
constexpr std::array<std::pair<const char*, const char*>, 4> kOwnedFlags{{{"path", "path_rule"},
                                                                          {"spatial-pos-max", "spatial_pos_max"},
                                                                          {"published-classes", "perturb_noise"},
                                                                          {"perturb-noise", "perturb_noise"}}};

std::string owners_of(const char* field) {
  std::string owners;
  for (const Architecture* one : architectures())
    if (one->has(field)) owners += (owners.empty() ? "--model " : " or ") + std::string(one->name);
  return owners;
}

[[noreturn]] void reject_without_effect(const std::string& flag, const std::string& why) {
  throw UsageError(flag + " would do nothing: " + why);
}

}  // namespace

bool needs_new_head(const Task& start, const Task& task) {
  return start.names != task.names || start.kind != task.kind || start.kinds != task.kinds ||
         start.num_outputs() != task.num_outputs() || start.logarithmic != task.logarithmic ||
         other_labels(start, task);
}

bool has_validation(const LoadedData& data) {
  return !data.split.valid.empty() &&
         std::ranges::none_of(data.folds, [](const Split& fold) { return fold.valid.empty(); });
}

void set_walks(const ModelSettings& m, EncoderOptions& encoder) {
  const auto has = [&](WalkTerm word) { return contains(m.walk_terms, word); };
  encoder.position = has(WalkTerm::input) ? NodePosition::random_walk : NodePosition::none;
  encoder.terms.walk_bias = has(WalkTerm::bias);
  encoder.terms.walk_query = has(WalkTerm::query);
  encoder.terms.walk_key = has(WalkTerm::key);
  encoder.terms.walk_value = has(WalkTerm::value);
  encoder.gate.walk = has(WalkTerm::gate) && encoder.gate.enabled;
  if (!contains(m.pair_relations, PairWord::walks)) encoder.position_dim = 0;
  encoder.pair_paths = contains(m.pair_relations, PairWord::paths);
  encoder.pair_rings = contains(m.pair_relations, PairWord::rings);
}

void set_walk_settings(const EncoderOptions& encoder, ModelSettings& m) {
  std::vector<WalkTerm>& words = m.walk_terms;
  words.clear();
  const auto add = [&](bool enters, WalkTerm word) {
    if (enters) words.push_back(word);
  };
  add(encoder.position == NodePosition::random_walk, WalkTerm::input);
  add(encoder.terms.walk_bias, WalkTerm::bias);
  add(encoder.gate.walk || !encoder.gate.enabled, WalkTerm::gate);
  add(encoder.terms.walk_query, WalkTerm::query);
  add(encoder.terms.walk_key, WalkTerm::key);
  add(encoder.terms.walk_value, WalkTerm::value);
  m.pair_relations.clear();
  if (encoder.position_dim > 0) m.pair_relations.push_back(PairWord::walks);
  if (encoder.pair_paths) m.pair_relations.push_back(PairWord::paths);
  if (encoder.pair_rings) m.pair_relations.push_back(PairWord::rings);
}

void set_terms(const std::vector<GrpeTerm>& words, RelationTerms& terms) {
  const auto has = [&](GrpeTerm word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  const bool topology = has(GrpeTerm::topology), edge = has(GrpeTerm::edge);
  const bool query = has(GrpeTerm::query), key = has(GrpeTerm::key), value = has(GrpeTerm::value);
  terms.topology_query = topology && query;
  terms.topology_key = topology && key;
  terms.topology_value = topology && value;
  terms.edge_query = edge && query;
  terms.edge_key = edge && key;
  terms.edge_value = edge && value;
}

void check_model_flags(const TrainOptions& o, const NamedFlags& named, const Architecture& architecture,
                       const Encoding& encoding) {
  const GivenOptions given(o, named);
  const ModelSettings& m = o.model;
  const auto reject = [&](bool is_given, const std::string& key, const std::string& owner) {
    if (!is_given) return;
    const bool from_recipe = !named.contains(key) && !m.recipe.empty();
    throw UsageError("--" + key + (from_recipe ? ", which --recipe " + m.recipe + " sets," : "") + " applies only to " +
                     owner);
  };
  for (const auto& [flag, field] : kOwnedFlags) reject(given(flag) && !architecture.has(field), flag, owners_of(field));
  if (encoding.path_bias && !architecture.has("path_bias")) {
    throw UsageError("--encoding " + std::string(encoding.name) + " requires " + owners_of("path_bias") +
                     ", because no other model has the edge-path bias");
  }
  const bool grpe_terms = encoding.terms.topology_key && encoding.terms.edge_key, walks = has_walks(encoding),
             paths = encoding.path_bias || m.gate.path;
  reject(m.path_hops && !paths, "path-hops", "--encoding graphormer, graphormer-walk and --gate-path");
  reject(given("path") && !paths, "path", "--encoding graphormer, graphormer-walk and --gate-path");
  reject(m.untie_virtual && encoding.untie_virtual, "untie-virtual", "--encoding graphormer and graphormer-walk");
  reject(given("key-term") && (!grpe_terms || walks), "key-term", "--encoding grpe");
  reject(given("grpe-terms") && !grpe_terms, "grpe-terms", "--encoding grpe or grpe-walk");
  for (const char* flag : {"walk-terms", "pair-relations"})
    reject(given(flag) && !walks, flag, "--encoding grpe-walk and graphormer-walk");
  if (walks && m.position_dim) {
    reject(!contains(m.pair_relations, PairWord::walks), "pe-dim", "--pair-relations walks");
    if (*m.position_dim > kMaxWalkSteps)
      throw UsageError("--pe-dim " + std::to_string(*m.position_dim) +
                       ": random walks between two atoms have at most " + std::to_string(kMaxWalkSteps) + " steps");
  }
  std::string with_positions;
  for (const Encoding& one : encodings())
    if (one.position_dim > 0) with_positions += (with_positions.empty() ? "" : ", ") + std::string(one.name);
  reject(m.position_dim && encoding.position_dim == 0, "pe-dim", "the encodings " + with_positions);
  const std::array shape{"layers", "width", "ffn", "heads"};
  if (named.contains("size") && std::ranges::all_of(shape, [&](const char* key) { return named.contains(key); })) {
    throw UsageError("--size would do nothing: --layers, --width, --ffn and --heads determine the whole size");
  }
}

void check_gate(const GateSettings& requested, const GateOptions& gate) {
  if ((requested.relu && !(gate.enabled && gate.relu)) || (requested.per_layer && !(gate.enabled && gate.per_layer)) ||
      (requested.path && !(gate.enabled && gate.path_hops > 0))) {
    throw UsageError("--gate-relu, --gate-path and --gate-per-layer require a new gate (--urpe)");
  }
}

void check_terms(const TrainOptions& o, const NamedFlags& named, const ModelConfig& config) {
  const EncoderOptions& e = config.encoder();
  const RelationTerms& t = e.terms;
  const bool tables = t != RelationTerms{}, pairs = e.pair_state > 0;
  const bool edges = t.edge_query || t.edge_key || t.edge_value;
  const bool topology = t.bias || t.topology_query || t.topology_key || t.topology_value || e.gate.enabled || pairs;
  const auto reject = [](bool is_given, const std::string& flag, const std::string& why) {
    if (is_given) reject_without_effect(flag, why);
  };
  const std::string without = "this model has no relation tables";
  reject(named.contains("share-encodings") && !tables, "--share-encodings", without);
  reject(named.contains("max-distance") && !topology, "--max-distance", "this model has no distance tables");
  const bool gate_named = std::ranges::count(o.model.walk_terms, WalkTerm::gate) > 0;
  reject(named.contains("walk-terms") && gate_named && !e.gate.enabled, "--walk-terms gate",
         "this model has no gate (--urpe adds one)");
  reject(named.contains("pe-dim") && !uses_position_dim(e), "--pe-dim", "no part of this model has that dimension");
  reject(o.model.published_classes && !topology && !edges, "--published-classes", without);
  reject(o.model.key_term == KeyTerm::row && !t.topology_key && !t.edge_key, "--key-term",
         "--grpe-terms leaves out the key");
}

void check_start(const TrainOptions& o, const NamedFlags& named, const ModelConfig& config) {
  const GivenOptions given(o, named);
  const ModelSettings& m = o.model;
  const ModelOptions& model = config.model;
  const Architecture& architecture = *model.architecture;
  const EncoderOptions& e = config.encoder();
  const auto require = [](bool equal, const std::string& flag) {
    if (!equal) throw UsageError(flag + " contradicts the run given with --from, whose architecture is kept");
  };
  const auto unset_or_equal = [](const std::optional<int>& option, int value) { return !option || *option == value; };
  require(m.architecture == nullptr || m.architecture == &architecture, "--model");
  require(m.size.empty() || is_size(m, architecture, e), "--size");
  require(unset_or_equal(m.layers, e.layers), "--layers");
  require(unset_or_equal(m.width, e.width), "--width");
  require(unset_or_equal(m.ffn, e.ffn), "--ffn");
  require(unset_or_equal(m.heads, e.heads), "--heads");
  require(!m.post_ln || e.post_ln, "--post-ln");
  require(!given("readout") || e.readout == m.readout, "--readout");
  require(!m.degree_scaler || e.degree_scaler, "--degree-scaler");
  require(!given("pair-state") || e.pair_state == m.pair_state, "--pair-state");
  require(m.share_encodings == Switch::automatic || e.share_encodings == (m.share_encodings == Switch::on),
          "--share-encodings");
  require(unset_or_equal(m.position_dim, e.position_dim), "--pe-dim");
  require(unset_or_equal(m.max_distance, model.max_distance), "--max-distance");
  require(!given("key-term") || ((e.terms.topology_key || e.terms.edge_key) && e.key_term == m.key_term), "--key-term");
  require(m.gate.use != Switch::off || !e.gate.enabled, "--no-urpe");
  require(m.gate.path || unset_or_equal(m.path_hops, e.gate.path_hops) ||
              (model.path_bias && *m.path_hops == model.path_hops),
          "--path-hops");
  require(!m.untie_virtual || (model.path_bias && e.untie_virtual), "--untie-virtual");
  EncoderOptions with_walks = e;
  set_walks(m, with_walks);
  require(!given("walk-terms") ||
              (uses_pair_vectors(e) && with_walks.terms == e.terms && with_walks.position == e.position &&
               (with_walks.gate.walk == e.gate.walk || !e.gate.enabled)),
          "--walk-terms");
  require(!given("pair-relations") || (uses_pair_vectors(e) && with_walks.pair_vector() == e.pair_vector()),
          "--pair-relations");
  if (m.encoding != nullptr) {
    EncoderOptions expected = e;
    set_encoding(expected, *m.encoding);
    if (given("grpe-terms")) set_terms(m.grpe_terms, expected.terms);
    if (has_walks(*m.encoding)) set_walks(m, expected);
    require(expected.terms == e.terms && expected.position == e.position && expected.score_terms == e.score_terms &&
                m.encoding->path_bias == model.path_bias,
            "--encoding or --grpe-terms");
  } else if (given("grpe-terms")) {
    RelationTerms expected = e.terms;
    set_terms(m.grpe_terms, expected);
    require(expected == e.terms && !model.path_bias, "--grpe-terms");
  }
  require(
      !given("path") || (architecture.has("path_rule") && (model.path_bias || e.gate.path_hops > 0 || m.gate.path) &&
                         model.path_rule == m.path_rule),
      "--path");
  require(!given("spatial-pos-max") || (architecture.has("spatial_pos_max") &&
                                        (m.spatial_pos_max == 0 || model.spatial_pos_max == m.spatial_pos_max)),
          "--spatial-pos-max");
  require(!m.published_classes || (architecture.has("perturb_noise") && model.published_classes),
          "--published-classes");
  if (m.perturb_noise != 0 && !architecture.has("perturb_noise"))
    throw UsageError("--perturb-noise applies only to " + owners_of("perturb_noise"));
}

bool gives_split(const DataSettings& data) {
  return !data.splits_file.empty() || !data.splits_column.empty() || data.split == SplitKind::column;
}

void check_training_flags(const TrainOptions& o, const NamedFlags& named, const LoadedData& data,
                          const ModelConfig* start) {
  const auto reject = [](bool is_given, const std::string& flag, const std::string& why) {
    if (is_given) reject_without_effect(flag, why);
  };
  if (start == nullptr && o.model.frozen != Frozen::nothing)
    throw UsageError("--freeze requires --from RUN, because it freezes the weights of that run");
  if (start != nullptr) {
    reject(o.model.frozen != Frozen::nothing && o.model.gate.use == Switch::on && !start->encoder().gate.enabled,
           "--urpe", "the new gate of ones would not be trained, because --freeze encoder freezes it");
  }
  reject(o.training.patience.value_or(0) > 0 && data.split.valid.empty(), "--patience", "there is no validation set");
  if (o.data.target_descriptors != DescriptorSet::none) {
    reject(named.contains("calibrate") && o.training.calibrate, "--calibrate", "descriptors need no intervals");
    reject(named.contains("domain") && o.training.domain, "--domain", "a pre-trained model stores no molecules");
    // For a corpus, these two have other defaults than the loader, which therefore cannot check them.
    const std::string why = "--splits-file or --splits-column gives the sets";
    reject(named.contains("split-sizes") && gives_split(o.data), "--split-sizes", why);
    reject(named.contains("split-type") && o.data.split == SplitKind::random && gives_split(o.data), "--split-type",
           why);
  }
  reject(o.data.calibration_size > 0 && !o.training.calibrate, "--calibration-size",
         "--no-calibrate turns calibration off");
  reject(o.training.out_of_fold == Switch::on && data.inner.empty(), "--out-of-fold",
         "it requires a single split with a validation set, not by time or order, without --member-splits");
  reject(o.training.out_of_fold == Switch::on && o.data.calibration_size > 0, "--calibration-size",
         "--out-of-fold uses the training and validation sets as calibration data");
  reject(o.training.domain_labels && !o.training.domain, "--domain-labels", "--no-domain stores no training molecules");
  reject(o.training.refit && !has_validation(data), "--refit", "there is no validation set");
  reject((named.contains("censored") || o.data.censored != Censored::bounded) && data.censored == 0, "--censored",
         "no label has a sign such as >");
  const std::size_t weights = o.training.task_weights.size(), targets = data.set.task.names.size();
  reject(targets == 1 && weights > 0, "--task-weights", "there is only one target");
  reject(targets == 1 && o.training.balance_tasks, "--task-balance", "there is only one target");
  reject(o.training.balance_classes && data.set.task.kind == TaskKind::regression, "--class-balance",
         "the targets are not classes");
  if (weights > 0 && weights != targets)
    throw UsageError("--task-weights: " + std::to_string(weights) + " weights, but there are " +
                     std::to_string(targets) + " targets: " + list_of(data.set.task.names, 10));
  reject(o.training.clip_labels && !data.set.task.has(TaskKind::regression), "--clip-labels",
         "there is no regression target");
  const bool scaling = named.contains("scale-targets");
  reject(scaling && !data.set.task.has(TaskKind::regression), "--scale-targets", "there is no regression target");
  reject(scaling && start != nullptr && data.auxiliary.empty() && !needs_new_head(start->task, data.set.task),
         "--scale-targets",
         "the head and its scaling come from the run given with --from, because the targets are the same");
}

}  // namespace molgraph
