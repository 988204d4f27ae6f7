#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <optional>

#include "datasets/store/column_writer.hpp"
#include "datasets/store/store.hpp"
#include "datasets/store/store_layout.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using namespace store_layout;

/// Returns the type of UTF-8 text of `bytes` bytes, padded with zeros.
Handle text_type(const std::string& file, std::size_t bytes) {
  Handle type = checked(H5Tcopy(H5T_C_S1), file, "cannot create a type");
  const bool set = H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)) >= 0 &&
                   H5Tset_strpad(type.get(), H5T_STR_NULLPAD) >= 0 && H5Tset_cset(type.get(), H5T_CSET_UTF8) >= 0;
  if (!set) throw FileError(file + ": cannot create a text of " + std::to_string(bytes) + " bytes");
  return type;
}

void write_attribute(const std::string& file, hid_t where, const char* name, const Handle& type, const void* value) {
  const Handle space = checked(H5Screate(H5S_SCALAR), file, "cannot create a dataspace");
  const Handle attribute = checked(H5Acreate2(where, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), file,
                                   std::string("cannot create attribute ") + name);
  check(H5Awrite(attribute.get(), type.get(), value), file, std::string("cannot write attribute ") + name);
}

void write_attribute(const std::string& file, hid_t where, const char* name, const std::string& text) {
  // Object headers are limited to 64 KiB. Only a file name could be that long.
  const std::string shortened = text.substr(0, 32768);
  write_attribute(file, where, name, text_type(file, shortened.size()), shortened.c_str());
}

void write_attribute(const std::string& file, hid_t where, const char* name, std::int64_t value) {
  write_attribute(file, where, name, checked(H5Tcopy(H5T_STD_I64LE), file, "cannot create a type"), &value);
}

/// Writes a short list of texts as one data set of fixed-length strings, padded to the longest.
void write_texts(const std::string& file, hid_t group, const char* name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::vector<char> flat(width * texts.size(), '\0');
  for (std::size_t t = 0; t < texts.size(); ++t) std::memcpy(flat.data() + t * width, texts[t].data(), texts[t].size());
  const Handle type = text_type(file, width);
  const hsize_t count = texts.size();
  const Handle space = checked(H5Screate_simple(1, &count, nullptr), file, "cannot create a dataspace");
  const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), file, "cannot create properties");
  check(H5Pset_obj_track_times(properties.get(), false), file, "cannot set properties");
  const Handle dataset =
      checked(H5Dcreate2(group, name, type.get(), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), file,
              std::string("cannot create ") + name);
  if (count > 0) {
    check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()), file,
          std::string("cannot write ") + name);
  }
}

}  // namespace

struct StoreWriter::State {
  State(const std::string& path_, const FeaturizerOptions& featurizer_, const Task& task_, const SourceInfo& source,
        const StoreWriterOptions& options_);
  ~State();

  hid_t make_group(hid_t parent, const std::string& name);
  ColumnWriter& make_column(hid_t group, const std::string& name, Element element, int columns = 0);
  TextColumnWriter make_texts(hid_t group, const std::string& name);
  void describe(const SourceInfo& source);
  void add_pairs(const MolecularGraph& graph);
  void add_bounds(const std::vector<std::int8_t>& bounds);
  void add_weight(float value);

  std::string path;
  FeaturizerOptions featurizer;
  Task task;
  StoreWriterOptions options;
  AtomicFile out;
  Handle file;
  std::deque<Handle> groups;         ///< all open groups, closed before the file
  std::deque<ColumnWriter> columns;  ///< a deque, because references stay valid
  std::optional<ChunkPool> pool;     ///< destroyed before the columns that its jobs refer to
  hid_t splits = -1, molecule_group = -1, target_group = -1;
  ColumnWriter *row = nullptr, *atom_offset = nullptr, *bond_offset = nullptr, *pair_offset = nullptr;
  ColumnWriter *atoms = nullptr, *bond_atoms = nullptr, *bonds = nullptr, *distance = nullptr;
  ColumnWriter *targets = nullptr, *inputs = nullptr, *rejected_row = nullptr;
  ColumnWriter* bound = nullptr;   ///< created with the first label that is a limit
  ColumnWriter* weight = nullptr;  ///< created with the first weight that is not 1
  TextColumnWriter smiles, id, rejected_text, rejected_status, rejected_reason;
  std::vector<std::uint8_t> distances;  // scratch
};

