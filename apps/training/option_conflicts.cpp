#include "apps/training/option_conflicts.hpp"

#include <algorithm>
#include <array>

#include "apps/training/warm_start.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// True if the size's name stands for this architecture.
bool is_size(const std::string& name, const Architecture& architecture, const EncoderOptions& e) {
  EncoderOptions sized;
  set_size(architecture, name, sized);
  return sized.layers == e.layers && sized.width == e.width && sized.ffn == e.ffn && sized.heads == e.heads;
}

/// What was said of a model: a flag on the command line, or a value that differs from the default.
class Said {
 public:
  Said(const TrainOptions& options, const NamedFlags& named) : named_(named), options_(options) {
    const auto all = list_options(options_), unset = list_options(default_);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const bool differs = std::visit(
          [](auto* a, auto* b) {
            if constexpr (std::is_same_v<decltype(a), decltype(b)>) return *a != *b;
            return true;
          },
          all[k].field, unset[k].field);
      if (differs) differing_.insert(all[k].key());
    }
  }
  bool operator()(const std::string& key) const { return named_.contains(key) || differing_.contains(key); }

 private:
  const NamedFlags& named_;
  TrainOptions options_, default_;
  NamedFlags differing_;
};

}  // namespace

void set_terms(const std::vector<std::string>& words, RelationTerms& terms) {
  const auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  terms.topology_query = has("topology") && has("query");
  terms.topology_key = has("topology") && has("key");
  terms.topology_value = has("topology") && has("value");
  terms.edge_query = has("edge") && has("query");
  terms.edge_key = has("edge") && has("key");
  terms.edge_value = has("edge") && has("value");
}

void check_model_flags(const TrainOptions& o, const NamedFlags& named, const Architecture& architecture, const Encoding& encoding) {
  const Said said(o, named);
  const auto refuse = [&](bool given, const std::string& key, const std::string& owner) {
    if (!given) return;
    const bool from_recipe = !named.contains(key) && !o.recipe.empty();
    throw UsageError("--" + key + (from_recipe ? ", which --recipe " + o.recipe + " sets," : "") + " is an option of " + owner);
  };
  const bool grpe_terms = encoding.name == "grpe", paths = encoding.path_bias || o.gate_path;
  if (!architecture.has("path_bias")) {
    refuse(said("path"), "path", "--model graphormer");
    refuse(said("spatial-pos-max"), "spatial-pos-max", "--model graphormer");
    if (encoding.path_bias) throw UsageError("--encoding graphormer needs --model graphormer: its edge-path bias is there");
  } else {
    refuse(said("published-classes"), "published-classes", "--model grpe");
    refuse(said("perturb-noise"), "perturb-noise", "--model grpe");
  }
  refuse(o.path_hops != 0 && !paths, "path-hops", "--encoding graphormer and --gate-path");
  refuse(said("path") && !paths, "path", "--encoding graphormer and --gate-path");
  refuse(o.untie_virtual && encoding.untie_virtual, "untie-virtual", "--encoding graphormer");
  refuse(said("key-term") && !grpe_terms, "key-term", "--encoding grpe");
  refuse(said("grpe-terms") && !grpe_terms, "grpe-terms", "--encoding grpe");
  refuse(o.pe_dim != 0 && encoding.position_dim == 0, "pe-dim", "the encodings laplacian, random-walk, diet-abs, tupe");
  const std::array shape{"layers", "width", "ffn", "heads"};
  const auto given = [&](const char* key) { return named.contains(key); };
  if (named.contains("size") && std::all_of(shape.begin(), shape.end(), given)) {
    throw UsageError("--size would do nothing beside --layers, --width, --ffn and --heads, which say all of it");
  }
}

void check_terms(const TrainOptions& o, const NamedFlags& named, const ModelConfig& config) {
  const EncoderOptions& e = config.encoder();
  const RelationTerms& t = e.terms;
  const bool tables = t != RelationTerms{}, edges = t.edge_query || t.edge_key || t.edge_value;
  const bool topology = t.bias || t.topology_query || t.topology_key || t.topology_value || e.gate.enabled;
  const auto refuse = [](bool given, const std::string& flag, const std::string& why) {
    if (given) throw UsageError(flag + " would do nothing: " + why);
  };
  const std::string without = "this model has no relation tables";
  refuse(named.contains("share-encodings") && !tables, "--share-encodings", without);
  refuse(named.contains("max-distance") && !topology, "--max-distance", "this model has no tables of distances");
  refuse(o.published_classes && !topology && !edges, "--published-classes", without);
  refuse(o.key_term == "row" && !t.topology_key && !t.edge_key, "--key-term", "--grpe-terms leaves out the key");
}

