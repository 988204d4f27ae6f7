// Looks at a data set's description in the file's bytes before HDF5 does. Private to this room.
//
// HDF5 1.10 divides by the chunk sizes it finds there: a zero ends the whole program with SIGFPE. A checksum does not
// help, since whoever makes a hostile file can compute it.
#pragma once

#include <string>

#include "datasets/store_layout.hpp"

namespace molgraph::store_layout {

/// Why the data set `name` in `group` must not be opened; "" if it may. Expects what our writer makes: an object header
/// of version 1 in one piece, chunks of `rank` dimensions (0: not chunked), none of them 0.
std::string why_not_open(File& file, hid_t group, const std::string& name, int rank);

}  // namespace molgraph::store_layout
