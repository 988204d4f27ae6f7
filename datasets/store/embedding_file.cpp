#include "datasets/store/embedding_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "datasets/store/store_layout.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using namespace store_layout;

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::array<const char*, 4> kTextNames{"id", "smiles", "status", "reason"};

Handle float_type(FloatKind kind, const std::string& path) {
  Handle type = checked(H5Tcopy(H5T_IEEE_F32LE), path, "cannot create a type");
  if (kind == FloatKind::float32) return type;
  // IEEE 754 binary16: sign at bit 15, 5 exponent bits from bit 10, 10 fraction bits
  const bool set = H5Tset_fields(type.get(), 15, 10, 5, 0, 10) >= 0 && H5Tset_size(type.get(), 2) >= 0 &&
                   H5Tset_ebias(type.get(), 15) >= 0;
  if (!set) throw FileError(path + ": cannot create the type float16");
  return type;
}

Handle text_type(const std::string& path) {
  Handle type = checked(H5Tcopy(H5T_C_S1), path, "cannot create a type");
  check(H5Tset_size(type.get(), H5T_VARIABLE), path, "cannot create a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), path, "cannot create a text type");
  return type;
}

/// A data set that grows by blocks of rows.
struct GrowingDataset {
  Handle dataset;
  hsize_t columns = 0;  ///< 0 = one-dimensional
  hsize_t rows = 0;

  void append(const std::string& path, hid_t type, const void* data, hsize_t count) {
    const int rank = columns > 0 ? 2 : 1;
    const hsize_t extent[] = {rows + count, columns}, first[] = {rows, 0}, block[] = {count, columns};
    check_written(H5Dset_extent(dataset.get(), extent), path, "cannot extend a data set");
    const Handle memory = checked(H5Screate_simple(rank, block, nullptr), path, "cannot create a dataspace");
    const Handle place = checked(H5Dget_space(dataset.get()), path, "cannot create a dataspace");
    check(H5Sselect_hyperslab(place.get(), H5S_SELECT_SET, first, nullptr, block, nullptr), path, "cannot select rows");
    check_written(H5Dwrite(dataset.get(), type, memory.get(), place.get(), H5P_DEFAULT, data), path, "cannot write");
    rows += count;
  }
};

}  // namespace

struct EmbeddingFileWriter::State {
  State(const std::string& path_, std::int64_t columns, FloatKind kind_) : path(path_), kind(kind_), out(path_) {
    const Session session;
    file = checked(H5Fcreate(out.temporary_path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, file_access(path).get()), path,
                   "HDF5 cannot create the file");
    const std::size_t row_bytes =
        static_cast<std::size_t>(std::max<std::int64_t>(columns, 1)) * (kind == FloatKind::float16 ? 2 : 4);
    rows_per_block = std::max<std::size_t>(1, kChunkBytes / row_bytes);
    values_type = float_type(kind, path);
    texts_type = text_type(path);
    values = make("embeddings", values_type.get(), static_cast<hsize_t>(columns));
    for (std::size_t t = 0; t < texts.size(); ++t) texts[t] = make(kTextNames[t], texts_type.get(), 0);
  }
  ~State() {
    const Session session;
    values = {};
    texts = {};
    values_type.reset();
    texts_type.reset();
    file.reset();
  }

  GrowingDataset make(const char* name, hid_t type, hsize_t columns) {
    const int rank = columns > 0 ? 2 : 1;
    const hsize_t empty[] = {0, columns}, max_extent[] = {H5S_UNLIMITED, columns}, chunk[] = {rows_per_block, columns};
    const Handle space = checked(H5Screate_simple(rank, empty, max_extent), path, "cannot create a dataspace");
    const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), path, "cannot create properties");
    check(H5Pset_chunk(properties.get(), rank, chunk), path, "cannot set the chunk size");
    check(H5Pset_obj_track_times(properties.get(), false), path, "cannot set properties");
    if (columns > 0) check(H5Pset_fletcher32(properties.get()), path, "cannot enable checksums");  // readers check them
    GrowingDataset result;
    result.columns = columns;
    result.dataset =
        checked(H5Dcreate2(file.get(), name, type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), path,
                std::string("cannot create ") + name);
    return result;
  }

  void flush() {
    if (count == 0) return;
    const Session session;
    const void* data = kind == FloatKind::float16 ? static_cast<const void*>(halves.data()) : floats.data();
    values.append(path, values_type.get(), data, count);
    for (std::size_t t = 0; t < texts.size(); ++t) {
      std::vector<const char*> pointers;
      for (const std::string& text : pending[t]) pointers.push_back(text.c_str());
      texts[t].append(path, texts_type.get(), pointers.data(), count);
      pending[t].clear();
    }
    floats.clear();
    halves.clear();
    count = 0;
  }

  std::string path;
  FloatKind kind;
  AtomicFile out;
  Handle file, values_type, texts_type;
  GrowingDataset values;
  std::array<GrowingDataset, 4> texts;
  std::size_t rows_per_block = 1, count = 0;  ///< count: pending rows
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  std::array<std::vector<std::string>, 4> pending;
};

EmbeddingFileWriter::EmbeddingFileWriter(const std::string& path, std::int64_t columns, FloatKind kind)
    : state_(std::make_unique<State>(path, columns, kind)) {}
EmbeddingFileWriter::~EmbeddingFileWriter() = default;

void EmbeddingFileWriter::add_row(std::span<const float> row, const std::string& id, const std::string& smiles,
                                  const std::string& status, const std::string& reason) {
  State& state = *state_;
  assert(row.size() == state.values.columns);
  if (state.kind == FloatKind::float16) {
    for (const float value : row) state.halves.push_back(float16_bits(value));
  } else {
    state.floats.insert(state.floats.end(), row.begin(), row.end());
  }
  const std::array<const std::string*, 4> row_texts{&id, &smiles, &status, &reason};
  for (std::size_t t = 0; t < row_texts.size(); ++t) state.pending[t].push_back(*row_texts[t]);
  if (++state.count == state.rows_per_block) state.flush();
}

void EmbeddingFileWriter::finish() {
  State& state = *state_;
  state.flush();
  {
    const Session session;
    state.values = {};
    state.texts = {};
    check_written(H5Fflush(state.file.get(), H5F_SCOPE_GLOBAL), state.path, "cannot be completed");
    state.file.reset();
  }
  state.out.commit();
}

}  // namespace molgraph
