// Published GRPE weights: names, table sizes and row maps.
#pragma once

#include <vector>

#include "attention/reference/published_tensors.hpp"

namespace molgraph {

/// grpe. The model has the published relation classes and the key term by row; values and bonds beyond its tables are
/// rejected (ModelOptions::missing). Features are ogb for a node table of 4609 rows, else zinc; heads must be given; L
/// is by the hop tables.
const std::vector<PublishedCode>& grpe_published();

}  // namespace molgraph
