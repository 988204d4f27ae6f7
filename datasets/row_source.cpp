#include "datasets/row_source.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <future>
#include <limits>
#include <set>

#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "datasets/tables/encoding.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBlockRows = 512;
constexpr std::size_t kBlockBytes = std::size_t{4} << 20;  ///< of text; keeps SDF blocks small, too

/// Murcko scaffold; "", as without rings, if RDKit cannot parse the SMILES that it wrote (some SDF records).
std::string scaffold_or_none(const std::string& smiles, Standardize standardize) {
  try {
    return murcko_scaffold(smiles, standardize);
  } catch (const DataError&) {
    return {};
  }
}

/// Trimmed cell of an id or a group; "" if it is missing.
std::string_view text_or_blank(std::string_view cell) { return is_missing(cell) ? std::string_view() : trim(cell); }

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

struct RowSource::Block {
  std::size_t table = 0;
  std::size_t bytes = 0;
  std::vector<TableRow> rows;
};

/// Number of further molecules of each set that LoadOptions::limit allows.
struct RowSource::Quota {
  bool limited = false;
  std::array<std::int64_t, 4> left{};  ///< indexed by SplitPart

  Quota(std::int64_t limit, const std::vector<SplitPart>& parts) : limited(limit > 0) {
    if (parts.empty()) {
      left[0] = limit;
      return;
    }
    std::array<std::int64_t, 4> count{};
    for (const SplitPart part : parts) ++count[static_cast<std::size_t>(part)];
    const std::int64_t total = count[1] + count[2] + count[3];
    for (std::size_t p = 1; p < 4; ++p)
      if (count[p] > 0)
        left[p] = std::max<std::int64_t>(
            1, std::llround(static_cast<double>(limit) * static_cast<double>(count[p]) / static_cast<double>(total)));
  }
  bool has_room(SplitPart part) const { return !limited || left[static_cast<std::size_t>(part)] > 0; }
  void take(SplitPart part) { --left[static_cast<std::size_t>(part)]; }
  bool used_up() const {
    return limited && std::ranges::all_of(left, [](std::int64_t l) { return l <= 0; });
  }
};

RowSource::RowSource(SourcePlan plan, const LoadOptions& options)
    : plan_(std::move(plan)),
      options_(options), featurizer_{.features = options.features.value_or(plan_.features),
                                     .descriptors = options.descriptors.value_or(plan_.descriptors),
                                     .standardize = options.standardize.value_or(Standardize::none)},
      featurize_(featurizer_, options.limits),
      graph_featurizer_({.features = featurizer_.features, .standardize = featurizer_.standardize}, options.limits) {
  std::error_code error;
  if (plan_.named && std::filesystem::is_regular_file(options.paths[0], error))
    notes_.push_back(options.paths[0] + " is read as the named data set; to read the file of that name, use ./" +
                     options.paths[0]);
  for (SourceTable& table : plan_.tables) {
    table_names_.push_back(table.path == "-" ? "standard input" : table.path);
    if (table.path == "-" && std::ranges::count(table_names_, table_names_.back()) > 1)
      throw UsageError("only one of the tables can be standard input");
    source_path_.push_back(table.path);
    const bool picked = !table.pick_file.empty();
    if (!picked && !is_stream(table.path)) continue;
    spools_.push_back(std::make_unique<Spool>());
    if (picked) copy_picked_lines(table.path, table.pick_file, *spools_.back());
    else copy_stream(table.path, *spools_.back(), options_.table.hooks);
    table.path = spools_.back()->path();
  }
  scan();
  const bool by_default = !options.descriptors && featurizer_.descriptors != DescriptorSet::none;
  if (by_default && (rows_ > kMaxRowsWithDescriptors || !task_.has(TaskKind::regression))) {
    featurizer_.descriptors = DescriptorSet::none;
    featurize_ = Featurizer(featurizer_, options.limits);
  }
}

RowSource::~RowSource() = default;

