#include "datasets/dataset_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kExamples = 3;
constexpr std::int64_t kFewValues = 20;
constexpr std::int64_t kFewTestLabels = 10;
constexpr std::size_t kFewDistinct = 5;

std::vector<SplitPart> parts_of(const Split& split, std::int64_t size) {
  std::vector<SplitPart> part(static_cast<std::size_t>(size), SplitPart::none);
  for (const auto g : split.train) part[static_cast<std::size_t>(g)] = SplitPart::train;
  for (const auto g : split.valid) part[static_cast<std::size_t>(g)] = SplitPart::valid;
  for (const auto g : split.test) part[static_cast<std::size_t>(g)] = SplitPart::test;
  return part;
}

const char* name_of(SplitPart part) {
  return part == SplitPart::train ? "train" : part == SplitPart::valid ? "valid" : "test";
}

/// Molecules whose invariant hash occurs in more than one set: only these can be shared.
std::vector<std::int64_t> suspects_of(const MoleculeSet& set, const std::vector<SplitPart>& part, int threads) {
  std::vector<std::uint64_t> hash(part.size());
  parallel_for(set.size(), 1024, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t g = begin; g < end; ++g) hash[static_cast<std::size_t>(g)] = invariant_hash(set.graph(g));
  });
  std::unordered_map<std::uint64_t, unsigned> seen_in;  // bit mask of sets
  for (std::size_t g = 0; g < part.size(); ++g)
    if (part[g] != SplitPart::none) seen_in[hash[g]] |= 1u << static_cast<unsigned>(part[g]);
  std::vector<std::int64_t> suspects;
  for (std::size_t g = 0; g < part.size(); ++g) {
    const unsigned mask = part[g] == SplitPart::none ? 0 : seen_in[hash[g]];
    if ((mask & (mask - 1)) != 0) suspects.push_back(static_cast<std::int64_t>(g));
  }
  return suspects;
}

}  // namespace

std::string with_commas(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t d = 0; d < digits.size(); ++d) {
    const bool comma = d > 0 && digits[d - 1] != '-' && (digits.size() - d) % 3 == 0;
    text += comma ? std::string{',', digits[d]} : std::string{digits[d]};
  }
  return text;
}

void RejectionTally::add(const RejectedRow& row) {
  ++total_;
  ++counts_[row.status];
  if (examples_.size() >= kExamples) return;
  std::string example = "row " + std::to_string(row.row + 1) + ": " + (row.reason.empty() ? row.status : row.reason);
  if (!row.text.empty()) example += " (" + row.text.substr(0, 80) + ")";
  examples_.push_back(std::move(example));
}

std::string RejectionTally::text(std::int64_t rows) const {
  if (total_ == 0) return {};
  std::vector<std::string> kinds;
  for (const auto& [status, count] : counts_) kinds.push_back(with_commas(count) + " " + status);
  std::string result = with_commas(total_) + " of " + with_commas(rows) + (rows == 1 ? " row was" : " rows were") +
                       " rejected: " + list_of(kinds) + "; ";
  for (std::size_t e = 0; e < examples_.size(); ++e) result += (e ? "; " : "") + examples_[e];
  return result;
}

SharedMolecules shared_molecules(const MoleculeSet& set, const Split& split, int threads) {
  const auto part = parts_of(split, set.size());
  const auto suspects = suspects_of(set, part, threads);
  std::vector<std::string> canonical(suspects.size());
  parallel_for(static_cast<std::int64_t>(suspects.size()), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s)
      canonical[s] = canonical_smiles(set.smiles[static_cast<std::size_t>(suspects[s])], set.featurizer.standardize);
  });
  struct Occurrence {
    std::int64_t first;
    bool counted = false;
  };
  std::unordered_map<std::string, Occurrence> seen;
  SharedMolecules shared;
  for (std::size_t s = 0; s < suspects.size(); ++s) {
    if (canonical[s].empty()) continue;
    const auto [entry, is_new] = seen.try_emplace(canonical[s], Occurrence{suspects[s]});
    Occurrence& occurrence = entry->second;
    const auto current = static_cast<std::size_t>(suspects[s]), earlier = static_cast<std::size_t>(occurrence.first);
    if (is_new || occurrence.counted || part[current] == part[earlier]) continue;
    occurrence.counted = true;
    ++shared.count;
    if (shared.example.empty())
      shared.example = canonical[s] + ", row " + std::to_string(set.row[earlier] + 1) + " in " +
                       name_of(part[earlier]) + " and row " + std::to_string(set.row[current] + 1) + " in " +
                       name_of(part[current]);
  }
  return shared;
}

std::string shared_molecules_warning(const MoleculeSet& set, const Split& split, int threads) {
  const SharedMolecules shared = shared_molecules(set, split, threads);
  if (shared.count == 0) return {};
  return with_commas(shared.count) + (shared.count == 1 ? " molecule is" : " molecules are") +
         " in two sets of the split, e.g. " + shared.example + ": the metrics will be too optimistic";
}

