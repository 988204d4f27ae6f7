// Duplicate molecules of a table: merges them into one row each, or keeps their rows in the same set of a split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/tables/target_parser.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

struct FeaturisedRow;

/// How the rows of one molecule are merged.
/// - `mean`, `median`: one row with the mean or median of each target (and each input column) over the rows that have a
///   value. Classes: majority; a tie is a missing label. Limits such as ">50" count only if no row has an exact value:
///   the result is the tightest limit, or a missing label if there are upper and lower limits.
/// - `drop`: the first row only.
/// - `keep`: all rows; a computed split puts them into the same set.
enum class Duplicates : std::uint8_t { mean, median, keep, drop };
std::string_view to_string(Duplicates rule);               ///< "mean", "median", "keep", "drop"
Duplicates duplicates_from_string(std::string_view text);  ///< throws UsageError

/// A row of a duplicate molecule.
struct RepeatedRow {
  std::int64_t row = 0;    ///< 0-based, counted over all tables
  std::int64_t first = 0;  ///< first row of the molecule, which is kept with the values `used`
  std::string id, smiles;
  std::vector<Label> values, used{};  ///< [T] in the table; after merging (keep: equal to `values`)
  std::vector<float> columns{};       ///< of LoadOptions::input_columns
  float weight = 1;                   ///< of LoadOptions::weight_column
};

/// CSV header and line: row, first, id, smiles, then each target's value and NAME_used. Missing values are empty,
/// limits have their sign, and classes of a multiclass task are the user's words.
std::string repeated_header(const Task& task);
std::string repeated_line(const RepeatedRow& row, const Task& task);

/// Label of one target over the rows of a molecule, NaN if missing. `weights` [rows] apply to the mean and to the votes
/// for classes; rows of weight 0 count only if there are no others. `classes`: labels are class indices.
Label merged_label(const std::vector<Label>& labels, const std::vector<float>& weights, bool classes, Duplicates rule);

/// Rules for merging the rows of a molecule.
struct MergeRules {
  Duplicates rule = Duplicates::keep;
  bool by_time = false;      ///< FeaturisedRow::key is a time; the earliest is used
  bool uses_signs = true;    ///< false: a limit such as ">50" is used as the number 50
  bool add_weights = false;  ///< rows have weights; the merged row gets their sum
};

/// Hash that is equal for all SMILES of one molecule: four rounds of Weisfeiler-Leman over element (and, unless the
/// features are `zinc`, charge, hydrogens and ring membership) and connectivity. Chirality, bond stereo and the Kekule
/// form depend on the SMILES and are left out. Different molecules may have the same hash; canonical SMILES distinguish
/// them.
std::uint64_t invariant_hash(const GraphView& graph);

struct MoleculeSet;
/// [G] First source row of each molecule of the set: its own row, unless an earlier molecule of the set has the same
/// canonical SMILES (that of the parent, if the set contains parents).
std::vector<std::int64_t> first_rows_of(const MoleculeSet& set, int threads);

/// Finds the duplicates among the given rows and merges them.
class Repeats {
 public:
  Repeats() = default;
  Repeats(const MergeRules& rules, const Task& task) : rules_(rules), task_(task) {}

  /// Adds a row, in order, with its canonical SMILES ("" = unknown, therefore no duplicate).
  void add(FeaturisedRow&& row, const std::string& file);
  /// Merges the rows. Call it after the last add().
  void finish();

  bool empty() const { return rows_.empty(); }
  /// First row of this row's molecule.
  std::int64_t first_of(std::int64_t row) const;
  /// True if this row was merged into another one.
  bool is_dropped(std::int64_t row) const { return rules_.rule != Duplicates::keep && first_of(row) != row; }
  /// Sets the values of a molecule's first row to the merged ones.
  void replace(FeaturisedRow& row) const;
  /// In the order of the table.
  const std::vector<RepeatedRow>& rows() const { return rows_; }
  /// Log line with the number of duplicates and the spread of their values: "3 duplicate molecules in 7 of 40 rows: one
  /// row each, by mean ...". `what`: "rows" or "rows (training set only)".
  std::string note(std::int64_t rows, const std::string& what) const;

 private:
  struct Molecule {
    std::vector<std::size_t> rows{};  ///< indices into rows_
    std::vector<Label> used{};        ///< [T]
    std::vector<float> columns{};     ///< of LoadOptions::input_columns, merged
    float weight = 1;
    std::string key{};
    double time = 0;  ///< of `key`, if it is a time
  };
  /// [rows of the molecule] Labels of one target.
  std::vector<Label> labels_of(const Molecule& molecule, std::size_t target) const;
  std::vector<float> weights_of(const Molecule& molecule) const;
  float merged_column(const Molecule& molecule, std::size_t column) const;
  void merge(Molecule& molecule) const;
  std::string spread() const;
  bool is_class(std::size_t target) const { return task_.kind_of(target) != TaskKind::regression; }

  MergeRules rules_;
  Task task_;
  std::vector<Molecule> molecules_;  ///< after finish(): only those with several rows
  std::unordered_map<std::string, std::size_t> by_text_;
  std::unordered_map<std::int64_t, std::size_t> by_row_;  ///< index into molecules_
  std::vector<RepeatedRow> rows_;
};

}  // namespace molgraph
