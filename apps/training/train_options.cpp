#include "apps/training/train_options.hpp"

#include <toml++/toml.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "apps/scoring/model_limits.hpp"
#include "apps/training/recipes.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/pair_relations.hpp"
#include "attention/spec/encodings.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMostBatch = 1'000'000;
constexpr std::int64_t kMostFolds = 1000;   // and members of an ensemble
constexpr std::int64_t kMostEpochs = 1'000'000;

std::vector<std::string> encoding_words() {
  std::vector<std::string> words{""};
  for (const Encoding& encoding : encodings()) words.emplace_back(encoding.name);
  return words;
}

std::vector<std::string> recipe_words() {
  std::vector<std::string> words{""};
  for (const Recipe& item : recipes()) words.push_back(item.name);
  return words;
}

}  // namespace

std::string TrainOption::key() const { return flags.substr(flags.rfind("--") + 2); }

std::vector<TrainOption> list_options(TrainOptions& o) {
  const std::string data = "Data", model = "Model", training = "Training";
  return {
      {"-i,--data-path", data, &o.data, "data set name, table (CSV, TSV, SMI, SDF, .gz) or store; 2 or 3 tables: train [valid] test", {}},
      {"--data-dir", data, &o.data_dir, "folder of the named data sets (empty: $MOLGRAPH_DATA, then the user's cache)", {}},
      {"--subset", data, &o.subset, "part of a named data set: zinc 12k|full, pcqm4mv2 partial|sample (empty: its default)", {}},
      {"--format", data, &o.format, "table format", {"auto", "csv", "tsv", "smi", "sdf"}},
      {"--header", data, &o.header, "the table's first line holds the names (neither: the lines behind it decide)", {}},
      {"--no-header", data, &o.no_header, "the table's first line is data", {}},
      {"-s,--smiles-column", data, &o.smiles_column, "column of SMILES (empty: smiles, canonical_smiles, else another common name or the one whose cells are SMILES)", {}},
      {"--id-column", data, &o.id_column, "column of ids (empty: id, idx, name, else the row number)", {}},
      {"--target-columns", data, &o.target_columns, "columns to predict (empty: those with numbers, or with yes and no)", {}},
      {"-t,--task-type", data, &o.task_type, "kind of target (empty: by its values)", {"", "regression", "classification", "binary", "multiclass"}},
      {"--positive", data, &o.positive, "classification: the label that is 1, where two words do not say it themselves as yes and no do", {}},
      {"--features", data, &o.features, "atom and bond columns (empty: the data set's, else molgraph; with --recipe ogb)", {"", "molgraph", "ogb", "zinc"}},
      {"--split-type", data, &o.split_type, "how to split (empty: published, else random)", {"", "published", "random", "scaffold", "scaffold-balanced", "group", "time", "predefined"}},
      {"--split-sizes", data, &o.split_sizes, "shares of train, valid and test", {}, kSplitShares},
      {"--splits-column", data, &o.splits_column, "column with train, val, test (implies predefined)", {}},
      {"--group-column", data, &o.group_column, "split group: column whose equal cells stay in one part", {}},
      {"--time-column", data, &o.time_column, "split time: column of numbers or dates; the latest are the test part", {}},
      {"--splits-file", data, &o.splits_file, "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0; several = folds", {}},
      {"--folds", data, &o.folds, "cross-validation: models model_0, model_1, ... with disjoint test parts (--steps counts as whole epochs); 0 = off", {}, WholeRange{0, kMostFolds}},
      {"--limit", data, &o.limit, "keep this many molecules; 0 = all", {}, kMoleculeLimits},
      {"--max-atoms", data, &o.max_atoms, "reject larger molecules", {}, WholeRange{1, kMostAtoms}},
      {"--strict", data, &o.strict, "stop at the first bad row", {}},

      {"--recipe", model, &o.recipe, "settings of a paper, listed below; other flags override single values", recipe_words()},
      {"--model", model, &o.model, "architecture: node input and initialisation (empty: by --encoding, else by data set)", {"", "graphormer", "grpe"}},
      {"--size", model, &o.size, "graphormer: slim small base large; grpe: tiny small standard large (empty: slim or small)",
       {"", "slim", "small", "base", "large", "tiny", "standard"}},
      {"--layers", model, &o.layers, "blocks; 0 = by --size", {}, WholeRange{0, kMostLayers}},
      {"--width", model, &o.width, "channels, a multiple of heads; 0 = by --size", {}, WholeRange{0, kMostWidth}},
      {"--ffn", model, &o.ffn, "inner width of the FFN; 0 = by --size", {}, WholeRange{0, kMostFfn}},
      {"--heads", model, &o.heads, "attention heads; 0 = by --size", {}, WholeRange{0, kMostHeads}},
      {"--encoding", model, &o.encoding, "position encoding, see docs/encodings.md (empty: the model's own)", encoding_words()},
      {"--urpe", model, &o.urpe, "URPE's gate: on, off or auto (on where none of --model, --encoding, --recipe is given)", {"auto", "on", "off"}},
      {"--gate-relu", model, &o.gate_relu, "the gate goes through ReLU", {}},
      {"--gate-path", model, &o.gate_path, "the gate has an edge-path term, over --path-hops", {}},
      {"--gate-per-layer", model, &o.gate_per_layer, "a gate per layer", {}},
      {"--share-encodings", model, &o.share_encodings, "relation tables shared by all layers: on, off or auto (off for diet-rel)", {"auto", "on", "off"}},
      {"--pe-dim", model, &o.pe_dim, "eigenvectors of laplacian, steps of random-walk, diet-abs and tupe; 0 = 8 and 16", {}, WholeRange{0, kMostPositions}},
      {"--post-ln", model, &o.post_ln, "LayerNorm after the residual sums", {}},
      {"--max-distance", model, &o.max_distance, "cap of the topology classes; 0 = graphormer 20, grpe 5", {}, WholeRange{0, kMostDistance}},
      {"--path-hops", model, &o.path_hops, "hops of the edge-path bias and of --gate-path; 0 = 20 for zinc features, else 5", {}, WholeRange{0, kMostDistance}},
      {"--path", model, &o.path, "graphormer: edge-path bias over the mean of all shortest paths or a single one", {"mean", "single"}},
      {"--spatial-pos-max", model, &o.spatial_pos_max, "graphormer: mask atom pairs at this distance or more; 0 = off", {}, WholeRange{0, kMostForbidden}},
      {"--untie-virtual", model, &o.untie_virtual, "graphormer: a bias of its own for each pair kind of the virtual node", {}},
      {"--key-term", model, &o.key_term, "grpe: relation terms with the key's own column (paper) or row (published code)", {"column", "row"}},
      {"--grpe-terms", model, &o.grpe_terms, "grpe: terms in use", {"topology", "edge", "query", "key", "value"}},
      {"--published-classes", model, &o.published_classes, "grpe: relation classes as the published code assigns them", {}},
      {"--dropout", model, &o.dropout, "dropout of the residual branches", {}, RealRange{0, kMostDropout}},
      {"--attention-dropout", model, &o.attention_dropout, "dropout of the attention weights", {}, RealRange{0, kMostDropout}},
      {"--activation-dropout", model, &o.activation_dropout, "dropout inside the FFN", {}, RealRange{0, kMostDropout}},
      {"--input-dropout", model, &o.input_dropout, "dropout of the node input", {}, RealRange{0, kMostDropout}},
      {"--perturb-noise", model, &o.perturb_noise, "grpe: width of the uniform noise on the node input in training", {}, RealRange{0, kMostNoise}},
      {"--flag", model, &o.flag, "adversarial noise on the node input: ascents,step,magnitude, as 2,0.2,0 (empty: off)", {}},
      {"--from", model, &o.from, "start from the weights of this run", {}},
      {"--freeze", model, &o.freeze, "what does not train: encoder = all but the head", {"", "encoder"}},

      {"--backend", training, &o.backend, "what computes: cpu = the engine, reference = LibTorch's operations (slow)", {"cpu", "reference"}},
      {"--precision", training, &o.precision, "of the engine's matrix products: bf16 is faster, weights and sums stay float32; tf32 is for GPUs", {"fp32", "tf32", "bf16"}},
      {"--loss", training, &o.loss, "empty: l1 for regression, bce, ce", {"", "l1", "mse", "huber", "bce", "ce"}},
      {"--metric", training, &o.metric, "chooses the best epoch (empty: the data set's, else mae, roc-auc, accuracy)", {"", "mae", "rmse", "r2", "roc-auc", "ap", "accuracy"}},
      {"--epochs", training, &o.epochs, "passes over the training molecules; 0 = automatic", {}, WholeRange{0, kMostEpochs}},
      {"--steps", training, &o.steps, "update steps instead of epochs; 0 = by --epochs", {}, WholeRange{0, kMostSteps}},
      {"-b,--batch-size", training, &o.batch_size, "molecules per update; 0 = 32 to 256 by the number of molecules", {}, WholeRange{0, kMostBatch}},
      {"--lr", training, &o.lr, "peak learning rate", {}, RealRange{0, 100, true}},
      {"--end-lr", training, &o.end_lr, "learning rate at the last step", {}, RealRange{0, 100}},
      {"--warmup-steps", training, &o.warmup_steps, "steps of linear warm-up; -1 = by --warmup-epochs, else 10 % of all", {}, WholeRange{-1, kMostSteps}},
      {"--warmup-epochs", training, &o.warmup_epochs, "epochs of linear warm-up, if --warmup-steps is -1; 0 = off", {}, WholeRange{0, kMostEpochs}},
      {"--weight-decay", training, &o.weight_decay, "AdamW's decay", {}, RealRange{0, 1000}},
      {"--decay", training, &o.decay, "decay all parameters, or weights only (no biases, LayerNorms, gates, tables)", {"weights", "all"}},
      {"--grad-clip", training, &o.grad_clip, "largest norm of the gradient; 0 = off", {}, RealRange{0, 1e9}},
      {"--patience", training, &o.patience, "stop after this many epochs without a better validation; 0 = never, -1 = automatic", {}, WholeRange{-1, kMostEpochs}},
      {"--ema", training, &o.ema, "decay of the weights' moving average that is validated and saved; 0 = off", {}, RealRange{0, 1, false, true}},
      {"--scale-targets", training, &o.scale_targets, "regression: standardise targets inside the model", {}},
      {"--ensemble-size", training, &o.ensemble_size, "models to train, with seeds seed, seed + 1, ...", {}, WholeRange{1, kMostFolds}},
      {"--seed", training, &o.seed, "of split, shuffle, initialisation and dropout", {}, kSeeds},
  };
}

