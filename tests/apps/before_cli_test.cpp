// The programs read stored files of every format (tests/data) and give the same results.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

/// Processors with other instruction sets sum in another order. On one type of processor, the numbers are
/// bit-identical.
constexpr double kTolerance = 1e-5;
/// For the first epochs of training. Later epochs diverge between processors.
constexpr double kTrainingTolerance = 0.01;
constexpr std::size_t kFirstEpochs = 5;

class StoredFiles : public testing::Test {
 protected:
  /// Copies tests/data to the folder in which the programs run.
  StoredFiles() {
    std::filesystem::copy(tests_dir("data"), scratch.path("."), std::filesystem::copy_options::recursive);
    run("gunzip *.gz");
  }

  std::string run(const std::string& command) {
    const ShellResult result = scratch.run(bin_dir(), command);
    EXPECT_EQ(result.code, 0) << command << '\n' << result.err;
    return result.out;
  }

  /// Expects equal text in both tables and numbers that agree within `tolerance`.
  void expect_close(const std::string& before, const std::string& now, double tolerance = kTolerance) {
    const auto old_lines = lines_of(scratch.read(before)), new_lines = lines_of(scratch.read(now));
    ASSERT_EQ(old_lines.size(), new_lines.size()) << now;
    for (std::size_t k = 0; k < old_lines.size(); ++k) {
      const auto old_cells = cells_of(old_lines[k]), new_cells = cells_of(new_lines[k]);
      ASSERT_EQ(old_cells.size(), new_cells.size()) << now << " line " << k + 1;
      for (std::size_t c = 0; c < old_cells.size(); ++c) {
        if (old_cells[c] == new_cells[c]) continue;
        char* end = nullptr;
        const double value = std::strtod(old_cells[c].c_str(), &end);
        ASSERT_TRUE(*end == '\0' && !old_cells[c].empty()) << now << " line " << k + 1 << ": " << new_lines[k];
        EXPECT_NEAR(value, std::stod(new_cells[c]), tolerance * std::max(1.0, std::abs(value)))
            << now << " line " << k + 1;
      }
    }
  }

  /// Expects the same header and first epochs in both files of metrics.
  void expect_same_start(const std::string& before, const std::string& now) {
    for (const std::string& file : {before, now}) {
      std::string start;
      const auto lines = lines_of(scratch.read(file));
      ASSERT_GT(lines.size(), kFirstEpochs) << file;
      for (std::size_t k = 0; k <= kFirstEpochs; ++k) start += lines[k] + '\n';
      scratch.write(file + ".start", start);
    }
    expect_close(before + ".start", now + ".start", kTrainingTolerance);
  }

  Scratch scratch;
};

/// Expects equal headers and close numbers in two float32 arrays in NumPy format.
void expect_close_arrays(const std::string& before, const std::string& now) {
  ASSERT_EQ(before.size(), now.size());
  const std::size_t header =
      10 + static_cast<unsigned char>(before.at(8)) + 256 * static_cast<unsigned char>(before.at(9));
  EXPECT_EQ(before.substr(0, header), now.substr(0, header));
  for (std::size_t at = header; at + sizeof(float) <= before.size(); at += sizeof(float)) {
    float a = 0, b = 0;
    std::memcpy(&a, before.data() + at, sizeof a);
    std::memcpy(&b, now.data() + at, sizeof b);
    if (std::isnan(a) && std::isnan(b)) continue;
    EXPECT_NEAR(a, b, kTolerance * std::max(1.0F, std::abs(a)));
  }
}

/// The unpacked members of a zip archive, by name.
std::map<std::string, std::string> members_of(const std::string& path) {
  std::map<std::string, std::string> members;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, nullptr);
  for (zip_int64_t k = 0; archive != nullptr && k < zip_get_num_entries(archive, 0); ++k) {
    const auto index = static_cast<zip_uint64_t>(k);
    std::string& text = members[zip_get_name(archive, index, 0)];
    zip_file_t* file = zip_fopen_index(archive, index, 0);
    std::array<char, 4096> part{};
    for (zip_int64_t count = 1; file != nullptr && count > 0;) {
      count = zip_fread(file, part.data(), part.size());
      if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    }
    if (file != nullptr) zip_fclose(file);
  }
  if (archive != nullptr) zip_close(archive);
  return members;
}

