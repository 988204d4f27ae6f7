// Weights of rows in the loss.
#pragma once

#include "datasets/load.hpp"

namespace molgraph {

/// Takes the molecules of weight 0 out of the training part of every split, and says so. Throws DataError if none is
/// left.
void leave_out_weightless(LoadedData& data);

}  // namespace molgraph
