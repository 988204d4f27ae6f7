#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>

#include "datasets/store/store.hpp"
#include "datasets/store/store_checks.hpp"
#include "datasets/store/store_columns.hpp"
#include "datasets/store/store_layout.hpp"
#include "datasets/system/text.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using namespace store_layout;

constexpr std::int64_t kMaxStoredClasses = 1'000'000;

struct SplitColumns {
  std::string name;
  ColumnReader parts[3];
};

}  // namespace

struct Store::State {
  explicit State(const std::string& path);

  void open_file();
  void read_attributes(hid_t root);
  Task read_task(hid_t root) const;
  void open_molecules(hid_t root);
  void open_rest(hid_t root);
  void check_molecule_offsets() const;
  void open_inputs(hid_t root);
  std::vector<double> load_targets() const;
  std::vector<RejectedRow> load_rejected() const;
  std::map<std::string, Split> load_splits() const;
  MoleculeSet load() const;
  PairRelations checked_pairs(std::int64_t g, std::int64_t begin, std::int64_t count);
  PairRelations recomputed_pairs(std::int64_t g);

  File plain;  ///< the file's bytes; HDF5 uses its own descriptor
  FileContext context;
  Handle file;
  StoreSummary summary;
  std::vector<std::int64_t> atom_offset, bond_offset, pair_offset;
  TextColumnReader smiles, id, rejected_text, rejected_status, rejected_reason;
  ColumnReader atom_offset_column, bond_offset_column, pair_offset_column;
  ColumnReader row, atoms, bond_atoms, bonds, distance, targets, bound, weight, inputs, rejected_row;
  std::vector<SplitColumns> splits;
  std::mutex mutex;  ///< guards the columns' cached chunks
};

Store::State::State(const std::string& path) : plain(File::open(path)), context{plain, path, check_user_block(plain)} {
  open_file();
  // Outside the session, because several threads decode columns and each needs HDF5 briefly.
  atom_offset = atom_offset_column.all<std::int64_t>();
  bond_offset = bond_offset_column.all<std::int64_t>();
  pair_offset = pair_offset_column.all<std::int64_t>();
  check_molecule_offsets();
}

void Store::State::open_file() {
  const Session session;
  const char* what = "damaged store: HDF5 cannot open it";
  file = checked(H5Fopen(context.path.c_str(), H5F_ACC_RDONLY, file_access(context.path).get()), context.path, what);
  const Handle root = checked(H5Gopen2(file.get(), "/", H5P_DEFAULT), context.path, what);
  read_attributes(root.get());
  summary.task = read_task(root.get());
  open_molecules(root.get());
  open_rest(root.get());
}

void Store::State::read_attributes(hid_t root) {
  if (const auto version = read_number_attribute(context, root, "format_version"); version != kFormatVersion) {
    throw_damaged(context, "the attribute format_version is " + std::to_string(version));
  }
  try {
    summary.featurizer = FeaturizerOptions::from_canonical_text(read_text_attribute(context, root, "featurizer"));
  } catch (const FileError& error) {
    const std::string what = error.what();
    throw FileError(what.starts_with(context.path) ? what : context.path + ": " + what);
  }
  if (const auto hash = read_text_attribute(context, root, "featurizer_hash"); hash != summary.featurizer.hash()) {
    throw_damaged(context,
                  "the hash of its featuriser, " + hash.substr(0, 32) + ", does not match the featuriser's text");
  }
  summary.source.rdkit_version = read_text_attribute(context, root, "rdkit_version");
  summary.source.name = read_text_attribute(context, root, "source_name");
  summary.source.file = read_text_attribute(context, root, "source_file");
  summary.source.sha256 = read_text_attribute(context, root, "source_sha256");
  if (H5Aexists(root, "source_rows") > 0) summary.source.rows = read_number_attribute(context, root, "source_rows");
  if (summary.source.rows < 0 || summary.source.rows > kMaxSourceRows)
    throw_damaged(context, "the attribute source_rows is " + std::to_string(summary.source.rows));
  summary.created = read_text_attribute(context, root, "created");
  summary.file_bytes = static_cast<std::int64_t>(context.file_bytes);
}

