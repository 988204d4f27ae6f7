#include "datasets/load.hpp"

#include <algorithm>
#include <filesystem>

#include "datasets/catalogue/catalogue.hpp"
#include "datasets/censored.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/load_checks.hpp"
#include "datasets/load_splits.hpp"
#include "datasets/load_store.hpp"
#include "datasets/row_source.hpp"
#include "datasets/row_weights.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "datasets/tables/encoding.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kMaxRejectedText = 65536;
constexpr const char *kNoValid = "the validation set is empty", *kNoTest = "the test set is empty";

/// Names of the data sets without their subsets.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const NamedDataset& entry : named_datasets()) {
    const std::string name = entry.name.substr(0, entry.name.find(' '));
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

[[noreturn]] void throw_unknown(const std::string& path) {
  const std::vector<std::string> names = known_names();
  if (std::find(names.begin(), names.end(), path) != names.end())
    throw UsageError("'" + path +
                     "' is a named data set and must be the only input; several inputs must all be tables");
  const std::string guess = closest_word(path, names);
  throw FileError("'" + path + "' is neither a file nor a known data set" +
                  (guess.empty() ? "" : "; did you mean '" + guess + "'?") + " (known: " + list_of(names) + ")");
}

SourcePlan plan_tables(const LoadOptions& options) {
  SourcePlan plan;
  plan.features = options.table_features;
  plan.descriptors = options.table_descriptors;
  std::vector<std::string> names;
  for (const std::string& path : options.paths) {
    if (path != "-" && !std::filesystem::exists(path)) throw_unknown(path);
    if (path != "-" && std::filesystem::is_directory(path)) throw FileError(path + ": is a folder, not a table");
    if (path != "-" && is_meant_as_store(path)) throw UsageError(path + ": a store must be the only input");
    plan.tables.push_back({path, options.table, SplitPart::none});
    names.push_back(path == "-" ? "standard input" : std::filesystem::path(path).filename().string());
  }
  plan.name = list_of(names);
  if (!options.subset.empty()) throw UsageError("--subset applies only to named data sets");
  if (plan.tables.size() == 1 || options.corpus) return plan;
  plan.split_name = "files";
  plan.tables.front().part = SplitPart::train;
  plan.tables.back().part = SplitPart::test;
  if (plan.tables.size() == 3) plan.tables[1].part = SplitPart::valid;
  return plan;
}

/// Sets the requested split in the plan and removes the split that it replaces.
void apply_split_options(SourcePlan& plan, const LoadOptions& options) {
  const bool by_column =
      options.split == SplitKind::column || (options.split == SplitKind::automatic && !options.splits_column.empty());
  const bool several = options.folds > 0 || !options.splits_file.empty();
  check_split_options(options);
  if (plan.split_name == "files") {
    const bool chronological = plan.tables.size() == 2 && is_chronological(options.split);
    if ((options.split != SplitKind::automatic && !chronological) || !options.splits_column.empty() || several)
      throw UsageError(
          "with two or three tables, the tables define the split; with two, --split-type time or order can choose the "
          "validation set from the first");
    if (chronological) plan.split_name += " by " + std::string(split_word(options.split));
    return;
  }
  check_splits_column(options);
  if (options.split == SplitKind::published && plan.split_name.empty())
    throw UsageError("'" + plan.name +
                     "' has no published split; use random, scaffold, scaffold-balanced or predefined");
  if (!by_column && !several && (options.split == SplitKind::automatic || options.split == SplitKind::published))
    return;
  for (SourceTable& table : plan.tables) table.part = SplitPart::none;
  plan.part_files = {};
  plan.part_archive.clear();
  plan.scaffold = false;
  plan.part_sizes = {};
  plan.split_name = by_column ? "column" : "";
  plan.part_column = !by_column ? "" : options.splits_column.empty() ? kAnySplitColumn : options.splits_column;
}

bool is_store(const std::vector<std::string>& paths) {
  std::error_code error;
  return paths.size() == 1 && std::filesystem::is_regular_file(paths[0], error) && is_meant_as_store(paths[0]);
}

