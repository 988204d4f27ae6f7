// Molecules that stand in several rows of a table: one row each, or all rows in one part of a split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/tables/targets.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

struct FeaturisedRow;

/// What becomes of the rows of one molecule. `mean`, `median`: one row with the mean or median of each target (and each
/// input column) over the rows that have a value; classes by majority, a tie is no value; limits such as ">50" only
/// where no row has an exact value: the tightest, and none where they lie on both sides. `drop`: the first row alone.
/// `keep`: all rows, which a split that is drawn puts into one part.
enum class Duplicates : std::uint8_t { mean, median, keep, drop };
std::string_view to_string(Duplicates rule);               ///< "mean", "median", "keep", "drop"
Duplicates duplicates_from_string(std::string_view text);  ///< throws UsageError

/// A row of a molecule that stands in several.
struct RepeatedRow {
  std::int64_t row = 0;    ///< 0-based, counted through all tables
  std::int64_t first = 0;  ///< the row that stands first: the one that stays, with the values `used`
  std::string id, smiles;
  std::vector<Label> values, used{};  ///< [T] of the table; of what the molecule's rows became (keep: as `values`)
  std::vector<float> columns{};       ///< of LoadOptions::input_columns
  float weight = 1;                   ///< of LoadOptions::weight_column
};

/// Lines of a CSV: row, first, id, smiles, then per target its value and NAME_used; missing values are empty, limits
/// have their sign, classes of a multiclass task are the user's words.
std::string repeated_header(const Task& task);
std::string repeated_line(const RepeatedRow& row, const Task& task);

/// The label of one target over the rows of a molecule, NaN where there is none. `weights` [rows]: of the mean and of
/// the votes for classes; rows of weight 0 count only where there are no others. `classes`: labels are numbers of
/// classes.
Label merged_label(const std::vector<Label>& labels, const std::vector<float>& weights, bool classes, Duplicates rule);

/// How the rows of a molecule are made one.
struct MergeRules {
  Duplicates rule = Duplicates::keep;
  bool by_time = false;      ///< FeaturisedRow::key is a time, of which the earliest counts
  bool signs_count = true;   ///< false: a limit such as ">50" is taken as the number 50
  bool add_weights = false;  ///< rows have weights, and the one row has their sum
};

/// A number that is equal for all texts of one molecule: four rounds of Weisfeiler-Leman over element (and, unless the
/// features are `zinc`, charge, hydrogens and ring membership) and the bonds' pattern. Chirality, bond stereo and the
/// Kekule form depend on the text and are left out. Different molecules may share it; canonical SMILES decide between
/// them.
std::uint64_t invariant_hash(const GraphView& graph);

struct MoleculeSet;
/// [G] of each molecule of the set the source's row in which it stands first: its own, unless an earlier one of the set
/// is the same molecule (by canonical SMILES, of parents where the set holds those).
std::vector<std::int64_t> first_rows_of(const MoleculeSet& set, int threads);

/// Finds the rows of equal molecules among those that it is given, and says what they become.
class Repeats {
 public:
  Repeats() = default;
  Repeats(const MergeRules& rules, const Task& task) : rules_(rules), task_(task) {}

  /// Rows in order, with their canonical text ("" = unknown, so equal to none).
  void add(FeaturisedRow&& row, const std::string& file);
  /// After the last add().
  void finish();

  bool empty() const { return rows_.empty(); }
  /// The first row of the molecule that stands in this row: itself, unless it is a later one.
  std::int64_t first_of(std::int64_t row) const;
  /// True if another row stands for this one.
  bool vanishes(std::int64_t row) const { return rules_.rule != Duplicates::keep && first_of(row) != row; }
  /// Gives the first row of a molecule what all of them became.
  void replace(FeaturisedRow& row) const;
  /// In the order of the table.
  const std::vector<RepeatedRow>& rows() const { return rows_; }
  /// "3 molecules stand in 7 of 40 rows: one row each by mean; ...": how many, and how far their values differ. `what`:
  /// "rows" or "rows of the training part".
  std::string note(std::int64_t rows, const std::string& what) const;

 private:
  struct Molecule {
    std::vector<std::size_t> rows{};  ///< indices into rows_
    std::vector<Label> used{};        ///< [T]
    std::vector<float> columns{};     ///< of LoadOptions::input_columns, what they became
    float weight = 1;
    std::string key{};
    double time = 0;  ///< of `key`, where it is one
  };
  /// [rows of the molecule] of one target.
  std::vector<Label> labels_of(const Molecule& molecule, std::size_t target) const;
  std::vector<float> weights_of(const Molecule& molecule) const;
  float merged_column(const Molecule& molecule, std::size_t column) const;
  void merge(Molecule& molecule) const;
  std::string spread() const;
  bool is_class(std::size_t target) const { return task_.kind_of(target) != TaskKind::regression; }

  MergeRules rules_;
  Task task_;
  std::vector<Molecule> molecules_;  ///< after finish(): of several rows each
  std::unordered_map<std::string, std::size_t> by_text_;
  std::unordered_map<std::int64_t, std::size_t> by_row_;  ///< index into molecules_
  std::vector<RepeatedRow> rows_;
};

}  // namespace molgraph
