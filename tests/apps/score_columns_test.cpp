// Every column that scoring adds is recognised as an output column, which training leaves out.
#include <gtest/gtest.h>

#include <sstream>

#include "apps/programs/batch/score_output.hpp"
#include "datasets/tables/output_columns.hpp"

namespace molgraph {
namespace {

std::vector<std::string> header_of(const std::vector<std::string>& input, const Task& task) {
  const DomainLabels labels;
  const ScoreColumns all{
      .runs = 2,
      .individual = true,
      .interval = true,
      .nearest = true,
      .domain = true,
      .domain_labels = &labels,
      .explain = {.atoms = true, .fragments = true, .rollout = true, .descriptors = true, .blend = true}};
  const ScoreTable table(input, task, std::vector<double>(static_cast<std::size_t>(task.num_outputs()), 1.0), all,
                         RowFormat::csv);
  std::vector<std::string> columns;
  std::istringstream header(table.header());
  for (std::string cell; std::getline(header, cell, ',');) columns.push_back(cell.substr(0, cell.find('\n')));
  return columns;
}

Task task_of(TaskKind kind) {
  Task task;
  task.kind = kind;
  task.names = {"y", "dose"};
  task.units = {"", ""};
  if (kind == TaskKind::multiclass) task.classes = 3, task.class_labels = {"low", "mid_1", "high"};
  return task;
}

TEST(ScoreColumns, AddedColumnsAreRecognisedAsOutputs) {
  for (const TaskKind kind : {TaskKind::regression, TaskKind::binary, TaskKind::multiclass}) {
    const std::vector<std::string> input{"smiles", "y"};
    const auto columns = header_of(input, task_of(kind));
    EXPECT_GT(columns.size(), 25u);
    const OutputColumns outputs(columns);
    for (std::size_t c = 0; c < columns.size(); ++c)
      EXPECT_EQ(outputs.contains(columns[c]), c >= input.size()) << columns[c];
    const auto again = header_of(columns, task_of(kind));  // the output is scored again
    const OutputColumns both(again);
    for (std::size_t c = 0; c < again.size(); ++c) EXPECT_EQ(both.contains(again[c]), c >= input.size()) << again[c];
  }
}

TEST(ScoreColumns, KeysOfJsonLinesDiffer) {
  const Task task = task_of(TaskKind::regression);
  const ScoreTable table({"smiles", "a", "a_2", "a", "", ""}, task, {1.0, 1.0}, {}, RowFormat::json);
  std::string line;
  TableRow row;
  row.cells = {"C", "1", "2", "3", "4", "5"};
  ScoredRow scored;
  scored.status = RowStatus::invalid_smiles;
  table.append(row, scored, line);
  EXPECT_EQ(line.substr(0, line.find(",\"y_pred\"")), R"({"smiles":"C","a":"1","a_2":"2","a_3":"3","":"4","_2":"5")");
}

}  // namespace
}  // namespace molgraph
