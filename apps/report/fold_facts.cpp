#include "apps/report/fold_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "apps/report/judged_errors.hpp"
#include "apps/report/similarity.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The mean over the finite values, plus and minus the sample standard deviation.
Estimate spread_of(const std::vector<double>& values) {
  double sum = 0, squares = 0, count = 0;
  for (const double value : values)
    if (std::isfinite(value)) sum += value, count += 1;
  if (count == 0) return {kNaN, kNaN, kNaN};
  const double mean = sum / count;
  for (const double value : values)
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : kNaN;
  return {mean, mean - deviation, mean + deviation};
}

/// Mean and spread of `estimates_of(fold)` over the folds for each metric.
template <class EstimatesOf>
Estimates spreads_of(const std::vector<const Measured*>& folds, const EstimatesOf& estimates_of) {
  Estimates all = no_estimates();
  for (std::size_t m = 0; m < kMeasures; ++m) {
    std::vector<double> values;
    for (const Measured* fold : folds) values.push_back(estimates_of(*fold)[m].value);
    all[m] = spread_of(values);
  }
  return all;
}

Measured mean_of(const std::vector<const Measured*>& folds) {
  Measured all;
  std::size_t targets = std::numeric_limits<std::size_t>::max();
  for (const Measured* fold : folds) {
    all.molecules += fold->molecules;
    targets = std::min(targets, fold->targets.size());
  }
  all.mean = spreads_of(folds, [](const Measured& fold) { return fold.mean; });
  for (std::size_t t = 0; t < targets; ++t) {
    all.targets.push_back(spreads_of(folds, [t](const Measured& fold) { return fold.targets[t]; }));
    std::int64_t labels = 0, positives = 0;
    for (const Measured* fold : folds) labels += fold->labels[t], positives += fold->positives[t];
    all.labels.push_back(labels);
    all.positives.push_back(positives);
  }
  return all;
}

/// The mean results of a method; nullopt unless every fold has it.
std::optional<MethodResults> mean_method(const std::vector<ReportFacts>& folds, const std::string& name) {
  MethodResults mean{.name = name};
  std::vector<const MethodResults*> all;
  for (const ReportFacts& fold : folds) {
    const auto found = std::ranges::find(fold.methods, name, &MethodResults::name);
    if (found == fold.methods.end()) return std::nullopt;
    all.push_back(&*found);
  }
  for (std::size_t p = 0; p < kParts; ++p) {
    std::vector<const Measured*> parts;
    for (const MethodResults* fold : all)
      if (fold->parts[p]) parts.push_back(&*fold->parts[p]);
    if (parts.empty()) continue;
    mean.parts[p] = mean_of(parts);
    // A mean over fewer folds than that of the run cannot be compared with it.
    for (std::size_t k = 0; k < folds.size(); ++k) {
      const std::optional<Measured>&own = folds[k].methods.front().parts[p], &other = all[k]->parts[p];
      for (std::size_t m = 0; own && other && m < kMeasures; ++m)
        if (std::isnan(other->mean[m].value) && !std::isnan(own->mean[m].value))
          mean.parts[p]->mean[m] = no_estimates()[m];
    }
  }
  return mean;
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Like append(), but a vector that is empty is replaced by `before` or `added` NaN values.
void append_known(std::vector<double>& all, std::size_t before, const std::vector<double>& more, std::size_t added) {
  if (all.empty() && more.empty()) return;
  all.resize(before, kNaN);
  append(all, more);
  all.resize(before + added, kNaN);
}

void append_rows(PartRows& all, const PartRows& more, std::size_t targets) {
  const std::size_t before = all.size(), added = more.size();
  all.id.insert(all.id.end(), more.id.begin(), more.id.end());
  all.smiles.insert(all.smiles.end(), more.smiles.begin(), more.smiles.end());
  append(all.labels, more.labels);
  append(all.predictions, more.predictions);
  append_known(all.low, before * targets, more.low, added * targets);
  append_known(all.high, before * targets, more.high, added * targets);
  append_known(all.similarity, before, more.similarity, added);
}

/// The near twins of all folds with the largest differences (in standard deviations of the labels), each pair once,
/// with rows that refer to `facts`.
std::vector<Twins> twins_of(const std::vector<ReportFacts>& folds, const ReportFacts& facts) {
  struct Pair {
    Twins twins;
    double difference;
  };
  std::vector<Pair> pairs;
  std::set<std::pair<std::string, std::string>> seen;
  const std::vector<double> scale = label_deviations(facts);
  const std::size_t targets = scale.size();
  std::array<std::size_t, kParts> first{};
  for (const ReportFacts& fold : folds) {
    for (Twins pair : fold.twins) {
      pair.row_a += first[pair.part_a], pair.row_b += first[pair.part_b];
      const auto rows = [&](std::size_t part) -> const PartRows& { return part == 1 ? facts.valid : facts.test; };
      const auto label = [&](std::size_t part, std::size_t row) {
        return rows(part).labels[row * targets + pair.target];
      };
      const auto names = std::minmax(rows(pair.part_a).smiles[pair.row_a], rows(pair.part_b).smiles[pair.row_b]);
      if (!seen.insert(names).second) continue;
      const double difference = std::abs(label(pair.part_a, pair.row_a) - label(pair.part_b, pair.row_b));
      const bool classes = facts.task.kind_of(pair.target) != TaskKind::regression;
      pairs.push_back({pair, classes ? 1 : difference / scale[pair.target]});
    }
    first[1] += fold.valid.size(), first[2] += fold.test.size();
  }
  std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) { return a.difference > b.difference; });
  std::vector<Twins> twins;
  for (const Pair& pair : pairs)
    if (twins.size() < kTwinsKept) twins.push_back(pair.twins);
  return twins;
}

