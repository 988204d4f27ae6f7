// Removal of rows without weight or label from the training set.
#pragma once

#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Removes the molecules of weight 0 from the training set of every split and adds a note. Throws DataError if none is
/// left.
void leave_out_weightless(LoadedData& data);

/// True if the molecule has a label for any target, including auxiliary ones.
bool has_label(const LoadedData& data, std::int64_t molecule);
/// Whether a molecule contributes to training: it has a label and a weight above 0.
bool is_trainable(const LoadedData& data, std::int64_t molecule);

/// Removes the molecules without a label from the training set of every split, because they would only fill batches,
/// and adds a note. Does nothing for a set without targets. Throws DataError if none is left.
void leave_out_unlabelled(LoadedData& data);

}  // namespace molgraph