StoreWriter::State::State(const std::string& path_, const FeaturizerOptions& featurizer_, const Task& task_,
                          const SourceInfo& source, const StoreWriterOptions& options_)
    : path(path_), featurizer(featurizer_), task(task_), options(options_), out(path_) {
  assert(options.chunk > 0 && task.units.size() <= task.names.size());
  const Session session;
  const Handle creation = checked(H5Pcreate(H5P_FILE_CREATE), path, "HDF5 cannot be initialised");
  check(H5Pset_userblock(creation.get(), kUserBlock), path, "HDF5 rejects a file setting");
  file = checked(H5Fcreate(out.temporary_path().c_str(), H5F_ACC_TRUNC, creation.get(), file_access(path).get()), path,
                 "HDF5 cannot create the file");
  pool.emplace(thread_count(options.threads));
  const hid_t root = file.get();
  const hid_t molecules = molecule_group = make_group(root, "molecules");
  smiles = make_texts(molecules, "smiles");
  id = make_texts(molecules, "id");
  row = &make_column(molecules, "row", Element::i64);
  atom_offset = &make_column(molecules, "atom_offset", Element::i64);
  bond_offset = &make_column(molecules, "bond_offset", Element::i64);
  pair_offset = &make_column(molecules, "pair_offset", Element::i64);
  const FeatureShape& shape = feature_shape(featurizer.features);
  const hid_t atom_group = make_group(root, "atoms");
  write_attribute(path, atom_group, "columns", std::string(shape.atom_names));
  atoms = &make_column(atom_group, "features", Element::u8, shape.atom_columns);
  const hid_t bond_group = make_group(root, "bonds");
  bond_atoms = &make_column(bond_group, "atoms", Element::u16, 2);
  bonds = &make_column(bond_group, "features", Element::u8, shape.bond_columns);
  write_attribute(path, bond_group, "columns", std::string(shape.bond_names));
  write_attribute(path, bond_group, "bond_id", std::string(shape.bond_id_rule));
  if (options.pairs) {
    const hid_t pairs = make_group(root, kPairsGroup);
    write_attribute(path, pairs, "layout", "of a molecule's atoms i < j, row by row: numpy.triu_indices(n, 1)");
    write_attribute(path, pairs, "unreachable", std::int64_t{kUnreachable8});
    distance = &make_column(pairs, "distance", Element::u8);
  }
  describe(source);
  if (const std::vector<std::string>& names = options.input_names; !names.empty()) {
    const hid_t group = make_group(root, kInputsGroup);
    write_texts(path, group, "names", names);
    inputs = &make_column(group, "values", Element::f32, static_cast<int>(names.size()));
  }
  splits = make_group(root, "splits");
  const hid_t rejected = make_group(root, "rejected");
  rejected_row = &make_column(rejected, "row", Element::i64);
  rejected_text = make_texts(rejected, "text");
  rejected_status = make_texts(rejected, "status");
  rejected_reason = make_texts(rejected, "reason");
  for (ColumnWriter* offset : {atom_offset, bond_offset, pair_offset}) offset->append(std::int64_t{0});
}

StoreWriter::State::~State() {
  const Session session;
  pool.reset();
  columns.clear();
  groups.clear();
}

hid_t StoreWriter::State::make_group(hid_t parent, const std::string& name) {
  const Handle properties = checked(H5Pcreate(H5P_GROUP_CREATE), path, "cannot create group " + name);
  check(H5Pset_obj_track_times(properties.get(), false), path, "cannot create group " + name);
  groups.push_back(checked(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), path,
                           "cannot create group " + name));
  return groups.back().get();
}

ColumnWriter& StoreWriter::State::make_column(hid_t group, const std::string& name, Element element, int columns_) {
  return columns.emplace_back(path, group, name, element, columns_, options.chunk, *pool);
}

TextColumnWriter StoreWriter::State::make_texts(hid_t group, const std::string& name) {
  ColumnWriter& bytes = make_column(group, name, Element::u8);
  ColumnWriter& offset = make_column(group, name + kOffsetSuffix, Element::i64);
  offset.append(std::int64_t{0});
  return {&bytes, &offset};
}

/// Writes the attributes of the file and of /targets.
void StoreWriter::State::describe(const SourceInfo& source) {
  const hid_t root = file.get();
  const std::string kind(to_string(task.kind));
  write_attribute(path, root, "format_version", std::int64_t{kFormatVersion});
  write_attribute(path, root, "featurizer", featurizer.canonical_text());
  write_attribute(path, root, "featurizer_hash", featurizer.hash());
  write_attribute(path, root, "rdkit_version", source.rdkit_version);
  write_attribute(path, root, "source_name", source.name);
  write_attribute(path, root, "source_file", source.file);
  write_attribute(path, root, "source_sha256", source.sha256);
  write_attribute(path, root, "source_rows", source.rows);
  write_attribute(path, root, "created", now_utc());
  write_attribute(path, root, "task", kind);
  const hid_t group = target_group = make_group(root, "targets");
  write_attribute(path, group, "kind", kind);
  write_attribute(path, group, "classes", static_cast<std::int64_t>(task.classes));
  std::vector<std::string> units = task.units;
  units.resize(task.names.size());
  write_texts(path, group, "names", task.names);
  write_texts(path, group, "units", units);
  write_texts(path, group, "class_labels", task.class_labels);
  if (!task.kinds.empty()) {
    std::vector<std::string> kinds;
    for (const TaskKind one : task.kinds) kinds.emplace_back(to_string(one));
    write_texts(path, group, "kinds", kinds);
  }
  write_attribute(path, group, "values",
                  "float64 [molecules, targets] as the source says; NaN = missing, of classes their number");
  if (task.num_targets() > 0) targets = &make_column(group, "values", Element::f64, task.num_targets());
}

