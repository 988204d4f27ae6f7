// Named data sets: their files, columns and splits. To add one, add an entry in catalogue_entries.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/catalogue/download.hpp"
#include "datasets/catalogue/training_defaults.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

/// SourcePlan::part_column: the only column whose name contains "split".
inline constexpr const char* kAnySplitColumn = "*split*";

/// One table to read.
struct SourceTable {
  std::string path;  ///< "-" = stdin
  TableOptions options;
  SplitPart part = SplitPart::none;  ///< the set that the whole table belongs to, if any
  std::string pick_file{};           ///< numbers of the lines to read, in order; "" = all lines
};

/// Properties of a source that are known before its rows are read.
struct SourcePlan {
  std::string name;                         ///< "zinc", or the file's name without its folder
  bool named = false;                       ///< a named data set
  std::vector<SourceTable> tables;          ///< read in this order
  std::vector<std::string> target_columns;  ///< empty = found by the rule
  std::vector<std::string> target_names;    ///< names of the targets; empty = names of their columns
  std::vector<std::string> units;           ///< as target_columns; empty = unknown
  std::optional<TaskKind> task;
  Features features = Features::ogb;
  DescriptorSet descriptors = DescriptorSet::none;
  bool computed_label = false;               ///< the target is the penalised logP, computed from the SMILES
  std::string split_name;                    ///< of the split that belongs to the source; "" = none
  std::string part_column;                   ///< column with the split, if there is one
  std::array<std::string, 3> part_files;     ///< or files of 0-based row numbers: train, valid, test
  std::string part_archive;                  ///< or OGB-LSC's split_dict.pt, which contains all three
  bool scaffold = false;                     ///< the split is OGB's scaffold rule and must be computed
  std::array<std::int64_t, 3> part_sizes{};  ///< expected sizes of the three sets; 0 = not checked
  std::string metric;
  TrainingDefaults training;
};

/// A named data set and where to find it.
struct NamedSource {
  std::string name, subset;
  std::string data_dir;                     ///< LoadOptions::data_dir
  TableOptions table;                       ///< how to read its tables
  std::optional<DownloadOptions> download;  ///< how to download missing files; empty = no download
};

/// Returns the plan of a named data set, or nothing if there is no such data set. Throws FileError with the missing
/// files, the folders searched, their source and where to put them; UsageError for an unknown subset.
std::optional<SourcePlan> plan_named(const NamedSource& source);

/// Returns the name of the data set for a spelling of it ("ogbg-molhiv", "ZINC-full"), "" if there is none.
std::string dataset_name(const std::string& name);

/// Returns TrainingDefaults::recipe of a subset of a data set ("zinc-full" specifies name and subset, subset "" the
/// default one), "" if there is no such data set. Throws UsageError for an unknown subset.
std::string default_recipe(const std::string& name, const std::string& subset);

/// Returns TrainingDefaults::computed of the data set `name`; stores use this name. False if there is none.
bool has_computed_targets(const std::string& name);

/// Returns the folders that are searched for named data sets: only --data-dir if specified, otherwise $MOLGRAPH_DATA
/// and the XDG cache.
std::vector<std::string> data_folders(const std::string& data_dir);

/// One entry of the catalogue of named data sets.
struct NamedDataset {
  std::string name, what, files, split, metric, where;  ///< `where`: how to obtain the files
};
const std::vector<NamedDataset>& named_datasets();

}  // namespace molgraph