TableOptions RowSource::table_options(std::size_t table) const {
  TableOptions options = plan_.tables[table].options;
  options.shown_name = table_names_[table];
  options.hooks = options_.table.hooks;
  options.all_properties = true;
  return options;
}

std::string RowSource::file_of(const FeaturisedRow& row) const { return table_names_[row.table]; }

SourceInfo RowSource::info() const {
  SourceInfo info;
  info.name = as_utf8(plan_.name);
  info.rdkit_version = rdkit_version();
  info.rows = rows_;
  for (std::size_t t = 0; t < plan_.tables.size(); ++t) {
    const bool from_file = !is_stream(source_path_[t]);
    info.file += (t ? ", " : "") + as_utf8(from_file ? file_name(source_path_[t]) : table_names_[t]);
    if (from_file) info.sha256 += (info.sha256.empty() ? "" : ", ") + sha256_of_file(source_path_[t]);
  }
  return info;
}

void RowSource::scan() {
  std::vector<ColumnStats> stats;
  for (std::size_t t = 0; t < plan_.tables.size(); ++t) scan_table(t, stats);
  if (rows_ == 0) throw DataError(table_names_.front() + ": has no rows");
  if (!plan_.part_files[0].empty()) read_part_files();
  if (!plan_.part_archive.empty()) read_part_archive();
  check_part_sizes();
  if (plan_.computed_label) {
    task_.names = plan_.target_names;
    task_.units = {""};
    target_columns_.assign(plan_.tables.size(), {});
    return;
  }
  choose_columns(stats);
  parser_ = std::make_unique<TargetParser>(task_);
}

void RowSource::scan_table(std::size_t table, std::vector<ColumnStats>& stats) {
  TableReader reader(plan_.tables[table].path, table_options(table));
  const std::string& file = table_names_[table];
  const auto& columns = reader.columns();
  first_row_.push_back(rows_);
  smiles_column_.push_back(reader.smiles_column());
  id_column_.push_back(reader.id_column());
  const int part_column = find_part_column(columns, file);
  key_column_.push_back(find_key_column(columns, table));
  weight_column_.push_back(find_weight_column(columns, table));
  const ColumnNames names(columns, file);
  std::vector<int>& inputs = input_columns_.emplace_back();
  for (const std::string& name : options_.input_columns) {
    inputs.push_back(names.find(name));
    if (inputs.back() < 0)
      throw DataError(file + ": no column '" + name + "', which is a model input; the columns are " + list_of(columns));
    if (std::ranges::count(inputs, inputs.back()) > 1)
      throw UsageError("the input column '" + name + "' is named twice");
    if (inputs.back() == weight_column_.back() || inputs.back() == reader.smiles_column())
      throw UsageError("the column '" + name + "' cannot be both an input and the weight or SMILES column");
    if (table == 0) input_names_.emplace_back(trim(columns[static_cast<std::size_t>(inputs.back())]));
  }
  if (table == 0 || options_.corpus) find_targets(reader, names, part_column, stats);
  // Another table may have a different column order. -1 is an error if the column becomes a target.
  std::vector<int>& positions = target_columns_.emplace_back();
  for (ColumnStats& column : stats) {
    const int position = names.find(column.name);
    if (position >= 0 && reader.delimiter() == ';') column.by_semicolons = true;
    const bool is_reserved =
        position == reader.smiles_column() || position == reader.id_column() || position == part_column;
    positions.push_back(options_.corpus && is_reserved ? -1
                                                       : position);  // another table may have labels under that name
  }

  TableRow row;
  while (reader.next(row)) {
    ++rows_;
    if (plan_.tables[table].part != SplitPart::none) parts_.push_back(plan_.tables[table].part);
    else if (part_column >= 0)
      parts_.push_back(row.problem.empty()
                           ? split_part_of_cell(row.cells[static_cast<std::size_t>(part_column)], file, row.row)
                           : SplitPart::none);
    if (!row.problem.empty()) continue;
    for (std::size_t c = 0; c < stats.size(); ++c)
      if (positions[c] >= 0) stats[c].add(row.cells[static_cast<std::size_t>(positions[c])], file, row.row);
  }
}

