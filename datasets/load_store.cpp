#include "datasets/load_store.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/load_checks.hpp"
#include "datasets/load_splits.hpp"
#include "datasets/row_weights.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/store/store.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/labels.hpp"
#include "datasets/tables/targets.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::vector<std::string> names_of(const std::map<std::string, Split>& splits) {
  std::vector<std::string> names;
  for (const auto& [name, split] : splits) names.push_back(name);
  return names;
}

/// Keeps only the targets `requested`, in that order.
void select_targets(MoleculeSet& set, const std::vector<std::string>& requested, const std::string& path) {
  std::vector<std::size_t> chosen;
  std::set<int> named;
  const ColumnNames names(set.task.names, path);
  for (const std::string& name : requested) {
    const int t = names.find(name);
    if (t < 0)
      throw DataError(path + ": the store has no target '" + name + "'; it has " +
                      (set.task.names.empty() ? "none" : list_of(set.task.names)));
    if (!named.insert(t).second) throw UsageError("the target column '" + name + "' is named twice");
    chosen.push_back(static_cast<std::size_t>(t));
  }
  keep_targets(set, chosen);
}

/// Why target `t` cannot be binary; "" if all its labels are 0 or 1.
std::string why_not_binary(const MoleculeSet& set, std::size_t t) {
  const std::size_t targets = set.task.names.size();
  for (std::size_t i = t; i < set.targets.size(); i += targets) {
    const double value = set.targets[i];
    if (!std::isnan(value) && !set.bound.empty() && set.bound[i] != 0) return number_text(value) + " is censored";
    if (!std::isnan(value) && value != 0 && value != 1) return number_text(value) + " is neither 0 nor 1";
  }
  return {};
}

/// Changes the task kind: regression values that are all 0 or 1 to binary (for a mixed task, by target), or the
/// reverse. Throws UsageError or DataError for any other change.
void change_kind(MoleculeSet& set, TaskKind kind, const std::string& path) {
  if (set.task.kind == kind) return;
  if (set.task.kind == TaskKind::multiclass || kind == TaskKind::multiclass)
    throw UsageError(path + ": the store's targets are " + std::string(to_string(set.task.kind)) + ", not " +
                     std::string(to_string(kind)) + "; create the store with that task type");
  std::vector<TaskKind> kinds(set.task.names.size(), kind);
  for (std::size_t t = 0; t < kinds.size() && kind != TaskKind::regression; ++t) {
    const std::string problem = why_not_binary(set, t);
    if (kind == TaskKind::mixed) kinds[t] = problem.empty() ? TaskKind::binary : TaskKind::regression;
    else if (!problem.empty()) throw DataError(path + ": the targets cannot be classified: " + problem);
  }
  set.task.set_kinds(std::move(kinds));
  if (!set.task.has(TaskKind::binary)) set.task.class_labels.clear();  // they are numbers now
}

/// Makes two classes a binary task in which `positive` is 1; swaps the labels of a task that is already binary if
/// necessary.
void make_positive(MoleculeSet& set, const std::string& positive, const std::string& path) {
  Task& task = set.task;
  const std::vector<std::string> before =
      !task.class_labels.empty() || task.has(TaskKind::regression) ? task.class_labels : words_of_pair(kNumberPair);
  const std::vector<std::string> labels = labels_with_positive({before.begin(), before.end()}, positive);
  if (before.size() != 2 || labels.empty() || task.kind == TaskKind::mixed)
    throw UsageError("--positive " + positive + ": " + path + " does not have two classes of which one has this name" +
                     (before.empty() ? "" : "; it has " + list_of(before)));
  const bool swap_classes = labels[1] == before[0];
  if (swap_classes)
    for (auto& value : set.targets) value = 1 - value;  // missing stays NaN
  task.kind = TaskKind::binary;
  task.classes = 0;
  task.class_labels = labels;
}

