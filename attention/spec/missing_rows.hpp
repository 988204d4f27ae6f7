// Finds molecules that need table rows which an imported model lacks.
#pragma once

#include <string>

#include "attention/spec/options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// The reason why the model cannot process the molecule ("atom 3 has the value 25 in column 1, for which the imported
/// model has no row"), or "" if it can. `max_distance` is L, which determines the topology classes. Distances are
/// computed only if a topology class is missing.
std::string missing_rows_reason(const GraphView& graph, int max_distance, const MissingRows& missing);

}  // namespace molgraph
