// Entries of the named data sets. Private to this folder. To add a data set, add an entry in the .cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/catalogue/training_defaults.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph::catalogue {

/// One possible arrangement of the files of a data set, relative to the data folder. Either one table, optionally with
/// row numbers of train, valid, test (three files, or OGB-LSC's archive); or one list of SMILES per set (the label is
/// then computed), optionally with the numbers of the lines to use. Files are found with and without ".gz", and also if
/// the data folder itself is the first folder of their paths; a table may also be directly in the data folder.
struct Layout {
  std::string table;
  std::array<std::string, 3> part_files{};
  std::string part_archive{};
  std::array<std::string, 3> lists{};
  std::array<std::string, 3> picks{};
  std::string part_column{};
  std::string smiles_column{};
};

struct Entry {
  std::string name{}, subset{};
  std::vector<Layout> layouts{};
  std::vector<std::string> targets{};  ///< empty = all that the rule finds
  std::string target_name{}, unit{};   ///< of a single target; "" = the column's name; "" = none
  TaskKind task = TaskKind::regression;
  Features features = Features::ogb;
  std::string split_name{};  ///< "published", "scaffold" or "" = random
  std::array<std::int64_t, 3> part_sizes{};
  std::string metric{}, what{}, where{};
  TrainingDefaults training{};
  std::vector<std::string> other_names{};
};

/// Returns all entries. A name has several entries if it has subsets; the default subset comes first.
const std::vector<Entry>& entries();

}  // namespace molgraph::catalogue
