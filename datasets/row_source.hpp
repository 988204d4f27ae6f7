// Reads tables and featurises their rows in parallel, in order and in constant memory; used by loading and storing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/load_options.hpp"
#include "datasets/tables/spool.hpp"
#include "datasets/tables/target_parser.hpp"
#include "datasets/tables/targets.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// One featurised data row.
struct FeaturisedRow {
  std::int64_t row = 0;          ///< 0-based, counted over all tables
  std::int64_t row_in_file = 0;  ///< 0-based
  std::size_t table = 0;         ///< index of its table
  SplitPart part = SplitPart::none;
  std::size_t extra_part = 0;       ///< 1 + index into RowSource::extra_parts(), 0 = none
  std::string id, smiles;           ///< smiles: the trimmed cell; for SDF records, RDKit's canonical SMILES
  std::vector<double> values;       ///< [T], then auxiliary targets; empty for a corpus
  std::vector<SparseLabel> labels;  ///< for a corpus
  float weight = 1;                 ///< of LoadOptions::weight_column
  std::vector<std::int8_t> bounds;  ///< like MoleculeSet::bound, in the order of `values`; empty = all are exact
  std::vector<float> columns;       ///< of LoadOptions::input_columns; blank = NaN
  FeaturizeResult result;
  std::string scaffold;    ///< only if requested
  std::string key;         ///< the cell of the group or time column if the split uses one
  std::int64_t first = 0;  ///< first row of its molecule, as found by Repeats; else its own
  std::uint64_t hash = 0;  ///< invariant_hash(), while duplicates are searched for
  std::string canonical;   ///< canonical SMILES, while duplicates are searched for
};

class RowSource {
 public:
  using Consume = std::function<void(FeaturisedRow&&)>;
  using Progressed = std::function<void(std::int64_t, std::int64_t)>;

  /// First pass: counts the rows and determines the targets and the sets of the split. Throws FileError, DataError,
  /// UsageError.
  RowSource(SourcePlan plan, const LoadOptions& options);
  ~RowSource();

  const SourcePlan& plan() const { return plan_; }
  const Task& task() const { return task_; }
  /// Targets of LoadOptions::auxiliary_columns, which follow those of task() in FeaturisedRow::values.
  const Task& auxiliary() const { return auxiliary_; }
  const FeaturizerOptions& featurizer() const { return featurizer_; }
  std::int64_t rows() const { return rows_; }
  bool has_parts() const { return !parts_.empty(); }
  bool has_key() const { return !options_.group_column.empty() || !options_.time_column.empty(); }
  /// Names of the sets with hidden labels: "test" or "test-dev" (which are also the test set), "test-challenge".
  const std::vector<std::string>& extra_parts() const { return extra_parts_; }
  /// Names of the columns of MoleculeSet::inputs.
  std::vector<std::string> input_names() const;
  /// Log lines on how the targets were chosen, and warnings.
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// True for a corpus with target columns.
  bool has_labels() const { return options_.corpus && !task_.names.empty(); }
  /// File names, hashes, version of the toolkit.
  SourceInfo info() const;
  /// Name of the row's file for messages.
  std::string file_of(const FeaturisedRow& row) const;

  /// Finds duplicate molecules, if requested or by default (docs/reference/training.md, "Duplicate molecules and
  /// salts"). Reads the table once more, and twice if there may be duplicates. `draws`: a split, or one set of a split,
  /// is drawn from the table. If the source has a split, only its training set is searched. stream() then yields the
  /// merged rows.
  void find_repeats(bool draws, const Progressed& progress);
  const Repeats& repeats() const { return repeats_; }

  /// Second pass: passes every row to `consume`, in order. With LoadOptions::limit, only that many molecules: the first
  /// of each set in proportion to its size (rows that were merged into another one count, too). `progress(done, total)`
  /// as in load_data().
  void stream(bool with_scaffolds, const Consume& consume, const Progressed& progress);

 private:
  struct Block;
  struct Quota;
  /// What one pass over the tables computes, and for which rows.
  struct Pass {
    bool scaffolds = false, hashes = false, canonical = false;
    const std::unordered_set<std::int64_t>* only = nullptr;  ///< row numbers; null = all
  };

  void scan();
  void scan_table(std::size_t table, std::vector<ColumnStats>& stats);
  void find_targets(const TableReader& reader, const ColumnNames& names, int part_column,
                    std::vector<ColumnStats>& stats);
  /// Columns of a corpus table that no earlier table has. Throws DataError if two columns have the same name, ignoring
  /// case.
  static std::vector<int> new_columns(const std::vector<std::string>& columns, const std::vector<int>& candidates,
                                      const std::vector<ColumnStats>& stats, const std::string& file);
  std::vector<int> find_candidates(const std::vector<std::string>& columns, const std::vector<int>& not_targets);
  bool may_hint_at_parts() const;
  void choose_columns(std::vector<ColumnStats>& stats);
  void choose_auxiliary(std::vector<ColumnStats> stats);
  void check_named(const std::vector<ColumnStats>& stats) const;
  int find_part_column(const std::vector<std::string>& columns, const std::string& file) const;
  int find_key_column(const std::vector<std::string>& columns, std::size_t table) const;
  int find_weight_column(const std::vector<std::string>& columns, std::size_t table) const;
  void read_part_files();
  void read_part_archive();
  void check_part_sizes() const;
  TableOptions table_options(std::size_t table) const;
  void read(const Pass& pass, const Consume& consume, const Progressed& progress);
  std::vector<FeaturisedRow> featurise(Block block, const Pass& pass) const;
  FeaturizeResult featurise_row(FeaturisedRow& out, TableRow& row, const Featurizer& featurizer) const;
  float input_of_cell(const std::string& cell, const std::string& column, std::size_t table, std::int64_t row) const;

  SourcePlan plan_;
  const LoadOptions& options_;
  FeaturizerOptions featurizer_;
  Featurizer featurize_;
  Featurizer graph_featurizer_;  ///< the same without descriptors, for finding duplicates
  Task task_, auxiliary_;
  std::int64_t rows_ = 0;
  std::vector<std::string> source_path_;  ///< [tables] paths of the plan, before spooling
  std::vector<std::string> table_names_;  ///< [tables] names in messages
  std::vector<std::int64_t> first_row_;   ///< [tables]
  std::vector<std::vector<int>>
      target_columns_;  ///< [tables][candidates, then chosen targets and auxiliary ones]; -1 = missing
  std::vector<std::vector<int>> input_columns_;                              ///< [tables][LoadOptions::input_columns]
  std::vector<int> smiles_column_, id_column_, key_column_, weight_column_;  ///< [tables]; -1 = none (never for SMILES)
  std::vector<SplitPart> parts_;          ///< [rows], empty if the source has no split
  std::vector<std::string> input_names_;  ///< of the first table's input columns
  std::vector<std::string> extra_parts_, notes_, warnings_;
  std::vector<std::uint8_t> extra_part_;        ///< [rows] like FeaturisedRow::extra_part; empty = none
  std::vector<std::unique_ptr<Spool>> spools_;  ///< copies of streams and of selected lines
  std::unique_ptr<TargetParser> parser_, auxiliary_parser_;
  Repeats repeats_;
  bool all_targets_ = false;          ///< --target-columns all
  bool duplicates_searched_ = false;  ///< a pass has searched for duplicates; it counts as half of the work
};

}  // namespace molgraph