SourcePlan make_plan(const LoadOptions& options) {
  if (options.paths.empty() || (options.paths.size() > 3 && !options.corpus))
    throw UsageError("give one data set or table, or two or three tables: train, [valid,] test");
  std::optional<SourcePlan> plan;
  const std::string known = named_dataset(options.paths);
  if (options.corpus && !known.empty())  // before it is searched for and downloaded
    throw UsageError("'" + options.paths[0] + "' is a named data set; a corpus must be tables or a store");
  if (!known.empty())
    plan = plan_named({options.paths[0], options.subset, options.data_dir, options.table, options.download});
  const bool named = plan.has_value();
  if (!named) plan = plan_tables(options);
  if (named && !options.auxiliary_columns.empty())
    throw UsageError("--auxiliary-targets applies only to columns of your own table; '" + plan->name +
                     "' is a named data set");
  if (!options.target_columns.empty() && !(named && wants_all_targets(options.target_columns, {}))) {
    plan->computed_label = false;
    plan->target_columns = options.target_columns;
    plan->target_names.clear();
    plan->units.clear();
  }
  if (options.task) {
    if (plan->computed_label && options.task != TaskKind::regression)
      throw UsageError("the label of '" + plan->name + "' is numeric; use --task-type regression");
    plan->task = options.task;
  }
  apply_split_options(*plan, options);
  check_plan_options(options, *plan, named);
  return std::move(*plan);
}

/// Returns the plan after calling will_read() with its files.
SourcePlan report_files(SourcePlan plan, const LoadOptions& options) {
  if (!options.will_read) return plan;
  std::vector<std::string> files;
  for (const SourceTable& table : plan.tables) {
    files.push_back(table.path);
    if (!table.pick_file.empty()) files.push_back(table.pick_file);
  }
  files.insert(files.end(), plan.part_files.begin(), plan.part_files.end());
  for (const std::string& file : {plan.part_archive, options.splits_file}) files.push_back(file);
  std::erase(files, "");
  options.will_read(files);
  return plan;
}

/// Whether two tables are the training and the test set, so that the validation set is drawn from the first.
bool draws_valid(const RowSource& source) {
  return source.has_parts() && source.plan().tables.size() == 2 && source.plan().split_name.starts_with("files");
}

RejectedRow rejected_row(const FeaturisedRow& row) {
  const auto& rejection = std::get<Rejection>(row.result);
  return {row.row, utf8_head(row.smiles, kMaxRejectedText), std::string(to_string(rejection.status)), rejection.reason};
}

[[noreturn]] void throw_strict(const RowSource& source, const FeaturisedRow& row) {
  const auto& rejection = std::get<Rejection>(row.result);
  throw DataError(source.file_of(row), row.row_in_file + 1,
                  std::string(to_string(rejection.status)) + (rejection.reason.empty() ? "" : ": " + rejection.reason),
                  row.smiles);
}

[[noreturn]] void throw_no_molecule(const RowSource& source, const RejectionTally& tally) {
  throw DataError(source.plan().name + ": no usable molecule; " + tally.text(tally.total()) +
                  "; if the SMILES are in another column, specify it with -s");
}

/// Number of rows, including those merged into another row.
std::int64_t rows_seen(const RowSource& source, std::int64_t rows) {
  for (const RepeatedRow& row : source.repeats().rows()) rows += source.repeats().is_dropped(row.row);
  return rows;
}

/// Reports how duplicate molecules were merged, in a LoadedData or a StoreReport.
template <class Report>
void report_repeats(const RowSource& source, Report& report) {
  const Repeats& repeats = source.repeats();
  if (repeats.empty()) return;
  report.notes.push_back(repeats.note(source.rows(), source.has_parts() ? "rows (training set only)" : "rows"));
  report.repeated = repeats.rows();
}

/// The options, with the data set's split by default.
LoadOptions split_options(LoadOptions options, const RowSource& source) {
  if (options.split == SplitKind::automatic && source.plan().scaffold) options.split = SplitKind::scaffold;
  return options;
}

}  // namespace

void add_warnings(LoadedData& data, const LoadOptions& options) {
  treat_censored(data, options.censored);
  leave_out_weightless(data);
  for (std::string& warning : auxiliary_warnings(data.auxiliary, data.split.train))
    data.warnings.push_back(std::move(warning));
  if (!options.require_targets) return;
  leave_out_unlabelled(data);
  if (auto warning = shared_molecules_warning(data.set, data.split, options.threads); !warning.empty())
    data.warnings.push_back(std::move(warning));
  for (auto& warning : target_warnings(data.set, data.split)) data.warnings.push_back(std::move(warning));
  // A set of size 0 may have been requested.
  if (data.split.valid.empty() && options.split_sizes[1] > 0) data.warnings.emplace_back(kNoValid);
  if (data.split.test.empty() && options.split_sizes[2] > 0) data.warnings.emplace_back(kNoTest);
}

std::string named_dataset(const std::vector<std::string>& paths) {
  return paths.size() != 1 || paths[0] == "-" || is_store(paths) ? "" : dataset_name(paths[0]);
}

