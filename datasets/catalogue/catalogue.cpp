#include "datasets/catalogue/catalogue.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "datasets/catalogue/catalogue_entries.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;
using catalogue::entries;
using catalogue::Entry;
using catalogue::Layout;

/// Normalises a name: "ZINC-full", "zinc_full" and "zincfull" are equal.
std::string normalised_name(const std::string& name) {
  std::string text;
  for (const char c : lower(name))
    if (c != '-' && c != '_' && c != ' ') text += c;
  return text.starts_with("ogbg") && text != "ogbg" ? text.substr(4) : text;
}

/// Returns `path`, or the path with ".gz" added or removed; empty if neither is a file.
std::string existing_file(const fs::path& path) {
  const std::string name = path.string();
  std::error_code error;
  for (const std::string& candidate : {name, name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz"})
    if (fs::is_regular_file(candidate, error)) return candidate;
  return {};
}

/// Returns the paths of all named files; false if one is missing.
bool find_all(const std::array<std::string, 3>& names, const fs::path& folder, std::array<std::string, 3>& paths) {
  for (std::size_t p = 0; p < 3; ++p) {
    if (names[p].empty()) continue;
    paths[p] = existing_file(folder / names[p]);
    if (paths[p].empty()) return false;
  }
  return true;
}

/// Removes the first folder from all paths of a layout.
Layout without_first_folder(Layout layout) {
  const auto shorten = [](std::string& path) {
    const auto slash = path.find('/');
    if (slash != std::string::npos) path.erase(0, slash + 1);
  };
  for (std::string* path : {&layout.table, &layout.part_archive}) shorten(*path);
  for (auto* files : {&layout.part_files, &layout.lists, &layout.picks})
    for (std::string& path : *files) shorten(path);
  return layout;
}

/// Returns the layout with the paths of its files; nothing if one is missing.
std::optional<Layout> existing_layout(const Layout& layout, const fs::path& folder) {
  Layout found = layout;
  if (!find_all(layout.lists, folder, found.lists) || !find_all(layout.picks, folder, found.picks) ||
      !find_all(layout.part_files, folder, found.part_files))
    return std::nullopt;
  for (std::string* path : {&found.table, &found.part_archive}) {
    if (path->empty()) continue;
    *path = existing_file(folder / *path);
    if (path->empty()) return std::nullopt;
  }
  return found;
}

/// False if the table lacks the layout's split column; the next layout, without it, is then tried.
bool has_part_column(const Layout& found, TableOptions options) {
  if (found.part_column.empty()) return true;
  options.molecules = false;  // the next layout may specify their column
  const TableReader reader(found.table, options);
  return find_column(reader.columns(), found.part_column, found.table) >= 0;
}

std::optional<Layout> find_layout(const Entry& entry, const fs::path& folder, const TableOptions& options) {
  for (const Layout& layout : entry.layouts) {
    for (const Layout& candidate : {layout, without_first_folder(layout)}) {
      auto found = existing_layout(candidate, folder);
      if (found && has_part_column(*found, options)) return found;
    }
  }
  return std::nullopt;
}

std::string files_of(const Layout& layout) {
  std::string files;
  const auto add = [&](const std::string& file) {
    if (!file.empty()) files += (files.empty() ? "" : ", ") + file;
  };
  add(layout.table);
  add(layout.part_archive);
  for (const auto* list : {&layout.part_files, &layout.lists, &layout.picks})
    for (const std::string& file : *list) add(file);
  return files;
}

[[noreturn]] void throw_missing(const Entry& entry, const std::vector<std::string>& folders, const std::string& why) {
  std::string files;
  for (const Layout& layout : entry.layouts) {
    const std::string layout_files = files_of(layout);
    if (files.find(layout_files) == std::string::npos)
      files += (files.empty() ? "" : "\n           or: ") + layout_files;
  }
  throw FileError("the data set '" + entry.name + "' is not on this machine" + (why.empty() ? "" : " " + why) +
                  ".\n  files:       " + files + "\n  looked in:   " + list_of(folders) +
                  "\n  source:      " + entry.where +
                  "\n  put them in: " + (folders.empty() ? "a folder given with --data-dir" : folders.front()) +
                  " (or any folder given with --data-dir or $MOLGRAPH_DATA)");
}

/// Downloads the data set. Throws FileError with the reason and what to do instead.
Layout fetch_layout(const Entry& entry, const std::vector<std::string>& folders, const NamedSource& source) {
  const auto addresses = addresses_of(entry.name + (entry.subset.empty() ? "" : " " + entry.subset));
  if (!source.download || addresses.empty() || folders.empty()) throw_missing(entry, folders, "");
  const std::string& folder = folders.back();  // --data-dir, else the user's cache
  try {
    fetch(addresses, folder, *source.download);
  } catch (const std::exception& error) {
    throw_missing(entry, folders, std::string("and cannot be downloaded: ") + error.what());
  }
  const auto layout = find_layout(entry, folder, source.table);
  if (!layout)
    throw_missing(entry, folders, "and the files downloaded to " + folder + " are not those of this data set");
  return *layout;
}

bool has_name(const Entry& entry, const std::string& requested) {
  return normalised_name(entry.name) == requested ||
         std::ranges::find(entry.other_names, requested) != entry.other_names.end();
}

/// "zinc-full" specifies name and subset.
const Entry* find_entry(const std::string& name, const std::string& subset) {
  const std::string requested = normalised_name(name);
  const Entry* first = nullptr;
  std::vector<std::string> subsets;
  for (const Entry& entry : entries()) {
    const bool matches_with_subset = !entry.subset.empty() && normalised_name(entry.name + entry.subset) == requested;
    if (!has_name(entry, requested) && !matches_with_subset) continue;
    if (entry.subset == subset || subset.empty()) return &entry;
    if (!first) first = &entry;
    if (!entry.subset.empty()) subsets.push_back(entry.subset);
  }
  if (!first) return nullptr;
  if (subsets.empty())
    throw UsageError("the data set '" + first->name + "' has no subsets, so there is no subset '" + subset + "'");
  throw UsageError("the data set '" + first->name + "' has no subset '" + subset + "'; available: " + list_of(subsets));
}

SourcePlan plan_demo(SourcePlan plan) {
  const std::string path = rdkit_data_dir() + "/Data/NCI/first_5K.smi";
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw FileError("the data set 'demo' needs " + path + ", which is part of RDKit's data (Debian: rdkit-data)");
  plan.computed_label = true;
  TableOptions table;
  table.format = TableFormat::smi;
  plan.tables = {{path, table, SplitPart::none}};
  return plan;
}

SourcePlan plan_layout(SourcePlan plan, const Layout& layout, const TableOptions& options) {
  if (!layout.table.empty()) {
    plan.tables = {{layout.table, options, SplitPart::none}};
    if (options.smiles_column.empty()) plan.tables[0].options.smiles_column = layout.smiles_column;
    plan.part_files = layout.part_files;
    plan.part_archive = layout.part_archive;
    plan.part_column = layout.part_column;
    const bool has_parts = !layout.part_column.empty() || !layout.part_archive.empty() || !layout.part_files[0].empty();
    plan.scaffold = !plan.split_name.empty() && !has_parts;
    if (plan.scaffold) {
      plan.split_name.clear();
      plan.part_sizes = {};
    }
    return plan;
  }
  TableOptions list;
  list.format = TableFormat::smi;
  list.no_header = true;
  for (std::size_t p = 0; p < 3; ++p)
    plan.tables.push_back({layout.lists[p], list, static_cast<SplitPart>(p + 1), layout.picks[p]});
  plan.computed_label = true;
  plan.target_columns.clear();
  plan.part_column.clear();
  return plan;
}

}  // namespace

std::vector<std::string> data_folders(const std::string& data_dir) {
  if (!data_dir.empty()) return {data_dir};
  std::vector<std::string> folders;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string data = variable("MOLGRAPH_DATA"); !data.empty()) folders.push_back(data);
  // XDG rule: a relative XDG_CACHE_HOME is ignored.
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) {
    folders.push_back(cache + "/molgraph");
  } else if (const std::string home = variable("HOME"); !home.empty()) {
    folders.push_back(home + "/.cache/molgraph");
  }
  return folders;
}

