#include "datasets/load_splits.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "datasets/dataset_warnings.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

std::string_view split_word(SplitKind kind) {
  switch (kind) {
    case SplitKind::scaffold: return "scaffold";
    case SplitKind::scaffold_balanced: return "scaffold-balanced";
    case SplitKind::group: return "group";
    case SplitKind::time: return "time";
    case SplitKind::order: return "order";
    default: return "random";
  }
}

bool is_chronological(SplitKind kind) { return kind == SplitKind::time || kind == SplitKind::order; }

namespace {

/// Rows of a set grouped into units: the rows of one unit are duplicates of one molecule.
struct Units {
  std::vector<std::vector<std::int64_t>> members{};  ///< [units] ascending indices, ordered by the first

  explicit Units(const std::vector<std::int64_t>& first_rows) {
    std::unordered_map<std::int64_t, std::size_t> number;
    for (std::size_t g = 0; g < first_rows.size(); ++g) {
      const auto [entry, is_new] = number.try_emplace(first_rows[g], members.size());
      if (is_new) members.emplace_back();
      members[entry->second].push_back(static_cast<std::int64_t>(g));
    }
  }
  std::int64_t count() const { return static_cast<std::int64_t>(members.size()); }
  std::vector<std::int64_t> firsts() const {
    std::vector<std::int64_t> result;
    for (const auto& unit : members) result.push_back(unit.front());
    return result;
  }
  /// Converts a set of units to a set of molecules.
  std::vector<std::int64_t> expanded(const std::vector<std::int64_t>& part) const {
    std::vector<std::int64_t> result;
    for (const std::int64_t unit : part) {
      const auto& all = members[static_cast<std::size_t>(unit)];
      result.insert(result.end(), all.begin(), all.end());
    }
    std::ranges::sort(result);
    return result;
  }
};

/// Merges groups that share a molecule: disjoint sets, each named after its first group.
class LinkedGroups {
 public:
  const std::string& name_of(const std::string& name) { return names_[root(number(name))]; }
  void link(const std::string& a, const std::string& b) {
    const auto [low, high] = std::minmax({root(number(a)), root(number(b))});
    parent_[high] = low;
  }

