#include "datasets/duplicates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "datasets/auxiliary_targets.hpp"
#include "datasets/row_source.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kTargetsShown = 5;

std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64 (Steele et al. 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Atom columns that do not depend on how the SMILES is written.
std::vector<std::size_t> invariant_columns(Features features) {
  switch (features) {
    case Features::ogb: return {0, 3, 4, 8};       // number, charge, hydrogens, in ring
    case Features::molgraph: return {0, 2, 3, 7};  // the same
    case Features::zinc: break;
  }
  return {};
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : values[half - 1] + (values[half] - values[half - 1]) / 2;
}

/// A value and its weight.
struct Weighted {
  double value = 0, weight = 1;
};

double median_of(const std::vector<Weighted>& values) {
  std::vector<double> plain;
  for (const Weighted& one : values) plain.push_back(one.value);
  return median_of(std::move(plain));
}

double mean_of(const std::vector<Weighted>& values) {
  double mean = 0, weight = 0;  // running mean: the mean of equal values is exact
  for (const Weighted& one : values) {
    weight += one.weight;
    mean += (one.value - mean) * one.weight / weight;
  }
  return mean;
}

double majority_of(const std::vector<Weighted>& values) {
  std::map<double, double> votes;
  for (const Weighted& one : values) votes[one.value] += one.weight;
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto winner = std::ranges::max_element(votes, fewer);
  const auto is_tied = [&](const auto& one) { return one.second == winner->second; };
  return std::ranges::count_if(votes, is_tied) > 1 ? kNaN : winner->first;
}

/// Values that are neither missing nor limits; those of weight 0 only if there are no others.
std::vector<Weighted> exact_values(const std::vector<Label>& labels, const std::vector<float>& weights) {
  std::vector<Weighted> values;
  for (std::size_t r = 0; r < labels.size(); ++r)
    if (!std::isnan(labels[r].value) && labels[r].bound == 0) values.push_back({labels[r].value, weights[r]});
  const auto has_weight = [](const Weighted& one) { return one.weight > 0; };
  if (std::ranges::any_of(values, has_weight)) {
    std::erase_if(values, [&](const Weighted& one) { return !has_weight(one); });
  } else {
    for (Weighted& one : values) one.weight = 1;
  }
  return values;
}

/// Tightest of several limits; missing if there are upper and lower limits.
Label tightest(const std::vector<Label>& labels) {
  Label result{kNaN, 0};
  for (const Label& label : labels) {
    if (std::isnan(label.value)) continue;
    if (result.bound != 0 && result.bound != label.bound) return {kNaN, 0};
    const bool tighter = label.bound > 0 ? label.value > result.value : label.value < result.value;
    if (result.bound == 0 || tighter) result = label;
  }
  return result;
}

}  // namespace

std::string_view to_string(Duplicates rule) {
  switch (rule) {
    case Duplicates::mean: return "mean";
    case Duplicates::median: return "median";
    case Duplicates::keep: return "keep";
    case Duplicates::drop: break;
  }
  return "drop";
}

Duplicates duplicates_from_string(std::string_view text) {
  for (const Duplicates rule : {Duplicates::mean, Duplicates::median, Duplicates::keep, Duplicates::drop})
    if (text == to_string(rule)) return rule;
  throw UsageError("unknown --duplicates '" + std::string(text) + "'; use mean, median, keep or drop");
}

Label merged_label(const std::vector<Label>& labels, const std::vector<float>& weights, bool classes, Duplicates rule) {
  if (rule == Duplicates::drop) return labels.front();
  const std::vector<Weighted> values = exact_values(labels, weights);
  if (values.empty()) return tightest(labels);
  if (classes) return {majority_of(values), 0};
  return {rule == Duplicates::median ? median_of(values) : mean_of(values), 0};
}

std::string repeated_header(const Task& task) {
  std::string line = "row,first,id,smiles";
  for (const std::string& name : task.names)
    line += "," + quote_cell(name, ',') + "," + quote_cell(name + "_used", ',');
  return line + "\n";
}