Task Store::State::read_task(hid_t root) const {
  const Handle group = open_group(context, root, "targets");
  const std::string kind = read_text_attribute(context, group.get(), "kind");
  Task task;
  try {
    task.kind = task_kind_from_string(kind);
  } catch (const UsageError&) {
    throw_damaged(context, "unknown task kind '" + kind.substr(0, 40) + "'");
  }
  if (read_text_attribute(context, root, "task") != kind) throw_damaged(context, "the attributes task and kind differ");
  const std::int64_t classes = read_number_attribute(context, group.get(), "classes");
  task.names = read_texts(context, group.get(), "names");
  task.units = read_texts(context, group.get(), "units");
  task.class_labels = read_texts(context, group.get(), "class_labels");
  const bool multiclass = task.kind == TaskKind::multiclass, mixed = task.kind == TaskKind::mixed;
  const std::int64_t labels = task.kind == TaskKind::binary || mixed ? 2 : classes;
  for (const std::string& one : mixed ? read_texts(context, group.get(), "kinds") : std::vector<std::string>()) {
    if (one != "regression" && one != "binary")
      throw_damaged(context, "a target of the unknown kind '" + one.substr(0, 40) + "'");
    task.kinds.push_back(task_kind_from_string(one));
  }
  if (mixed &&
      (task.kinds.size() != task.names.size() || !task.has(TaskKind::regression) || !task.has(TaskKind::binary)))
    throw_damaged(context, "targets and their kinds are inconsistent");
  if (classes < 0 || classes > kMaxStoredClasses || (multiclass && classes < 1) || task.names.size() > kMaxTargets ||
      task.units.size() != task.names.size() ||
      (!task.class_labels.empty() && static_cast<std::int64_t>(task.class_labels.size()) != labels)) {
    throw_damaged(context, "targets, units, classes and their labels are inconsistent");
  }
  task.classes = static_cast<int>(classes);
  return task;
}

void Store::State::open_molecules(hid_t root) {
  const FeatureShape& shape = feature_shape(summary.featurizer.features);
  const Handle molecules = open_group(context, root, "molecules");
  row = ColumnReader(context, molecules.get(), "row", Element::i64);
  smiles = TextColumnReader(context, molecules.get(), "smiles");
  id = TextColumnReader(context, molecules.get(), "id");
  if (has_child(molecules.get(), "weight")) {
    weight = ColumnReader(context, molecules.get(), "weight", Element::f32);
    if (weight.rows() != row.rows()) throw_damaged(context, "molecules/weight has the wrong number of rows");
  }
  const Handle atom_group = open_group(context, root, "atoms"), bond_group = open_group(context, root, "bonds");
  atoms = ColumnReader(context, atom_group.get(), "features", Element::u8, shape.atom_columns);
  bond_atoms = ColumnReader(context, bond_group.get(), "atoms", Element::u16, 2);
  bonds = ColumnReader(context, bond_group.get(), "features", Element::u8, shape.bond_columns);
  summary.has_pairs = has_child(root, kPairsGroup);
  if (summary.has_pairs) {
    const Handle pairs = open_group(context, root, kPairsGroup);
    distance = ColumnReader(context, pairs.get(), "distance", Element::u8);
  }
  summary.molecules = row.rows();
  summary.atoms = atoms.rows();
  summary.bonds = bonds.rows();
  summary.pairs = distance.valid() ? distance.rows() : 0;
  if (smiles.rows() != row.rows() || id.rows() != row.rows() || bond_atoms.rows() != bonds.rows()) {
    throw_damaged(context, "the columns differ in length");
  }
  atom_offset_column = ColumnReader(context, molecules.get(), "atom_offset", Element::i64);
  bond_offset_column = ColumnReader(context, molecules.get(), "bond_offset", Element::i64);
  pair_offset_column = ColumnReader(context, molecules.get(), "pair_offset", Element::i64);
}

void Store::State::open_inputs(hid_t root) {
  const bool descriptors = summary.featurizer.descriptors == DescriptorSet::rdkit;
  if (!has_child(root, kInputsGroup)) {
    if (descriptors) throw_damaged(context, "the descriptors are missing");
    return;
  }
  const Handle group = open_group(context, root, kInputsGroup);
  std::vector<std::string>& names = summary.input_names = read_texts(context, group.get(), "names");
  const auto computed = descriptor_names();
  if (names.empty() || names.size() > kMaxTargets ||
      (descriptors && (names.size() < computed.size() || !std::equal(computed.begin(), computed.end(), names.begin()))))
    throw_damaged(context, "inputs/names is empty, too long or does not match this version's descriptors");
  inputs = ColumnReader(context, group.get(), "values", Element::f32, static_cast<int>(names.size()));
  if (inputs.rows() != row.rows()) throw_damaged(context, "inputs/values has the wrong number of rows");
}