namespace {

template <class T>
void insert(toml::table& table, const std::string& key, const T& value) {
  if constexpr (std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<double>>) {
    toml::array array;
    for (const auto& item : value) array.push_back(item);
    table.insert(key, std::move(array));
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool> || std::is_same_v<T, double>) {
    table.insert(key, value);
  } else {
    table.insert(key, static_cast<std::int64_t>(value));
  }
}

/// False if the node is of another kind.
template <class T>
bool extract(const toml::node& node, T& out) {
  if constexpr (std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, std::vector<double>>) {
    const toml::array* array = node.as_array();
    if (!array) return false;
    out.clear();
    for (const auto& item : *array) {
      const auto value = item.value<typename T::value_type>();
      if (!value) return false;
      out.push_back(*value);
    }
    return true;
  } else {
    using Stored = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;
    const auto value = node.value<Stored>();
    if (!value) return false;
    out = static_cast<T>(*value);
    if constexpr (std::is_same_v<T, int>) return out == *value;
    return true;
  }
}

/// Why the value is none that the command line would take, "" if it is one.
template <class T>
std::string problem_of(const TrainOption& option, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return {};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return word_problem(value, option.words);
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::ostringstream text;
    text << std::setprecision(17) << value;
    return number_problem(text.str(), option.range);
  } else {
    std::string problem;
    for (const auto& item : value)
      if (problem.empty()) problem = problem_of(option, item);
    return problem;
  }
}

