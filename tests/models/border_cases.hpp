// Invalid batches for a model. The reference and every engine must reject each of them before they read it.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/graphormer/model_checks.hpp"
#include "tests/models/every_model.hpp"

namespace molgraph::test {

struct BatchDefect {
  std::string name;
  std::function<void(GraphBatch&)> make;
  bool paths = false;  ///< the defect is in GraphBatch::paths, which a device does not read
};

/// Defects of a batch of assorted(), in which molecule 1 is cubane and molecule 4 a chain of 40.
inline std::vector<BatchDefect> batch_defects() {
  const auto last = [](auto& values) -> auto& { return values.back(); };
  const auto pair_of = [](const GraphBatch& b, std::size_t molecule, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(b.pair_offset[molecule] +
                                    i * (b.token_offset[molecule + 1] - b.token_offset[molecule]) + j);
  };
  return {
      {"another feature set", [](GraphBatch& b) { b.features = Features::zinc; }},
      {"the columns of another feature set", [](GraphBatch& b) { b.atoms.resize(b.degree.size()); }},
      {"an atom value out of range", [](GraphBatch& b) { b.atoms[9 * 3] = 119; }},
      {"the last atom value out of range", [=](GraphBatch& b) { last(b.atoms) = 255; }},
      {"one degree too few", [](GraphBatch& b) { b.degree.pop_back(); }},
      {"a negative degree", [](GraphBatch& b) { b.degree[5] = -1; }},
      {"an edge with an invalid bond id", [=](GraphBatch& b) { b.edge[pair_of(b, 1, 3, 4)] = 60; }},
      {"the virtual node's edge between atoms", [=](GraphBatch& b) { b.edge[pair_of(b, 4, 40, 40)] = kVirtualEdge; }},
      {"the virtual node's distance between atoms", [=](GraphBatch& b) { b.topology[pair_of(b, 4, 1, 2)] = kVirtual; }},
      {"too few pairs", [](GraphBatch& b) { b.topology.pop_back(); }},
      {"too few edges", [](GraphBatch& b) { b.edge.resize(b.edge.size() / 2); }},
      {"more rows than molecules", [](GraphBatch& b) { b.row.push_back(0); }},
      {"no offsets", [](GraphBatch& b) { b.atom_offset.clear(); }},
      {"decreasing offsets",
       [](GraphBatch& b) {
         b.atom_offset[1] += 5, b.token_offset[1] += 5, b.atom_offset[2] -= 9, b.token_offset[2] -= 9;
       }},
      {"offsets that do not start at 0",
       [](GraphBatch& b) {
         for (auto* o : {&b.atom_offset, &b.token_offset, &b.pair_offset}) o->front() = 1;
       }},
      {"tokens without a virtual node", [](GraphBatch& b) { b.token_offset = b.atom_offset; }},
      {"pairs of another molecule", [](GraphBatch& b) { --b.pair_offset[3]; }},
      {"offsets beyond the end of the arrays",
       [](GraphBatch& b) { ++b.atom_offset.back(), ++b.token_offset.back(), b.pair_offset.back() += 7; }},
      {"no paths", [](GraphBatch& b) { b.paths = {}; }, true},
      {"a path with an invalid bond id", [=](GraphBatch& b) { last(b.paths.bond) = 60; }, true},
      {"a path with a negative bond id", [](GraphBatch& b) { b.paths.bond[0] = -1; }, true},
      {"a step with an invalid target", [=](GraphBatch& b) { last(b.paths.target) += 5; }, true},
      {"a step to a previous target",
       [](GraphBatch& b) { b.paths.target[static_cast<std::size_t>(b.paths.level_steps[2] - 1)] = 0; }, true},
      {"a step with an invalid source", [=](GraphBatch& b) { last(b.paths.source) = 1 << 20; }, true},
      {"a step from another molecule",
       [=](GraphBatch& b) {
         b.paths.source[static_cast<std::size_t>(b.paths.level_steps[1])] = b.paths.level_pairs[1] - 1;
       },
       true},
      {"a pair beyond the end of the batch", [=](GraphBatch& b) { last(b.paths.pair) = b.num_pairs(); }, true},
      {"a duplicate pair", [](GraphBatch& b) { b.paths.pair[1] = b.paths.pair[0]; }, true},
      {"too few steps", [](GraphBatch& b) { b.paths.weight.pop_back(); }, true},
      {"a level beyond the end of the steps",
       [](GraphBatch& b) { b.paths.level_steps[1] = b.paths.level_steps.back() + 1; }, true},
      {"one level too few", [](GraphBatch& b) { b.paths.level_steps.pop_back(); }, true},
  };
}

/// Graphormer, GRPE and TUPE with paths in the gate.
inline std::vector<std::unique_ptr<GraphModel>> models_for_invalid_batches() {
  std::vector<std::unique_ptr<GraphModel>> models;
  const GateOptions gate{.enabled = true, .path_hops = 3};
  for (const char* name : {"graphormer", "grpe", "tupe"})
    models.push_back(make_model({name, &encoding_from_string(name), gate}));
  return models;
}

/// `run(batch)` must throw std::invalid_argument for each defect and accept the intact batch. `paths`: `run` reads the
/// paths.
template <class Run>
void expect_refusals(const GraphModel& model, bool paths, const Run& run) {
  const GraphBatch intact = batch_for(model, assorted());
  EXPECT_NO_THROW(run(intact));
  for (const BatchDefect& defect : batch_defects()) {
    if (defect.paths && !paths) continue;
    GraphBatch batch = intact;
    defect.make(batch);
    EXPECT_THROW(run(batch), std::invalid_argument) << defect.name;
  }
}

}  // namespace molgraph::test
