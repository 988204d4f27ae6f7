// Result of loading: molecules, targets and splits in memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/auxiliary_targets.hpp"
#include "datasets/catalogue/training_defaults.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

struct LoadedData {
  MoleculeSet set;
  AuxiliaryTargets auxiliary;  ///< [LoadOptions::auxiliary_columns]
  std::string split_name;      ///< name of `split`: "published", "random", "files by time" ...
  Split split;
  std::vector<Split> folds;          ///< several splits, the first is `split`; empty if there is only one
  std::vector<Split> member_splits;  ///< [LoadOptions::member_splits] splits with the test set of `split`
                                     ///< (set_member_splits()); or empty
  std::vector<Split> inner;  ///< [LoadOptions::inner_folds] splits of train and valid (set_inner_folds()); or empty
  bool may_have_inner_folds = false;  ///< set_inner_folds() can make inner folds
  std::string metric;                 ///< the data set's metric, "" = by the task
  TrainingDefaults training;          ///< the data set's defaults
  /// Sets whose labels only the benchmark's organisers know ("test-dev"). For each row of the set, in the table's
  /// order: the molecule's index, -1 if the row has none. Empty with a limit: a submission needs the whole set.
  std::map<std::string, std::vector<std::int64_t>> hidden_parts;
  std::int64_t censored = 0;          ///< labels such as ">50" in the source, however they are used
  std::vector<RepeatedRow> repeated;  ///< rows of duplicate molecules and how they were merged
  std::vector<std::string> notes;     ///< for the log: how targets, duplicates and split were chosen
  std::vector<std::string> warnings;  ///< for the log: molecules in two sets, constant targets, rejected rows ...
};

}  // namespace molgraph
