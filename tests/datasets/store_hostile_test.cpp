// Damaged and malicious stores cause an error that names the file, never a crash, a hang or a huge allocation.
// The malicious ones are made with the plain HDF5 library and then get a valid checksum.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <ostream>

#include "datasets/store/store.hpp"
#include "datasets/system/files.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using namespace testing_store;

/// A store of 12 small molecules; one of them has two fragments.
MoleculeSet sample_set() {
  MoleculeSet set = make_set({3, 5, 4, 7, 1, 9, 2, 6, 8, 3, 4});
  MolecularGraph salt = make_graph(Features::ogb, 6, 1);
  salt.bond_atoms = {0, 1, 3, 4};
  salt.bonds.resize(6);
  set.add(salt, 99, "salt", "CC.CC", {0, 0});
  return set;
}

std::string sample_bytes() {
  const Folder folder;
  write_store(folder / "a.h5", sample_set());
  return read_file(folder / "a.h5");
}

TEST(DamagedStore, EveryTruncationIsDetected) {
  const Folder folder;
  const std::string whole = sample_bytes();
  const std::string path = folder / "a.h5";
  std::vector<std::size_t> lengths{0, 1, 15, 16, 20, 31, 511, 512, 513, whole.size() - 1};
  for (std::size_t length = 600; length < whole.size(); length += whole.size() / 150) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    put_file(path, std::string_view(whole).substr(0, length));
    EXPECT_NE(file_error([&] { use_store(path); }).find(path), std::string::npos) << "at " << length;
  }
  put_file(path, whole + '\0');
  EXPECT_NE(file_error([&] { use_store(path); }).find("damaged"), std::string::npos);
}

TEST(DamagedStore, EveryFlippedBitIsDetected) {
  const Folder folder;
  std::string bytes = sample_bytes();
  const std::string path = folder / "a.h5";
  put_file(path, bytes);
  use_store(path);
  std::vector<std::size_t> bits;
  for (std::size_t bit = 0; bit < 512 * 8; bit += 5) bits.push_back(bit);
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) bits.push_back(random() % (bytes.size() * 8));
  for (const std::size_t bit : bits) {
    const char mask = static_cast<char>(1u << bit % 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    put_file(path, bytes);
    EXPECT_NE(file_error([&] { use_store(path); }).find(path), std::string::npos) << "bit " << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
  }
}

TEST(DamagedStore, ErrorNamesAnUnknownVersion) {
  const Folder folder;
  std::string bytes = sample_bytes();
  bytes[16] = 2;
  update_header(bytes);
  put_file(folder / "a.h5", bytes);
  EXPECT_NE(file_error([&] { use_store(folder / "a.h5"); }).find("format version 2; this program reads version 1"),
            std::string::npos);
}

TEST(HostileStore, ZeroChunkSizesNeverReachHdf5) {
  // HDF5 1.10 divides by the chunk sizes: without the check, each of these files ends the program with SIGFPE.
  const Folder folder;
  const std::string whole = sample_bytes();
  const std::string path = folder / "a.h5";
  int found = 0;
  for (const std::string_view layout : {"\x03\x02\x02", "\x03\x02\x03"}) {  // version 3, chunked, rank 1 or 2
    for (std::size_t at = whole.find(layout); at != std::string::npos; at = whole.find(layout, at + 1)) {
      std::string bytes = whole;
      const std::size_t first_size = at + 11;
      if (first_size + 4 > bytes.size() || bytes.compare(first_size, 4, std::string(4, '\0')) == 0) continue;
      std::memset(bytes.data() + first_size, 0, 4);
      update_header(bytes);
      put_file(path, bytes);
      EXPECT_NE(file_error([&] { use_store(path); }).find("invalid chunks"), std::string::npos) << "at " << at;
      ++found;
    }
  }
  EXPECT_GE(found, 20);  // one per array
}

// --- valid checksum, bad content ---

/// Sets one element of a data set to `value`. HDF5 decodes and encodes the chunk, so our filters must equal those of
/// HDF5.
template <typename Number>
void set_element(hid_t file, const char* name, std::initializer_list<hsize_t> at, Number value, hid_t type) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  const std::vector<hsize_t> count(at.size(), 1);
  ASSERT_GE(H5Sselect_hyperslab(space, H5S_SELECT_SET, at.begin(), nullptr, count.data(), nullptr), 0) << name;
  const hid_t memory = H5Screate_simple(static_cast<int>(at.size()), count.data(), nullptr);
  EXPECT_GE(H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, &value), 0) << name;
  H5Sclose(memory);
  H5Sclose(space);
  H5Dclose(dataset);
}

