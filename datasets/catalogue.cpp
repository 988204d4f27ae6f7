#include "datasets/catalogue.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "datasets/text.hpp"
#include "featurize/chemistry.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

/// One way in which the files of a data set may lie, relative to the data folder: one table and perhaps files of row
/// numbers for train, valid, test; or one list of SMILES per part (then the label is computed), perhaps with the numbers
/// of the lines that count. Files are found with and without ".gz"; a table may lie directly in the data folder too.
struct Layout {
  std::string table;
  std::array<std::string, 3> part_files{};
  std::array<std::string, 3> lists{};
  std::array<std::string, 3> picks{};
};

struct Entry {
  std::string name{}, subset{};
  std::vector<Layout> layouts{};
  std::string target{}, target_name{}, unit{};  ///< "" = all that the rule finds; = the column's name; = none
  TaskKind task = TaskKind::regression;
  Features features = Features::ogb;
  std::string split_name{}, part_column{};
  std::array<std::int64_t, 3> part_sizes{};
  std::string metric{}, what{}, where{};
};

constexpr const char* kMoleculeNet =
    "MoleculeNet (moleculenet.org): one CSV with a column smiles, the targets, and scaffold_split (train, valid, test)";
constexpr const char* kZinc =
    "train.txt, valid.txt and test.txt of github.com/wengong-jin/icml18-jtnn (data/zinc), as zinc/*.txt, and for "
    "ZINC-12k train.index, val.index and test.index of github.com/graphdeeplearning/benchmarking-gnns (data/molecules), "
    "as zinc/*.index (the label is computed); or one CSV with the columns split (train, valid, test), smiles and y";

Entry moleculenet(const std::string& name, const std::string& target, const std::string& unit, TaskKind task,
                  const std::string& what) {
  Entry entry{.name = name, .layouts = {{.table = "moleculenet/" + name + ".csv"}}, .target = target, .unit = unit};
  entry.task = task;
  entry.split_name = "scaffold";
  entry.part_column = "scaffold_split";
  entry.metric = task == TaskKind::binary ? "roc-auc" : "rmse";
  entry.what = what;
  entry.where = kMoleculeNet;
  return entry;
}

Entry zinc(const std::string& subset, const std::string& table, std::array<std::int64_t, 3> sizes,
           const std::string& what) {
  Entry entry{.name = "zinc", .subset = subset, .target = "y"};
  Layout jt_vae{.table = "", .lists = {"zinc/train.txt", "zinc/valid.txt", "zinc/test.txt"}};
  if (subset == "12k") jt_vae.picks = {"zinc/train.index", "zinc/val.index", "zinc/test.index"};
  entry.layouts = {{.table = table}, jt_vae};
  entry.target_name = "penalized_logp";
  entry.features = Features::zinc;
  entry.split_name = "published";
  entry.part_column = "split";
  entry.part_sizes = sizes;
  entry.metric = "mae";
  entry.what = what;
  entry.where = kZinc;
  return entry;
}

