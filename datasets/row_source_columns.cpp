// Column roles of a source: targets, split, group, time and weight columns.
#include <algorithm>
#include <set>

#include "datasets/descriptor_columns.hpp"
#include "datasets/row_source.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/output_columns.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kNamesShown = 5;    ///< column names in a message
constexpr std::size_t kMaxWatched = 200;  ///< columns of a table that are searched for split words
/// Most columns whose values are kept for recognising identifiers and descriptors; limits memory.
constexpr std::size_t kMaxDistinctColumns = 1000;

}  // namespace

void RowSource::find_targets(const TableReader& reader, const ColumnNames& names, int part_column,
                             std::vector<ColumnStats>& stats) {
  const std::vector<std::string>& columns = reader.columns();
  const std::vector<int>& inputs = input_columns_.back();
  if (wants_all_targets(plan_.target_columns, columns)) {
    plan_.target_columns.clear();
    all_targets_ = true;
  }
  std::vector<int> candidates, watched, auxiliary;
  std::set<int> named;
  const auto column_of = [&](const std::string& name, const char* what) {
    const int column = names.find(name);
    if (column < 0)
      throw DataError(table_names_[0] + ": no " + what + " column '" + name + "'; the columns are " + list_of(columns));
    if (!named.insert(column).second) throw UsageError("the target column '" + name + "' is named twice");
    if (column == weight_column_.back())
      throw UsageError("the column '" + name + "' cannot be both a target and --weight-column");
    if (std::ranges::find(inputs, column) != inputs.end())
      throw UsageError("the column '" + name + "' cannot be both a target and an input");
    return column;
  };
  for (const std::string& name : plan_.target_columns)
    if (!options_.corpus || names.find(name) >= 0) candidates.push_back(column_of(name, "target"));
  for (const std::string& name : options_.auxiliary_columns) auxiliary.push_back(column_of(name, "auxiliary target"));
  std::vector<int> others{reader.smiles_column(), reader.id_column(), part_column, key_column_.back(),
                          weight_column_.back()};
  others.insert(others.end(), inputs.begin(), inputs.end());
  others.insert(others.end(), auxiliary.begin(), auxiliary.end());
  if (plan_.target_columns.empty() && (!options_.corpus || all_targets_)) candidates = find_candidates(columns, others);
  // Any other column may contain split words. Columns whose name occurs twice cannot be specified.
  const auto is_only_one = [&](const std::string& name) {
    return std::ranges::count_if(columns, [&](const auto& one) { return lower(trim(one)) == lower(trim(name)); }) == 1;
  };
  others.insert(others.end(), candidates.begin(), candidates.end());
  const bool watches = may_hint_at_parts() && columns.size() <= kMaxWatched;
  for (int c = 0; watches && c < static_cast<int>(columns.size()); ++c)
    if (std::ranges::find(others, c) == others.end() && is_only_one(columns[static_cast<std::size_t>(c)]))
      watched.push_back(c);
  for (const int c : options_.corpus ? new_columns(columns, candidates, stats, table_names_[input_columns_.size() - 1])
                                     : candidates) {
    stats.push_back({.name = columns[static_cast<std::size_t>(c)]});
    stats.back().checks_distinct = candidates.size() <= kMaxDistinctColumns;
    stats.back().keep_labels = plan_.task == TaskKind::multiclass || !options_.positive.empty();
  }
  for (const auto* some : {&watched, &auxiliary})  // choose_columns() expects the auxiliary ones last
    for (const int c : *some) stats.push_back({.name = columns[static_cast<std::size_t>(c)], .is_watched = true});
}

std::vector<int> RowSource::new_columns(const std::vector<std::string>& columns, const std::vector<int>& candidates,
                                        const std::vector<ColumnStats>& stats, const std::string& file) {
  std::set<std::string> known, seen;
  for (const ColumnStats& column : stats) known.insert(lower(trim(column.name)));
  std::vector<int> added;
  for (const int c : candidates) {
    const std::string name = lower(trim(columns[static_cast<std::size_t>(c)]));
    if (!seen.insert(name).second)
      throw DataError(file + ": two columns have the name '" + name +
                      "' (ignoring case), but tables are matched by column name");
    if (!known.contains(name)) added.push_back(c);
  }
  return added;
}

std::vector<int> RowSource::find_candidates(const std::vector<std::string>& columns,
                                            const std::vector<int>& not_targets) {
  std::vector<std::string> written, computed;
  std::vector<int> left_out = not_targets;
  const OutputColumns outputs(columns);
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) {
    const std::string& name = columns[static_cast<std::size_t>(c)];
    if (std::ranges::find(not_targets, c) != not_targets.end()) continue;
    if (outputs.contains(name)) written.push_back(name);
    else if (options_.corpus && is_descriptor_name(name)) computed.push_back(name), left_out.push_back(c);
  }
  const auto note_once = [&](const std::string& note) {  // for several tables
    if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  };
  if (!computed.empty())
    note_once("not used as targets because they are already computed: " + list_of(computed, kNamesShown));
  if (!written.empty())
    note_once("not used as targets because they are a program's output: " + list_of(written, kNamesShown) +
              "; to use them, give --target-columns");
  return candidate_columns(columns, outputs, left_out);
}

