#include "datasets/splits/splits.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "datasets/tables/column_stats.hpp"
#include "datasets/tables/dates.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/philox.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

/// Philox stream of 32-bit words.
class WordStream {
 public:
  /// Key = seed plus a constant per purpose (a multiple of the 64-bit golden ratio, so that adjacent seeds do not give
  /// another purpose's key); counter = (block, 64 bits; epoch; purpose).
  WordStream(std::uint64_t seed, ShuffleStream purpose, std::uint32_t epoch) {
    const std::uint64_t key = seed + static_cast<std::uint64_t>(purpose) * 0x9E3779B97F4A7C15u;
    key_[0] = static_cast<std::uint32_t>(key);
    key_[1] = static_cast<std::uint32_t>(key >> 32);
    counter_[2] = epoch;
    counter_[3] = static_cast<std::uint32_t>(purpose);
  }

  std::uint32_t word() {
    if (used_ == 4) {
      philox4x32_10(words_, counter_, key_);
      if (++counter_[0] == 0) ++counter_[1];
      used_ = 0;
    }
    return words_[used_++];
  }

  /// Uniform in [0, range) without bias: Lemire 2019, "Fast Random Integer Generation in an Interval".
  std::uint32_t below(std::uint32_t range) {
    std::uint64_t product = std::uint64_t{word()} * range;
    if (static_cast<std::uint32_t>(product) < range) {
      const std::uint32_t threshold = (0u - range) % range;
      while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{word()} * range;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  std::uint32_t key_[2], counter_[4]{}, words_[4]{};
  int used_ = 4;
};

SplitSizes normalised(const SplitSizes& sizes) {
  double sum = 0;
  for (const double size : sizes) {
    if (!std::isfinite(size) || size < 0) throw UsageError("split sizes must be three non-negative numbers");
    sum += size;
  }
  if (sizes[0] <= 0) throw UsageError("the training set of a split must be larger than 0");
  return {sizes[0] / sum, sizes[1] / sum, sizes[2] / sum};
}

/// Groups of molecules, in the order of first appearance.
std::vector<std::vector<std::int64_t>> groups_of(const std::vector<std::string>& scaffolds) {
  std::unordered_map<std::string_view, std::size_t> number;
  std::vector<std::vector<std::int64_t>> groups;
  for (std::size_t g = 0; g < scaffolds.size(); ++g) {
    const auto [entry, is_new] = number.try_emplace(scaffolds[g], groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

void append(std::vector<std::int64_t>& part, const std::vector<std::int64_t>& group) {
  part.insert(part.end(), group.begin(), group.end());
}

Split sorted(Split split) {
  for (auto* part : {&split.train, &split.valid, &split.test}) std::ranges::sort(*part);
  return split;
}

/// Tolerance for rounding errors of sums such as 0.8 + 0.1.
constexpr double kRounding = 1e-9;

/// 0..count-1.
std::vector<std::int64_t> ascending(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

/// 0..count-1 in random order by the seed.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order = ascending(count);
  shuffle(order, seed, ShuffleStream::split);
  return order;
}

/// Numbers of molecules in train, valid and test.
std::array<std::int64_t, 3> counts_of_parts(std::int64_t count, const SplitSizes& sizes) {
  const SplitSizes fraction = normalised(sizes);
  const auto n = static_cast<double>(count);
  auto train = static_cast<std::int64_t>(fraction[0] * n + kRounding);
  auto valid = static_cast<std::int64_t>((fraction[0] + fraction[1]) * n + kRounding) - train;
  // With few molecules, every requested set still gets one.
  if (fraction[1] > 0 && valid == 0 && train > 1) --train, ++valid;
  if (fraction[2] > 0 && train + valid == count && train > 1) --train;
  if (fraction[2] == 0) valid = count - train;
  if (fraction[1] == 0 && fraction[2] == 0) train = count, valid = 0;
  return {train, valid, count - train - valid};
}

/// The first are the training set, the last the test set.
Split divide(const std::vector<std::int64_t>& order, const SplitSizes& sizes) {
  const auto [train, valid, test] = counts_of_parts(std::ssize(order), sizes);
  return sorted({{order.begin(), order.begin() + train},
                 {order.begin() + train, order.begin() + train + valid},
                 {order.begin() + train + valid, order.end()}});
}

}  // namespace

void shuffle(std::span<std::int64_t> items, std::uint64_t seed, ShuffleStream purpose, std::uint32_t epoch) {
  assert(items.size() <= std::numeric_limits<std::uint32_t>::max());
  WordStream stream(seed, purpose, epoch);
  for (std::size_t last = items.size(); last > 1; --last)
    std::swap(items[last - 1], items[stream.below(static_cast<std::uint32_t>(last))]);
}

std::vector<std::int64_t> sample(std::vector<std::int64_t> items, std::int64_t max_items, std::uint64_t seed) {
  if (std::ssize(items) > max_items) {
    shuffle(items, seed, ShuffleStream::split);
    items.resize(static_cast<std::size_t>(max_items));
  }
  std::ranges::sort(items);
  return items;
}

Split random_split(std::int64_t count, const SplitSizes& sizes, std::uint64_t seed) {
  return divide(shuffled(count, seed), sizes);
}

Split stratified_split(std::int64_t count, const ClassLabels& labels, const SplitSizes& sizes, std::uint64_t seed) {
  if (labels.targets == 0) return random_split(count, sizes, seed);
  const auto counts = counts_of_parts(count, sizes);
  auto parts = deal_by_class(labels, shuffled(count, seed), {counts.begin(), counts.end()});
  return sorted({std::move(parts[0]), std::move(parts[1]), std::move(parts[2])});
}

Split scaffold_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes) {
  const SplitSizes fraction = normalised(sizes);
  auto groups = groups_of(scaffolds);
  std::ranges::sort(groups, [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() > b.front();
  });
  const auto n = static_cast<double>(scaffolds.size());
  const double train_end = fraction[0] * n + kRounding, valid_end = (fraction[0] + fraction[1]) * n + kRounding;
  Split split;
  for (const auto& group : groups) {
    const auto with_train = static_cast<double>(split.train.size() + group.size());
    const auto with_valid = with_train + static_cast<double>(split.valid.size());
    if (with_train <= train_end) append(split.train, group);
    else append(with_valid <= valid_end ? split.valid : split.test, group);
  }
  return sorted(std::move(split));
}

Split scaffold_balanced_split(const std::vector<std::string>& scaffolds, const SplitSizes& sizes, std::uint64_t seed) {
  const SplitSizes fraction = normalised(sizes);
  const auto groups = groups_of(scaffolds);
  const auto n = static_cast<double>(scaffolds.size());
  SplitSizes room{fraction[0] * n + kRounding, fraction[1] * n + kRounding, fraction[2] * n + kRounding};
  double smallest = n;  // the smaller of the requested validation and test sets
  for (const double part : {fraction[1], fraction[2]})
    if (part > 0) smallest = std::min(smallest, part * n);
  std::vector<std::int64_t> large, small;
  for (std::size_t g = 0; g < groups.size(); ++g)
    (2 * static_cast<double>(groups[g].size()) > smallest ? large : small).push_back(static_cast<std::int64_t>(g));
  shuffle(large, seed, ShuffleStream::scaffold, 0);
  shuffle(small, seed, ShuffleStream::scaffold, 1);
  large.insert(large.end(), small.begin(), small.end());
  Split split;
  const std::array<std::vector<std::int64_t>*, 3> parts{&split.train, &split.valid, &split.test};
  const auto size_of = [&](std::int64_t g) { return static_cast<double>(groups[static_cast<std::size_t>(g)].size()); };
  const auto biggest = std::ranges::max_element(large, {}, size_of);
  const auto most = static_cast<std::size_t>(std::ranges::max_element(fraction) - fraction.begin());
  if (biggest != large.end() && size_of(*biggest) > room[most]) {
    const double share = (n - size_of(*biggest)) / (1 - fraction[most]);
    for (std::size_t p = 0; p < room.size(); ++p) room[p] = p == most ? 0 : fraction[p] * share + kRounding;
    append(*parts[most], groups[static_cast<std::size_t>(*biggest)]);
    large.erase(biggest);
  }
  for (const std::int64_t g : large) {
    const auto fits = [&](std::size_t p) { return static_cast<double>(parts[p]->size()) + size_of(g) <= room[p]; };
    const std::size_t part = fits(0) ? 0 : fits(1) ? 1 : fraction[2] > 0 ? 2 : 0;
    append(*parts[part], groups[static_cast<std::size_t>(g)]);
  }
  return sorted(std::move(split));
}

std::vector<std::string> unique_where_empty(std::vector<std::string> groups) {
  std::size_t next = 0;
  for (std::string& group : groups)
    if (group.empty()) group = std::string(1, '\0') + std::to_string(next++);  // no cell starts with \0
  return groups;
}

double time_of_cell(const std::string& cell, const std::string& file, std::int64_t row) {
  const bool date = looks_like_date(cell);
  const auto value = date ? seconds_of_date(cell) : number_of_cell(cell);
  if (!value)
    throw DataError(file, row + 1,
                    date ? "not a valid date or time in the time column"
                         : "neither a number nor a date such as 2024-03-01 in the time column",
                    cell);
  return *value;
}

Split time_split(const std::vector<std::string>& times, const SplitSizes& sizes, const std::string& file,
                 const std::vector<std::int64_t>& rows) {
  assert(times.size() == rows.size());
  const bool dates = !times.empty() && looks_like_date(times[0]);
  if (!times.empty() && std::ranges::all_of(times, looks_like_unordered_date))
    throw DataError(file, rows[0] + 1,
                    "all cells of the time column look like dates, but do not sort as numbers; write dates such as "
                    "2024-03-01",
                    times[0]);
  std::vector<double> number(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (dates && !looks_like_date(times[i]))
      throw DataError(file, rows[i] + 1, "not a date such as 2024-03-01, unlike the first row of the time column",
                      times[i]);
    if (!dates && looks_like_date(times[i]))
      throw DataError(file, rows[i] + 1, "neither a number nor a date such as 2024-03-01 in the time column", times[i]);
    number[i] = time_of_cell(times[i], file, rows[i]);
  }
  std::vector<std::int64_t> order = ascending(std::ssize(times));
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return number[static_cast<std::size_t>(i)]; });
  return divide(order, sizes);
}

Split order_split(std::int64_t count, const SplitSizes& sizes) { return divide(ascending(count), sizes); }

std::vector<Split> k_fold_splits(std::int64_t count, const std::vector<std::string>& groups, int folds,
                                 const SplitSizes& sizes, std::uint64_t seed, const ClassLabels& labels) {
  normalised(sizes);
  if (folds < 2 || folds > count)
    throw UsageError("--folds " + std::to_string(folds) + ": must be from 2 to the number of molecules, " +
                     std::to_string(count));
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(folds));
  const auto smallest = [&] { return std::ranges::min_element(members, {}, [](const auto& m) { return m.size(); }); };
  if (groups.empty()) {
    const std::vector<std::int64_t> order = shuffled(count, seed);
    std::vector<std::int64_t> fold_sizes(members.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ++fold_sizes[i % members.size()];
      if (labels.targets == 0) members[i % members.size()].push_back(order[i]);
    }
    if (labels.targets > 0) members = deal_by_class(labels, order, fold_sizes);
  } else {
    auto parts = groups_of(groups);
    std::ranges::stable_sort(parts, [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const auto& part : parts) append(*smallest(), part);
    if (smallest()->empty())
      throw UsageError("--folds " + std::to_string(folds) + ": there are only " + std::to_string(parts.size()) +
                       " groups");
  }
  std::vector<Split> splits;
  for (std::size_t k = 0; k < members.size(); ++k) {
    std::vector<std::int64_t> rest;
    for (std::size_t other = 0; other < members.size(); ++other)
      if (other != k) append(rest, members[other]);
    std::ranges::sort(rest);
    const Split inner = stratified_split(static_cast<std::int64_t>(rest.size()), labels.subset(rest),
                                         {sizes[0], sizes[1], 0}, seed + k);
    Split& split = splits.emplace_back();
    for (const auto i : inner.train) split.train.push_back(rest[static_cast<std::size_t>(i)]);
    for (const auto i : inner.valid) split.valid.push_back(rest[static_cast<std::size_t>(i)]);
    split.test = members[k];
    split = sorted(std::move(split));
  }
  return splits;
}

SplitPart split_part_of_cell(const std::string& cell, const std::string& file, std::int64_t row) {
  const std::string_view part = part_of_cell(cell);
  if (part == "train") return SplitPart::train;
  if (part == "valid") return SplitPart::valid;
  if (part == "test") return SplitPart::test;
  if (is_missing(cell)) return SplitPart::none;
  throw DataError(file, row + 1, "not a set of a split: must be train, val, valid, validation or test", cell);
}

void add_to_part(Split& split, SplitPart part, std::int64_t index) {
  if (part == SplitPart::train) split.train.push_back(index);
  if (part == SplitPart::valid) split.valid.push_back(index);
  if (part == SplitPart::test) split.test.push_back(index);
}

std::vector<std::string> scaffolds_of(const MoleculeSet& set, int threads) {
  std::vector<std::string> scaffolds(static_cast<std::size_t>(set.size()));
  parallel_for(set.size(), 256, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto g = static_cast<std::size_t>(begin); g < static_cast<std::size_t>(end); ++g) try {
        scaffolds[g] = murcko_scaffold(set.smiles[g], set.featurizer.standardize);
      } catch (const DataError&) {  // RDKit cannot parse its own SMILES of some SDF records: no scaffold
      }
  });
  return scaffolds;
}

}  // namespace molgraph