std::string dataset_name(const std::string& name) {
  const Entry* entry = find_entry(name, "");
  return entry == nullptr ? std::string() : entry->name;
}

std::string default_recipe(const std::string& name, const std::string& subset) {
  const Entry* entry = find_entry(name, subset);
  return entry ? entry->training.recipe : "";
}

bool has_computed_targets(const std::string& name) {
  const Entry* entry = find_entry(name, "");
  return entry != nullptr && entry->training.computed;
}

std::optional<SourcePlan> plan_named(const NamedSource& source) {
  const Entry* entry = find_entry(source.name, source.subset);
  if (!entry) return std::nullopt;
  SourcePlan plan;
  plan.name = entry->name;
  plan.named = true;
  plan.target_columns = entry->targets;
  if (!entry->target_name.empty()) plan.target_names = {entry->target_name};
  if (!entry->targets.empty()) plan.units.assign(entry->targets.size(), entry->unit);
  plan.task = entry->task;
  plan.features = entry->features;
  plan.split_name = entry->split_name;
  plan.part_sizes = entry->part_sizes;
  plan.metric = entry->metric;
  plan.training = entry->training;
  if (entry->layouts.empty()) return plan_demo(std::move(plan));
  const auto folders = data_folders(source.data_dir);
  for (const std::string& folder : folders)
    if (const auto layout = find_layout(*entry, folder, source.table))
      return plan_layout(std::move(plan), *layout, source.table);
  const auto layout = fetch_layout(*entry, folders, source);
  return plan_layout(std::move(plan), layout, source.table);
}

const std::vector<NamedDataset>& named_datasets() {
  static const std::vector<NamedDataset> list = [] {
    std::vector<NamedDataset> result;
    for (const Entry& entry : entries()) {
      const std::string files = entry.layouts.empty() ? "Data/NCI/first_5K.smi of RDKit" : entry.layouts.front().table;
      const std::string subset = entry.subset.empty() || entry.subset == "12k" ? "" : " --subset " + entry.subset;
      result.push_back({entry.name + subset, entry.what, files, entry.split_name.empty() ? "random" : entry.split_name,
                        entry.metric, entry.where});
    }
    return result;
  }();
  return list;
}

}  // namespace molgraph
