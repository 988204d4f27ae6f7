// Molecules that an imported model has no rows for.
#pragma once

#include <string>

#include "attention/spec/options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// Why the model cannot take the molecule ("atom 3 has type 25, which the model's table lacks"), or "" if it can.
/// `max_distance` L names the topology classes; distances are computed only if a class of them is missing.
std::string missing_rows_reason(const GraphView& graph, int max_distance, const MissingRows& missing);

}  // namespace molgraph