void set_offset(hid_t file, const char* name, hsize_t at, std::int64_t value) {
  set_element(file, name, {at}, value, H5T_NATIVE_INT64);
}
void set_byte(hid_t file, const char* name, std::initializer_list<hsize_t> at, std::uint8_t value) {
  set_element(file, name, at, value, H5T_NATIVE_UINT8);
}

void set_text_attribute(hid_t file, const char* group, const char* name, const std::string& text) {
  const hid_t where = H5Gopen2(file, group, H5P_DEFAULT);
  H5Adelete(where, name);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, text.size() + 1);
  const hid_t attribute = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, text.c_str()), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
  H5Gclose(where);
}

void set_number_attribute(hid_t file, const char* group, const char* name, std::int64_t value) {
  const hid_t where = H5Gopen2(file, group, H5P_DEFAULT), attribute = H5Aopen(where, name, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_INT64, &value), 0);
  H5Aclose(attribute);
  H5Gclose(where);
}

/// An empty data set of another type, shape, chunk size or filters that replaces a data set.
struct Replacement {
  hid_t type = H5T_STD_I64LE;
  std::vector<hsize_t> shape{12};
  hsize_t chunk = 12;  ///< 0 = contiguous
  bool filters = true;
};
void replace(hid_t file, const char* name, const Replacement& by) {
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(by.shape.size()), by.shape.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (by.chunk == 0 && by.shape[0] < 1000) H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
  std::vector<hsize_t> chunk;
  for (const hsize_t extent : by.shape) chunk.push_back(std::min(extent, by.chunk));
  if (by.chunk > 0) H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
  if (by.chunk > 0 && by.filters) {
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 4);
    H5Pset_fletcher32(properties);
  }
  const hid_t dataset = H5Dcreate2(file, name, by.type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << name;
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
}

void set_extent(hid_t file, const char* name, hsize_t rows) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT_GE(H5Dset_extent(dataset, &rows), 0);
  H5Dclose(dataset);
}

/// Writes the bytes of a chunk unchanged.
void set_chunk(hid_t file, const char* name, const std::string& bytes) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  const hsize_t at[] = {0, 0};
  EXPECT_GE(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at, bytes.size(), bytes.data()), 0);
  H5Dclose(dataset);
}

struct HostileCase {
  const char* name;
  std::function<void(hid_t)> change;
  const char* message;
};

/// GoogleTest shows the name of a case.
void PrintTo(const HostileCase& shown, std::ostream* out) { *out << shown.name; }

const double kInfinity = std::numeric_limits<double>::infinity();