SplitKind split_kind_from_string(const std::string& text) {
  const std::string word = lower(text);
  if (word.empty() || word == "auto" || word == "automatic") return SplitKind::automatic;
  if (word == "published") return SplitKind::published;
  if (word == "random") return SplitKind::random;
  if (word == "scaffold") return SplitKind::scaffold;
  if (word == "scaffold-balanced" || word == "scaffold_balanced") return SplitKind::scaffold_balanced;
  if (word == "group") return SplitKind::group;
  if (word == "time") return SplitKind::time;
  if (word == "order") return SplitKind::order;
  if (word == "predefined" || word == "column") return SplitKind::column;
  throw UsageError("unknown split type '" + text +
                   "'; use random, scaffold, scaffold-balanced, group, time, order, predefined or published");
}

LoadedData load_data(const LoadOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  if (is_store(options.paths)) {
    if (options.corpus && !options.target_columns.empty())
      throw UsageError(options.paths[0] + ": columns of a store cannot be targets of a corpus; use its tables instead");
    if (options.will_read) options.will_read(options.paths);
    return load_from_store(options);
  }
  RowSource source(report_files(make_plan(options), options), options);
  LoadedData data;
  data.metric = source.plan().metric;
  data.training = source.plan().training;
  data.set.featurizer = source.featurizer();
  data.set.task = joined_task(source.task(), source.auxiliary());
  if (source.has_labels()) data.set.sparse.targets = source.task().names.size();
  data.set.input_names = source.input_names();
  data.set.source = source.info();
  data.notes = source.notes();
  data.warnings = source.warnings();
  RejectionTally tally;
  Split from_parts;
  std::vector<std::string> keys;
  std::vector<Split> extra(source.extra_parts().size());
  source.find_repeats(!source.has_parts() || draws_valid(source), progress);
  report_repeats(source, data);
  std::vector<std::int64_t> first_rows;
  data.set.reserve_inputs(options.limit > 0 ? std::min(options.limit, source.rows()) : source.rows());
  source.stream(
      false,
      [&](FeaturisedRow&& row) {
        const auto* graph = std::get_if<MolecularGraph>(&row.result);
        if (row.extra_part > 0 && options.limit == 0)
          data.hidden_parts[source.extra_parts()[row.extra_part - 1]].push_back(graph != nullptr ? data.set.size()
                                                                                                 : -1);
        if (graph != nullptr) {
          add_to_part(from_parts, row.part, data.set.size());
          if (row.extra_part > 0) extra[row.extra_part - 1].test.push_back(data.set.size());
          if (source.has_key()) keys.push_back(std::move(row.key));
          if (!source.repeats().empty()) first_rows.push_back(row.first);
          data.set.add(*graph, row.row, row.id, row.smiles, row.values, row.columns, row.bounds, row.weight);
          if (source.has_labels())
            data.set.sparse.add(
                row.labels, options.table_weights.empty() ? 1 : static_cast<float>(options.table_weights[row.table]));
        } else {
          if (options.strict) throw_strict(source, row);
          data.set.rejected.push_back(rejected_row(row));
          tally.add(data.set.rejected.back());
        }
      },
      progress);
  if (data.set.size() == 0) throw_no_molecule(source, tally);
  data.set.shrink_to_fit();
  data.auxiliary = take_auxiliary(data.set, source.task(), source.auxiliary());
  if (source.has_parts()) {
    if (draws_valid(source))
      take_valid_from_train(from_parts, options,
                            {data.set.size(), [&] { return keys; }, source.file_of({}), data.set.row, source.rows(),
                             class_labels_of(data.set), first_rows});
    data.split_name = source.plan().split_name;
    data.split = std::move(from_parts);
  } else {
    const auto basis_keys = [&] { return source.has_key() ? keys : scaffolds_of(data.set, options.threads); };
    const LoadOptions split_by = split_options(options, source);
    const bool by_class = is_random(split_by) && !options.corpus;
    const ClassLabels labels = by_class ? class_labels_of(data.set) : ClassLabels{};
    if (labels.targets > 0) data.notes.emplace_back(kStratifiedNote);
    set_splits(data, computed_splits(split_by, {data.set.size(), basis_keys, source.file_of({}), data.set.row,
                                                source.rows(), labels, first_rows}));
  }
  if (options.require_targets && data.split.train.empty())
    throw DataError(data.set.source.name + ": the training set is empty");
  data.set.splits[data.split_name] = data.split;
  for (std::size_t e = 0; e < extra.size(); ++e) data.set.splits[source.extra_parts()[e]] = std::move(extra[e]);
  if (tally.total() > 0) data.warnings.push_back(tally.text(rows_seen(source, data.set.size() + tally.total())));
  add_warnings(data, options);
  draw_calibration(data, options, first_rows);
  if (source.has_parts()) first_rows.clear();  // they cover only the training set
  set_member_splits(data, options, first_rows, keys);
  set_inner_folds(data, options, std::move(first_rows), std::move(keys));
  if (options.require_targets) leave_out_unlabelled(data);
  return data;
}