/// Keeps the requested inputs, in that order: the descriptors, if any, then columns.
void choose_inputs(MoleculeSet& set, const LoadOptions& options, bool computed_labels, const std::string& path) {
  const auto computed = set.featurizer.descriptors == DescriptorSet::rdkit
                            ? static_cast<std::ptrdiff_t>(descriptor_names().size())
                            : std::ptrdiff_t{0};
  if (options.descriptors == DescriptorSet::rdkit && computed == 0)
    throw UsageError(path + ": contains no descriptors; create the store with --descriptors rdkit");
  const bool without_descriptors = options.descriptors
                                       ? options.descriptors == DescriptorSet::none
                                       : !options.descriptors_of_store && set.task.has(TaskKind::regression) &&
                                             !computed_labels && set.featurizer.features == Features::molgraph;
  std::vector<std::size_t> keep;
  if (!without_descriptors)
    for (std::ptrdiff_t d = 0; d < computed; ++d) keep.push_back(static_cast<std::size_t>(d));
  const std::vector<std::string> columns(set.input_names.begin() + computed, set.input_names.end());
  const ColumnNames known(columns, path);
  for (const std::string& name : options.input_columns) {
    const int found = known.find(name);
    if (found < 0)
      throw UsageError(path + ": has no input column '" + name + "'; create the store with --descriptor-columns");
    keep.push_back(static_cast<std::size_t>(computed + found));
    if (std::ranges::count(keep, keep.back()) > 1) throw UsageError("the input column '" + name + "' is named twice");
  }
  if (options.input_columns.empty())
    for (auto d = static_cast<std::size_t>(computed); d < set.input_names.size(); ++d) keep.push_back(d);
  if (without_descriptors) set.featurizer.descriptors = DescriptorSet::none;
  if (keep.size() == set.input_names.size() && std::ranges::is_sorted(keep)) return;  // all, in their order
  std::vector<std::string> names;
  for (const std::size_t d : keep) names.push_back(set.input_names[d]);
  std::vector<float> inputs;
  for (std::size_t g = 0; g < static_cast<std::size_t>(set.size()); ++g)
    for (const std::size_t d : keep) inputs.push_back(set.inputs[g * set.input_names.size() + d]);
  set.input_names = std::move(names);
  set.inputs = std::move(inputs);
}

/// Returns the molecules `keep` (ascending) of the set, with its splits adapted.
MoleculeSet subset(const MoleculeSet& set, const std::vector<std::int64_t>& keep) {
  MoleculeSet result;
  result.featurizer = set.featurizer;
  result.task = set.task;
  result.source = set.source;
  result.rejected = set.rejected;
  result.input_names = set.input_names;
  const auto targets = static_cast<std::size_t>(set.task.num_targets());
  std::vector<std::int64_t> new_index(static_cast<std::size_t>(set.size()), -1);
  for (const std::int64_t g : keep) {
    const auto index = static_cast<std::size_t>(g);
    const GraphView view = set.graph(g);
    const auto of_molecule = [&](const auto& values) {
      using List = std::remove_cvref_t<decltype(values)>;
      if (values.empty()) return List();
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(index * targets);
      return List(first, first + static_cast<std::ptrdiff_t>(targets));
    };
    new_index[index] = result.size();
    result.add(MolecularGraph::copy_of(view), set.row[index], set.id[index], set.smiles[index],
               of_molecule(set.targets), {view.inputs, view.inputs + view.num_inputs}, of_molecule(set.bound),
               set.weight.empty() ? 1.0f : set.weight[index]);
  }
  for (const auto& [name, split] : set.splits) {
    Split& kept = result.splits[name];
    const auto follow = [&](const std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) {
      for (const std::int64_t g : from)
        if (new_index[static_cast<std::size_t>(g)] >= 0) to.push_back(new_index[static_cast<std::size_t>(g)]);
    };
    follow(split.train, kept.train);
    follow(split.valid, kept.valid);
    follow(split.test, kept.test);
  }
  return result;
}

/// The first molecules of each set of the split in proportion, or of all molecules if there is no split.
std::vector<std::int64_t> first_molecules(const MoleculeSet& set, const std::string& split_name, std::int64_t limit) {
  std::vector<std::int64_t> keep;
  if (split_name.empty()) {
    for (std::int64_t g = 0; g < std::min(limit, set.size()); ++g) keep.push_back(g);
    return keep;
  }
  const Split& split = set.splits.at(split_name);
  const auto total = static_cast<double>(split.train.size() + split.valid.size() + split.test.size());
  for (const auto* part : {&split.train, &split.valid, &split.test}) {
    if (part->empty()) continue;
    std::vector<std::int64_t> ordered = *part;
    std::ranges::sort(ordered);
    const double share = static_cast<double>(limit) * static_cast<double>(part->size()) / total;
    const auto count = std::clamp<std::int64_t>(std::llround(share), 1, static_cast<std::int64_t>(ordered.size()));
    keep.insert(keep.end(), ordered.begin(), ordered.begin() + count);
  }
  std::ranges::sort(keep);
  return keep;
}

