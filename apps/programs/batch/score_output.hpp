// The output table of molgraph-score: all input columns, then predictions, status and reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/predictor.hpp"
#include "datasets/tables/table_reader.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

/// Format of the output lines, one per row.
enum class RowFormat : std::uint8_t { csv, tsv, json };
inline char delimiter_of(RowFormat format) { return format == RowFormat::tsv ? '\t' : ','; }

/// The line format for the suffix of `path`, ignoring .gz: .csv, .tsv or .jsonl. Nothing for any other suffix or none.
std::optional<RowFormat> line_format_of(const std::string& path);

/// The text as a quoted JSON string; invalid UTF-8 bytes are replaced.
std::string json_text(const std::string& text);

/// One row of the table.
struct ScoredRow : Prediction {
  double nearest_distance = 0;  ///< to the nearest training molecule; only with --nearest and status ok
  std::string nearest_id;
  Explanation explanation;  ///< only with --explain
};

/// Columns for explanations.
struct ExplainColumns {
  bool atoms = false;                       ///< atoms and baseline
  bool fragments = false;                   ///< of each target, and fragment_of_atom before the status
  bool rollout = false;                     ///< before the status
  bool descriptors = false, blend = false;  ///< for models with these components
};

/// Columns in addition to predictions.
struct ScoreColumns {
  std::size_t runs = 1;
  bool individual = false;                      ///< predictions of each run
  bool interval = false;                        ///< for regression targets
  bool nearest = false;                         ///< nearest_distance and nearest_id, before the status
  bool domain = false;                          ///< domain_similarity and similar columns
  const DomainLabels* domain_labels = nullptr;  ///< labels of the nearest molecule; must outlive the table
  ExplainColumns explain;
};

/// New columns, in this order:
/// - for every target T: T_pred (multiclass: the class), T_prob_CLASS (multiclass only); with several runs T_std
///   (multiclass: T_std_CLASS); with `interval`, for regression, T_low and T_high; with `individual` T_pred_RUN
///   (multiclass: T_prob_CLASS_RUN); explanations T_atoms (numbers separated by blanks, in JSON a list), T_baseline,
///   T_descriptors and T_blend, or T_fragments (a list)
/// - nearest_distance and nearest_id
/// - domain_similarity; with labels domain_id, domain_smiles and domain_T for every target; domain_percentile,
///   domain_elements_seen and domain_rings_seen (yes or no)
/// - rollout or fragment_of_atom (lists), status and reason
/// A name that is already used by an input column or an earlier new column gets the prefix molgraph_. In JSON lines,
/// input cells and classes are strings, and the model's numbers are numbers.
class ScoreTable {
 public:
  /// `output_scale`: as in Predictor.
  ScoreTable(const std::vector<std::string>& input_columns, const Task& task, std::vector<double> output_scale,
             const ScoreColumns& shown, RowFormat format);

  /// The first line, including the line end; "" for JSON lines.
  std::string header() const;
  /// Appends one line. For a row that is not ok, the values are empty cells, or null in JSON.
  void append(const TableRow& row, const ScoredRow& scored, std::string& out) const;

 private:
  void append_target(std::size_t target, const Prediction& prediction, std::vector<std::string>& cells) const;
  void append_explanation(const TargetExplanation& explanation, double scale, std::vector<std::string>& cells) const;
  void append_domain(const DomainPlace& place, std::vector<std::string>& cells) const;
  void append_json(const std::vector<std::string>& cells, bool ok, std::string& out) const;

  Task task_;
  std::vector<double> output_scale_;
  ScoreColumns shown_;
  RowFormat format_;
  std::vector<std::string> columns_, added_;
  std::vector<bool> is_number_, is_list_;  ///< [added]
};

}  // namespace molgraph