std::vector<std::string> RowSource::input_names() const {
  std::vector<std::string> names;
  if (featurizer_.descriptors == DescriptorSet::rdkit)
    names.assign(descriptor_names().begin(), descriptor_names().end());
  names.insert(names.end(), input_names_.begin(), input_names_.end());
  return names;
}

float RowSource::input_of_cell(const std::string& cell, const std::string& column, std::size_t table,
                               std::int64_t row) const {
  if (is_missing(cell)) return std::numeric_limits<float>::quiet_NaN();
  if (const auto number = number_of_cell(cell)) return static_cast<float>(*number);
  throw DataError(table_names_[table], row + 1, "not a number in the input column '" + column + "'", cell);
}

FeaturizeResult RowSource::featurise_row(FeaturisedRow& out, TableRow& row, const Featurizer& featurizer) const {
  if (!row.problem.empty()) return Rejection{RowStatus::invalid_smiles, row.problem};
  FeaturizeResult result = row.mol_block.empty() ? featurizer.smiles(out.smiles) : featurizer.mol_block(row.mol_block);
  const auto* rejection = std::get_if<Rejection>(&result);
  const bool too_large = rejection != nullptr && rejection->status == RowStatus::too_large;  // takes RDKit too long
  if (!row.mol_block.empty() && !too_large) out.smiles = smiles_of_mol_block(row.mol_block);
  if (!std::holds_alternative<MolecularGraph>(result)) return result;
  if (options_.unsupported) {
    const std::string reason = options_.unsupported(std::get<MolecularGraph>(result).view());
    if (!reason.empty()) return Rejection{RowStatus::unsupported, reason};
  }
  if (plan_.computed_label) {
    try {
      out.values = {number_of_digits(static_cast<float>(penalized_logp(out.smiles).y))};
    } catch (const DataError& error) {
      return Rejection{RowStatus::unsupported, std::string("its label cannot be computed: ") + error.what()};
    }
  }
  const auto& columns = target_columns_[out.table];
  for (std::size_t t = 0; t < columns.size(); ++t) {
    if (columns[t] < 0) {
      if (!options_.corpus) out.values.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const std::string& cell = row.cells[static_cast<std::size_t>(columns[t])];
    const std::size_t num_primary = task_.names.size();
    const Label label = t < num_primary
                            ? parser_->label(cell, t, table_names_[out.table], row.row)
                            : auxiliary_parser_->label(cell, t - num_primary, table_names_[out.table], row.row);
    if (options_.corpus) {
      if (!std::isnan(label.value))
        out.labels.push_back({static_cast<std::uint32_t>(t), static_cast<float>(label.value), label.bound});
      continue;
    }
    out.values.push_back(label.value);
    if (label.bound == 0) continue;
    out.bounds.resize(columns.size());
    out.bounds[t] = label.bound;
  }
  if (const int w = weight_column_[out.table]; w >= 0)
    out.weight = weight_of_cell(row.cells[static_cast<std::size_t>(w)], options_.weight_column, table_names_[out.table],
                                row.row);
  for (std::size_t c = 0; c < options_.input_columns.size(); ++c)
    out.columns.push_back(input_of_cell(row.cells[static_cast<std::size_t>(input_columns_[out.table][c])],
                                        options_.input_columns[c], out.table, row.row));
  return result;
}

std::vector<FeaturisedRow> RowSource::featurise(Block block, const Pass& pass) const {
  std::vector<FeaturisedRow> result(block.rows.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    FeaturisedRow& out = result[i];
    TableRow& row = block.rows[i];
    out.table = block.table;
    out.row_in_file = row.row;
    out.row = first_row_[block.table] + row.row;
    out.first = repeats_.first_of(out.row);
    if (has_parts()) out.part = parts_[static_cast<std::size_t>(out.row)];
    if (const int key = key_column_[block.table]; key >= 0) {
      const std::string& cell = row.cells[static_cast<std::size_t>(key)];
      out.key = options_.group_column.empty() ? trim(cell) : text_or_blank(cell);
    }
    if (!extra_part_.empty()) out.extra_part = extra_part_[static_cast<std::size_t>(out.row)];
    out.smiles = trim(row.cells[static_cast<std::size_t>(smiles_column_[block.table])]);
    if (const int id = id_column_[block.table]; id >= 0)
      out.id = text_or_blank(row.cells[static_cast<std::size_t>(id)]);
    if (out.id.empty()) out.id = std::to_string(out.row + 1);
    if (repeats_.is_dropped(out.row)) continue;  // already read by find_repeats()
    out.result = featurise_row(out, row, pass.hashes || pass.canonical ? graph_featurizer_ : featurize_);
    const auto* graph = std::get_if<MolecularGraph>(&out.result);
    if (graph == nullptr) continue;
    repeats_.replace(out);
    if (pass.scaffolds) out.scaffold = scaffold_or_none(out.smiles, featurizer_.standardize);
    if (pass.hashes) out.hash = invariant_hash(graph->view());
    if (pass.canonical) out.canonical = canonical_smiles(out.smiles, featurizer_.standardize);
  }
  return result;
}

void RowSource::stream(bool with_scaffolds, const Consume& consume, const Progressed& progress) {
  read({.scaffolds = with_scaffolds}, consume, [&](std::int64_t done, std::int64_t total) {
    if (progress) progress(duplicates_searched_ ? (total + done) / 2 : done, total);
  });
}

void RowSource::read(const Pass& pass, const Consume& consume, const Progressed& progress) {
  Quota quota(options_.limit, parts_);
  const std::int64_t total = options_.limit > 0 ? std::min(options_.limit, rows_) : rows_;
  std::int64_t done = 0;
  std::deque<std::future<std::vector<FeaturisedRow>>> running;
  const auto finish_one = [&] {
    auto rows = running.front().get();
    running.pop_front();
    for (FeaturisedRow& row : rows) {
      if (!quota.has_room(row.part)) continue;
      if (std::holds_alternative<MolecularGraph>(row.result)) quota.take(row.part);
      ++done;
      if (!repeats_.is_dropped(row.row)) consume(std::move(row));
    }
    progress(std::min(done, total), total);
  };
  const auto start = [&](Block& block) {
    while (running.size() >= static_cast<std::size_t>(thread_count(options_.threads))) finish_one();
    running.push_back(std::async(std::launch::async, &RowSource::featurise, this, std::move(block), pass));
    block = Block{};
  };
  for (std::size_t t = 0; t < plan_.tables.size() && !quota.used_up(); ++t) {
    TableReader reader(plan_.tables[t].path, table_options(t));
    Block block;
    TableRow row;
    while (!quota.used_up() && reader.next(row)) {
      const auto global = static_cast<std::size_t>(first_row_[t] + row.row);
      if (global >= static_cast<std::size_t>(rows_))
        throw FileError(table_names_[t] + ": changed while it was being read");
      if (!quota.has_room(has_parts() ? parts_[global] : SplitPart::none)) continue;
      if (pass.only != nullptr && !pass.only->contains(static_cast<std::int64_t>(global))) continue;
      block.table = t;
      block.bytes += row.mol_block.size();
      for (const std::string& cell : row.cells) block.bytes += sizeof(std::string) + cell.size();
      block.rows.push_back(std::move(row));
      row = {};
      if (block.rows.size() >= kBlockRows || block.bytes >= kBlockBytes) start(block);
    }
    if (!block.rows.empty()) start(block);
  }
  while (!running.empty()) finish_one();
}

}  // namespace molgraph
