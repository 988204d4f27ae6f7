// Computed splits: those that LoadOptions requests if the source has no split.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Throws UsageError for split options that contradict each other or would do nothing.
void check_split_options(const LoadOptions& options);

/// The --split-type word of a computed split.
std::string_view split_word(SplitKind kind);
/// True if later rows are predicted from earlier ones: splits by time or order.
bool is_chronological(SplitKind kind);

/// Input of a computed split.
struct SplitBasis {
  std::int64_t count = 0;                          ///< molecules
  std::function<std::vector<std::string>()> keys;  ///< [count] scaffolds, groups or times; called only if needed
  std::string file;                                ///< in messages
  std::vector<std::int64_t> rows;                  ///< [count] 0-based, for messages and --splits-file
  std::int64_t file_rows = 0;                      ///< rows of the table
  ClassLabels labels{};                            ///< [count] for classification: stratifies random splits
  /// [count] the first row of this row's molecule. Rows with the same number stay in one set, except with
  /// --splits-file. Empty = all molecules are different.
  std::vector<std::int64_t> first_rows{};
};

struct ComputedSplits {
  std::string name;
  std::vector<Split> splits;  ///< one, or one per fold
};
ComputedSplits computed_splits(const LoadOptions& options, const SplitBasis& basis);
/// Draws the validation set from the training table if there are only training and test tables, in the proportion of
/// the split sizes: at random, or the last rows by time or order. `basis` describes the whole set.
void take_valid_from_train(Split& split, const LoadOptions& options, const SplitBasis& basis);
/// Throws UsageError if `splits_column` has no effect, because `split` or `folds` defines another split.
void check_splits_column(const LoadOptions& options);
/// True if the split is random, at least in part, and is therefore stratified by class.
bool is_random(const LoadOptions& options);
/// True for splits by scaffold.
bool needs_scaffolds(SplitKind kind);
/// Log note on a random split of classes.
inline constexpr const char* kStratifiedNote = "random splits are stratified by class";
/// Stores the splits in the data.
void set_splits(LoadedData& data, ComputedSplits computed);

/// Moves LoadOptions::calibration_share of the training set's molecules to the calibration set, drawn at random as in
/// take_valid_from_train(). Does nothing if the share is 0. `first_rows` as for set_member_splits(). Throws UsageError
/// if there are several splits, DataError if either set would be empty.
void draw_calibration(LoadedData& data, const LoadOptions& options, const std::vector<std::int64_t>& first_rows);

/// Sets LoadedData::member_splits to K = LoadOptions::member_splits splits (fewer, down to `min_member_splits`, if
/// there are too few molecules, scaffolds or groups). Call it once `split` is final. Does nothing if K is 0.
///
/// All K splits have the test set of `split`. Their validation sets are disjoint and together are the training and
/// validation sets of `split` without rows of weight 0; the training set of each is the rest. Rows of one molecule stay
/// together, as do scaffolds (if the split's name is scaffold or scaffold-balanced) and groups. For other splits,
/// molecules are divided at random, stratified by class. For a split by time or order, all K splits equal `split`,
/// because a model must not be trained on later rows than those it predicts. The same applies to a split by groups that
/// are not known, as in a store.
///
/// `first_rows`: as in SplitBasis, for the whole set; empty = first_rows_of(). `groups` [G]: cells of the group column;
/// empty = not known. Throws UsageError if there are several splits, DataError if there are fewer molecules (scaffolds,
/// groups) than K.
void set_member_splits(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                       std::vector<std::string> groups);

/// Sets LoadedData::inner to LoadOptions::inner_folds splits, or fewer if there are fewer molecules (scaffolds,
/// groups). Their validation sets are made as in set_member_splits(), so each molecule of the training and validation
/// sets is held out once. There are no inner folds with several splits or members' splits, without a validation set,
/// for a split by time or order and for one by groups that are not known. LoadedData::may_have_inner_folds is then
/// false; it is set even if no inner folds are requested.
void set_inner_folds(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                     std::vector<std::string> groups);

}  // namespace molgraph
