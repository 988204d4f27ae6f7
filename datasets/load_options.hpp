// Options of loading, set from the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "datasets/catalogue/download.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/tables/table_reader.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/molecular_graph.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

enum class SplitKind : std::uint8_t {
  automatic,
  published,
  random,
  scaffold,
  scaffold_balanced,
  group,
  time,
  order,
  column
};
/// Parses "random", "scaffold", "scaffold-balanced", "group", "time", "order", "predefined" or "published". Throws
/// UsageError for other text.
SplitKind split_kind_from_string(const std::string& text);

/// How training uses censored labels such as ">50". `bounded`: as limits, with a loss that is zero on the allowed side.
/// `drop`: as missing labels. `value`: as exact labels.
enum class Censored : std::uint8_t { bounded, drop, value };

/// Most rows of a table that gets descriptors by default: 207 numbers per row stay in memory.
inline constexpr std::int64_t kMaxRowsWithDescriptors = 50'000;

struct LoadedData;

/// Two tables are the training and the test set; the validation set is drawn from the training table with the seed, or
/// consists of its latest rows if `split` is time or order. Three tables are the training, validation and test set.
struct LoadOptions {
  std::vector<std::string> paths;  ///< one name, store or table; two or three tables: train, [valid,] test
  std::string data_dir;            ///< folder of named data sets; "" = $MOLGRAPH_DATA, else the XDG cache
  std::string subset;              ///< zinc: 12k (default) or full; pcqm4mv2: partial or sample
  TableOptions table;
  std::vector<std::string> target_columns;     ///< empty = chosen as in docs/reference/programs.md, "Input"
  std::vector<std::string> auxiliary_columns;  ///< LoadedData::auxiliary; only for your own tables and stores
  std::string positive;              ///< label of class 1 of a binary target; "" = by its meaning (labels.hpp)
  std::optional<TaskKind> task;      ///< empty = the data set's, else by the values (only binary labels = binary)
  std::optional<Features> features;  ///< empty = the data set's, else `table_features`
  Features table_features = kDefaultFeatures;  ///< of your own tables
  /// empty = none for named data sets; those in a store; else `table_descriptors`
  std::optional<DescriptorSet> descriptors;
  /// of your own tables with regression targets and at most kMaxRowsWithDescriptors rows
  DescriptorSet table_descriptors = DescriptorSet::none;
  /// false: if `descriptors` is empty, the descriptors of a store with the features `molgraph` and measured regression
  /// targets are left out
  bool descriptors_of_store = true;
  std::vector<std::string> input_columns;  ///< numeric columns that heads may read, after the descriptors
  std::optional<Standardize> standardize;  ///< empty = the store's, else none
  FeaturizerLimits limits;
  /// returns why a model does not support a molecule, "" if it does; such rows are rejected as unsupported
  std::function<std::string(const GraphView&)> unsupported;
  SplitKind split = SplitKind::automatic;  ///< automatic: published, else a column of the data set, else random
  SplitSizes split_sizes{0.8, 0.1, 0.1};
  std::function<SplitSizes(std::int64_t)> split_sizes_of;  ///< by the number of molecules; empty = `split_sizes`
  std::string splits_column;
  std::string group_column, time_column;  ///< of the table, for these kinds of split
  std::string splits_file;                ///< JSON in chemprop's format (splits_of_file)
  int folds = 0;                          ///< cross-validation by random, scaffold or group; 0 = one split
  int member_splits = 0;  ///< number of validation sets made of one split, one per ensemble member; 0 = none
  /// share of the training set that becomes Split::calibration: whole molecules, drawn with the seed; 0 to 1
  double calibration_share = 0;
  /// smallest number if there are too few molecules, scaffolds or groups for `member_splits`
  int min_member_splits = 0;
  int inner_folds = 0;  ///< number of splits in LoadedData::inner, for one split without `member_splits`; 0 = none
  std::function<bool(const LoadedData&)> needs_inner_folds;  ///< called once the split is known; empty = yes
  std::uint64_t seed = 0;
  std::int64_t limit = 0;  ///< > 0: keeps this many molecules, the first of each set of the split in proportion
  /// how duplicate molecules are merged; empty = `mean` for your own tables with targets, else all rows unchanged
  /// (named data sets, --splits-file, stores). For a store, only `keep` is allowed
  std::optional<Duplicates> duplicates;
  int threads = 0;
  bool strict = false;          ///< any rejected row is a DataError
  bool require_targets = true;  ///< false: only featurises
  /// any number of tables, concatenated; without `target_columns`, only the molecules are used. A target is a column
  /// of one or more tables, matched by name; its labels are in MoleculeSet::sparse (without `require_targets`)
  bool corpus = false;
  std::vector<double> table_weights;  ///< loss weight of the labels of each table of a corpus; empty = all are 1
  Censored censored = Censored::bounded;
  std::string weight_column;  ///< loss weights of the rows; "" = none
  /// called with all files that will be read, before the first row is read and before anything is written; may throw
  std::function<void(const std::vector<std::string>&)> will_read;
  std::optional<DownloadOptions> download;  ///< how to download a missing named data set; empty = no download
};

}  // namespace molgraph
