// Facts of runs for the tests of the report.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apps/report/report_facts.hpp"
#include "apps/report/statistics.hpp"

namespace molgraph::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t k = text.find(piece); k != std::string::npos; k = text.find(piece, k + 1)) ++found;
  return found;
}

inline Task task_of(TaskKind kind, std::vector<std::string> names = {"y"}) {
  Task task{.kind = kind, .names = std::move(names)};
  task.units.assign(task.names.size(), "");
  if (kind == TaskKind::multiclass) task.classes = 3;
  return task;
}

/// Facts of a run with its metrics, `n` test molecules and targets of one kind. Names and IDs contain hostile HTML.
inline ReportFacts facts_of(TaskKind kind, std::size_t targets, std::size_t n, bool one_class = false) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < targets; ++t) names.push_back("</td><script>alert(" + std::to_string(t) + ")</script>");
  ReportFacts facts{.name = "<script>\"&'", .task = task_of(kind, names)};
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < n; ++i) {
    facts.test.id.push_back("<img src=x onerror=alert(1)>");
    facts.test.smiles.push_back("CCO");
    for (std::size_t t = 0; t < targets; ++t) {
      const double x = normal(random), y = x + normal(random);
      const bool missing = targets > 1 && random() % 4 == 0;
      if (kind == TaskKind::multiclass) {
        facts.test.labels.push_back(random() % 3);
        for (int c = 0; c < 3; ++c) facts.test.predictions.push_back(c == 0 ? 0.5 : 0.25);
        continue;
      }
      const bool numbers = kind == TaskKind::regression;
      facts.test.labels.push_back(missing ? kNaN : numbers ? y : one_class && t == 0 ? 0 : y > 0);
      facts.test.predictions.push_back(numbers ? x : 1 / (1 + std::exp(-x)));
    }
  }
  MethodResults run{.name = "this run"};
  run.parts[2] = measure(facts.task, facts.test.predictions, facts.test.labels, {});
  MethodResults mean = run;
  mean.name = "mean predictor";
  facts.methods = {run, mean};
  facts.parts = {8, 1, static_cast<std::int64_t>(n)};
  facts.rejected = {{"invalid_smiles", "<b>ring 1 not closed</b>", 3}};
  facts.curves = {
      {.name = "", .metric = "<script>\"", .epoch = {1, 2, 3}, .loss = {3, 2, 1}, .value = {2, kNaN, 1}, .best = 2}};
  facts.shared = 2;
  facts.test.similarity.assign(n, 0.45);
  if (n > 1) facts.twins = {{2, 0, 2, 1, 0, 0.8}};
  return facts;
}

}  // namespace molgraph::test
