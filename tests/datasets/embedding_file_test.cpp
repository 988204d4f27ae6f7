// Embeddings in HDF5, read back with the HDF5 library.
#include "datasets/store/embedding_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <vector>

#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using testing::ScratchFolder;

std::vector<float> floats_of(hid_t file, const char* name) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  std::vector<float> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(dataset);
  return values;
}

std::vector<std::string> texts_of(hid_t file, const char* name) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  std::vector<char*> pointers(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), 0);
  const std::vector<std::string> texts(pointers.begin(), pointers.end());
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data());
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(dataset);
  return texts;
}

TEST(EmbeddingFile, WritesRowsOfSeveralBlocks) {
  const ScratchFolder folder;
  for (const FloatKind kind : {FloatKind::float32, FloatKind::float16}) {
    const std::string path = folder.file(kind == FloatKind::float16 ? "half.h5" : "single.h5");
    constexpr int kRows = 2500, kColumns = 300;  // more than one block of 1 MiB
    EmbeddingFileWriter writer(path, kColumns, kind);
    for (int r = 0; r < kRows; ++r) {
      std::vector<float> row(kColumns, static_cast<float>(r % 100) / 8);
      row[1] = -row[0];
      writer.add_row(row, "id" + std::to_string(r),
                     r == 7 ? "\xC3\xA9" : std::string(static_cast<std::size_t>(r % 50), 'C'), r == 3 ? "empty" : "ok",
                     r == 3 ? "why" : "");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
    writer.finish();
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    const auto values = floats_of(file, "embeddings");
    ASSERT_EQ(values.size(), static_cast<std::size_t>(kRows * kColumns));
    EXPECT_EQ(values[2499 * kColumns], 99.0f / 8);
    EXPECT_EQ(values[1234 * kColumns + 1], -34.0f / 8);
    EXPECT_EQ(texts_of(file, "id").back(), "id2499");
    EXPECT_EQ(texts_of(file, "smiles")[7], "\xC3\xA9");
    EXPECT_EQ(texts_of(file, "status")[3], "empty");
    EXPECT_EQ(texts_of(file, "reason")[3], "why");
    const hid_t dataset = H5Dopen2(file, "embeddings", H5P_DEFAULT), type = H5Dget_type(dataset);
    EXPECT_EQ(H5Tget_size(type), kind == FloatKind::float16 ? 2u : 4u);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
  }
}

TEST(EmbeddingFile, UnfinishedFileIsRemoved) {
  const ScratchFolder folder;
  { EmbeddingFileWriter(folder.file("out.h5"), 4, FloatKind::float32).add_row(std::vector<float>(4), "", "", "", ""); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
  EXPECT_THROW(EmbeddingFileWriter(folder.file("no/such/out.h5"), 4, FloatKind::float32), FileError);
  EmbeddingFileWriter empty(folder.file("empty.h5"), 4, FloatKind::float32);
  empty.finish();
  EXPECT_TRUE(std::filesystem::exists(folder.file("empty.h5")));
}

}  // namespace
}  // namespace molgraph