std::vector<float> hdf5_embeddings(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t data = H5Dopen2(file, "embeddings", H5P_DEFAULT);
  const hid_t space = H5Dget_space(data);
  std::vector<float> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(data, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return values;
}

TEST_F(StoredFiles, ModelsScore) {
  run("molgraph-score -m grpe -i molecules.csv -o now.csv -q");
  expect_close("scored.csv", "now.csv");
  run("molgraph-score -m graphormer -i molecules.csv -o classes.csv -q");
  expect_close("classified.csv", "classes.csv");
  run("molgraph-score -m imported/model.safetensors -i molecules.csv -o of_import.csv -q");  // it has no run.json
  expect_close("imported_scored.csv", "of_import.csv");
}

TEST_F(StoredFiles, ExportedModelIsImported) {
  run("molgraph-import exported.pt --origin graphormer-v2 -o back -q");
  run("molgraph-score -m back -i molecules.csv -o of_import.csv -q");
  expect_close("imported_scored.csv", "of_import.csv");
}

TEST_F(StoredFiles, StoppedRunResumes) {
  run("molgraph-train molecules.csv -o stopped --resume -q");
  expect_same_start("grpe/metrics.csv", "stopped/metrics.csv");  // it was stopped after the second epoch
  expect_close("grpe/splits.csv", "stopped/splits.csv");
  run("molgraph-score -m stopped -i molecules.csv -o now.csv -q");
  EXPECT_EQ(lines_of(scratch.read("now.csv")).size(), lines_of(scratch.read("scored.csv")).size());
}

TEST_F(StoredFiles, TrainingStartsFromItsModels) {
  run("molgraph-train molecules.csv -o tuned --from grpe --target-columns penalized_logp --steps 2 -q");
  run("molgraph-train molecules.csv -o classes --from graphormer --target-columns nitrogen --freeze encoder --steps 2 "
      "-q");
  run("molgraph-train molecules.csv -o of_import --from imported --target-columns penalized_logp --steps 2 -q");
}

TEST_F(StoredFiles, ConfigFileTrains) {
  run("molgraph-train --config grpe/config.toml -o again -q");
  expect_same_start("grpe/metrics.csv", "again/metrics.csv");
}

TEST_F(StoredFiles, StoreTrains) {
  run("molgraph-train molecules.h5 -o of_store --layers 1 --width 8 --ffn 8 --heads 2 --steps 2 -q");
  EXPECT_NE(run("molgraph-info of_store").find("scaffold"), std::string::npos);
  run("molgraph-score -m of_store -i molecules.csv -o near.csv --nearest molecules.h5 -q");
}

TEST_F(StoredFiles, InfoDescribesItsFiles) {
  EXPECT_NE(run("molgraph-info grpe").find("penalized_logp"), std::string::npos);
  EXPECT_NE(run("molgraph-info graphormer").find("nitrogen"), std::string::npos);
  EXPECT_NE(run("molgraph-info imported").find("graphormer-v2"), std::string::npos);
  EXPECT_NE(run("molgraph-info molecules.h5").find("44"), std::string::npos);
}

TEST_F(StoredFiles, EmbeddingsAreUnchanged) {
  for (const std::string suffix : {"npy", "npz", "h5"}) {
    run("molgraph-embed -m grpe -i molecules.csv -o now." + suffix + " --pooling mean -q");
  }
  expect_close_arrays(scratch.read("embedded.npy"), scratch.read("now.npy"));
  EXPECT_EQ(scratch.read("embedded.npy.rows.csv"), scratch.read("now.npy.rows.csv"));
  const auto before = members_of(scratch.path("embedded.npz"));
  auto now = members_of(scratch.path("now.npz"));
  EXPECT_EQ(before.size(), now.size());
  EXPECT_TRUE(before.contains("embeddings.npy"));
  for (const auto& [name, text] : before) {
    if (name == "embeddings.npy") expect_close_arrays(text, now[name]);
    else EXPECT_EQ(text, now[name]) << name;
  }
  const auto old_values = hdf5_embeddings(scratch.path("embedded.h5")),
             new_values = hdf5_embeddings(scratch.path("now.h5"));
  ASSERT_EQ(old_values.size(), new_values.size());
  for (std::size_t k = 0; k < old_values.size(); ++k) EXPECT_NEAR(old_values[k], new_values[k], kTolerance);
}

TEST_F(StoredFiles, FinishedOutputIsRecognisedByItsRecord) {
  // The record contains the program's version. An output of another version would be computed again.
  std::string record = scratch.read("scored.csv.json");
  std::string version = run("molgraph-score --version");  // molgraph-score (molgraph 0.1.0)
  version = version.substr(version.find('(') + 1, version.find(')') - version.find('(') - 1);
  const std::string old_version = "molgraph 0.1.0";
  ASSERT_NE(record.find(old_version), std::string::npos);
  scratch.write("scored.csv.json", record.replace(record.find(old_version), old_version.size(), version));
  const std::string before = scratch.read("scored.csv");
  run("molgraph-score -m grpe -i molecules.csv -o scored.csv --resume");
  EXPECT_EQ(scratch.read("scored.csv"), before);
}

}  // namespace
}  // namespace molgraph::test