/// Opens targets, inputs, splits and rejected rows.
void Store::State::open_rest(hid_t root) {
  const Handle target_group = open_group(context, root, "targets");
  if (const int count = summary.task.num_targets(); count > 0) {
    targets = ColumnReader(context, target_group.get(), "values", Element::f64, count);
    if (targets.rows() != row.rows()) throw_damaged(context, "targets/values has the wrong number of rows");
    if (has_child(target_group.get(), "bound")) {
      bound = ColumnReader(context, target_group.get(), "bound", Element::i8, count);
      if (bound.rows() != row.rows()) throw_damaged(context, "targets/bound has the wrong number of rows");
    }
  }
  open_inputs(root);
  const Handle split_group = open_group(context, root, "splits");
  for (const std::string& name : children(context, split_group.get())) {
    const Handle group = open_group(context, split_group.get(), name);
    SplitColumns& columns = splits.emplace_back();
    columns.name = name;
    for (std::size_t p = 0; p < 3; ++p) columns.parts[p] = ColumnReader(context, group.get(), kParts[p], Element::i64);
    summary.splits.push_back(name);
  }
  const Handle rejected = open_group(context, root, "rejected");
  rejected_row = ColumnReader(context, rejected.get(), "row", Element::i64);
  rejected_text = TextColumnReader(context, rejected.get(), "text");
  rejected_status = TextColumnReader(context, rejected.get(), "status");
  rejected_reason = TextColumnReader(context, rejected.get(), "reason");
  summary.rejected = rejected_row.rows();
  for (const TextColumnReader* texts : {&rejected_text, &rejected_status, &rejected_reason}) {
    if (texts->rows() != summary.rejected) throw_damaged(context, "the columns of rejected rows differ in length");
  }
}

void Store::State::check_molecule_offsets() const {
  check_offsets(context, "atom_offset", atom_offset, summary.molecules, summary.atoms);
  check_offsets(context, "bond_offset", bond_offset, summary.molecules, summary.bonds);
  check_offsets(context, "pair_offset", pair_offset, summary.molecules, summary.pairs);
  for (std::size_t g = 0; g + 1 < atom_offset.size(); ++g) {
    const std::int64_t n = atom_offset[g + 1] - atom_offset[g], m = bond_offset[g + 1] - bond_offset[g];
    const std::int64_t pairs = summary.has_pairs && n <= kMaxStoredPairAtoms ? n * (n - 1) / 2 : 0;
    // Without duplicate bonds, n atoms have at most n (n - 1) / 2 bonds.
    if (n < 1 || n > kMaxAtoms || m > n * (n - 1) / 2) {
      throw_damaged(context, "molecule " + std::to_string(g) + " has " + std::to_string(n) + " atoms and " +
                                 std::to_string(m) + " bonds");
    }
    if (pair_offset[g + 1] - pair_offset[g] != pairs) {
      throw_damaged(context, "molecule " + std::to_string(g) + " with " + std::to_string(n) + " atoms has " +
                                 std::to_string(pair_offset[g + 1] - pair_offset[g]) + " pairs");
    }
  }
}

std::vector<double> Store::State::load_targets() const {
  if (!targets.valid()) return {};
  auto values = targets.all<double>();
  for (std::size_t i = 0; i < values.size(); ++i) check_target(context, summary.task, i, values[i]);
  return values;
}

std::map<std::string, Split> Store::State::load_splits() const {
  std::map<std::string, Split> result;
  for (const SplitColumns& columns : splits) {
    Split& split = result[columns.name];
    std::vector<std::int64_t>* parts[] = {&split.train, &split.valid, &split.test};
    for (std::size_t p = 0; p < 3; ++p) {
      *parts[p] = columns.parts[p].all<std::int64_t>();
      for (const std::int64_t g : *parts[p]) {
        if (g < 0 || g >= summary.molecules) {
          throw_damaged(context, "split '" + columns.name.substr(0, 80) + "' contains molecule " + std::to_string(g) +
                                     ", but the number of molecules is " + std::to_string(summary.molecules));
        }
      }
    }
  }
  return result;
}

