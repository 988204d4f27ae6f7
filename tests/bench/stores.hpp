// The reading speed of a store: from disk to memory, and from memory to batches in random order.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/programs.hpp"

namespace molgraph::bench {

/// Rates of a store of any size, with batches of `batch_size` random molecules. Pairs are read from the store for only
/// some molecules, because that is slow.
std::vector<Figure> measure_store(const std::string& path, int threads, int batch_size);

}  // namespace molgraph::bench