std::string value_problem(const TrainOption& option) {
  return std::visit([&](const auto* field) { return problem_of(option, *field); }, option.field);
}

}  // namespace

std::string to_toml(const TrainOptions& options) {
  TrainOptions copy = options;
  std::ostringstream text;
  std::string group;
  for (const auto& option : list_options(copy)) {
    if (option.group != group) {
      text << (group.empty() ? "" : "\n") << "# " << option.group << "\n";
      group = option.group;
    }
    toml::table line;
    std::visit([&](auto* field) { insert(line, option.key(), *field); }, option.field);
    text << line << "\n";
  }
  return text.str();
}

void check_values(const TrainOptions& options) {
  TrainOptions copy = options;
  for (const auto& option : list_options(copy)) {
    if (const std::string problem = value_problem(option); !problem.empty()) throw UsageError("--" + option.key() + ": " + problem);
  }
}

TrainOptions train_options_from_toml(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError(path + ": cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return train_options_from_text(text.str(), path);
}

TrainOptions train_options_from_text(const std::string& text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << name << ", line " << error.source().begin.line << ": " << error.description();
    throw FileError(where.str());
  }
  TrainOptions options;
  for (const auto& option : list_options(options)) {
    const toml::node* node = table.get(option.key());
    if (!node && option.key() == "header") continue;   // runs of the first version lack it
    if (!node) throw FileError(name + ": '" + option.key() + "' is missing: written by another version of molgraph, whose runs cannot be gone on with");
    if (!std::visit([&](auto* field) { return extract(*node, *field); }, option.field)) {
      throw FileError(name + ": '" + option.key() + "' has a value of the wrong kind");
    }
    if (const std::string problem = value_problem(option); !problem.empty()) throw FileError(name + ": " + option.key() + ": " + problem);
  }
  return options;
}

}  // namespace molgraph