std::vector<Entry> make_entries() {
  std::vector<Entry> entries;
  Entry demo{.name = "demo", .target_name = "penalized_logp"};
  demo.metric = "mae";
  demo.what = "5,000 real molecules (NCI) that RDKit installs; label: ZINC's penalised logP, computed here";
  demo.where = "comes with RDKit's data (Debian: rdkit-data)";
  entries.push_back(demo);

  entries.push_back(zinc("12k", "zinc12k/zinc12k.csv.gz", {10000, 1000, 1000}, "ZINC-12k, penalised logP"));
  entries.push_back(zinc("full", "zinc_full/zinc_full.csv.gz", {220011, 24445, 5000}, "ZINC-full, penalised logP"));

  Entry molhiv{.name = "molhiv", .target = "HIV_active", .task = TaskKind::binary};
  molhiv.layouts = {
      {"molhiv/molhiv.csv.gz", {"molhiv/split/train.csv", "molhiv/split/valid.csv", "molhiv/split/test.csv"}},
      {"ogbg_molhiv/mapping/mol.csv.gz",
       {"ogbg_molhiv/split/scaffold/train.csv.gz", "ogbg_molhiv/split/scaffold/valid.csv.gz",
        "ogbg_molhiv/split/scaffold/test.csv.gz"}}};
  molhiv.split_name = "published";
  molhiv.part_sizes = {32901, 4113, 4113};
  molhiv.metric = "roc-auc";
  molhiv.what = "ogbg-molhiv: inhibition of HIV";
  molhiv.where = "the Open Graph Benchmark (ogb.stanford.edu, ogbg-molhiv), unpacked";
  entries.push_back(molhiv);

  Entry pcqm{.name = "pcqm4mv2", .subset = "sample", .layouts = {{.table = "pcqm4mv2_sample/pcqm4mv2_1999.csv"}}};
  pcqm.target = "homolumogap";
  pcqm.unit = "eV";
  pcqm.metric = "mae";
  pcqm.what = "PCQM4Mv2, the first 1,999 molecules: HOMO-LUMO gap";
  pcqm.where = "the first 1,999 rows of PCQM4Mv2 (ogb.stanford.edu, OGB-LSC) as a CSV with smiles and homolumogap";
  entries.push_back(pcqm);

  Entry qm9{.name = "qm9", .layouts = {{.table = "qm9/qm9_gap_ev.csv.gz"}}, .target = "gap_eV", .unit = "eV"};
  qm9.metric = "mae";
  qm9.what = "QM9 (a part of it): HOMO-LUMO gap";
  qm9.where = "QM9 (quantum-machine.org, moleculenet.org) as a CSV with the columns smiles and gap_eV (eV)";
  entries.push_back(qm9);

  entries.push_back(moleculenet("esol", "measured log solubility in mols per litre", "log10(mol/L)",
                                TaskKind::regression, "ESOL: solubility in water"));
  entries.push_back(moleculenet("freesolv", "expt", "kcal/mol", TaskKind::regression,
                                "FreeSolv: hydration free energy"));
  entries.push_back(moleculenet("bbbp", "p_np", "", TaskKind::binary, "BBBP: passes the blood-brain barrier"));
  entries.push_back(moleculenet("clintox", "", "", TaskKind::binary, "ClinTox: 2 tasks, approval and toxicity"));
  entries.push_back(moleculenet("tox21", "", "", TaskKind::binary, "Tox21: 12 toxicity assays with gaps"));
  return entries;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = make_entries();
  return all;
}