const HostileCase kCases[] = {
    {"offset decreases", [](hid_t f) { set_offset(f, "/molecules/atom_offset", 3, 1); },
     "atom_offset decreases at entry 2"},
    {"negative offset", [](hid_t f) { set_offset(f, "/molecules/bond_offset", 1, -5); }, "bond_offset decreases"},
    {"offset does not begin at 0", [](hid_t f) { set_offset(f, "/molecules/atom_offset", 0, 1); },
     "atom_offset does not begin at 0"},
    {"offset beyond the end", [](hid_t f) { set_offset(f, "/molecules/atom_offset", 12, 1LL << 60); },
     "atom_offset ends at"},
    {"molecule without atoms", [](hid_t f) { set_offset(f, "/molecules/atom_offset", 1, 0); },
     "molecule 0 has 0 atoms"},
    {"atoms moved", [](hid_t f) { set_offset(f, "/molecules/atom_offset", 1, 4); },
     "molecule 0 with 4 atoms has 3 pairs"},
    {"pairs moved", [](hid_t f) { set_offset(f, "/molecules/pair_offset", 1, 2); }, "has 2 pairs"},
    {"more bonds than pairs of atoms", [](hid_t f) { set_offset(f, "/molecules/bond_offset", 1, 4); },
     "3 atoms and 4 bonds"},
    {"smiles offset", [](hid_t f) { set_offset(f, "/molecules/smiles_offset", 2, 1LL << 40); }, "smiles_offset dec"},
    {"id offset", [](hid_t f) { set_offset(f, "/molecules/id_offset", 12, 7); }, "id_offset"},
    {"row", [](hid_t f) { set_offset(f, "/molecules/row", 2, -1); }, "row contains a negative number"},
    {"atom feature",
     [](hid_t f) {
       set_byte(f, "/atoms/features", {1, 2}, 12);
     },
     "molecule 0: atom 1, column 2 has the invalid value 12"},
    {"bond feature",
     [](hid_t f) {
       set_byte(f, "/bonds/features", {0, 1}, 6);
     },
     "molecule 0: bond 0, column 1 has the invalid value 6"},
    {"bond outside its molecule",
     [](hid_t f) {
       set_element(f, "/bonds/atoms", {1, 0}, std::uint16_t{3}, H5T_NATIVE_UINT16);
     },
     "molecule 0: bond 1 joins atoms 3 and 2 of 3"},
    {"bond to itself",
     [](hid_t f) {
       set_element(f, "/bonds/atoms", {0, 0}, std::uint16_t{1}, H5T_NATIVE_UINT16);
     },
     "joins atoms 1 and 1"},
    {"bond twice",
     [](hid_t f) {
       for (const hsize_t b : {0, 1}) {
         set_element(f, "/bonds/atoms", {b, 0}, static_cast<std::uint16_t>(b), H5T_NATIVE_UINT16);
         set_element(f, "/bonds/atoms", {b, 1}, static_cast<std::uint16_t>(1 - b), H5T_NATIVE_UINT16);
       }
     },
     "two bonds join the same atoms"},
    {"pair distance", [](hid_t f) { set_byte(f, "/pairs/distance", {1}, 200); },
     "the distance of atoms 0 and 2, 200, does not match its bonds"},
    {"pair unreachable", [](hid_t f) { set_byte(f, "/pairs/distance", {0}, 254); }, "atoms 0 and 1, 254, does"},
    {"target infinite",
     [](hid_t f) {
       set_element(f, "/targets/values", {1, 0}, kInfinity, H5T_NATIVE_DOUBLE);
     },
     "target 'logP' has the invalid value inf"},
    {"target not of its kind",
     [](hid_t f) {
       set_text_attribute(f, "/", "task", "binary");
       set_text_attribute(f, "/targets", "kind", "binary");
     },
     "target"},
    {"unknown kind", [](hid_t f) { set_text_attribute(f, "/targets", "kind", "guess"); }, "unknown task kind 'guess'"},
    {"kind differs", [](hid_t f) { set_text_attribute(f, "/targets", "kind", "binary"); }, "task and kind differ"},
    {"classes", [](hid_t f) { set_number_attribute(f, "/targets", "classes", -1); }, "are inconsistent"},
    {"too few units",
     [](hid_t f) {
       replace(f, "/targets/units", {H5T_C_S1, {1}, 0});
     },
     "are inconsistent"},
    {"huge number of names",
     [](hid_t f) {
       replace(f, "/targets/names", {H5T_C_S1, {1ULL << 40}, 0});
     },
     "does not match the size of the file"},
    {"names chunked",
     [](hid_t f) {
       replace(f, "/targets/names", {H5T_C_S1, {2}, 2});
     },
     "unexpected chunks"},
    {"names are numbers",
     [](hid_t f) {
       replace(f, "/targets/names", {H5T_STD_I64LE, {2}, 0});
     },
     "is not text"},
    {"split index too large", [](hid_t f) { set_offset(f, "/splits/published/train", 2, 12); },
     "split 'published' contains molecule 12, but the number of molecules is 12"},
    {"negative split index", [](hid_t f) { set_offset(f, "/splits/published/train", 2, -1); }, "contains molecule -1"},
    {"split is not a group", [](hid_t f) { replace(f, "/splits/x", {}); }, "group x cannot be opened"},
    {"rejected row", [](hid_t f) { set_offset(f, "/rejected/row", 0, -3); }, "a rejected row has a negative number"},
    {"rejected lengths", [](hid_t f) { set_extent(f, "/rejected/row", 1); }, "rejected rows differ in length"},
    {"unknown featuriser", [](hid_t f) { set_text_attribute(f, "/", "featurizer", "phlogiston v9"); }, "phlogiston v9"},
    {"featuriser hash", [](hid_t f) { set_text_attribute(f, "/", "featurizer_hash", "0123"); },
     "hash of its featuriser"},
    {"inner version", [](hid_t f) { set_number_attribute(f, "/", "format_version", 7); }, "format_version is 7"},
    {"attribute missing", [](hid_t f) { H5Adelete(f, "created"); }, "attribute created is missing"},
    {"attribute of wrong type", [](hid_t f) { set_text_attribute(f, "/", "format_version", "1"); },
     "not a 64-bit integer"},
    {"data set missing", [](hid_t f) { H5Ldelete(f, "/atoms/features", H5P_DEFAULT); }, "features is missing"},
    {"group missing", [](hid_t f) { H5Ldelete(f, "/bonds", H5P_DEFAULT); }, "group bonds is missing"},
    {"soft link",
     [](hid_t f) {
       H5Ldelete(f, "/molecules/row", H5P_DEFAULT);
       H5Lcreate_soft("/molecules/row", f, "/molecules/row", H5P_DEFAULT, H5P_DEFAULT);
     },
     "row is missing"},
    {"external link",
     [](hid_t f) {
       H5Ldelete(f, "/molecules/row", H5P_DEFAULT);
       H5Lcreate_external("other.h5", "/molecules/row", f, "/molecules/row", H5P_DEFAULT, H5P_DEFAULT);
     },
     "row is missing"},
    {"wrong element type", [](hid_t f) { replace(f, "/molecules/row", {H5T_IEEE_F64LE}); },
     "row has the wrong element type"},
    {"big-endian", [](hid_t f) { replace(f, "/molecules/row", {H5T_STD_I64BE}); }, "row has the wrong element type"},
    {"wrong rank",
     [](hid_t f) {
       replace(f, "/molecules/row", {H5T_STD_I64LE, {12, 1}});
     },
     "row has the wrong shape"},
    {"wrong columns",
     [](hid_t f) {
       replace(f, "/atoms/features", {H5T_STD_U8LE, {58, 8}, 8});
     },
     "features has the wrong shape"},
    {"not chunked",
     [](hid_t f) {
       replace(f, "/molecules/row", {H5T_STD_I64LE, {12}, 0});
     },
     "invalid chunks"},
    {"giant chunks",
     [](hid_t f) {
       replace(f, "/molecules/row", {H5T_STD_I64LE, {1 << 28}, 1 << 28});
     },
     "invalid chunks"},
    {"other filters",
     [](hid_t f) {
       replace(f, "/molecules/row", {H5T_STD_I64LE, {12}, 12, false});
     },
     "unexpected filters"},
    {"no chunk", [](hid_t f) { replace(f, "/molecules/row", {}); }, "row has more rows than its data can contain"},
    {"rows without bytes", [](hid_t f) { set_extent(f, "/molecules/row", 1ULL << 50); }, "has more rows"},
    {"missing chunk", [](hid_t f) { set_extent(f, "/molecules/row", 13); }, "differ in length"},
    {"invalid chunk", [](hid_t f) { set_chunk(f, "/molecules/row", std::string(60, 'x')); },
     "row has a chunk with a wrong checksum"},
    {"chunk too large", [](hid_t f) { set_chunk(f, "/molecules/row", std::string(300, 'x')); }, "a missing chunk"},
};

class HostileStore : public testing::TestWithParam<HostileCase> {};

TEST_P(HostileStore, IsAnErrorThatNamesTheFile) {
  const Folder folder;
  const std::string path = folder / "a.h5";
  write_store(path, sample_set());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  GetParam().change(file);
  ASSERT_GE(H5Fclose(file), 0);
  std::string bytes = read_file(path);
  update_header(bytes);
  put_file(path, bytes);
  const std::string message = file_error([&] { use_store(path); });
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  EXPECT_NE(message.find(path), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Cases, HostileStore, testing::ValuesIn(kCases), [](const auto& instance) {
  std::string name = instance.param.name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

TEST(HostileStore, UpdatingTheHeaderOfAValidStoreChangesNothing) {
  const Folder folder;
  std::string bytes = sample_bytes();
  const std::string updated = [&] {
    auto copy = bytes;
    update_header(copy);
    return copy;
  }();
  EXPECT_TRUE(bytes == updated);
}

}  // namespace
}  // namespace molgraph
