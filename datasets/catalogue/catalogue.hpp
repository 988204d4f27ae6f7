// The data sets known by name: which files, which columns, which split. To add one, add an entry in
// catalogue_entries.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph {

/// SourcePlan::part_column: the one column that has "split" in its name.
inline constexpr const char* kAnySplitColumn = "*split*";

/// One table that is to be read.
struct SourceTable {
  std::string path;  ///< "-" = stdin
  TableOptions options;
  SplitPart part = SplitPart::none;  ///< the part that the whole table is, if it is one
  std::string pick_file{};           ///< numbers of the lines that count, in their order; "" = all lines
};

/// What is known about a source before its rows are read.
struct SourcePlan {
  std::string name;                         ///< "zinc", or the file's name without its folder
  bool named = false;                       ///< a data set known by name
  std::vector<SourceTable> tables;          ///< read one after the other
  std::vector<std::string> target_columns;  ///< empty = found by the rule
  std::vector<std::string> target_names;    ///< what the targets are called; empty = as their columns
  std::vector<std::string> units;           ///< as target_columns; empty = unknown
  std::optional<TaskKind> task;
  Features features = Features::ogb;
  DescriptorSet descriptors = DescriptorSet::none;
  bool computed_label = false;               ///< the target is penalised logP, computed from the SMILES
  std::string split_name;                    ///< of the split that comes with the source; "" = there is none
  std::string part_column;                   ///< the split's column, if it is one
  std::array<std::string, 3> part_files;     ///< else files of 0-based row numbers: train, valid, test
  std::string part_archive;                  ///< or OGB-LSC's split_dict.pt, which has all of them
  bool scaffold = false;                     ///< the data set's split is OGB's scaffold rule, to be computed
  std::array<std::int64_t, 3> part_sizes{};  ///< what the parts must count; 0 = not checked
  std::string metric;
  TrainingDefaults training;
};

/// The plan of a named data set; empty if `name` is none. Throws FileError saying which files are missing, where they
/// were looked for, where to get them and where to put them; UsageError for an unknown subset.
std::optional<SourcePlan> plan_named(const std::string& name, const LoadOptions& options);

/// The name of the data set that a spelling of it means ("ogbg-molhiv", "ZINC-full"), "" if none.
std::string dataset_name(const std::string& name);

/// TrainingDefaults::recipe of that part of a data set ("zinc-full" means name and subset, subset "" the default one),
/// "" if the name is none. Throws UsageError for an unknown subset.
std::string default_recipe(const std::string& name, const std::string& subset);

/// TrainingDefaults::computed of the data set `name`, by which its stores know it; false if none is called that.
bool has_computed_targets(const std::string& name);

/// Folders in which named data sets are looked for: --data-dir alone if given, else $MOLGRAPH_DATA and the XDG cache.
std::vector<std::string> data_folders(const std::string& data_dir);

}  // namespace molgraph