void check_start(const TrainOptions& o, const NamedFlags& named, const ModelConfig& config) {
  const Said said(o, named);
  const auto demand = [](bool equal, const std::string& flag) {
    if (!equal) throw UsageError(flag + " contradicts the run named by --from, whose architecture is kept");
  };
  const EncoderOptions& e = config.encoder();
  const ModelOptions& model = config.model;
  demand(o.model.empty() || o.model == model.architecture->name, "--model");
  demand(o.size.empty() || is_size(o.size, *model.architecture, e), "--size");
  demand(o.layers == 0 || o.layers == e.layers, "--layers");
  demand(o.width == 0 || o.width == e.width, "--width");
  demand(o.ffn == 0 || o.ffn == e.ffn, "--ffn");
  demand(o.heads == 0 || o.heads == e.heads, "--heads");
  demand(!o.post_ln || e.post_ln, "--post-ln");
  demand(o.share_encodings == "auto" || e.share_encodings == (o.share_encodings == "on"), "--share-encodings");
  demand(o.pe_dim == 0 || o.pe_dim == e.position_dim, "--pe-dim");
  demand(o.max_distance == 0 || o.max_distance == model.max_distance, "--max-distance");
  demand(!said("key-term") || ((e.terms.topology_key || e.terms.edge_key) &&
                               e.key_term == (o.key_term == "row" ? KeyTerm::row : KeyTerm::column)), "--key-term");
  demand(o.urpe != "off" || !e.gate.enabled, "--no-urpe");
  demand(o.path_hops == 0 || o.gate_path || (model.path_bias && o.path_hops == model.path_hops) || o.path_hops == e.gate.path_hops,
         "--path-hops");
  demand(!o.untie_virtual || (model.path_bias && e.untie_virtual), "--untie-virtual");
  if (!o.encoding.empty() || said("grpe-terms")) {
    const Encoding& encoding = encoding_from_string(o.encoding.empty() ? "grpe" : o.encoding);
    EncoderOptions wanted = e;
    set_encoding(wanted, encoding);
    if (said("grpe-terms")) set_terms(o.grpe_terms, wanted.terms);
    demand(wanted.terms == e.terms && wanted.position == e.position && wanted.score_terms == e.score_terms && encoding.path_bias == model.path_bias,
           "--encoding or --grpe-terms");
  }
  if (model.architecture->has("path_bias")) {
    demand(!said("path") || ((model.path_bias || e.gate.path_hops > 0 || o.gate_path) &&
                             model.path_rule == (o.path == "single" ? PathRule::single : PathRule::mean)), "--path");
    demand(o.spatial_pos_max == 0 || o.spatial_pos_max == model.spatial_pos_max, "--spatial-pos-max");
    demand(!o.published_classes, "--published-classes");
    if (o.perturb_noise != 0) throw UsageError("--perturb-noise is an option of --model grpe");
  } else {
    demand(!said("path"), "--path");
    demand(!said("spatial-pos-max"), "--spatial-pos-max");
    demand(!o.published_classes || model.published_classes, "--published-classes");
  }
}

void check_training_flags(const TrainOptions& o, const NamedFlags& named, const LoadedData& data, const ModelConfig* start) {
  const auto refuse = [](bool given, const std::string& flag, const std::string& why) {
    if (given) throw UsageError(flag + " would do nothing: " + why);
  };
  if (start != nullptr) {
    refuse(!o.freeze.empty() && o.urpe == "on" && !start->encoder().gate.enabled, "--urpe",
           "a new gate of ones that --freeze encoder keeps from training");
  }
  refuse(o.patience > 0 && data.split.valid.empty(), "--patience", "there is no validation part");
  const bool scaling = named.contains("scale-targets");
  refuse(scaling && data.set.task.kind != TaskKind::regression, "--scale-targets", "it is for regression");
  refuse(scaling && start != nullptr && !needs_new_head(start->task, data.set.task), "--scale-targets",
         "the head comes from --from with its scaling, as the targets are the same");
}

}  // namespace molgraph
