// Methods to split a data set into training, validation and test set.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/splits/stratify.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Shuffles with Fisher-Yates on Philox4x32-10, because standard-library shuffles differ between compilers. `purpose`
/// separates the random streams of one seed.
enum class ShuffleStream : std::uint32_t { split = 1, epoch = 2, scaffold = 3 };
void shuffle(std::span<std::int64_t> items, std::uint64_t seed, ShuffleStream purpose, std::uint32_t epoch = 0);

/// Returns at most `max_items` of the items, drawn with the seed, in ascending order.
std::vector<std::int64_t> sample(std::vector<std::int64_t> items, std::int64_t max_items, std::uint64_t seed);

/// Set of one row; `none` = left out.
enum class SplitPart : std::uint8_t { none, train, valid, test };

using SplitSizes = std::array<double, 3>;  ///< train, valid, test; each >= 0; normalised to sum 1

Split random_split(std::int64_t count, const SplitSizes& sizes, std::uint64_t seed);
/// Sets of the same sizes as in random_split(), stratified by class (deal_by_class); without classes, random_split().
Split stratified_split(std::int64_t count, const ClassLabels& labels, const SplitSizes& sizes, std::uint64_t seed);
/// OGB's rule: groups of equal Murcko scaffold, sorted by (size, first index) in descending order, fill the sets in
/// turn. `scaffolds` [G].
Split scaffold_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes);
/// Chemprop's rule: large groups (more than half of the validation or test size) come first, in random order by the
/// seed, then the others, also in random order. Each goes into the first set with room: train, valid, test. Unlike
/// there, a group that is larger than every requested set becomes the largest of them, and the others share the rest.
Split scaffold_balanced_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes, std::uint64_t seed);
/// Groups of a user's column. A molecule with an empty cell becomes a separate group.
std::vector<std::string> unique_where_empty(std::vector<std::string> groups);
/// The earliest rows are the training set, the latest the test set; equal times are ordered by index. `times`: all
/// numbers, or all ISO 8601 dates (2024-03-01, optionally with time and zone), compared as points in time. Throws
/// DataError with the row (`rows`, 0-based) that is neither or is not an existing date.
Split time_split(const std::vector<std::string>& times, const SplitSizes& sizes, const std::string& file,
                 const std::vector<std::int64_t>& rows);
/// The first rows are the training set, the last the test set.
Split order_split(std::int64_t count, const SplitSizes& sizes);

/// Converts a time to a number for comparison: seconds of a date, else the number. Throws DataError with the row
/// (0-based).
double time_of_cell(const std::string& cell, const std::string& file, std::int64_t row);

/// Cross-validation: the test sets of the K splits are disjoint, of similar size, and together contain all molecules.
/// The other molecules of each split are divided into train and valid in the proportion of the first two sizes.
/// `groups` [count]: scaffolds or names that stay together; the largest group goes first, into the smallest fold.
/// Empty = molecules are divided separately, in random order by the seed. `labels` [count]: classes for stratifying
/// random divisions; may be empty.
std::vector<Split> k_fold_splits(std::int64_t count, const std::vector<std::string>& groups, int folds,
                                 const SplitSizes& sizes, std::uint64_t seed, const ClassLabels& labels = {});

/// Reads the splits of a JSON file in chemprop 2's format: a list of {"train", "val" or "valid", "test"}, each a list
/// of 0-based row numbers or a string such as "0-9,12". Returns `parts[s][row]`. Throws FileError (missing file,
/// invalid JSON) and DataError for a row that does not exist or occurs twice in a split.
std::vector<std::vector<SplitPart>> splits_of_file(const std::string& path, std::int64_t rows);

/// Set of a cell with train, val, valid, validation or test (ignoring case); none for a missing cell (is_missing).
/// Throws DataError with the row, which is 0-based, for any other cell.
SplitPart split_part_of_cell(const std::string& cell, const std::string& file, std::int64_t row);
void add_to_part(Split& split, SplitPart part, std::int64_t index);

/// Computes the Murcko scaffolds of all molecules, or of their parents if the set is standardised, in parallel.
std::vector<std::string> scaffolds_of(const MoleculeSet& set, int threads = 0);

}  // namespace molgraph
