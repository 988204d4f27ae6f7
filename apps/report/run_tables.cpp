#include "apps/report/run_tables.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "apps/scoring/moments.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/labels.hpp"
#include "datasets/tables/output_columns.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Calls row(cells) for each row. Returns false if the file does not exist. Throws FileError if a row is malformed.
template <class Row>
bool read_table(const std::string& path, std::vector<std::string>& columns, const Row& row) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  TableOptions options;
  options.format = TableFormat::csv;
  options.molecules = false;
  options.header = true;
  TableReader reader(path, options);
  columns = reader.columns();
  for (TableRow one; reader.next(one);) {
    if (!one.problem.empty()) throw FileError(path + ": row " + std::to_string(one.row + 1) + ": " + one.problem);
    row(one.cells);
  }
  return true;
}

double number_of(const std::string& cell) { return number_of_cell(cell).value_or(kNaN); }

std::size_t column_of(const std::vector<std::string>& columns, const std::string& name, const std::string& path) {
  const int found = find_column(columns, name, path);
  if (found < 0) throw FileError(path + ": has no column " + name);
  return static_cast<std::size_t>(found);
}

/// The class of a cell; NaN if it is empty or unknown.
double class_of(const std::string& cell, const Task& task) {
  const auto found = std::ranges::find(task.class_labels, cell);
  if (found != task.class_labels.end()) return static_cast<double>(found - task.class_labels.begin());
  const double number = number_of(cell);
  return task.class_labels.empty() && number >= 0 && number < task.classes ? std::floor(number) : kNaN;
}

/// A label for the metrics, in the model's unit: NaN unless it is exact.
double label_of(const std::string& cell, const Task& task, std::size_t target) {
  if (task.kind_of(target) == TaskKind::multiclass) return class_of(cell, task);
  const bool has_class_labels = task.kind_of(target) == TaskKind::binary && are_words(task.class_labels);
  const auto found = has_class_labels ? std::ranges::find(task.class_labels, cell) : task.class_labels.end();
  return found == task.class_labels.end() ? task.in_model_unit(target, number_of(cell))
                                          : static_cast<double>(found - task.class_labels.begin());
}

double variance_of(const std::vector<double>& labels, std::size_t target, std::size_t targets) {
  Moments moments;
  for (std::size_t i = target; i < labels.size(); i += targets)
    if (!std::isnan(labels[i])) moments.add(labels[i]);
  return moments.weight > 1 ? moments.deviation() * moments.deviation() : kNaN;
}

/// The exact labels of one target, by molecule.
using Groups = std::vector<std::vector<double>>;

LabelNoise noise_of(const Groups& groups, bool classes, double variance) {
  LabelNoise noise;
  double squares = 0, degrees_of_freedom = 0, pairs = 0, different = 0;
  for (const std::vector<double>& labels : groups) {
    if (labels.size() < 2) continue;
    ++noise.molecules;
    noise.rows += static_cast<std::int64_t>(labels.size());
    double mean = 0;
    for (const double label : labels) mean += label / static_cast<double>(labels.size());
    for (const double label : labels) squares += (label - mean) * (label - mean);
    degrees_of_freedom += static_cast<double>(labels.size() - 1);
    for (std::size_t a = 0; a < labels.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) pairs += 1, different += labels[a] != labels[b];
  }
  noise.deviation = classes || degrees_of_freedom == 0 ? kNaN : std::sqrt(squares / degrees_of_freedom);
  noise.disagree = classes && pairs > 0 ? different / pairs : kNaN;
  noise.best_r2 = variance > 0 ? std::max(0.0, 1 - noise.deviation * noise.deviation / variance) : kNaN;
  return noise;
}

}  // namespace

PartRows read_predictions(const std::string& path, const Task& task) {
  PartRows rows;
  std::vector<std::string> columns;
  const bool multiclass = task.kind == TaskKind::multiclass;
  const std::size_t classes = multiclass ? static_cast<std::size_t>(task.classes) : 0, width = 2 + classes,
                    num_columns = 2 + width * task.names.size();
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    const bool intervals = cells.size() > num_columns && columns[num_columns].ends_with(output_column::kLow);
    if (cells.size() != num_columns && !intervals)
      throw FileError(path + ": has " + std::to_string(cells.size()) + " columns; the run's model requires " +
                      std::to_string(num_columns));
    rows.id.push_back(cells[0]);
    rows.smiles.push_back(cells[1]);
    for (std::size_t t = 0; t < task.names.size(); ++t) {
      const std::size_t first = 2 + t * width;
      rows.labels.push_back(label_of(cells[first], task, t));
      if (!multiclass) rows.predictions.push_back(task.in_model_unit(t, number_of(cells[first + 1])));
      for (std::size_t c = 0; c < classes; ++c) rows.predictions.push_back(number_of(cells[first + 2 + c]));
    }
  });
  return rows;
}

