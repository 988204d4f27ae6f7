// Published GRPE weights: names, table sizes and row maps.
#pragma once

#include <vector>

#include "attention/reference/published_tensors.hpp"

namespace molgraph {

/// grpe. The model has the published relation classes and the key term by row. It rejects molecules with values or
/// bonds beyond its tables (ModelOptions::missing). Features are ogb for a node table of 4609 rows, else zinc. The
/// number of heads must be given. The hop tables determine L.
const std::vector<PublishedCode>& grpe_published();

}  // namespace molgraph