/// Coverage by target and level, over the labels of all folds.
std::vector<Coverage> coverage_of(const std::vector<ReportFacts>& folds) {
  std::map<std::pair<std::size_t, double>, Coverage> all;
  for (const ReportFacts& fold : folds)
    for (const Coverage& one : fold.coverage) {
      Coverage& sum = all.try_emplace({one.target, one.level}, Coverage{one.target, one.level}).first->second;
      const auto labels = static_cast<double>(one.labels), before = static_cast<double>(sum.labels);
      sum.width = (sum.width * before + one.width * labels) / (before + labels);
      sum.hits += one.hits, sum.labels += one.labels;
      sum.covered = static_cast<double>(sum.hits) / static_cast<double>(sum.labels);
    }
  std::vector<Coverage> list;
  for (const auto& [key, one] : all) list.push_back(one);
  return list;
}

}  // namespace

void add_folds(const std::vector<std::string>& folders, int threads, ReportFacts& facts) {
  std::vector<ReportFacts> folds;
  for (const std::string& folder : folders) folds.push_back(facts_of_run(folder, threads));
  facts.has_record = std::ranges::all_of(folds, &ReportFacts::has_record);
  facts.shared = 0;
  for (std::size_t k = 0; k < folds.size(); ++k) {
    ReportFacts& fold = folds[k];
    facts.members.push_back({.name = "fold " + std::to_string(k)});
    if (!fold.methods.empty()) facts.members.back().parts = fold.methods.front().parts;
    append_rows(facts.valid, fold.valid, facts.task.names.size());
    append_rows(facts.test, fold.test, facts.task.names.size());
    facts.compared = std::max(facts.compared, fold.compared);
    if (!fold.shared || !facts.shared) facts.shared.reset();
    else facts.shared = std::max(*facts.shared, *fold.shared);
    if (fold.censored) facts.censored = fold.censored;
  }
  if (!folds.front().methods.empty())
    for (const MethodResults& method : folds.front().methods)
      if (std::optional<MethodResults> mean = mean_method(folds, method.name))
        facts.methods.push_back(std::move(*mean));
  facts.twins = twins_of(folds, facts);
  facts.coverage = coverage_of(folds);
}

}  // namespace molgraph