namespace {

/// One kind of problem and the targets that have it.
struct TargetProblem {
  std::string one, many;  ///< text after "target 'y' " and after "70 targets "
  std::vector<std::string> names{};
};

void append_lines(const std::vector<TargetProblem>& problems, std::vector<std::string>& lines) {
  for (const TargetProblem& problem : problems) {
    if (problem.names.size() == 1) lines.push_back("target " + problem.names[0] + " " + problem.one);
    if (problem.names.size() > 1)
      lines.push_back(with_commas(static_cast<std::int64_t>(problem.names.size())) + " targets " + problem.many + ": " +
                      list_of(problem.names, kExamples));
  }
}

std::string quoted_name(const MoleculeSet& set, std::size_t target) { return "'" + set.task.names[target] + "'"; }

/// Labels of one target in one set.
struct Values {
  std::int64_t count = 0, censored = 0;
  std::set<double> distinct{};  ///< at most a few
};

Values values_of(const MoleculeSet& set, const std::vector<std::int64_t>& part, std::size_t target) {
  const auto targets = static_cast<std::size_t>(set.task.num_targets());
  Values values;
  for (const std::int64_t g : part) {
    const std::size_t at = static_cast<std::size_t>(g) * targets + target;
    const double value = set.targets[at];
    if (std::isnan(value)) continue;
    if (!set.bound.empty() && set.bound[at] != 0) {
      ++values.censored;
      continue;
    }
    ++values.count;
    if (values.distinct.size() <= kFewDistinct) values.distinct.insert(value);
  }
  return values;
}

}  // namespace

std::vector<std::string> part_warnings(const MoleculeSet& set, const Split& split) {
  std::vector<std::string> warnings;
  for (const auto& [part, name] : {std::pair{&split.valid, "validation"}, std::pair{&split.test, "test"}}) {
    if (part->empty()) continue;
    const std::string where = "in the " + std::string(name) + " set: ";
    TargetProblem none{"has no label " + where + "it has no metric there",
                       "have no label " + where + "they have no metric there"};
    TargetProblem one_class{"has one class only " + where + "its roc-auc and ap are left blank there",
                            "have one class only " + where + "their roc-auc and ap are left blank there"};
    TargetProblem few{"", "have fewer than " + std::to_string(kFewTestLabels) + " labels " + where +
                              "their results there are unreliable"};
    for (std::size_t t = 0; t < set.task.names.size(); ++t) {
      const Values values = values_of(set, *part, t);
      if (part == &split.test && values.count > 0 && values.count < kFewTestLabels) {
        few.one = "has only " + std::to_string(values.count) + " labels " + where + "its results there are unreliable";
        few.names.push_back(quoted_name(set, t));
      }
      if (values.count == 0) none.names.push_back(quoted_name(set, t));
      else if (set.task.kind_of(t) == TaskKind::binary && values.distinct.size() == 1)
        one_class.names.push_back(quoted_name(set, t));
    }
    append_lines({none, one_class, few}, warnings);
  }
  return warnings;
}

std::vector<std::string> target_warnings(const MoleculeSet& set, const Split& split) {
  TargetProblem none{"has no label in the training set: it cannot be learned",
                     "have no label in the training set and cannot be learned"};
  TargetProblem constant{"has the same value in the whole training set: nothing can be learned from it",
                         "have the same value in the whole training set; nothing can be learned from them"};
  TargetProblem only_censored{"has only censored labels in the training set: their limits determine its scaling",
                              "have only censored labels in the training set; their limits determine the scaling"};
  TargetProblem few_labels{"", "have fewer than " + std::to_string(kFewValues) + " labels in the training set"};
  TargetProblem few_exact{
      "", "have fewer than " + std::to_string(kFewValues) + " labels in the training set that are not censored"};
  TargetProblem few_distinct{"", "have few distinct values; if these are classes, use -t multiclass"};
  const auto targets = static_cast<std::size_t>(set.task.num_targets());
  for (std::size_t t = 0; t < targets; ++t) {
    const Values values = values_of(set, split.train, t);
    const std::int64_t all = values.count + values.censored;
    const std::string name = quoted_name(set, t), count = std::to_string(all),
                      distinct = std::to_string(values.distinct.size());
    if (all == 0) {
      none.names.push_back(name);
    } else if (values.count == 0) {
      only_censored.names.push_back(name);
    } else if (values.distinct.size() == 1 && values.censored == 0) {
      constant.names.push_back(name);
    } else if (all < kFewValues) {
      few_labels.one = "has only " + count + " labels in the training set";
      few_labels.names.push_back(name);
    } else if (values.count < kFewValues) {
      few_exact.one = "has only " + std::to_string(values.count) + " labels in the training set that are not censored";
      few_exact.names.push_back(name);
    } else if (set.task.kind_of(t) == TaskKind::regression && values.distinct.size() <= kFewDistinct) {
      few_distinct.one = "has only " + distinct + " distinct values: if these are classes, use -t multiclass";
      few_distinct.names.push_back(name);
    }
  }
  std::vector<std::string> warnings;
  append_lines({none, only_censored, constant, few_labels, few_exact, few_distinct}, warnings);
  std::int64_t unlabelled = 0;
  for (std::size_t g = 0; g < static_cast<std::size_t>(set.size()) && targets > 0; ++g)
    unlabelled += std::all_of(set.targets.begin() + static_cast<std::ptrdiff_t>(g * targets),
                              set.targets.begin() + static_cast<std::ptrdiff_t>((g + 1) * targets),
                              [](auto value) { return std::isnan(value); });
  if (unlabelled > 0) warnings.push_back(with_commas(unlabelled) + " molecules have no label for any target");
  for (std::string& warning : part_warnings(set, split)) warnings.push_back(std::move(warning));
  return warnings;
}

}  // namespace molgraph