std::string repeated_line(const RepeatedRow& row, const Task& task) {
  const auto cell = [&](const Label& label) {
    if (std::isnan(label.value)) return std::string();
    if (task.kind == TaskKind::multiclass)
      return quote_cell(task.class_name(static_cast<std::size_t>(label.value)), ',');
    return (label.bound > 0 ? ">" : label.bound < 0 ? "<" : "") + number_text(label.value);
  };
  std::string line = std::to_string(row.row) + "," + std::to_string(row.first) + "," + quote_cell(row.id, ',') + "," +
                     quote_cell(row.smiles, ',');
  for (std::size_t t = 0; t < task.names.size(); ++t) line += "," + cell(row.values[t]) + "," + cell(row.used[t]);
  return line + "\n";
}

std::uint64_t invariant_hash(const GraphView& graph) {
  const auto n = static_cast<std::size_t>(graph.num_atoms);
  std::vector<std::uint64_t> colour(n, 0), next(n);
  const std::vector<std::size_t> invariant = invariant_columns(graph.features);
  for (std::size_t a = 0; a < n; ++a)
    for (const std::size_t c : invariant) colour[a] = mix(colour[a] + graph.atoms[a][c] + 1);
  for (int round = 0; round < 4; ++round) {
    std::ranges::fill(next, 0);
    for (int b = 0; b < graph.num_bonds; ++b) {
      const auto i = static_cast<std::size_t>(graph.bond_atoms[2 * b]);
      const auto j = static_cast<std::size_t>(graph.bond_atoms[2 * b + 1]);
      next[i] += mix(colour[j] + 0x9E3779B97F4A7C15u);
      next[j] += mix(colour[i] + 0x9E3779B97F4A7C15u);
    }
    for (std::size_t a = 0; a < n; ++a) colour[a] = mix(3 * colour[a] + mix(next[a]));
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t c : colour) sum += mix(c);
  return sum;
}

std::vector<std::int64_t> first_rows_of(const MoleculeSet& set, int threads) {
  const auto count = static_cast<std::size_t>(set.size());
  std::vector<std::uint64_t> hash(count);
  parallel_for(set.size(), 1024, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) hash[static_cast<std::size_t>(g)] = invariant_hash(set.graph(g));
  });
  std::unordered_map<std::uint64_t, int> times;
  for (const std::uint64_t one : hash) ++times[one];
  std::vector<std::string> canonical(count);
  parallel_for(set.size(), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto g = static_cast<std::size_t>(begin); g < static_cast<std::size_t>(end); ++g)
      if (times.at(hash[g]) > 1) canonical[g] = canonical_smiles(set.smiles[g], set.featurizer.standardize);
  });
  std::unordered_map<std::string_view, std::int64_t> first;
  std::vector<std::int64_t> rows = set.row;
  for (std::size_t g = 0; g < count; ++g)
    if (!canonical[g].empty()) rows[g] = first.try_emplace(canonical[g], set.row[g]).first->second;
  return rows;
}

std::vector<Label> Repeats::labels_of(const Molecule& molecule, std::size_t target) const {
  std::vector<Label> labels;
  for (const std::size_t r : molecule.rows) labels.push_back(rows_[r].values[target]);
  return labels;
}

std::vector<float> Repeats::weights_of(const Molecule& molecule) const {
  std::vector<float> weights;
  for (const std::size_t r : molecule.rows) weights.push_back(rows_[r].weight);
  return weights;
}

float Repeats::merged_column(const Molecule& molecule, std::size_t column) const {
  std::vector<Label> values;
  for (const std::size_t r : molecule.rows) values.push_back({rows_[r].columns[column], 0});
  return static_cast<float>(merged_label(values, weights_of(molecule), false, rules_.rule).value);
}

void Repeats::add(FeaturisedRow&& row, const std::string& file) {
  if (row.canonical.empty()) return;
  const auto [entry, is_new] = by_text_.try_emplace(std::move(row.canonical), molecules_.size());
  if (is_new) molecules_.emplace_back();
  Molecule& molecule = molecules_[entry->second];
  if (rules_.by_time) {
    const double time = time_of_cell(row.key, file, row.row_in_file);
    if (is_new || time < molecule.time) molecule.key = row.key, molecule.time = time;
  } else if (molecule.key.empty()) {
    molecule.key = row.key;
  }
  const std::int64_t first = is_new ? row.row : rows_[molecule.rows.front()].row;
  molecule.rows.push_back(rows_.size());
  RepeatedRow& added = rows_.emplace_back(RepeatedRow{
      row.row, first, std::move(row.id), std::move(row.smiles), {}, {}, std::move(row.columns), row.weight});
  for (std::size_t t = 0; t < row.values.size(); ++t)
    added.values.push_back({row.values[t], row.bounds.empty() || !rules_.uses_signs ? std::int8_t{0} : row.bounds[t]});
}

