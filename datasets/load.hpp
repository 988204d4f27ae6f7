// From a name ("zinc"), a table or a store to molecules, targets and splits in memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/auxiliary_targets.hpp"
#include "datasets/catalogue/download.hpp"
#include "datasets/catalogue/training_defaults.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/store/molecule_set.hpp"
#include "datasets/store/store.hpp"
#include "datasets/tables/table_reader.hpp"
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
/// "random", "scaffold", "scaffold-balanced", "group", "time", "order", "predefined", "published"; throws UsageError.
SplitKind split_kind_from_string(const std::string& text);

/// What labels such as ">50" are to training: limits, whose loss is zero on the allowed side; missing; or the numbers
/// themselves.
enum class Censored : std::uint8_t { bounded, drop, value };

/// Rows of a table that gets descriptors without being asked: 207 numbers of each stay in memory.
inline constexpr std::int64_t kMostRowsWithDescriptors = 50'000;

struct LoadedData;

/// What to load and how; aggregated from the command line. Two tables are train and test (valid is drawn from train,
/// seeded, or its latest part by `split` time or order), three are train, valid, test.
struct LoadOptions {
  std::vector<std::string> paths;  ///< one name, store or table; or two or three tables: train, [valid,] test
  std::string data_dir;            ///< where named data sets lie; "" = $MOLGRAPH_DATA, else the XDG cache
  std::string subset;              ///< zinc: 12k (default) or full; pcqm4mv2: partial or sample
  TableOptions table;
  std::vector<std::string> target_columns;     ///< empty = found by the rule of docs/reference/programs.md, "Input"
  std::vector<std::string> auxiliary_columns;  ///< LoadedData::auxiliary: of tables and stores without a name
  std::string positive;              ///< the label that is 1 in a classification; "" = by its meaning (labels.hpp)
  std::optional<TaskKind> task;      ///< empty = by the data set, else by the values (only binary labels = binary)
  std::optional<Features> features;  ///< empty = the data set's, else `table_features`
  Features table_features = kDefaultFeatures;  ///< of tables without a name
  std::optional<DescriptorSet> descriptors;    ///< empty = none of named data sets, of a store what it holds, else:
  /// of tables without a name that have numbers to predict and at most kMostRowsWithDescriptors rows
  DescriptorSet table_descriptors = DescriptorSet::none;
  /// false: where `descriptors` is empty, those of a store with the features `molgraph` and measured numbers to predict
  /// are left out
  bool descriptors_of_store = true;
  std::vector<std::string> input_columns;  ///< columns of numbers that heads may read, behind the descriptors
  std::optional<Standardize> standardize;  ///< empty = the store's, else none
  FeaturizerLimits limits;
  /// why a model cannot take a molecule ("" if it can): such rows are rejected as unsupported
  std::function<std::string(const GraphView&)> unsupported;
  SplitKind split = SplitKind::automatic;  ///< automatic: published, else a column of the data set, else random
  SplitSizes split_sizes{0.8, 0.1, 0.1};
  std::function<SplitSizes(std::int64_t)> split_sizes_of;  ///< by the number of molecules; empty = `split_sizes`
  std::string splits_column;
  std::string group_column, time_column;  ///< of the table, for those kinds of split
  std::string splits_file;                ///< JSON as chemprop's (splits_of_file)
  int folds = 0;                          ///< cross-validation by random, scaffold or group; 0 = one split
  int rounds = 0;  ///< of one split: so many validation parts, of which each is another model's; 0 = none
  /// of the training part: kept apart as Split::calibration, whole molecules drawn by the seed; 0 to 1
  double calibration_share = 0;
  int fewest_rounds = 0;  ///< where there are too few molecules, scaffolds or groups for `rounds`: so many will do
  int inner_folds = 0;    ///< of one split without rounds: LoadedData::inner; 0 = none
  std::function<bool(const LoadedData&)> needs_inner_folds;  ///< asked with the split known; empty = yes
  std::uint64_t seed = 0;
  std::int64_t limit = 0;  ///< > 0: keep this many molecules: the first of each split part in proportion
  /// molecules in several rows; empty = `mean` for tables of one's own with targets, else all rows as they are (data
  /// sets with a name, --splits-file, stores; of a store, `keep` alone can be asked for)
  std::optional<Duplicates> duplicates;
  int threads = 0;
  bool strict = false;          ///< any rejected row is a DataError
  bool require_targets = true;  ///< false: featurise only
  /// any number of tables, one behind the other; without `target_columns` only the molecules count. A target is a
  /// column of one table or more, matched by its name; its labels are MoleculeSet::sparse (without `require_targets`)
  bool corpus = false;
  std::vector<double> table_weights;  ///< of each table of a corpus: of its labels in the loss; empty = all are 1
  Censored censored = Censored::bounded;
  std::string weight_column;  ///< of the rows in the loss; "" = none
  /// told all files that will be read, before the first row is and before anything is written; may throw
  std::function<void(const std::vector<std::string>&)> will_read;
  std::optional<DownloadOptions> download;  ///< how to fetch a named data set that is not there; empty = not at all
};

