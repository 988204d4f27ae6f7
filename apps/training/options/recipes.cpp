#include "apps/training/options/recipes.hpp"

#include "featurize/graph/error.hpp"
#include "graphormer/architecture.hpp"
#include "grpe/architecture.hpp"

namespace molgraph {
namespace {

/// Settings of all papers: raw targets, weight decay on every parameter, no early stopping.
TrainOptions paper(const std::string& data, const Architecture& architecture, const std::string& size) {
  TrainOptions o;
  o.data.paths = {data};
  o.model.architecture = &architecture;
  o.model.size = size;
  o.model.gate.use = Switch::off;
  o.training.scale_targets = false;
  o.training.decay = DecayOf::all;
  o.training.patience = 0;
  o.training.end_lr = 1e-9;
  o.training.lr = 2e-4;
  o.training.weight_decay = 0.0;
  return o;
}

/// Settings of Graphormer v1's code (Ying et al. 2021), with a single path. `zinc`: embedding table sizes and hops for
/// that data set.
TrainOptions graphormer_paper(const std::string& data, const std::string& size, bool zinc) {
  TrainOptions o = paper(data, graphormer_architecture(), size);
  o.model.path_rule = PathRule::single;
  o.model.max_distance = zinc ? 38 : 509;
  o.model.path_hops = zinc ? 20 : 5;
  return o;
}

/// Settings of GRPE's published code (Park et al. 2022), with its relation classes and key term.
TrainOptions grpe_paper(const std::string& data, const std::string& size) {
  TrainOptions o = paper(data, grpe_architecture(), size);
  o.model.max_distance = 5;
  o.model.key_term = KeyTerm::row;
  o.model.published_classes = true;
  return o;
}

void steps(TrainOptions& o, std::int64_t warmup, std::int64_t total) {
  o.training.warmup_steps = warmup;
  o.training.steps = total;
}

/// molgraph's own settings for ZINC-12k: more pair relations than the distance, pair states, small batches, `epochs`
/// epochs of 10,000 molecules. The feed-forward layers of width 64 keep the model below 500,000 parameters.
TrainOptions best_of_zinc(std::int64_t epochs) {
  TrainOptions o;
  o.data.paths = {"zinc"};
  o.model.encoding = &encoding_from_string("grpe-walk");
  o.model.pair_relations = {PairWord::walks, PairWord::paths};
  o.model.position_dim = 4;
  o.model.walk_terms = {WalkTerm::input, WalkTerm::gate};
  o.model.pair_state = 32, o.model.ffn = 64;
  o.model.gate.use = Switch::on;
  o.model.readout = Readout::sum;
  o.model.degree_scaler = true;
  o.model.dropout = 0.0, o.model.attention_dropout = 0.2;
  o.training.batch_size = 32, o.training.lr = 1e-3, o.training.epochs = epochs;
  return o;
}

std::vector<Recipe> make_recipes() {
  std::vector<Recipe> all;
  all.push_back({.name = "zinc",
                 .what = "GRPE with walks, paths and pair states + URPE's gate, ZINC-12k; the default there",
                 .band = "test MAE 0.063 (1 seed)",
                 .options = best_of_zinc(800),
                 .measured = true});
  all.push_back({.name = "zinc-best",
                 .what = "the same, trained on 20 million molecules instead of 8 million",
                 .band = "no complete run yet",
                 .options = best_of_zinc(2000),
                 .measured = true});
  {
    TrainOptions o = graphormer_paper("zinc", "slim", true);
    o.training.batch_size = 256, o.training.weight_decay = 0.01;
    steps(o, 40000, 400000);
    all.push_back({"graphormer-zinc", "Graphormer slim, ZINC-12k (Ying et al. 2021)", 0.116, 0.128,
                   "test MAE 0.122 +- 0.006", false, o});
    o.model.gate.use = Switch::on, o.training.lr = 4e-4, o.training.end_lr = 0.0;
    steps(o, 60000, 600000);
    all.push_back({"urpe-zinc", "Graphormer slim + URPE's gate, ZINC-12k (Luo et al. 2022)", 0.079, 0.093,
                   "test MAE 0.086 +- 0.007", false, o});
    o.data.subset = "full";
    steps(o, 60000, 800000);
    all.push_back({"urpe-zinc-full", "Graphormer slim + URPE's gate, ZINC-full (Luo et al. 2022)", 0.026, 0.030,
                   "test MAE 0.028 +- 0.002", false, o});
  }
  {
    TrainOptions o = grpe_paper("zinc", "small");
    o.training.batch_size = 256, o.training.weight_decay = 1e-3, o.model.perturb_noise = 0.2,
    o.training.grad_clip = 0.0;
    steps(o, 40000, 400000);
    all.push_back(
        {"grpe-zinc", "GRPE small, ZINC-12k (Park et al. 2022)", 0.092, 0.096, "test MAE 0.094 +- 0.002", false, o});
  }
  {
    TrainOptions o = graphormer_paper("pcqm4m", "base", false);
    o.training.batch_size = 1024;
    steps(o, 60000, 1000000);
    all.push_back(
        {"graphormer-pcqm4m", "Graphormer base, PCQM4M (Ying et al. 2021)", 0, 0, "valid MAE 0.1234", true, o});
    o.model.size = "small", o.model.gate.use = Switch::on, o.training.batch_size = 512, o.training.lr = 3e-4,
    o.training.end_lr = 0.0, o.model.dropout = 0.0;
    all.push_back(
        {"urpe-pcqm4m", "Graphormer small + URPE's gate, PCQM4M (Luo et al. 2022)", 0, 0, "valid MAE 0.1238", true, o});
  }
  {
    TrainOptions o = grpe_paper("pcqm4m", "standard");
    o.training.batch_size = 1024, o.training.epochs = 400, o.training.warmup_epochs = 3;
    all.push_back({"grpe-pcqm4m", "GRPE standard, PCQM4M (Park et al. 2022)", 0, 0, "valid MAE 0.1225", true, o});
    o.data.paths = {"pcqm4mv2"};
    all.push_back({"grpe-pcqm4mv2", "GRPE standard, PCQM4Mv2 (Park et al. 2022)", 0, 0, "valid MAE 0.0890", true, o});
    o.model.size = "large", o.training.batch_size = 512;
    all.push_back(
        {"grpe-large-pcqm4mv2", "GRPE large, PCQM4Mv2 (Park et al. 2022)", 0, 0, "valid MAE 0.0867", true, o});
  }
  {
    TrainOptions o = graphormer_paper("molhiv", "base", false);
    o.training.batch_size = 128, o.training.epochs = 8, o.model.flag = "2,0.2,0";
    all.push_back({"graphormer-molhiv",
                   "Graphormer base with FLAG, MolHIV; pre-trained weights with --from (Ying et al. 2021)", 0.7998,
                   0.8104, "test ROC-AUC 0.8051 +- 0.0053 pre-trained", false, o});
  }
  {
    TrainOptions o = grpe_paper("molhiv", "standard");
    o.training.batch_size = 72, o.training.epochs = 100, o.training.warmup_epochs = 3, o.model.dropout = 0.0;
    all.push_back({"grpe-molhiv", "GRPE standard, MolHIV; pre-trained weights with --from (Park et al. 2022)", 0.8090,
                   0.8188, "test ROC-AUC 0.8139 +- 0.0049 pre-trained, stopped after 5 epochs", false, o});
    o.data.paths = {"molpcba"};
    o.training.batch_size = 256, o.training.epochs = 200, o.training.lr = 3e-4, o.model.dropout = 0.3;
    all.push_back({"grpe-molpcba", "GRPE standard, MolPCBA; pre-trained weights with --from (Park et al. 2022)", 0, 0,
                   "test AP 0.3077", false, o});
    o.model.size = "large";
    all.push_back({"grpe-large-molpcba", "GRPE large, MolPCBA; pre-trained weights with --from (Park et al. 2022)",
                   0.3140, 0.3160, "test AP 0.3150 +- 0.0010", false, o});
  }
  return all;
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = make_recipes();
  return all;
}

const Recipe& recipe(const std::string& name) {
  std::string names;
  for (const auto& candidate : recipes()) {
    if (candidate.name == name) return candidate;
    names += (names.empty() ? "" : ", ") + candidate.name;
  }
  throw UsageError("there is no recipe '" + name + "'; the recipes are: " + names);
}

}  // namespace molgraph