int RowSource::find_part_column(const std::vector<std::string>& columns, const std::string& file) const {
  if (plan_.part_column.empty()) return -1;
  if (plan_.part_column != kAnySplitColumn) {
    const int column = find_column(columns, plan_.part_column, file);
    if (column >= 0) return column;
    throw DataError(file + ": no column '" + plan_.part_column + "' for the split; the columns are " +
                    list_of(columns));
  }
  std::vector<std::string> found;
  for (const std::string& column : columns)
    if (lower(column).find("split") != std::string::npos) found.push_back(column);
  if (found.size() != 1)
    throw UsageError(
        file + ": specify the split column with --splits-column; " +
        (found.empty() ? "no column name contains 'split'" : "these names contain 'split': " + list_of(found)));
  return find_column(columns, found[0], file);
}

int RowSource::find_key_column(const std::vector<std::string>& columns, std::size_t table) const {
  if (!has_key()) return -1;
  const std::string& name = options_.group_column.empty() ? options_.time_column : options_.group_column;
  const int column = find_column(columns, name, table_names_[table]);
  if (column < 0 && plan_.tables[table].part != SplitPart::test)  // only the first of two tables is divided
    throw DataError(table_names_[table] + ": no column '" + name + "' for the split; the columns are " +
                    list_of(columns));
  return column;
}

bool RowSource::may_hint_at_parts() const {
  return !options_.corpus && !plan_.named && plan_.part_column.empty() && !has_parts() &&
         options_.split == SplitKind::automatic && options_.folds == 0 && options_.splits_file.empty() &&
         plan_.tables.size() == 1;
}

void RowSource::choose_columns(std::vector<ColumnStats>& stats) {
  const bool named = !plan_.target_columns.empty();
  const auto found = std::ranges::count_if(stats, &ColumnStats::is_found);
  for (std::vector<int>& positions : target_columns_) positions.resize(stats.size(), -1);  // later tables may have more
  if (!named && !plan_.named && found > 1 && found <= static_cast<std::ptrdiff_t>(kMaxDistinctColumns))
    for (std::size_t t = 0; t < (options_.corpus ? target_columns_.size() : 1); ++t)
      mark_descriptors(plan_.tables[t].path, table_options(t), target_columns_[t], stats);
  if (options_.corpus) check_named(stats);
  const TargetChoice choice =
      choose_targets(stats, {.named = named,
                             .all = all_targets_,
                             .own_table = !plan_.named,
                             .hint_at_parts = may_hint_at_parts(),
                             .kind = options_.corpus && !stats.empty() ? TaskKind::mixed : plan_.task,
                             .positive = options_.positive});
  task_ = choice.task;
  notes_.insert(notes_.end(), choice.notes.begin(), choice.notes.end());
  warnings_ = choice.warnings;
  const std::size_t auxiliary = stats.size() - options_.auxiliary_columns.size();  // the first of them
  choose_auxiliary({stats.begin() + static_cast<std::ptrdiff_t>(auxiliary), stats.end()});
  for (std::size_t t = 0; t < target_columns_.size(); ++t) {
    std::vector<int> chosen;
    for (const std::size_t c : choice.columns) {
      chosen.push_back(target_columns_[t][c]);
      if (chosen.back() < 0 && !options_.corpus)
        throw DataError(table_names_[t] + ": no column '" + stats[c].name + "', which is a target in " +
                        table_names_[0]);
    }
    for (std::size_t c = auxiliary; c < stats.size(); ++c) {
      chosen.push_back(target_columns_[t][c]);
      const SplitPart part = plan_.tables[t].part;
      if (chosen.back() < 0 && (part == SplitPart::none || part == SplitPart::train))
        throw DataError(table_names_[t] + ": no column '" + stats[c].name + "', which is an auxiliary target in " +
                        table_names_[0]);
    }
    target_columns_[t] = std::move(chosen);
  }
  if (!plan_.target_names.empty()) task_.names = plan_.target_names;
  if (!plan_.units.empty()) task_.units = plan_.units;
  if (task_.names.empty() && (options_.require_targets || !options_.target_columns.empty()))
    throw DataError(table_names_[0] + ": no column of numbers or yes/no values can be a target; specify one with " +
                    "--target-columns" + (choice.warnings.empty() ? "" : " (" + list_of(choice.warnings) + ")"));
}

void RowSource::choose_auxiliary(std::vector<ColumnStats> stats) {
  if (stats.empty()) return;
  for (ColumnStats& column : stats) column.is_watched = false;
  // The kind of each depends on its cells, not on the targets.
  const TargetChoice choice = choose_targets(stats, {.named = true, .kind = TaskKind::mixed});
  auxiliary_ = choice.task;
  auxiliary_parser_ = std::make_unique<TargetParser>(auxiliary_);
  warnings_.insert(warnings_.end(), choice.warnings.begin(), choice.warnings.end());
}

void RowSource::check_named(const std::vector<ColumnStats>& stats) const {
  for (const std::string& name : plan_.target_columns)
    if (std::ranges::none_of(stats, [&](const auto& one) { return lower(trim(one.name)) == lower(trim(name)); }))
      throw DataError(list_of(table_names_, kNamesShown) + ": no target column '" + name +
                      "' in any table of the corpus");
}

/// The column may be missing in a table without training data.
int RowSource::find_weight_column(const std::vector<std::string>& columns, std::size_t table) const {
  if (options_.weight_column.empty()) return -1;
  const int column = find_column(columns, options_.weight_column, table_names_[table]);
  const SplitPart part = plan_.tables[table].part;
  if (column < 0 && (part == SplitPart::none || part == SplitPart::train))
    throw DataError(table_names_[table] + ": no column '" + options_.weight_column +
                    "' for the weights; the columns are " + list_of(columns));
  return column;
}

}  // namespace molgraph