std::vector<RejectedRow> Store::State::load_rejected() const {
  const auto rows = rejected_row.all<std::int64_t>();
  auto texts = rejected_text.all(context, "text"), status = rejected_status.all(context, "status");
  auto reasons = rejected_reason.all(context, "reason");
  std::vector<RejectedRow> result;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] < 0) throw_damaged(context, "a rejected row has a negative number");
    result.push_back({rows[r], texts[r], status[r], reasons[r]});
  }
  return result;
}

MoleculeSet Store::State::load() const {
  MoleculeSet set;
  set.featurizer = summary.featurizer;
  set.task = summary.task;
  set.source = summary.source;
  set.atom_offset = atom_offset;
  set.bond_offset = bond_offset;
  // One array after the other, because the arrays in the file's form are large.
  set.append_rows(atoms.all<std::uint8_t>(), {}, {});
  set.append_rows({}, bond_atoms.all<std::uint16_t>(), {});
  set.append_rows({}, {}, bonds.all<std::uint8_t>());
  set.shrink_to_fit();
  set.row = row.all<std::int64_t>();
  if (std::any_of(set.row.begin(), set.row.end(), [](std::int64_t r) { return r < 0; }))
    throw_damaged(context, "row contains a negative number");
  set.id = id.all(context, "id");
  set.smiles = smiles.all(context, "smiles");
  set.targets = load_targets();
  set.input_names = summary.input_names;
  if (inputs.valid()) set.inputs = inputs.all<float>();
  if (bound.valid()) set.bound = bound.all<std::int8_t>();
  check_bounds(context, set);
  if (weight.valid()) set.weight = weight.all<float>();
  for (const float value : set.weight)
    if (!(value >= 0 && std::isfinite(value)))
      throw_damaged(context, "a molecule has the weight " + number_text(value));
  set.splits = load_splits();
  set.rejected = load_rejected();
  constexpr std::int64_t piece = 4096;
  parallel_for(set.size(), piece, 0, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t> keys;
    for (std::int64_t g = begin; g < end; ++g) check_graph(context, g, set.graph(g), keys);
  });
  return set;
}

PairRelations Store::State::checked_pairs(std::int64_t g, std::int64_t begin, std::int64_t count) {
  PairRelations result = recomputed_pairs(g);
  check_distances(context, g, result, distance.some<std::uint8_t>(begin, count));
  return result;
}

PairRelations Store::State::recomputed_pairs(std::int64_t g) {
  const auto index = static_cast<std::size_t>(g);
  const std::int64_t n = atom_offset[index + 1] - atom_offset[index], m = bond_offset[index + 1] - bond_offset[index];
  MolecularGraph graph;
  graph.features = summary.featurizer.features;
  graph.atoms = atoms.some<std::uint8_t>(atom_offset[index], n);
  graph.bond_atoms = bond_atoms.some<std::uint16_t>(bond_offset[index], m);
  graph.bonds = bonds.some<std::uint8_t>(bond_offset[index], m);
  std::vector<std::uint32_t> keys;
  check_graph(context, g, graph.view(), keys);
  return pair_relations(graph.view());
}

Store::Store(const std::string& path) try : state_(std::make_unique<State>(path)) {
} catch (const std::bad_alloc&) {
  throw FileError(path + ": there is not enough memory to read it");
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

const StoreSummary& Store::summary() const { return state_->summary; }

MoleculeSet Store::load() const {
  try {
    return state_->load();
  } catch (const std::bad_alloc&) {
    throw FileError(state_->context.path + ": there is not enough memory to read it");
  }
}

PairRelations Store::pairs(std::int64_t g) const {
  if (g < 0 || g >= state_->summary.molecules) {
    throw UsageError(state_->context.path + ": no molecule " + std::to_string(g) + "; the number of molecules is " +
                     std::to_string(state_->summary.molecules));
  }
  const std::lock_guard lock(state_->mutex);
  const auto index = static_cast<std::size_t>(g);
  const std::int64_t begin = state_->pair_offset[index], count = state_->pair_offset[index + 1] - begin;
  if (count == 0) return state_->recomputed_pairs(g);
  return state_->checked_pairs(g, begin, count);
}

bool looks_like_store(const std::string& path) {
  try {
    File file = File::open(path);
    char start[kMagic.size()];
    return file.read(start, sizeof start) == sizeof start && std::string_view(start, sizeof start) == kMagic;
  } catch (const FileError&) {
    return false;
  }
}

bool is_meant_as_store(const std::string& path) {
  const std::string name = lower(path);
  return name.ends_with(".h5") || name.ends_with(".hdf5") || looks_like_store(path);
}

}  // namespace molgraph
