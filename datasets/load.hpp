// Loading: reads a named data set ("zinc"), a table or a store into molecules, targets and splits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"
#include "datasets/store/store.hpp"

namespace molgraph {

/// Returns the named data set that `paths` refers to ("zinc" for "ZINC-full"), "" for a table, a store, standard input
/// or several inputs. A name refers to the data set even if a folder or table of that name exists; ./zinc reads that
/// table. A store of that name takes precedence.
std::string named_dataset(const std::vector<std::string>& paths);

/// Loads the input. `progress(done, total_or_0)` is called at intervals from one thread. Throws DataError, FileError,
/// UsageError.
LoadedData load_data(const LoadOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress = {});

/// Summary of load_to_store().
struct StoreReport {
  std::int64_t rows = 0, molecules = 0;
  std::map<std::string, std::int64_t> rejected;  ///< count per status word
  Task task;
  std::string split_name;                     ///< "" = the store has no split
  std::array<std::int64_t, 3> split_sizes{};  ///< train, valid, test
  std::vector<RepeatedRow> repeated;          ///< as in LoadedData
  std::vector<std::string> notes, warnings;   ///< as in LoadedData
};

/// Reads names and tables as load_data() does, but writes each row to a store. Memory does not grow with the number of
/// molecules, except for about 40 bytes each to compute a split and 16 to find duplicates. The table is read twice, and
/// once or twice more to find duplicates; standard input is therefore copied to an unnamed temporary file. The store
/// gets a split if the source has one, `splits_column` is given or `split` selects one. `rejected` is called for each
/// rejected row, in order.
StoreReport load_to_store(const LoadOptions& options, const std::string& path, const StoreWriterOptions& writer = {},
                          const std::function<void(std::int64_t, std::int64_t)>& progress = {},
                          const std::function<void(const RejectedRow&)>& rejected = {});

}  // namespace molgraph
