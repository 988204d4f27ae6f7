// Ways to part a data set into train, valid and test.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/splits/stratify.hpp"
#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// The project's own shuffle: Fisher-Yates on Philox4x32-10 (standard-library shuffles differ between compilers).
/// `purpose` is a named constant that keeps streams of one seed apart.
enum class ShuffleStream : std::uint32_t { split = 1, epoch = 2, scaffold = 3, init = 4, laplacian = 5 };
void shuffle(std::span<std::int64_t> items, std::uint64_t seed, ShuffleStream purpose, std::uint32_t epoch = 0);

/// At most `most` of the items, drawn by the seed, ascending.
std::vector<std::int64_t> sample(std::vector<std::int64_t> items, std::int64_t most, std::uint64_t seed);

/// Where one row belongs; `none` = left out.
enum class SplitPart : std::uint8_t { none, train, valid, test };

using SplitSizes = std::array<double, 3>;  ///< train, valid, test; they are normalised to sum 1; each >= 0

Split random_split(std::int64_t count, const SplitSizes& sizes, std::uint64_t seed);
/// Parts of the same sizes as random_split's, alike in their classes (deal_by_class); without classes random_split
/// itself.
Split stratified_split(std::int64_t count, const ClassLabels& labels, const SplitSizes& sizes, std::uint64_t seed);
/// OGB's rule: Murcko scaffold groups sorted by (size, first index) descending, filled in order; `scaffolds` [G].
Split scaffold_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes);
/// Large groups (more than half of the valid or the test size) in seeded random order first, then the others likewise;
/// each goes into the first part that has room, train, valid, test (chemprop's rule).
Split scaffold_balanced_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes, std::uint64_t seed);
/// Groups of a user's column: molecules whose cell is empty belong to none, so each becomes a group of its own.
std::vector<std::string> apart_where_empty(std::vector<std::string> groups);
/// The earliest train, the latest test; equal times by index. `times`: all numbers, or all ISO 8601 dates
/// (2024-03-01, perhaps with a time and a zone), by moment. Throws DataError naming the row (`rows`, 0-based) that is
/// neither, or no day that exists.
Split time_split(const std::vector<std::string>& times, const SplitSizes& sizes, const std::string& file,
                 const std::vector<std::int64_t>& rows);
/// The first train, the last test.
Split order_split(std::int64_t count, const SplitSizes& sizes);

/// One time as a number to compare by: seconds of a date, else the number. Throws DataError naming the row (0-based).
double time_of_cell(const std::string& cell, const std::string& file, std::int64_t row);

/// Cross-validation: the test parts of the K splits are disjoint and together everything, alike in size; what remains
/// is parted into train and valid by the proportion of the first two sizes. `groups` [count], scaffolds or names, stay
/// together, largest group first into the smallest fold; empty = every molecule by itself, in seeded random order.
/// `labels` [count] may be empty; with them, what is random is stratified.
std::vector<Split> k_fold_splits(std::int64_t count, const std::vector<std::string>& groups, int folds,
                                 const SplitSizes& sizes, std::uint64_t seed, const ClassLabels& labels = {});

/// The splits of a JSON file as chemprop 2 writes and reads them: a list of {"train", "val" or "valid", "test"}, each a
/// list of 0-based row numbers or a text such as "0-9,12". `parts[s][row]`. Throws FileError (no such file, no JSON)
/// and DataError for a row that does not exist or is in two parts of a split.
std::vector<std::vector<SplitPart>> splits_of_file(const std::string& path, std::int64_t rows);

/// Cells train, val, valid, validation, test (any case). A missing cell (is_missing) leaves the row out; anything else
/// is a DataError with its row.
Split column_split(const std::vector<std::string>& cells, const std::string& file,
                   const std::vector<std::int64_t>& rows);

/// One cell by the rule above; `row` is 0-based.
SplitPart split_part_of_cell(const std::string& cell, const std::string& file, std::int64_t row);
void add_to_part(Split& split, SplitPart part, std::int64_t index);

/// Murcko scaffolds of all molecules, or of their parents where the set is standardised, in parallel.
std::vector<std::string> scaffolds_of(const MoleculeSet& set, int threads = 0);

}  // namespace molgraph