StoreReport load_to_store(const LoadOptions& options, const std::string& path, const StoreWriterOptions& writer_options,
                          const std::function<void(std::int64_t, std::int64_t)>& progress,
                          const std::function<void(const RejectedRow&)>& rejected) {
  if (is_store(options.paths)) throw UsageError(options.paths[0] + ": is already a store");
  if (options.member_splits > 0) throw UsageError("a store contains only the validation set of its split");
  RowSource source(report_files(make_plan(options), options), options);
  StoreReport report;
  report.task = source.task();
  report.notes = source.notes();
  report.warnings = source.warnings();
  RejectionTally tally;
  Split split;
  std::vector<Split> extra(source.extra_parts().size());
  std::vector<std::string> keys;
  std::vector<std::int64_t> rows, first_rows;
  StoreWriterOptions with_inputs = writer_options;
  with_inputs.input_names = source.input_names();
  StoreWriter writer(path, source.featurizer(), source.task(), source.info(), with_inputs);
  CensoredTally censored(source.task());
  const LoadOptions split_by = split_options(options, source);
  const bool with_scaffolds = needs_scaffolds(split_by.split);
  const bool with_rows = source.has_key() || !options.splits_file.empty();
  const bool computes =
      !source.has_parts() && (split_by.split != SplitKind::automatic || with_rows || options.folds > 0);
  ClassLabels labels;
  if (source.task().kind != TaskKind::regression && (draws_valid(source) || (computes && is_random(split_by))))
    labels.targets = static_cast<std::size_t>(source.task().num_targets());
  if (!source.has_parts() && !computes) check_split_sizes(options, "there is no split; choose one with --split-type");
  source.find_repeats(computes || draws_valid(source), progress);
  report_repeats(source, report);
  source.stream(
      with_scaffolds,
      [&](FeaturisedRow&& row) {
        if (const auto* graph = std::get_if<MolecularGraph>(&row.result)) {
          add_to_part(split, row.part, writer.size());
          if (row.extra_part > 0) extra[row.extra_part - 1].test.push_back(writer.size());
          if (with_scaffolds) keys.push_back(std::move(row.scaffold));
          else if (source.has_key()) keys.push_back(std::move(row.key));
          if (with_rows) rows.push_back(row.row);
          if (!source.repeats().empty()) first_rows.push_back(row.first);
          if (labels.targets > 0) labels.add(classes_among(source.task(), row.values));
          censored.add(row.bounds);
          writer.add(*graph, row.row, row.id, row.smiles, row.values, row.columns, row.bounds, row.weight);
          return;
        }
        if (options.strict) throw_strict(source, row);
        const RejectedRow rejection = rejected_row(row);
        tally.add(rejection);
        writer.reject(rejection);
        if (rejected) rejected(rejection);
      },
      progress);
  if (writer.size() == 0) throw_no_molecule(source, tally);
  report.molecules = writer.size();
  report.rows = rows_seen(source, report.molecules + tally.total());
  report.rejected = tally.counts();
  const SplitBasis basis{writer.size(),        [&] { return std::move(keys); },
                         source.file_of({}),   std::move(rows),
                         source.rows(),        std::move(labels),
                         std::move(first_rows)};
  if (source.has_parts()) {
    if (draws_valid(source)) take_valid_from_train(split, options, basis);
    report.split_name = source.plan().split_name;
  } else if (computes) {
    if (basis.labels.targets > 0) report.notes.emplace_back(kStratifiedNote);
    ComputedSplits computed = computed_splits(split_by, basis);
    report.split_name = computed.name;
    for (std::size_t k = 1; k < computed.splits.size(); ++k)
      writer.split(computed.name + " " + std::to_string(k), computed.splits[k]);
    split = std::move(computed.splits.front());
  }
  if (!report.split_name.empty()) {
    writer.split(report.split_name, split);
    report.split_sizes = {static_cast<std::int64_t>(split.train.size()), static_cast<std::int64_t>(split.valid.size()),
                          static_cast<std::int64_t>(split.test.size())};
    if (split.valid.empty() && options.split_sizes[1] > 0) report.warnings.emplace_back(kNoValid);
    if (split.test.empty() && options.split_sizes[2] > 0) report.warnings.emplace_back(kNoTest);
  }
  for (std::size_t e = 0; e < extra.size(); ++e) writer.split(source.extra_parts()[e], extra[e]);
  if (censored.total() > 0) report.notes.push_back(censored.text() + "; kept with their signs");
  if (tally.total() > 0) report.warnings.push_back(tally.text(report.rows));
  writer.finish();
  return report;
}

}  // namespace molgraph
