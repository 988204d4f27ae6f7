#include "apps/scoring/rollout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "apps/scoring/model_file.hpp"
#include "attention/formula/rollout.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {

RolloutExplainer::RolloutExplainer(const std::vector<std::string>& weights, int threads) : threads_(threads) {
  for (const std::string& path : weights) {
    const SafetensorsFile file = read_model_file(path);
    const ModelPlan plan = model_plan(read_model_config(file, path));
    const auto numbers = [&](const std::string& name) {
      return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
    };
    models_.push_back({plan, formula::Parameters(parameters_of(plan), numbers)});
  }
}

std::vector<double> RolloutExplainer::atoms_of(const MolecularGraph& graph) const {
  const std::array graphs{graph.view()};
  const std::array<std::int64_t, 1> rows{0};
  const GraphBatch batch = pack(graphs, rows);
  std::vector<double> atoms(static_cast<std::size_t>(graph.num_atoms()));
  for (const Model& model : models_) {
    const std::vector<double> tokens = formula::attention_rollout(model.plan, batch, 0, model.parameters);
    const double atom_share = 1 - tokens[0];  // the virtual node's own part is not attributed to atoms
    for (std::size_t i = 0; i < atoms.size(); ++i)
      atoms[i] += tokens[i + 1] / atom_share / static_cast<double>(models_.size());
  }
  return atoms;
}

std::vector<Explanation> RolloutExplainer::explain(const std::vector<FeaturizeResult>& molecules) const {
  std::vector<Explanation> all(molecules.size());
  parallel_for(static_cast<std::int64_t>(all.size()), 1, threads_, [&](std::int64_t begin, std::int64_t) {
    const auto i = static_cast<std::size_t>(begin);
    if (const auto* rejection = std::get_if<Rejection>(&molecules[i]))
      all[i] = {rejection->status, rejection->reason, {}, {}};
    else all[i].rollout = atoms_of(std::get<MolecularGraph>(molecules[i]));
    if (!std::ranges::all_of(all[i].rollout, [](double value) { return std::isfinite(value); }))
      all[i] = {RowStatus::not_finite, "its attention rollout is not finite", {}, {}};
  });
  return all;
}

}  // namespace molgraph
