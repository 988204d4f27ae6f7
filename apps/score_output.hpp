// The output table of molgraph-score: all input columns, then what the model says, status and reason.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/predictor.hpp"
#include "datasets/table_reader.hpp"
#include "datasets/task.hpp"

namespace molgraph {

/// The shortest decimal that reads back as the same float.
std::string number_text(float value);

/// New columns, in this order, for every target T: T_pred (multiclass: the class), T_prob_CLASS (multiclass only), with
/// several runs T_std (multiclass: T_std_CLASS), with `individual` T_pred_RUN (multiclass: T_prob_CLASS_RUN); then
/// status and reason. A name that the input or an earlier new column has gets the prefix molgraph_.
class ScoreTable {
 public:
  ScoreTable(const std::vector<std::string>& input_columns, const Task& task, std::size_t runs, bool individual,
             char delimiter);

  /// The first line, with its line end.
  std::string header() const;
  /// Appends one line. Values of a row that is not ok are empty cells.
  void append(const TableRow& row, const Prediction& prediction, std::string& out) const;

 private:
  void append_target(std::size_t target, const Prediction& prediction, std::vector<std::string>& cells) const;

  Task task_;
  std::size_t runs_;
  bool individual_;
  char delimiter_;
  std::vector<std::string> columns_, added_;
};

}  // namespace molgraph
