// The split or splits that LoadOptions asks for where the source has none of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph {

/// Throws UsageError for options of splits that contradict each other, or would do nothing.
void check_split_options(const LoadOptions& options);

/// The word of --split-type for a split that is computed.
std::string_view split_word(SplitKind kind);
/// True if what is later is predicted from what was before: by time, by order.
bool looks_ahead(SplitKind kind);

/// What a split that is computed goes by.
struct SplitBasis {
  std::int64_t count = 0;                          ///< molecules
  std::function<std::vector<std::string>()> keys;  ///< [count] scaffolds, groups or times; called only if needed
  std::string file;                                ///< in messages
  std::vector<std::int64_t> rows;                  ///< [count] 0-based, for messages and for --splits-file
  std::int64_t file_rows = 0;                      ///< rows of the table
  ClassLabels labels{};  ///< [count] of a classification: what is random is stratified by them
  /// [count] the first row of the molecule that stands in this one: equal ones stay in one part (but with
  /// --splits-file). Empty = each is another molecule.
  std::vector<std::int64_t> first_rows{};
};

struct ComputedSplits {
  std::string name;
  std::vector<Split> splits;  ///< one, or one per fold
};
ComputedSplits computed_splits(const LoadOptions& options, const SplitBasis& basis);
/// With train and test tables only, valid is taken from train in the proportion of the split sizes: at random, or what
/// is last by time or order. `basis` of the whole set.
void take_valid_from_train(Split& split, const LoadOptions& options, const SplitBasis& basis);
/// True if part of that split is random, so that the classes count.
bool is_random(const LoadOptions& options);
/// True if it goes by scaffolds.
bool needs_scaffolds(SplitKind kind);
/// What is said of a random split of classes.
inline constexpr const char* kStratifiedNote = "random parts are stratified: each has its share of every class";
/// Puts them into the data.
void set_splits(LoadedData& data, ComputedSplits computed);

/// Moves LoadOptions::calibration_share of the training part's molecules into its calibration part, drawn at
/// random as take_valid_from_train() does; nothing if that is 0. `first_rows` as for set_rounds(). Throws UsageError
/// where there are several splits, DataError where there is no molecule to spare.
void draw_calibration(LoadedData& data, const LoadOptions& options, const std::vector<std::int64_t>& first_rows);

/// Sets LoadedData::rounds, K = LoadOptions::rounds splits (less, down to `fewest_rounds`, where there is not enough)
/// with the test part of `split`, once that is final; nothing if K is 0. Their valid parts are disjoint and together
/// its train and valid part without rows of weight 0; the train part of each is the rest. Rows of one molecule stay
/// together, and so do whole scaffolds (by a split's name: scaffold, scaffold-balanced) and whole groups; where neither
/// counts, molecules are dealt at random, stratified by class. Of a split by time or order all are `split` itself,
/// since the latest must not be learned before they are predicted; likewise of one by groups that are no longer known,
/// those of a store. `first_rows`: as in SplitBasis, of the whole set; empty = first_rows_of(). `groups` [G]: cells of
/// the group column, empty = not known. Throws UsageError where there are several splits, DataError for fewer molecules
/// (scaffolds, groups) than K.
void set_rounds(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                std::vector<std::string> groups);

/// Sets LoadedData::inner: LoadOptions::inner_folds splits whose valid parts are made as those of set_rounds(), so that
/// each molecule of the training and validation part is held out once. Fewer where there are fewer molecules
/// (scaffolds, groups); nothing with several splits or rounds, without a validation part, of a split by time or order
/// and of one by groups that are not known: LoadedData::may_have_inner_folds says so, also where none are asked for.
void set_inner_folds(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                     std::vector<std::string> groups);

}  // namespace molgraph
