// Batches and plans that do not fit a model: each must be refused by whatever computes, before anything is read.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {

struct Damage {
  std::string name;
  std::function<void(GraphBatch&)> make;
  bool paths = false;  ///< of GraphBatch::paths, which a device does not read
};

/// Of a batch of assorted(): molecule 1 is cubane, molecule 4 a chain of 40.
inline std::vector<Damage> damages() {
  const auto last = [](auto& values) -> auto& { return values.back(); };
  const auto pair_of = [](const GraphBatch& b, std::size_t molecule, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(b.pair_offset[molecule] +
                                    i * (b.token_offset[molecule + 1] - b.token_offset[molecule]) + j);
  };
  return {
      {"another feature set", [](GraphBatch& b) { b.features = Features::zinc; }},
      {"the columns of another feature set", [](GraphBatch& b) { b.atoms.resize(b.degree.size()); }},
      {"an atom's value", [](GraphBatch& b) { b.atoms[9 * 3] = 119; }},
      {"an atom's last value", [=](GraphBatch& b) { last(b.atoms) = 255; }},
      {"an atom too few", [](GraphBatch& b) { b.degree.pop_back(); }},
      {"a negative degree", [](GraphBatch& b) { b.degree[5] = -1; }},
      {"an edge that is no bond id", [=](GraphBatch& b) { b.edge[pair_of(b, 1, 3, 4)] = 60; }},
      {"the virtual node's edge at atoms", [=](GraphBatch& b) { b.edge[pair_of(b, 4, 40, 40)] = kVirtualEdge; }},
      {"the virtual node's distance at atoms", [=](GraphBatch& b) { b.topology[pair_of(b, 4, 1, 2)] = kVirtual; }},
      {"pairs too few", [](GraphBatch& b) { b.topology.pop_back(); }},
      {"edges too few", [](GraphBatch& b) { b.edge.resize(b.edge.size() / 2); }},
      {"more rows than molecules", [](GraphBatch& b) { b.row.push_back(0); }},
      {"no offsets", [](GraphBatch& b) { b.atom_offset.clear(); }},
      {"offsets that fall",
       [](GraphBatch& b) {
         b.atom_offset[1] += 5, b.token_offset[1] += 5, b.atom_offset[2] -= 9, b.token_offset[2] -= 9;
       }},
      {"offsets that begin late",
       [](GraphBatch& b) {
         for (auto* o : {&b.atom_offset, &b.token_offset, &b.pair_offset}) o->front() = 1;
       }},
      {"tokens without a virtual node", [](GraphBatch& b) { b.token_offset = b.atom_offset; }},
      {"pairs of another molecule", [](GraphBatch& b) { --b.pair_offset[3]; }},
      {"atoms beyond the arrays",
       [](GraphBatch& b) { ++b.atom_offset.back(), ++b.token_offset.back(), b.pair_offset.back() += 7; }},
      {"no paths", [](GraphBatch& b) { b.paths = {}; }, true},
      {"a path's bond", [=](GraphBatch& b) { last(b.paths.bond) = 60; }, true},
      {"a path's negative bond", [](GraphBatch& b) { b.paths.bond[0] = -1; }, true},
      {"a step to nowhere", [=](GraphBatch& b) { last(b.paths.target) += 5; }, true},
      {"a step back", [](GraphBatch& b) { b.paths.target[static_cast<std::size_t>(b.paths.level_steps[2] - 1)] = 0; },
       true},
      {"a step from nowhere", [=](GraphBatch& b) { last(b.paths.source) = 1 << 20; }, true},
      {"a step from another molecule",
       [=](GraphBatch& b) {
         b.paths.source[static_cast<std::size_t>(b.paths.level_steps[1])] = b.paths.level_pairs[1] - 1;
       },
       true},
      {"a pair beyond the batch", [=](GraphBatch& b) { last(b.paths.pair) = b.num_pairs(); }, true},
      {"a pair twice", [](GraphBatch& b) { b.paths.pair[1] = b.paths.pair[0]; }, true},
      {"steps too few", [](GraphBatch& b) { b.paths.weight.pop_back(); }, true},
      {"a level beyond the steps", [](GraphBatch& b) { b.paths.level_steps[1] = b.paths.level_steps.back() + 1; },
       true},
      {"a level too few", [](GraphBatch& b) { b.paths.level_steps.pop_back(); }, true},
  };
}

/// A Graphormer with paths in bias and gate, and the positions; a GRPE.
inline std::vector<std::unique_ptr<GraphModel>> models_with_borders() {
  std::vector<std::unique_ptr<GraphModel>> models;
  const GateOptions gate{.enabled = true, .path_hops = 3};
  for (const char* name : {"graphormer", "grpe", "tupe"})
    models.push_back(make_model({name, &encoding_from_string(name), gate}));
  return models;
}

/// `run(batch)` throws std::invalid_argument for each damage, and nothing for the whole batch. `paths`: it reads them.
template <class Run>
void expect_refusals(const GraphModel& model, bool paths, const Run& run) {
  const GraphBatch whole = batch_for(model, assorted());
  EXPECT_NO_THROW(run(whole));
  for (const Damage& damage : damages()) {
    if (damage.paths && !paths) continue;
    GraphBatch batch = whole;
    damage.make(batch);
    EXPECT_THROW(run(batch), std::invalid_argument) << damage.name;
  }
}

}  // namespace molgraph::test