/// `path` itself, or with ".gz" put on or taken off; empty if neither is a file.
std::string existing_file(const fs::path& path) {
  const std::string name = path.string();
  std::error_code error;
  for (const std::string& candidate : {name, name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz"})
    if (fs::is_regular_file(candidate, error)) return candidate;
  return {};
}

/// Paths of all that are named; false if one is missing.
bool find_all(const std::array<std::string, 3>& names, const fs::path& folder, std::array<std::string, 3>& paths) {
  for (std::size_t p = 0; p < 3; ++p) {
    if (names[p].empty()) continue;
    paths[p] = existing_file(folder / names[p]);
    if (paths[p].empty()) return false;
  }
  return true;
}

/// The layout with all its files in place, their paths filled in. Row numbers only count beside their own table, so no
/// other train.csv of the data folder is taken for them.
std::optional<Layout> find_layout(const Entry& entry, const fs::path& folder) {
  for (const Layout& layout : entry.layouts) {
    if (layout.table.empty()) {
      Layout found{};
      if (find_all(layout.lists, folder, found.lists) && find_all(layout.picks, folder, found.picks)) return found;
      continue;
    }
    for (const fs::path& table : {fs::path(layout.table), fs::path(layout.table).filename()}) {
      Layout found{.table = existing_file(folder / table)};
      bool whole = !found.table.empty();
      for (std::size_t p = 0; p < 3 && whole; ++p) {
        if (layout.part_files[p].empty()) continue;
        found.part_files[p] = existing_file(folder / layout.part_files[p]);
        if (found.part_files[p].empty())
          found.part_files[p] = existing_file(folder / "split" / fs::path(layout.part_files[p]).filename());
        whole = !found.part_files[p].empty();
      }
      if (whole) return found;
    }
  }
  return std::nullopt;
}

[[noreturn]] void throw_missing(const Entry& entry, const std::vector<std::string>& folders) {
  const Layout& layout = entry.layouts.front();
  std::string files = layout.table;
  for (const std::string& file : layout.part_files)
    if (!file.empty()) files += ", " + file;
  throw FileError("the data set '" + entry.name + "' is not on this machine.\n  files:       " + files +
                  "\n  looked in:   " + list_of(folders) + "\n  to be had:   " + entry.where +
                  "\n  put them in: " + (folders.empty() ? "a folder given with --data-dir" : folders.front()) +
                  " (or any folder given with --data-dir or $MOLGRAPH_DATA)");
}

const Entry* find_entry(const std::string& name, const std::string& subset) {
  const Entry* first = nullptr;
  std::vector<std::string> subsets;
  for (const Entry& entry : entries()) {
    if (entry.name != name) continue;
    // ZINC without a subset is ZINC-12k; a sample of a larger set has to be asked for by name.
    if (entry.subset == subset || (subset.empty() && entry.subset == "12k")) return &entry;
    if (!first) first = &entry;
    if (!entry.subset.empty()) subsets.push_back(entry.subset);
  }
  if (!first) return nullptr;
  if (subsets.empty()) throw UsageError("the data set '" + name + "' has no subsets, so there is no '" + subset + "'");
  throw UsageError(subset.empty() ? "this version reads only a part of '" + name + "': say --subset " + list_of(subsets)
                                  : "the data set '" + name + "' has no subset '" + subset + "': " + list_of(subsets));
}

SourcePlan plan_demo(SourcePlan plan) {
  const std::string path = rdkit_data_dir() + "/Data/NCI/first_5K.smi";
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    throw FileError("the data set 'demo' needs " + path + ", which comes with RDKit's data (Debian: rdkit-data)");
  plan.computed_label = true;
  TableOptions table;
  table.format = TableFormat::smi;
  plan.tables = {{path, table, SplitPart::none}};
  return plan;
}

SourcePlan plan_layout(SourcePlan plan, const Layout& layout, const TableOptions& options) {
  if (!layout.table.empty()) {
    plan.tables = {{layout.table, options, SplitPart::none}};
    plan.part_files = layout.part_files;
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
  // The XDG rules: a relative XDG_CACHE_HOME is to be ignored.
  if (const std::string cache = variable("XDG_CACHE_HOME"); cache.starts_with('/')) {
    folders.push_back(cache + "/molgraph");
  } else if (const std::string home = variable("HOME"); !home.empty()) {
    folders.push_back(home + "/.cache/molgraph");
  }
  return folders;
}

std::optional<SourcePlan> plan_named(const std::string& name, const LoadOptions& options) {
  const Entry* entry = find_entry(name.starts_with("ogbg-") ? name.substr(5) : name, options.subset);
  if (!entry) return std::nullopt;
  SourcePlan plan;
  plan.name = entry->name;
  if (!entry->target.empty()) plan.target_columns = {entry->target};
  if (!entry->target_name.empty()) plan.target_names = {entry->target_name};
  if (!entry->target.empty()) plan.units = {entry->unit};
  plan.task = entry->task;
  plan.features = entry->features;
  plan.split_name = entry->split_name;
  plan.part_column = entry->part_column;
  plan.part_sizes = entry->part_sizes;
  plan.metric = entry->metric;
  if (entry->layouts.empty()) return plan_demo(std::move(plan));
  const auto folders = data_folders(options.data_dir);
  for (const std::string& folder : folders)
    if (const auto layout = find_layout(*entry, folder)) return plan_layout(std::move(plan), *layout, options.table);
  throw_missing(*entry, folders);
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