struct LoadedData {
  MoleculeSet set;
  AuxiliaryTargets auxiliary;  ///< [LoadOptions::auxiliary_columns]
  std::string split_name;      ///< "published", "random", "files by time" ... : the split that `split` is
  Split split;
  std::vector<Split> folds;   ///< several splits, `split` is the first; empty if there is but one
  std::vector<Split> rounds;  ///< [LoadOptions::rounds] splits with the test part of `split` (set_rounds()); or empty
  std::vector<Split> inner;   ///< [LoadOptions::inner_folds] splits of train and valid (set_inner_folds()); or empty
  bool may_have_inner_folds = false;  ///< set_inner_folds() can deal some
  std::string metric;                 ///< the data set's own, "" = by the task
  TrainingDefaults training;          ///< the data set's own
  /// Parts whose labels are hidden, for the benchmark's judges ("test-dev"): per row of the part, in the table's order,
  /// its molecule, -1 where there is none. Empty with a limit: a part of them is no submission.
  std::map<std::string, std::vector<std::int64_t>> hidden_parts;
  std::int64_t censored = 0;          ///< labels such as ">50" in the source, whatever they are now
  std::vector<RepeatedRow> repeated;  ///< rows of molecules that stand in several, and what they became
  std::vector<std::string> notes;     ///< what was decided about targets, repeats and split, for people
  std::vector<std::string> warnings;  ///< same molecule in two splits, constant target, rejected rows ... for people
};

/// The data set known by name that `paths` mean ("zinc" for "ZINC-full"), "" where they mean a table, a store, standard
/// input or several inputs. A name means the data set even where a folder or table of that name exists (a store of that
/// name is the store); ./zinc reads that table.
std::string named_dataset(const std::vector<std::string>& paths);

/// `progress(done, total_or_0)` is called now and then from one thread. Throws DataError, FileError, UsageError.
LoadedData load_data(const LoadOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress = {});

/// What load_to_store() wrote.
struct StoreReport {
  std::int64_t rows = 0, molecules = 0;
  std::map<std::string, std::int64_t> rejected;  ///< count per status word
  Task task;
  std::string split_name;                     ///< "" = no split was written
  std::array<std::int64_t, 3> split_sizes{};  ///< train, valid, test
  std::vector<RepeatedRow> repeated;          ///< as in LoadedData
  std::vector<std::string> notes, warnings;   ///< as in LoadedData
};

/// Names and tables as for load_data(), but from row to row into a store: memory does not grow with the molecules (a
/// split costs some 40 bytes each while it is made, the search for repeated molecules 16). The table is read twice,
/// first for its targets, and where repeats are looked for once or twice more; standard input is
/// copied to an unnamed temporary file for that. A split is written where the source has one, `splits_column` is given
/// or `split` asks for one. `rejected` is called for each row without a molecule, in order.
StoreReport load_to_store(const LoadOptions& options, const std::string& path, const StoreWriterOptions& writer = {},
                          const std::function<void(std::int64_t, std::int64_t)>& progress = {},
                          const std::function<void(const RejectedRow&)>& rejected = {});

/// One entry of the catalogue of named data sets: what `molgraph-train --help` and the README list.
struct NamedDataset {
  std::string name, what, files, split, metric, where;  ///< `where`: how to get the files
};
const std::vector<NamedDataset>& named_datasets();

}  // namespace molgraph