void Repeats::finish() {
  by_text_.clear();
  std::erase_if(molecules_, [](const Molecule& molecule) { return molecule.rows.size() < 2; });
  const std::size_t dropped = rows_.size();
  std::vector<std::size_t> new_index(rows_.size(), dropped);  // new index of each row
  for (std::size_t m = 0; m < molecules_.size(); ++m) {
    for (const std::size_t r : molecules_[m].rows) {
      new_index[r] = r;
      by_row_[rows_[r].row] = m;
    }
  }
  std::size_t kept = 0;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (new_index[r] == dropped) continue;
    if (kept != r) rows_[kept] = std::move(rows_[r]);
    new_index[r] = kept++;
  }
  rows_.resize(kept);
  for (Molecule& molecule : molecules_) {
    for (std::size_t& r : molecule.rows) r = new_index[r];
    merge(molecule);
    for (const std::size_t r : molecule.rows)
      rows_[r].used = rules_.rule == Duplicates::keep ? rows_[r].values : molecule.used;
  }
}

void Repeats::merge(Molecule& molecule) const {
  const std::vector<float> weights = weights_of(molecule);
  for (std::size_t t = 0; t < task_.names.size(); ++t)
    molecule.used.push_back(merged_label(labels_of(molecule, t), weights, is_class(t), rules_.rule));
  for (std::size_t c = 0; c < rows_[molecule.rows.front()].columns.size(); ++c)
    molecule.columns.push_back(merged_column(molecule, c));
  if (rules_.rule == Duplicates::drop) molecule.weight = weights.front();
  else if (rules_.add_weights) molecule.weight = std::accumulate(weights.begin(), weights.end(), 0.0f);
}

std::int64_t Repeats::first_of(std::int64_t row) const {
  const auto found = by_row_.find(row);
  return found == by_row_.end() ? row : rows_[molecules_[found->second].rows.front()].row;
}

void Repeats::replace(FeaturisedRow& row) const {
  const auto found = by_row_.find(row.row);
  if (found == by_row_.end() || rules_.rule == Duplicates::keep) return;
  const Molecule& molecule = molecules_[found->second];
  row.bounds.clear();
  for (std::size_t t = 0; t < molecule.used.size(); ++t) {
    row.values[t] = molecule.used[t].value;
    if (molecule.used[t].bound == 0) continue;
    row.bounds.resize(molecule.used.size());
    row.bounds[t] = molecule.used[t].bound;
  }
  row.columns = molecule.columns;
  row.weight = molecule.weight;
  if (rules_.rule != Duplicates::drop) row.key = molecule.key;
}

/// Text on how much the rows of a molecule differ, by target.
std::string Repeats::spread() const {
  std::vector<std::string> parts;
  bool compared = false;
  for (std::size_t t = 0; t < task_.names.size(); ++t) {
    std::vector<double> ranges;
    double widest = -1;
    std::int64_t differing = 0, ties = 0, row = 0;
    for (const Molecule& molecule : molecules_) {
      const std::vector<Weighted> values = exact_values(labels_of(molecule, t), weights_of(molecule));
      if (values.size() < 2) continue;
      const auto [low, high] = std::ranges::minmax(values, {}, &Weighted::value);
      ranges.push_back(high.value - low.value);
      if (ranges.back() > widest) widest = ranges.back(), row = rows_[molecule.rows.front()].row;
      differing += ranges.back() > 0;
      ties += is_class(t) && std::isnan(majority_of(values));
    }
    const std::string name = "'" + task_.names[t] + "'";
    compared = compared || !ranges.empty();
    if (differing == 0) continue;
    if (is_class(t)) {
      const bool blank = rules_.rule == Duplicates::mean || rules_.rule == Duplicates::median;
      parts.push_back(name + " for " + with_thousands(differing) +
                      (blank && ties > 0 ? " (" + with_thousands(ties) + " ties, left blank)" : ""));
      continue;
    }
    const std::string unit = t < task_.units.size() && !task_.units[t].empty() ? " " + task_.units[t] : "";
    parts.push_back(name + " median " + sensible_number(median_of(ranges)) + unit + ", at most " +
                    sensible_number(widest) + unit + " (row " + std::to_string(row + 1) + ")");
  }
  if (!compared) return "no target has two labels for one of them";
  if (parts.empty()) return "their labels are equal";
  return (task_.kind == TaskKind::mixed     ? "classes differ, or the largest minus the smallest value: "
          : task_.has(TaskKind::regression) ? "largest minus smallest value: "
                                            : "classes differ: ") +
         list_of(parts, kTargetsShown);
}

