#include "apps/training/run/label_check.hpp"

#include <algorithm>
#include <cmath>

#include "apps/report/similarity.hpp"
#include "apps/scoring/count_index.hpp"
#include "apps/training/baselines/nearest.hpp"
#include "apps/training/run/predictions.hpp"
#include "datasets/label_limits.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kNamedLabels = 10, kNeighboursShown = 3;

/// An outlier label of a molecule of the set.
struct Outlier {
  std::int64_t molecule;
  std::size_t target;
  SuspiciousLabel label;
};

/// The rows of duplicate molecules.
class MergedRows {
 public:
  MergedRows(const LoadedData& data, Duplicates rule) : rows_(data.repeated), rule_(rule) {}

  /// Describes the rows from which the label was merged, unless it is the label of its own row.
  void describe(std::int64_t row, std::size_t target, SuspiciousLabel& label) const {
    std::vector<std::string> numbers, values;
    bool unchanged = false;
    for (const RepeatedRow& one : rows_) {
      if (one.first != row || std::isnan(one.values[target].value)) continue;
      numbers.push_back(std::to_string(one.row + 1));
      values.push_back(sensible_number(one.values[target].value));
      unchanged = unchanged || (one.row == row && one.values[target].value == one.used[target].value);
    }
    if (unchanged || numbers.empty()) return;
    label.merged = "the " + std::string(to_string(rule_)) + " of " + (numbers.size() == 1 ? "row " : "rows ") +
                   list_of(numbers, kNamedLabels) + " (" + list_of(values, kNamedLabels) + ")";
  }

 private:
  const std::vector<RepeatedRow>& rows_;
  Duplicates rule_;
};

/// Sets the neighbours of the first kNamedLabels labels.
void add_neighbours(const MoleculeSet& set, const std::vector<std::int64_t>& known, int threads,
                    std::vector<Outlier>& outliers) {
  const CountIndex index = index_of(fingerprints_of(set, known, threads));
  std::vector<double> similarity(index.size());
  for (std::size_t i = 0; i < std::min(outliers.size(), kNamedLabels); ++i) {
    Outlier& one = outliers[i];
    index.similarities(fingerprints_of(set, {one.molecule}, 1).front().view(), similarity);
    one.label.neighbours = nearest_labels(set, known, similarity, one.molecule, one.target, kNeighboursShown);
    for (double& label : one.label.neighbours) label = set.task.in_table_unit(one.target, label);
  }
}

std::string name_of_part(const std::string& part) {
  return part == "train" ? "training" : part == "valid" ? "validation" : part;
}

/// "'logS' -350.0 (row 17, id A-3, validation set): 231.5 median deviations from the median -2.860; ..."
std::string line_of(const SuspiciousLabel& label) {
  std::string line = "'" + label.target + "' " + sensible_number(label.value) + " (row " + std::to_string(label.row) +
                     (label.id.empty() || label.id == std::to_string(label.row) ? "" : ", id " + label.id) +
                     (label.part.empty() ? "" : ", " + name_of_part(label.part) + " set") + ")";
  if (!label.merged.empty()) line += ", " + label.merged;
  line +=
      ": " + sensible_number(label.deviations) + " median deviations from the median " + sensible_number(label.median);
  std::vector<std::string> neighbours;
  for (const double one : label.neighbours) neighbours.push_back(sensible_number(one));
  if (!neighbours.empty())
    line += (neighbours.size() == 1 ? "; the most similar molecule has " : "; the most similar molecules have ") +
            list_of(neighbours);
  return line;
}

}  // namespace

std::vector<SuspiciousLabel> suspicious_labels(const LoadedData& data, Duplicates rule, std::uint64_t seed,
                                               int threads) {
  const MoleculeSet& set = data.set;
  const Split whole = data.folds.empty() ? data.split : union_of(data.folds);
  std::vector<std::int64_t> known = known_molecules(whole);
  const std::vector<LabelLimits> limits = label_limits(set, known);
  std::vector<const char*> part(static_cast<std::size_t>(set.size()), nullptr);
  const auto mark = [&](const std::vector<std::int64_t>& molecules, const char* name) {
    for (const std::int64_t g : molecules) part[static_cast<std::size_t>(g)] = name;
  };
  for (const Split& split : data.folds)
    for (const auto* molecules : parts_of(split)) mark(*molecules, "");  // the sets differ between splits
  if (data.folds.empty()) {
    mark(data.split.test, "test"), mark(data.split.calibration, "calibration");
    mark(data.split.valid, "valid"), mark(data.split.train, "train");
  }
  const MergedRows merged(data, rule);
  std::vector<Outlier> outliers;
  for (std::size_t g = 0; g < part.size(); ++g) {
    for (std::size_t t = 0; t < limits.size() && part[g] != nullptr; ++t) {
      const double label = set.exact_target(g * limits.size() + t);
      if (!limits[t].is_suspicious(label)) continue;
      SuspiciousLabel one{.target = set.task.names[t],
                          .value = set.task.in_table_unit(t, label),
                          .row = set.row[g] + 1,
                          .id = set.id[g],
                          .part = part[g],
                          .median = set.task.in_table_unit(t, limits[t].median),
                          .deviations = limits[t].deviations(label)};
      merged.describe(set.row[g], t, one);
      outliers.push_back({static_cast<std::int64_t>(g), t, std::move(one)});
    }
  }
  std::ranges::stable_sort(outliers,
                           [](const Outlier& a, const Outlier& b) { return a.label.deviations > b.label.deviations; });
  try {
    if (!outliers.empty()) add_neighbours(set, sample(std::move(known), kMaxCompared, seed), threads, outliers);
  } catch (const DataError&) {  // a store written with another RDKit: no neighbours
  }
  std::vector<SuspiciousLabel> labels;
  for (Outlier& one : outliers) labels.push_back(std::move(one.label));
  return labels;
}

std::vector<std::string> suspicious_text(const std::vector<SuspiciousLabel>& labels, bool clipped) {
  if (labels.empty()) return {};
  const auto count = static_cast<std::int64_t>(labels.size());
  std::vector<std::string> lines{
      with_thousands(count) +
      (count == 1 ? " outlier label, which may be a typing error. " : " outlier labels, which may be typing errors. ") +
      (clipped ? "In the training and validation sets, outliers are replaced by the most extreme other label "
                 "(--clip-labels)"
               : "The transformer and the choice of its best epoch use the labels of the table, unless --clip-labels "
                 "is given; for trees and Gaussian process, outliers are replaced by the most extreme other label")};
  for (std::size_t i = 0; i < std::min(labels.size(), kNamedLabels); ++i) lines.push_back(line_of(labels[i]));
  if (labels.size() > kNamedLabels)
    lines.push_back("and " + with_thousands(count - static_cast<std::int64_t>(kNamedLabels)) +
                    " more (run.json lists all)");
  return lines;
}

}  // namespace molgraph
