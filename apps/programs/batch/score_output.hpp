// The output table of molgraph-score: all input columns, then what the model says, status and reason.
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

/// What one line per row looks like.
enum class RowFormat : std::uint8_t { csv, tsv, json };
inline char delimiter_of(RowFormat format) { return format == RowFormat::tsv ? '\t' : ','; }

/// The format of lines that `path` asks for by its suffix, .gz ignored: .csv, .tsv or .jsonl. Nothing for any other
/// suffix, and for none.
std::optional<RowFormat> format_of_lines(const std::string& path);

/// The text as JSON writes it, in quotation marks; bytes that are no UTF-8 are replaced.
std::string json_text(const std::string& text);

/// One row of the table.
struct ScoredRow : Prediction {
  double nearest_distance = 0;  ///< to the nearest training molecule; of a row that is ok, where it is asked for
  std::string nearest_id;
  Explanation explanation;  ///< where it is asked for
};

/// What there are columns for of Explanation.
struct ExplainColumns {
  bool atoms = false;                       ///< and the baseline
  bool rollout = false;                     ///< before the status
  bool descriptors = false, blend = false;  ///< of models that have such parts
};

/// What there are columns for beside predictions.
struct ScoreColumns {
  std::size_t runs = 1;
  bool individual = false;                      ///< each run's own
  bool interval = false;                        ///< of numbers
  bool nearest = false;                         ///< nearest_distance and nearest_id, before the status
  bool domain = false;                          ///< domain_similarity and the like
  const DomainLabels* domain_labels = nullptr;  ///< and of the nearest; must outlive the table
  ExplainColumns explain;
};

/// New columns, in this order, for every target T: T_pred (multiclass: the class), T_prob_CLASS (multiclass only), with
/// several runs T_std (multiclass: T_std_CLASS), of numbers with `interval` T_low and T_high, with `individual`
/// T_pred_RUN (multiclass: T_prob_CLASS_RUN), of explanations T_atoms (numbers with blanks between them, in JSON a
/// list), T_baseline, T_descriptors and T_blend; then nearest_distance and nearest_id, of a domain domain_similarity,
/// with labels domain_id, domain_smiles and domain_T for every target, domain_percentile, domain_elements_seen and
/// domain_rings_seen (yes or no); rollout, status and reason. A
/// name that the input or an earlier new column has gets the prefix molgraph_. In JSON lines the input's cells and the
/// classes are texts, the model's numbers are numbers.
class ScoreTable {
 public:
  /// `output_scale` as Predictor's.
  ScoreTable(const std::vector<std::string>& input_columns, const Task& task, std::vector<double> output_scale,
             const ScoreColumns& shown, RowFormat format);

  /// The first line, with its line end; JSON lines have none.
  std::string header() const;
  /// Appends one line. Values of a row that is not ok are empty cells, in JSON null.
  void append(const TableRow& row, const ScoredRow& scored, std::string& out) const;

 private:
  void append_target(std::size_t target, const Prediction& prediction, std::vector<std::string>& cells) const;
  void append_explanation(const TargetExplanation& of, double scale, std::vector<std::string>& cells) const;
  void append_place(const DomainPlace& place, std::vector<std::string>& cells) const;
  void append_json(const std::vector<std::string>& cells, bool ok, std::string& out) const;

  Task task_;
  std::vector<double> output_scale_;
  ScoreColumns shown_;
  RowFormat format_;
  std::vector<std::string> columns_, added_;
  std::vector<bool> is_number_, is_list_;  ///< [added]
};

}  // namespace molgraph