std::string Repeats::note(std::int64_t rows, const std::string& what) const {
  const std::string rule(to_string(rules_.rule));
  const std::string outcome = rules_.rule == Duplicates::keep ? "all are kept, those of one molecule in the same set"
                              : rules_.rule == Duplicates::drop
                                  ? "the first row of each is kept, the others are dropped"
                              : task_.kind == TaskKind::mixed ? "one row each, classes by majority, numbers by " + rule
                              : task_.has(TaskKind::regression) ? "one row each, by " + rule
                                                                : "one row each, by majority";
  return with_thousands(static_cast<std::int64_t>(molecules_.size())) +
         (molecules_.size() == 1 ? " duplicate molecule in " : " duplicate molecules in ") +
         with_thousands(static_cast<std::int64_t>(rows_.size())) + " of " + with_thousands(rows) + " " + what + ": " +
         outcome + " (--duplicates " + rule + ")" + (task_.names.empty() ? "" : "; " + spread());
}

void RowSource::find_repeats(bool draws, const Progressed& progress) {
  const bool keeps_rows = plan_.named || options_.corpus || !options_.splits_file.empty() || task_.names.empty();
  if (!options_.duplicates && keeps_rows) return;
  // The rows of a molecule may differ in an input column, such as a temperature or a pH.
  const Duplicates default_rule = options_.input_columns.empty() ? Duplicates::mean : Duplicates::keep;
  const Duplicates rule = options_.duplicates.value_or(default_rule);
  if (rule == Duplicates::keep && !draws) return;
  // The other sets of the source's split stay unchanged, because results are computed on each of their rows.
  const auto is_counted = [&](const FeaturisedRow& row) {
    return std::holds_alternative<MolecularGraph>(row.result) && (!has_parts() || row.part == SplitPart::train);
  };
  std::vector<std::pair<std::uint64_t, std::int64_t>> seen;  // hash, row
  const auto collect = [&](FeaturisedRow&& row) {
    if (is_counted(row)) seen.emplace_back(row.hash, row.row);
  };
  read({.hashes = true}, collect, [&](std::int64_t done, std::int64_t total) {
    if (progress) progress(done / 2, total);
  });
  duplicates_searched_ = true;
  std::ranges::sort(seen);
  std::unordered_set<std::int64_t> suspects;
  for (std::size_t i = 1; i < seen.size(); ++i)
    if (seen[i].first == seen[i - 1].first) suspects.insert({seen[i - 1].second, seen[i].second});
  if (suspects.empty()) return;
  seen = {};
  Repeats repeats({.rule = rule,
                   .by_time = !options_.time_column.empty(),
                   .uses_signs = options_.censored != Censored::value,
                   .add_weights = !options_.weight_column.empty()},
                  options_.corpus ? Task{} : joined_task(task_, auxiliary_));  // labels of a corpus are not merged
  const auto add_row = [&](FeaturisedRow&& row) {
    const std::string file = file_of(row);
    if (is_counted(row)) repeats.add(std::move(row), file);
  };
  read({.canonical = true, .only = &suspects}, add_row, [&](std::int64_t, std::int64_t total) {
    if (progress) progress(total / 2, total);
  });
  repeats.finish();
  repeats_ = std::move(repeats);
}

}  // namespace molgraph