LearningCurve read_curve(const std::string& path) {
  LearningCurve curve;
  std::vector<std::string> columns;
  // epoch, step, lr, train_loss, valid_METRIC and, if the loss was used instead of the metric, valid_loss.
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    if (cells.size() < 5) throw FileError(path + ": has " + std::to_string(cells.size()) + " columns instead of 5");
    curve.epoch.push_back(number_of(cells[0]));
    curve.loss.push_back(number_of(cells[3]));
    curve.value.push_back(number_of(cells.back()));
  });
  if (columns.size() < 5) return curve;
  constexpr std::string_view prefix = "valid_";
  curve.metric = columns.back().starts_with(prefix) ? columns.back().substr(prefix.size()) : columns.back();
  const bool larger = !curve.metric.ends_with("mae") && !curve.metric.ends_with("rmse") && curve.metric != "loss";
  for (std::size_t k = 0; k < curve.value.size(); ++k) {
    if (std::isnan(curve.value[k])) continue;
    const double best = curve.best < 0 ? kNaN : curve.value[static_cast<std::size_t>(curve.best)];
    if (curve.best < 0 || (larger ? curve.value[k] > best : curve.value[k] < best))
      curve.best = static_cast<std::ptrdiff_t>(k);
  }
  return curve;
}

std::array<std::int64_t, kParts + 1> read_part_sizes(const std::string& path) {
  std::array<std::int64_t, kParts + 1> sizes{};
  std::vector<std::string> columns;
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    for (std::size_t p = 0; p < kParts; ++p) sizes[p] += cells.back() == kPartNames[p];
    sizes[kParts] += cells.back() == "calibration";
  });
  return sizes;
}

std::vector<bool> read_in_train(const std::string& path, const PartRows& rows) {
  std::set<std::pair<std::string, std::string>> train, valid;  // may share duplicates
  std::vector<std::string> columns;
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    if (cells.back() == kPartNames[0] || cells.back() == kPartNames[1])
      (cells.back() == kPartNames[0] ? train : valid)
          .emplace(cells[column_of(columns, "id", path)], cells[column_of(columns, "smiles", path)]);
  });
  std::vector<bool> in_train;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::pair row(rows.id[i], rows.smiles[i]);
    in_train.push_back(train.contains(row) && !valid.contains(row));
  }
  if (std::ranges::find(in_train, true) == in_train.end()) in_train.clear();
  return in_train;
}

std::vector<RejectedRows> read_rejected(const std::string& path) {
  std::map<std::pair<std::string, std::string>, std::int64_t> counts;
  std::vector<std::string> columns;
  std::size_t status = 0, reason = 0;
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    if (status == 0) status = column_of(columns, "status", path), reason = column_of(columns, "reason", path);
    ++counts[{cells[status], cells[reason]}];
  });
  std::vector<RejectedRows> rows;
  for (const auto& [key, count] : counts) rows.push_back({key.first, key.second, count});
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.count > b.count; });
  return rows;
}

std::vector<MethodResults> read_results(const std::string& path) {
  std::vector<MethodResults> methods;
  std::vector<std::string> columns;
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    if (std::ranges::find(columns, "fold") != columns.end()) return;
    const std::size_t part = column_of(columns, "part", path), metric = column_of(columns, "metric", path),
                      n = column_of(columns, "n", path), value = column_of(columns, "value", path);
    std::size_t p = 0, m = 0;
    while (p < kParts && cells[part] != kPartNames[p]) ++p;
    const std::string key = cells[metric] == "ap" ? "pr-auc" : cells[metric];
    while (m < kMeasures && key != key_of(static_cast<Measure>(m))) ++m;
    if (p == kParts || m == kMeasures) return;
    const double count = number_of(cells[n]);
    if (!(count >= 0 && count <= 1e15))
      throw FileError(path + ": column n: '" + cells[n] + "' is not a number of molecules");
    const auto molecules = static_cast<std::int64_t>(count);
    const auto set_value = [&](std::size_t method, std::string name, const std::string& cell) {
      if (methods.size() <= method) methods.resize(method + 1);
      std::ranges::replace(name, '_', ' ');
      methods[method].name = std::move(name);
      if (!methods[method].parts[p]) methods[method].parts[p].emplace();
      methods[method].parts[p]->molecules = molecules;
      methods[method].parts[p]->mean[m].value = number_of(cell);
    };
    set_value(0, "this run", cells[value]);
    for (std::size_t c = value + 2; c < columns.size(); ++c)
      set_value(c - value - 1, columns[c], cells[c]);  // after reason
  });
  return methods;
}

RepeatedMolecules read_repeated(const std::string& path, const Task& task, const std::vector<double>& judged) {
  RepeatedMolecules repeated;
  const std::size_t targets = task.names.size();
  std::map<std::string, std::size_t> molecule_index;  // of a first row
  std::vector<Groups> labels(targets);
  std::vector<std::string> columns;
  read_table(path, columns, [&](const std::vector<std::string>& cells) {
    if (cells.size() != 4 + 2 * targets)
      throw FileError(path + ": has " + std::to_string(cells.size()) + " columns, which does not match the model's " +
                      std::to_string(targets) + " targets");
    const std::size_t molecule = molecule_index.try_emplace(cells[1], molecule_index.size()).first->second;
    ++repeated.rows;
    for (std::size_t t = 0; t < targets; ++t) {
      labels[t].resize(molecule_index.size());
      const double label = label_of(cells[4 + 2 * t], task, t);
      if (!std::isnan(label)) labels[t][molecule].push_back(label);
    }
  });
  repeated.molecules = static_cast<std::int64_t>(molecule_index.size());
  for (std::size_t t = 0; t < targets && repeated.molecules > 0; ++t) {
    const bool classes = task.kind_of(t) != TaskKind::regression;
    LabelNoise noise = noise_of(labels[t], classes, classes ? kNaN : variance_of(judged, t, targets));
    noise.target = t;
    if (noise.molecules > 0) repeated.noise.push_back(noise);
  }
  return repeated;
}

}  // namespace molgraph