/// Writes distances in 8 bits; none for a molecule that is too large.
void StoreWriter::State::add_pairs(const MolecularGraph& graph) {
  if (graph.num_atoms() > kMaxStoredPairAtoms) return;
  const PairRelations pairs = pair_relations(graph.view());
  const std::size_t tokens = static_cast<std::size_t>(graph.num_atoms()) + 1;
  distances.clear();
  for (std::size_t i = 1; i < tokens; ++i)
    for (std::size_t j = i + 1; j < tokens; ++j) {
      // At most 253 bonds connect 254 atoms, so no distance equals the code.
      const std::uint16_t raw = pairs.topology[i * tokens + j];
      distances.push_back(raw == kUnreachable ? kUnreachable8 : static_cast<std::uint8_t>(raw));
    }
  distance->append(distances.data(), distances.size());
}

/// Writes the bounds of the molecule that is being added.
void StoreWriter::State::add_bounds(const std::vector<std::int8_t>& bounds) {
  if (bound == nullptr && bounds.empty()) return;
  const std::vector<std::int8_t> exact(task.names.size());
  if (bound == nullptr) {
    bound = &make_column(target_group, "bound", Element::i8, task.num_targets());
    for (std::int64_t g = 0; g < row->rows(); ++g) bound->append(exact.data(), 1);
  }
  bound->append((bounds.empty() ? exact : bounds).data(), 1);
}

void StoreWriter::State::add_weight(float value) {
  if (weight == nullptr && value == 1) return;
  if (weight == nullptr) {
    weight = &make_column(molecule_group, "weight", Element::f32);
    for (std::int64_t g = 0; g < row->rows(); ++g) weight->append(1.0f);
  }
  weight->append(value);
}

StoreWriter::StoreWriter(const std::string& path, const FeaturizerOptions& featurizer, const Task& task,
                         const SourceInfo& source, const StoreWriterOptions& options)
    : state_(std::make_unique<State>(path, featurizer, task, source, options)) {}

StoreWriter::~StoreWriter() = default;

void StoreWriter::add(const MolecularGraph& graph, std::int64_t row, const std::string& id, const std::string& smiles,
                      const std::vector<double>& values, const std::vector<float>& columns,
                      const std::vector<std::int8_t>& bounds, float weight) {
  State& s = *state_;
  assert(graph.features == s.featurizer.features && graph.num_atoms() > 0 && row >= 0);
  assert(values.size() == static_cast<std::size_t>(s.task.num_targets()));
  if (graph.num_atoms() > kMaxAtoms) {
    throw DataError(s.path, row + 1,
                    "the molecule exceeds the store's limit of " + std::to_string(kMaxAtoms) + " atoms", smiles);
  }
  s.atoms->append(graph.atoms.data(), static_cast<std::size_t>(graph.num_atoms()));
  s.bond_atoms->append(graph.bond_atoms.data(), static_cast<std::size_t>(graph.num_bonds()));
  s.bonds->append(graph.bonds.data(), static_cast<std::size_t>(graph.num_bonds()));
  if (s.options.pairs) s.add_pairs(graph);
  s.atom_offset->append(s.atoms->rows());
  s.bond_offset->append(s.bond_atoms->rows());
  s.pair_offset->append(s.options.pairs ? s.distance->rows() : std::int64_t{0});
  s.add_bounds(bounds);
  s.add_weight(weight);
  s.row->append(row);
  s.id.append(id);
  s.smiles.append(smiles);
  if (s.targets != nullptr) s.targets->append(values.data(), 1);
  if (s.inputs == nullptr) return;
  std::vector<float> numbers = graph.descriptors;
  numbers.insert(numbers.end(), columns.begin(), columns.end());
  assert(numbers.size() == s.options.input_names.size());
  s.inputs->append(numbers.data(), 1);
}

void StoreWriter::reject(const RejectedRow& row) {
  state_->rejected_row->append(row.row);
  state_->rejected_text.append(row.text);
  state_->rejected_status.append(row.status);
  state_->rejected_reason.append(row.reason);
}

void StoreWriter::split(const std::string& name, const Split& split) {
  if (name.empty() || name == "." || name.find('/') != std::string::npos) {
    throw UsageError("'" + name + "' is not a valid name of a split in a store");
  }
  const Session session;
  const hid_t group = state_->make_group(state_->splits, name);
  const std::vector<std::int64_t>* parts[] = {&split.train, &split.valid, &split.test};
  for (std::size_t p = 0; p < std::size(parts); ++p) {
    ColumnWriter& column = state_->make_column(group, kParts[p], Element::i64);
    column.append(parts[p]->data(), parts[p]->size());
  }
}

std::int64_t StoreWriter::size() const { return state_->row->rows(); }

void StoreWriter::finish() {
  State& s = *state_;
  const Session session;
  for (ColumnWriter& column : s.columns) column.finish();
  s.pool->drain();
  s.columns.clear();
  s.groups.clear();
  check_written(H5Fclose(s.file.release()), s.path, "cannot write");
  write_user_block(s.out.file());
  s.out.commit();
}

}  // namespace molgraph
