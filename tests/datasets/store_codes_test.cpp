// What the numbers in a store mean stands in the file, for readers that have nothing else.
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

TEST(StoreCodes, StandInTheFile) {
  for (const Features features : kFeatureSets) {
    const Folder folder;
    write_store(folder / "a.h5", make_set({3, 5}, features));
    const std::string path = folder / "a.h5";
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const FeatureShape& shape = feature_shape(features);
    EXPECT_EQ(text_attribute(file, "/atoms", "columns"), shape.atom_names);
    EXPECT_EQ(text_attribute(file, "/bonds", "columns"), shape.bond_names);
    EXPECT_EQ(text_attribute(file, "/pairs", "bond_id"), shape.bond_id_rule);
    EXPECT_EQ(number_attribute(file, "/pairs", "bond_ids"), shape.bond_ids);
    EXPECT_EQ(number_attribute(file, "/pairs", "topology_unreachable"), 254);
    EXPECT_EQ(number_attribute(file, "/pairs", "topology_virtual"), 255);
    EXPECT_EQ(number_attribute(file, "/pairs", "edge_no_bond"), 253);
    EXPECT_EQ(number_attribute(file, "/pairs", "edge_same_atom"), 254);
    EXPECT_EQ(number_attribute(file, "/pairs", "edge_virtual"), 255);
    H5Fclose(file);
  }
}

}  // namespace
}  // namespace molgraph