 private:
  std::size_t number(const std::string& name) {
    const auto [entry, is_new] = number_.try_emplace(name, names_.size());
    if (is_new) {
      parent_.push_back(names_.size());
      names_.push_back(name);
    }
    return entry->second;
  }
  std::size_t root(std::size_t at) {
    for (; parent_[at] != at; at = parent_[at]) parent_[at] = parent_[parent_[at]];
    return at;
  }
  std::unordered_map<std::string, std::size_t> number_;
  std::vector<std::string> names_;
  std::vector<std::size_t> parent_;  ///< equal to the own index for a root
};

/// One key per unit: for groups, the merged group of those that share a molecule; for times, the earliest; else the
/// first row's key.
std::vector<std::string> keys_of_units(const std::vector<std::string>& keys, const Units& units,
                                       const SplitBasis& basis, SplitKind kind) {
  std::vector<std::string> result;
  LinkedGroups groups;
  for (const auto& unit : units.members) {
    std::string key = keys[static_cast<std::size_t>(unit.front())];
    for (const std::int64_t g : unit) {
      const auto index = static_cast<std::size_t>(g);
      const std::string& other = keys[index];
      if (kind == SplitKind::group && !key.empty() && !other.empty()) groups.link(key, other);
      if (kind == SplitKind::group && key.empty()) key = other;
      if (kind == SplitKind::time &&
          time_of_cell(other, basis.file, basis.rows[index]) < time_of_cell(key, basis.file, basis.rows[index]))
        key = other;
    }
    result.push_back(std::move(key));
  }
  if (kind == SplitKind::group)
    for (std::string& key : result)
      if (!key.empty()) key = std::string(groups.name_of(key));
  return result;
}

/// Splits units; all molecules of a unit go into its set.
ComputedSplits split_units(const LoadOptions& options, const SplitBasis& basis) {
  const Units units(basis.first_rows);
  const std::vector<std::int64_t> firsts = units.firsts();
  SplitBasis unit_basis{units.count(), {}, basis.file, {}, basis.file_rows, basis.labels.subset(firsts)};
  unit_basis.keys = [&] { return keys_of_units(basis.keys(), units, basis, options.split); };
  for (const std::int64_t g : firsts)
    if (!basis.rows.empty()) unit_basis.rows.push_back(basis.rows[static_cast<std::size_t>(g)]);
  ComputedSplits computed = computed_splits(options, unit_basis);
  for (Split& split : computed.splits)
    for (auto* part : {&split.train, &split.valid, &split.test}) *part = units.expanded(*part);
  return computed;
}

constexpr const char* kMemberSplitsAndFolds =
    "several validation sets require a single split, without --folds and without several splits in --splits-file";

/// Kind of a split (or of folds), derived from the name that computed_splits() gave it, which may come from a store, or
/// from the name for a validation set drawn from the training table. `random` for a split that comes with its source.
SplitKind kind_of_name(const std::string& name) {
  for (const SplitKind kind :
       {SplitKind::scaffold, SplitKind::scaffold_balanced, SplitKind::group, SplitKind::time, SplitKind::order}) {
    const std::string word(split_word(kind));
    if (name == word || name.starts_with(word + " folds") || name == "files by " + word) return kind;
  }
  return SplitKind::random;
}

/// Molecules of the training and validation sets with a weight above 0, ascending.
std::vector<std::int64_t> train_and_valid(const LoadedData& data) {
  std::vector<std::int64_t> result;
  for (const auto* part : {&data.split.train, &data.split.valid})
    for (const std::int64_t g : *part)
      if (data.set.weight.empty() || data.set.weight[static_cast<std::size_t>(g)] > 0) result.push_back(g);
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Values at the indices `chosen`, in that order.
template <class Value>
std::vector<Value> selected(const std::vector<Value>& values, const std::vector<std::int64_t>& chosen) {
  std::vector<Value> result;
  result.reserve(chosen.size());
  for (const std::int64_t g : chosen) result.push_back(values[static_cast<std::size_t>(g)]);
  return result;
}

/// Removes the second of two shares from the training set and returns it: whole molecules, stratified by class.
std::vector<std::int64_t> drawn_from_train(Split& split, const ClassLabels& labels,
                                           const std::vector<std::int64_t>& first_rows, const SplitSizes& sizes,
                                           std::uint64_t seed) {
  std::vector<std::int64_t> molecule_of = split.train;  // default: all molecules of train are different
  if (!first_rows.empty())
    for (std::int64_t& g : molecule_of) g = first_rows[static_cast<std::size_t>(g)];
  const Units units(molecule_of);
  std::vector<std::int64_t> firsts;
  for (const std::int64_t i : units.firsts()) firsts.push_back(split.train[static_cast<std::size_t>(i)]);
  const Split parts = stratified_split(units.count(), labels.subset(firsts), sizes, seed);
  std::vector<std::int64_t> train, drawn;
  for (const auto i : units.expanded(parts.train)) train.push_back(split.train[static_cast<std::size_t>(i)]);
  for (const auto i : units.expanded(parts.valid)) drawn.push_back(split.train[static_cast<std::size_t>(i)]);
  split.train = std::move(train);
  return drawn;
}

}  // namespace

bool needs_scaffolds(SplitKind kind) { return kind == SplitKind::scaffold || kind == SplitKind::scaffold_balanced; }

void check_split_options(const LoadOptions& o) {
  const auto require_together = [](bool given, bool needed, const char* text) {
    if (given != needed) throw UsageError(text);
  };
  require_together(!o.group_column.empty(), o.split == SplitKind::group,
                   "--split-type group and --group-column require each other");
  require_together(!o.time_column.empty(), o.split == SplitKind::time,
                   "--split-type time and --time-column require each other");
  if (!o.splits_file.empty() && (o.split != SplitKind::automatic || !o.splits_column.empty() || o.folds > 0))
    throw UsageError("--splits-file cannot be combined with --split-type, --splits-column or --folds");
  if (o.folds < 0 || o.folds == 1) throw UsageError("--folds must be at least 2");
  if (o.member_splits < 0 || o.member_splits == 1)
    throw UsageError("there must be at least 2 validation sets, or none");
  if (o.member_splits > 0 && o.folds > 0) throw UsageError(kMemberSplitsAndFolds);
  if (o.folds > 0 && (o.split == SplitKind::published || o.split == SplitKind::column || is_chronological(o.split)))
    throw UsageError("--folds computes its own splits; use --split-type random, scaffold, scaffold-balanced or group");
}

void check_splits_column(const LoadOptions& o) {
  const bool in_use = (o.split == SplitKind::column || o.split == SplitKind::automatic) && o.folds == 0;
  if (!o.splits_column.empty() && !in_use)
    throw UsageError("--splits-column requires --split-type predefined (or no --split-type), and no --folds");
}

ComputedSplits computed_splits(const LoadOptions& options, const SplitBasis& basis) {
  if (options.split_sizes_of) {
    LoadOptions sized = options;
    sized.split_sizes = options.split_sizes_of(basis.count);
    sized.split_sizes_of = {};
    return computed_splits(sized, basis);
  }
  if (!basis.first_rows.empty() && options.splits_file.empty()) return split_units(options, basis);
  if (!options.splits_file.empty()) {
    ComputedSplits result{"file", {}};
    for (const auto& parts : splits_of_file(options.splits_file, basis.file_rows)) {
      Split& split = result.splits.emplace_back();
      for (std::size_t g = 0; g < basis.rows.size(); ++g)
        add_to_part(split, parts[static_cast<std::size_t>(basis.rows[g])], static_cast<std::int64_t>(g));
    }
    return result;
  }
  const auto keys = [&]() -> std::vector<std::string> {
    if (options.split == SplitKind::group) return unique_where_empty(basis.keys());
    return needs_scaffolds(options.split) ? basis.keys() : std::vector<std::string>{};
  };
  const std::string name(split_word(options.split));
  if (options.folds > 0)
    return {name + " folds",
            k_fold_splits(basis.count, keys(), options.folds, options.split_sizes, options.seed, basis.labels)};
  switch (options.split) {
    case SplitKind::scaffold: return {name, {scaffold_split(keys(), options.split_sizes)}};
    case SplitKind::scaffold_balanced:
    case SplitKind::group: return {name, {scaffold_balanced_split(keys(), options.split_sizes, options.seed)}};
    case SplitKind::time: return {name, {time_split(basis.keys(), options.split_sizes, basis.file, basis.rows)}};
    case SplitKind::order: return {name, {order_split(basis.count, options.split_sizes)}};
    default: return {name, {stratified_split(basis.count, basis.labels, options.split_sizes, options.seed)}};
  }
}

bool is_random(const LoadOptions& options) {
  return options.splits_file.empty() &&
         (options.folds > 0 || options.split == SplitKind::automatic || options.split == SplitKind::random);
}

void set_splits(LoadedData& data, ComputedSplits computed) {
  data.split_name = computed.name;
  data.split = computed.splits.front();
  if (computed.splits.size() > 1) data.folds = std::move(computed.splits);
}

void take_valid_from_train(Split& split, const LoadOptions& options, const SplitBasis& basis) {
  if (options.split_sizes[1] <= 0) return;
  const std::vector<std::int64_t> train = std::move(split.train);
  const auto of_train = [&](const auto& values) { return values.empty() ? values : selected(values, train); };
  LoadOptions sized = options;
  sized.split_sizes[2] = 0;
  const SplitBasis train_basis{std::ssize(train),
                               [&] { return of_train(basis.keys()); },
                               basis.file,
                               of_train(basis.rows),
                               basis.file_rows,
                               basis.labels.subset(train),
                               of_train(basis.first_rows)};
  const Split parts = computed_splits(sized, train_basis).splits.front();
  split.train = selected(train, parts.train);
  split.valid = selected(train, parts.valid);
}

void draw_calibration(LoadedData& data, const LoadOptions& options, const std::vector<std::int64_t>& first_rows) {
  const double share = options.calibration_share;
  if (share <= 0) return;
  if (!data.folds.empty())
    throw UsageError(
        "--calibration-size requires a single split; with several, the test sets are the calibration data");
  data.split.calibration = drawn_from_train(data.split, class_labels_of(data.set),
                                            first_rows.empty() ? first_rows_of(data.set, options.threads) : first_rows,
                                            {1 - share, share, 0}, options.seed);
  if (data.split.calibration.empty() || data.split.train.empty())
    throw DataError(data.set.source.name + ": the training set has too few molecules for a calibration set");
}

namespace {

/// Molecules of the training and validation sets, which are divided into validation sets.
struct Pool {
  std::vector<std::int64_t> molecules;
  Units units;
  std::vector<std::string> keys;  ///< [units] scaffolds or groups; empty = random
  ClassLabels labels;
  std::string what;              ///< "molecules", "groups" or "scaffolds"
  std::size_t num_separate = 0;  ///< number of these
};

/// True for a split by time or order, because a model must not be trained on later rows than those it predicts, and for
/// one by groups that are no longer known.
bool has_one_validation_part(SplitKind kind, const std::vector<std::string>& groups) {
  return is_chronological(kind) || (kind == SplitKind::group && groups.empty());
}

Pool pool_of(const LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
             std::vector<std::string> groups, SplitKind kind) {
  std::vector<std::int64_t> molecules = train_and_valid(data);
  if (first_rows.empty()) first_rows = first_rows_of(data.set, options.threads);
  const Units units(selected(first_rows, molecules));
  Pool pool{std::move(molecules), units, {}, {}, "molecules", units.members.size()};
  if (needs_scaffolds(kind)) groups = scaffolds_of(data.set, options.threads);
  if (kind == SplitKind::random) {
    pool.labels = class_labels_of(data.set).subset(selected(pool.molecules, units.firsts()));
    return pool;
  }
  // Molecules without a group or without rings have an empty key and form separate groups.
  pool.keys = unique_where_empty(keys_of_units(selected(groups, pool.molecules), units, {}, kind));
  pool.what = kind == SplitKind::group ? "groups" : "scaffolds";
  pool.num_separate = std::unordered_set<std::string>(pool.keys.begin(), pool.keys.end()).size();
  return pool;
}

/// Each fold's test set becomes a split's validation set, the rest its training set.
std::vector<Split> deal_folds(const LoadedData& data, const Pool& pool, std::size_t count, std::uint64_t seed) {
  std::vector<Split> splits;
  for (const Split& fold :
       k_fold_splits(pool.units.count(), pool.keys, static_cast<int>(count), {1, 0, 0}, seed, pool.labels))
    splits.push_back({selected(pool.molecules, pool.units.expanded(fold.train)),
                      selected(pool.molecules, pool.units.expanded(fold.test)), data.split.test,
                      data.split.calibration});
  return splits;
}

}  // namespace

void set_member_splits(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                       std::vector<std::string> groups) {
  if (options.member_splits == 0) return;
  if (!data.folds.empty()) throw UsageError(kMemberSplitsAndFolds);
  std::size_t count = static_cast<std::size_t>(options.member_splits);
  const SplitKind kind = kind_of_name(data.split_name);
  if (has_one_validation_part(kind, groups)) {
    data.member_splits.assign(count, data.split);
    data.notes.push_back("all " + std::to_string(count) + " validation sets are that of the split: " +
                         (is_chronological(kind) ? "a model must not be trained on later rows than those it predicts"
                                                 : "its groups are no longer known"));
    return;
  }
  const Pool pool = pool_of(data, options, std::move(first_rows), std::move(groups), kind);
  if (const auto minimum = static_cast<std::size_t>(options.min_member_splits); minimum > 0)
    count = std::min(count, std::max(minimum, pool.num_separate));
  if (pool.num_separate < count)
    throw DataError(data.set.source.name + ": the training and validation sets have " +
                    with_commas(pool.units.count()) + " molecules" +
                    (kind == SplitKind::random ? "" : " of " + std::to_string(pool.num_separate) + " " + pool.what) +
                    ", too few for " + std::to_string(count) + " validation sets");
  data.member_splits = deal_folds(data, pool, count, options.seed);
  const auto [smallest, largest] =
      std::ranges::minmax_element(data.member_splits, {}, [](const Split& member) { return member.valid.size(); });
  const auto text = [](std::size_t number) { return with_commas(static_cast<std::int64_t>(number)); };
  data.notes.push_back(std::to_string(count) + " validation sets of " + text(smallest->valid.size()) +
                       (smallest->valid.size() == largest->valid.size() ? "" : " to " + text(largest->valid.size())) +
                       " of the " + text(pool.molecules.size()) + " training and validation rows, divided by " +
                       pool.what);
}

void set_inner_folds(LoadedData& data, const LoadOptions& options, std::vector<std::int64_t> first_rows,
                     std::vector<std::string> groups) {
  const SplitKind kind = kind_of_name(data.split_name);
  data.may_have_inner_folds = data.folds.empty() && data.member_splits.empty() && !data.split.valid.empty() &&
                              !has_one_validation_part(kind, groups);
  if (options.inner_folds == 0 || !data.may_have_inner_folds) return;
  if (options.needs_inner_folds && !options.needs_inner_folds(data)) return;
  const Pool pool = pool_of(data, options, std::move(first_rows), std::move(groups), kind);
  const std::size_t count = std::min(static_cast<std::size_t>(options.inner_folds), pool.num_separate);
  if (count > 1) data.inner = deal_folds(data, pool, count, options.seed);
}

}  // namespace molgraph
