#include "datasets/catalogue/catalogue_entries.hpp"

#include <utility>

namespace molgraph::catalogue {
namespace {

constexpr const char* kMoleculeNet =
    "MoleculeNet (moleculenet.org): one CSV with the column smiles, the targets and, optionally, scaffold_split "
    "(train, "
    "valid, "
    "test; computed if missing)";
constexpr const char* kZinc =
    "train.txt, valid.txt and test.txt of github.com/wengong-jin/icml18-jtnn (data/zinc), as zinc/*.txt, and for "
    "ZINC-12k train.index, val.index and test.index of github.com/graphdeeplearning/benchmarking-gnns "
    "(data/molecules), "
    "as zinc/*.index (the label is computed); or one CSV with the columns split (train, valid, test), smiles and y";
constexpr const char* kOgb = "the Open Graph Benchmark (ogb.stanford.edu), unpacked";

/// `file`: MoleculeNet's name of the table.
Entry moleculenet(const std::string& name, const std::string& file, std::vector<std::string> targets,
                  const std::string& unit, TaskKind task, const std::string& what,
                  const std::string& smiles = "smiles") {
  Entry entry{.name = name, .targets = std::move(targets), .unit = unit};
  entry.layouts = {{.table = "moleculenet/" + name + ".csv", .part_column = "scaffold_split"},
                   {.table = "moleculenet/" + name + ".csv", .smiles_column = smiles},
                   {.table = "moleculenet/" + file, .smiles_column = smiles}};
  entry.task = task;
  entry.split_name = "scaffold";
  entry.metric = task == TaskKind::binary ? "roc-auc" : "rmse";
  entry.what = what;
  entry.where = kMoleculeNet;
  return entry;
}

Entry zinc(const std::string& subset, const std::string& table, std::array<std::int64_t, 3> sizes,
           const std::string& what) {
  Entry entry{.name = "zinc", .subset = subset, .targets = {"y"}};
  Layout jt_vae{.table = "", .lists = {"zinc/train.txt", "zinc/valid.txt", "zinc/test.txt"}};
  const bool small = subset == "12k";
  if (small) jt_vae.picks = {"zinc/train.index", "zinc/val.index", "zinc/test.index"};
  entry.layouts = {{.table = table, .part_column = "split"}, jt_vae};
  entry.target_name = "penalized_logp";
  entry.features = Features::zinc;
  entry.training = {
      .recipe = small ? "zinc" : "", .model = "graphormer", .steps = 20'000, .batch_size = 256, .computed = true};
  entry.split_name = "published";
  entry.part_sizes = sizes;
  entry.metric = "mae";
  entry.what = what;
  entry.where = kZinc;
  entry.other_names = {small ? "zinc12k" : "zincfull"};
  return entry;
}

/// OGB's folder of a data set: its table and the files of row numbers.
Layout ogb_folder(const std::string& folder) {
  const std::string split = folder + "/split/scaffold/";
  return {.table = folder + "/mapping/mol.csv.gz",
          .part_files = {split + "train.csv.gz", split + "valid.csv.gz", split + "test.csv.gz"},
          .smiles_column = "smiles"};
}

/// OGB-LSC's molecules; `sizes` are the published ones, or none for a folder of a different size.
Entry pcqm(const std::string& name, const std::string& subset, const std::string& folder,
           std::array<std::int64_t, 3> sizes, const std::string& what) {
  Entry entry{.name = name, .subset = subset, .targets = {"homolumogap"}, .unit = "eV"};
  entry.layouts = {
      {.table = folder + "/raw/data.csv.gz", .part_archive = folder + "/split_dict.pt", .smiles_column = "smiles"}};
  entry.training = {.computed = true};
  entry.split_name = "published";
  entry.part_sizes = sizes;
  entry.metric = "mae";
  entry.what = what;
  entry.where = "OGB-LSC (ogb.stanford.edu/docs/lsc), unpacked";
  return entry;
}

void add_pcqm(std::vector<Entry>& entries) {
  entries.push_back(pcqm("pcqm4m", "", "pcqm4m_kddcup2021", {3'045'360, 380'670, 377'423},
                         "PCQM4M, 3.8 million molecules: HOMO-LUMO gap"));
  entries.push_back(pcqm("pcqm4mv2", "", "pcqm4m-v2", {3'378'606, 73'545, 147'037},
                         "PCQM4Mv2, 3.7 million molecules: HOMO-LUMO gap"));
  entries.push_back(
      pcqm("pcqm4mv2", "partial", "pcqm4m-v2", {}, "a folder with the structure of PCQM4Mv2, of any size"));
  Entry sample{.name = "pcqm4mv2", .subset = "sample", .targets = {"homolumogap"}, .unit = "eV"};
  sample.layouts = {{.table = "pcqm4mv2_sample/pcqm4mv2_1999.csv"}};
  sample.training = {.computed = true};
  sample.metric = "mae";
  sample.what = "PCQM4Mv2, the first 1,999 molecules: HOMO-LUMO gap";
  sample.where = "the first 1,999 rows of PCQM4Mv2 (ogb.stanford.edu, OGB-LSC) as a CSV with smiles and homolumogap";
  entries.push_back(sample);
}

void add_ogb(std::vector<Entry>& entries) {
  Entry molhiv{.name = "molhiv", .targets = {"HIV_active"}, .task = TaskKind::binary};
  molhiv.layouts = {
      {"molhiv/molhiv.csv.gz", {"molhiv/split/train.csv", "molhiv/split/valid.csv", "molhiv/split/test.csv"}},
      ogb_folder("ogbg_molhiv"),
      {.table = "moleculenet/HIV.csv", .smiles_column = "smiles"}};
  molhiv.split_name = "published";
  molhiv.part_sizes = {32901, 4113, 4113};
  molhiv.metric = "roc-auc";
  molhiv.what = "ogbg-molhiv: inhibition of HIV";
  molhiv.where = std::string(kOgb) + "; or MoleculeNet's HIV.csv (the split is computed)";
  molhiv.other_names = {"hiv"};
  entries.push_back(molhiv);

  Entry molpcba{.name = "molpcba", .task = TaskKind::binary};
  molpcba.layouts = {ogb_folder("ogbg_molpcba")};
  molpcba.split_name = "published";
  molpcba.part_sizes = {350'343, 43'793, 43'793};
  molpcba.metric = "ap";
  molpcba.what = "ogbg-molpcba: 128 assays with missing labels";
  molpcba.where = kOgb;
  molpcba.other_names = {"pcba"};
  entries.push_back(molpcba);
}

void add_moleculenet(std::vector<Entry>& entries) {
  const auto add = [&](Entry entry, std::vector<std::string> other_names = {}) {
    entry.other_names = std::move(other_names);
    entries.push_back(std::move(entry));
  };
  constexpr TaskKind regression = TaskKind::regression, binary = TaskKind::binary;
  add(moleculenet("esol", "delaney-processed.csv", {"measured log solubility in mols per litre"}, "log10(mol/L)",
                  regression, "ESOL: solubility in water"),
      {"delaney"});
  add(moleculenet("freesolv", "SAMPL.csv", {"expt"}, "kcal/mol", regression, "FreeSolv: hydration free energy"),
      {"sampl"});
  add(moleculenet("lipo", "Lipophilicity.csv", {"exp"}, "logD", regression, "Lipophilicity: octanol/water at pH 7.4"),
      {"lipophilicity"});
  add(moleculenet("bbbp", "BBBP.csv", {"p_np"}, "", binary, "BBBP: passes the blood-brain barrier"));
  add(moleculenet("bace", "bace.csv", {"Class"}, "", binary, "BACE: inhibits beta-secretase 1", "mol"));
  add(moleculenet("clintox", "clintox.csv.gz", {"FDA_APPROVED", "CT_TOX"}, "", binary,
                  "ClinTox: 2 tasks, approval and toxicity"));
  add(moleculenet("tox21", "tox21.csv.gz", {}, "", binary, "Tox21: 12 toxicity assays with missing labels"));
  add(moleculenet("sider", "sider.csv.gz", {}, "", binary, "SIDER: side effects in 27 classes of organs"));
}

std::vector<Entry> make_entries() {
  std::vector<Entry> entries;
  Entry demo{.name = "demo", .target_name = "penalized_logp"};
  demo.training = {.computed = true};
  demo.metric = "mae";
  demo.what = "5,000 molecules (NCI) installed with RDKit; label: ZINC's penalised logP, computed here";
  demo.where = "part of RDKit's data (Debian: rdkit-data)";
  entries.push_back(demo);
  entries.push_back(zinc("12k", "zinc12k/zinc12k.csv.gz", {10000, 1000, 1000}, "ZINC-12k, penalised logP"));
  entries.push_back(zinc("full", "zinc_full/zinc_full.csv.gz", {220011, 24445, 5000}, "ZINC-full, penalised logP"));
  add_pcqm(entries);
  add_ogb(entries);
  Entry qm9{.name = "qm9", .layouts = {{.table = "qm9/qm9_gap_ev.csv.gz"}}, .targets = {"gap_eV"}, .unit = "eV"};
  qm9.training = {.computed = true};
  qm9.metric = "mae";
  qm9.what = "part of QM9: HOMO-LUMO gap";
  qm9.where = "QM9 (quantum-machine.org, moleculenet.org) as a CSV with the columns smiles and gap_eV (eV)";
  entries.push_back(qm9);
  add_moleculenet(entries);
  return entries;
}

}  // namespace

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = make_entries();
  return all;
}

}  // namespace molgraph::catalogue