/// Name of the stored split to use; "" = compute one.
std::string choose_stored_split(const MoleculeSet& set, const LoadOptions& options, const std::string& path) {
  const auto& splits = set.splits;
  if (!options.splits_column.empty()) {
    check_splits_column(options);
    if (splits.contains(options.splits_column)) return options.splits_column;
    throw UsageError(path + ": the store has no split '" + options.splits_column + "'; it has " +
                     (splits.empty() ? "none" : list_of(names_of(splits))));
  }
  switch (options.split) {
    case SplitKind::automatic:
    case SplitKind::published:
    case SplitKind::column: {
      const char* requested = options.split == SplitKind::column ? "column" : "published";
      if (splits.contains(requested)) return requested;
      if (options.split == SplitKind::automatic && splits.empty()) return {};
      if (splits.size() == 1) return splits.begin()->first;
      if (splits.empty()) throw UsageError(path + ": the store has no split");
      throw UsageError(path +
                       ": the store has several splits; choose one with --splits-column: " + list_of(names_of(splits)));
    }
    default: return {};
  }
}

/// Selects the requested targets; moves auxiliary ones to LoadedData::auxiliary.
void choose_stored_targets(LoadedData& data, const LoadOptions& options) {
  MoleculeSet& set = data.set;
  const std::string& path = options.paths[0];
  const std::vector<std::string>& auxiliary = options.auxiliary_columns;
  const bool all = options.target_columns.empty() || wants_all_targets(options.target_columns, set.task.names);
  if (all && auxiliary.empty()) return;
  std::vector<std::string> requested = options.target_columns;
  if (all) {
    requested = set.task.names;
    std::erase_if(requested, [&](const std::string& name) {
      return std::ranges::any_of(auxiliary, [&](const auto& one) { return lower(trim(one)) == lower(trim(name)); });
    });
    if (requested.empty()) throw DataError(path + ": all targets are auxiliary; there must be another target");
  }
  const std::size_t num_primary = requested.size();
  requested.insert(requested.end(), auxiliary.begin(), auxiliary.end());
  select_targets(set, requested, path);
  std::vector<std::size_t> first(num_primary), last(requested.size() - num_primary);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), num_primary);
  data.auxiliary = take_auxiliary(set, some_targets(set.task, first), some_targets(set.task, last));
}

/// Keeps the molecules `keep` (ascending) with all their data.
void keep_molecules(LoadedData& data, const std::vector<std::int64_t>& keep) {
  AuxiliaryTargets& auxiliary = data.auxiliary;
  const std::size_t targets = auxiliary.task.names.size();
  const auto kept = [&](const auto& values) {
    std::remove_cvref_t<decltype(values)> some;
    if (values.empty()) return some;
    for (const std::int64_t g : keep) {
      const auto first = values.begin() + g * static_cast<std::ptrdiff_t>(targets);
      some.insert(some.end(), first, first + static_cast<std::ptrdiff_t>(targets));
    }
    return some;
  };
  auxiliary.values = kept(auxiliary.values);
  auxiliary.bound = kept(auxiliary.bound);
  data.set = subset(data.set, keep);
}

/// Number of rows of the source table, as far as the store records it.
std::int64_t rows_of_source(const MoleculeSet& set) {
  std::int64_t rows = set.source.rows;
  for (const std::int64_t row : set.row) rows = std::max(rows, row + 1);
  for (const RejectedRow& row : set.rejected) rows = std::max(rows, row.row + 1);
  return rows;
}

/// Makes the split keep the rows of each molecule together.
void keep_together(SplitBasis& basis, LoadedData& data, int threads) {
  basis.first_rows = first_rows_of(data.set, threads);
  std::int64_t repeated = 0;
  for (std::size_t g = 0; g < basis.first_rows.size(); ++g) repeated += basis.first_rows[g] != data.set.row[g];
  data.notes.push_back(
      with_commas(repeated) +
      (repeated == 1 ? " row is a duplicate of an earlier one" : " rows are duplicates of earlier ones") +
      ": all are kept, those of one molecule in the same set (--duplicates keep)");
}

/// Rejects the molecules that the model does not support.
void reject_unsupported(MoleculeSet& set, const LoadOptions& options) {
  std::vector<std::int64_t> keep;
  for (std::int64_t g = 0; g < set.size(); ++g) {
    const auto index = static_cast<std::size_t>(g);
    std::string reason = options.unsupported(set.graph(g));
    if (reason.empty()) keep.push_back(g);
    else
      set.rejected.push_back(
          {set.row[index], set.smiles[index], std::string(to_string(RowStatus::unsupported)), std::move(reason)});
  }
  if (static_cast<std::int64_t>(keep.size()) < set.size()) set = subset(set, keep);
}

}  // namespace

