// Stores document the meaning of their codes in the file, for readers without other documentation.
#include <gtest/gtest.h>
#include <hdf5.h>

#include "datasets/store/store.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using namespace testing_store;

std::int64_t number_attribute(hid_t file, const char* group, const char* name) {
  const hid_t where = H5Gopen2(file, group, H5P_DEFAULT), attribute = H5Aopen(where, name, H5P_DEFAULT);
  std::int64_t value = -1;
  EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT64, &value), 0) << group << " " << name;
  H5Aclose(attribute);
  H5Gclose(where);
  return value;
}

std::string text_attribute(hid_t file, const char* group, const char* name) {
  const hid_t where = H5Gopen2(file, group, H5P_DEFAULT), attribute = H5Aopen(where, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  std::string text(H5Tget_size(type), '\0');
  EXPECT_GE(H5Aread(attribute, type, text.data()), 0) << group << " " << name;
  H5Tclose(type);
  H5Aclose(attribute);
  H5Gclose(where);
  return text;
}

TEST(StoreCodes, AreDocumentedInTheFile) {
  for (const Features features : kFeatureSets) {
    const Folder folder;
    write_store(folder / "a.h5", make_set({3, 5}, features));
    const std::string path = folder / "a.h5";
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const FeatureShape& shape = feature_shape(features);
    EXPECT_EQ(text_attribute(file, "/atoms", "columns"), shape.atom_names);
    EXPECT_EQ(text_attribute(file, "/bonds", "columns"), shape.bond_names);
    EXPECT_EQ(text_attribute(file, "/bonds", "bond_id"), shape.bond_id_rule);
    EXPECT_EQ(number_attribute(file, "/pairs", "unreachable"), 254);
    EXPECT_NE(text_attribute(file, "/pairs", "layout").find("triu_indices(n, 1)"), std::string::npos);
    H5Fclose(file);
  }
}

// Three molecules: two atoms; a chain a-b-c; two bonded atoms and a separate third one.
TEST(StoreCodes, DistancesAreInRowOrderOfAtomPairs) {
  const Folder folder;
  const std::string path = folder / "a.h5";
  const std::vector<std::vector<std::uint16_t>> bonds{{0, 1}, {0, 1, 1, 2}, {0, 2}};
  MoleculeSet set = make_set({1});
  for (std::size_t k = 0; k < bonds.size(); ++k) {
    MolecularGraph graph = make_graph(Features::ogb, k == 0 ? 2 : 3, 1);
    graph.bond_atoms = bonds[k];
    graph.bonds.resize(bonds[k].size() / 2 * 3);
    set.add(graph, static_cast<std::int64_t>(k) + 10, "", "C", {0, 0});
  }
  write_store(path, set);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "/pairs/distance", H5P_DEFAULT);
  std::vector<std::uint8_t> distance(static_cast<std::size_t>(H5Dget_storage_size(data)) + 99);
  ASSERT_GE(H5Dread(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, distance.data()), 0);
  distance.resize(7);
  EXPECT_EQ(distance, (std::vector<std::uint8_t>{1, 1, 2, 1, 254, 1, 254}));
  H5Dclose(data);
  H5Fclose(file);
  EXPECT_EQ(Store(path).summary().pairs, 7);
}

}  // namespace
}  // namespace molgraph
