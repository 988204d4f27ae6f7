// Loading a data set that has been featurised into a store.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph {

/// options.paths[0] is a store. Chosen targets, split and limit are applied to it; other features than the store's are
/// a UsageError.
LoadedData load_from_store(const LoadOptions& options);

/// Throws UsageError for options of splits that contradict each other, or would do nothing.
void check_split_options(const LoadOptions& options);

/// What a split that is computed goes by.
struct SplitBasis {
  std::int64_t count = 0;                          ///< molecules
  std::function<std::vector<std::string>()> keys;  ///< [count] scaffolds, groups or times; called only if needed
  std::string file;                                ///< in messages
  std::vector<std::int64_t> rows;                  ///< [count] 0-based, for messages and for --splits-file
  std::int64_t file_rows = 0;                      ///< rows of the table
  ClassLabels labels{};  ///< [count] of a classification: what is random is stratified by them
};

/// The split or splits that LoadOptions asks for where the source has none of its own.
struct ComputedSplits {
  std::string name;
  std::vector<Split> splits;  ///< one, or one per fold
};
ComputedSplits computed_splits(const LoadOptions& options, const SplitBasis& basis);
/// True if part of that split is random, so that the classes count.
bool is_random(const LoadOptions& options);
/// What is said of a random split of classes.
inline constexpr const char* kStratifiedNote = "random parts are stratified: each has its share of every class";
/// Puts them into the data.
void set_splits(LoadedData& data, ComputedSplits computed);

/// Appends what people should know about the set, its targets and its split.
void add_warnings(LoadedData& data, const LoadOptions& options);

}  // namespace molgraph