LoadedData load_from_store(const LoadOptions& options) {
  const std::string& path = options.paths[0];
  check_store_options(options);
  LoadedData data;
  data.set = Store(path).load();
  MoleculeSet& set = data.set;
  data.training.computed = has_computed_targets(set.source.name);
  if (options.features && *options.features != set.featurizer.features)
    throw UsageError(path + ": has " + std::string(to_string(set.featurizer.features)) + " features, not " +
                     std::string(to_string(*options.features)) + "; create the store with those");
  if (options.standardize && *options.standardize != set.featurizer.standardize)
    throw UsageError(path + ": was created with --standardize " + std::string(to_string(set.featurizer.standardize)) +
                     ", not " + std::string(to_string(*options.standardize)) + "; create the store with that");
  if (options.unsupported) reject_unsupported(set, options);
  if (options.strict && !set.rejected.empty())
    throw DataError(path, set.rejected[0].row + 1, set.rejected[0].status + ": " + set.rejected[0].reason,
                    set.rejected[0].text);
  choose_stored_targets(data, options);
  if (!options.positive.empty() && set.task.num_targets() > 0) make_positive(set, options.positive, path);
  if (options.task && set.task.num_targets() > 0) change_kind(set, *options.task, path);
  choose_inputs(set, options, data.training.computed, path);
  if (options.require_targets && set.task.num_targets() == 0) throw DataError(path + ": the store has no targets");
  if (set.size() == 0) throw DataError(path + ": the store has no molecules");
  check_split_options(options);
  if (options.split == SplitKind::group || options.split == SplitKind::time)
    throw UsageError(path +
                     ": a store has no group or time columns; split the table by group or time, or the store by "
                     "--split-type order");
  const std::int64_t source_rows = rows_of_source(set);
  if (const auto known = set.size() + std::ssize(set.rejected); !options.splits_file.empty() && known < source_rows)
    data.warnings.push_back(with_commas(source_rows - known) +
                            " rows of the store's source are not in the store, for example because duplicates were "
                            "merged; --splits-file has no effect on them");
  const bool several = options.folds > 0 || !options.splits_file.empty();
  if (options.folds > 0) check_splits_column(options);
  const std::string stored = several ? "" : choose_stored_split(set, options, path);
  if (!stored.empty()) check_split_sizes(options, "the store's split '" + stored + "' is used");
  if (!stored.empty() && options.duplicates)
    throw UsageError("--duplicates would do nothing: the store's split '" + stored + "' is used");
  if (!options.splits_file.empty()) check_split_sizes(options, "--splits-file defines the split");
  if (options.limit > 0 && options.limit < set.size())
    keep_molecules(data, first_molecules(set, stored, options.limit));
  if (!stored.empty()) {
    data.split_name = stored;
    data.split = set.splits.at(stored);
  } else {
    const ClassLabels labels = is_random(options) ? class_labels_of(set) : ClassLabels{};
    if (labels.targets > 0) data.notes.emplace_back(kStratifiedNote);
    SplitBasis basis{set.size(), [&] { return scaffolds_of(set, options.threads); }, path, set.row, source_rows,
                     labels};
    if (options.duplicates) keep_together(basis, data, options.threads);
    set_splits(data, computed_splits(options, basis));
    set.splits[data.split_name] = data.split;
  }
  for (const auto& [name, split] : set.splits) {
    if (!name.starts_with("test") || !split.train.empty() || options.limit > 0) continue;
    if (set.rejected.empty()) data.hidden_parts[name] = split.test;
    else
      data.warnings.push_back("the store does not record which of its rejected rows belong to " + name +
                              ", so no submission is written; for one, train on the data set itself");
  }
  if (options.require_targets && data.split.train.empty()) throw DataError(path + ": the training set is empty");
  if (!set.rejected.empty())
    data.warnings.push_back(std::to_string(set.rejected.size()) + " rows of the store's source were rejected");
  add_warnings(data, options);
  draw_calibration(data, options, {});
  set_member_splits(data, options, {}, {});
  set_inner_folds(data, options, {}, {});
  if (options.require_targets) leave_out_unlabelled(data);
  return data;
}

}  // namespace molgraph
