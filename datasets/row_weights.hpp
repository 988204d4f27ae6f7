// Rows that are not trained on.
#pragma once

#include "datasets/load.hpp"

namespace molgraph {

/// Takes the molecules of weight 0 out of the training part of every split, and says so. Throws DataError if none is
/// left.
void leave_out_weightless(LoadedData& data);

/// Has the molecule a label of any target, auxiliary ones counted?
bool has_label(const LoadedData& data, std::int64_t molecule);

/// Takes the molecules without a label out of the training part of every split, and says so: they would only fill
/// batches. Nothing is done to a set without targets. Throws DataError if none is left.
void leave_out_unlabelled(LoadedData& data);

}  // namespace molgraph
