// Files that earlier versions wrote (tests/data) are read by today's programs, and mean the same.
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

/// Another processor's instruction set adds up in another order. On one kind of processor the numbers are the same, bit
/// for bit.
constexpr double kOtherInstructions = 1e-5;
/// Of the first epochs of training; later ones drift apart where the processors differ.
constexpr double kOtherTraining = 0.01;
constexpr std::size_t kFirstEpochs = 5;

class Before : public testing::Test {
 protected:
  /// A copy of tests/data, in which the programs run.
  Before() {
    std::filesystem::copy(tests_dir("data"), scratch.path("."), std::filesystem::copy_options::recursive);
    run("gunzip *.gz");
  }

  std::string run(const std::string& command) {
    const ShellResult result = scratch.run(bin_dir(), command);
    EXPECT_EQ(result.code, 0) << command << '\n' << result.err;
    return result.out;
  }

  /// Two tables: texts are equal, numbers agree to `tolerance`.
  void expect_close(const std::string& before, const std::string& now, double tolerance = kOtherInstructions) {
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

  /// Two files of metrics: the header and the first epochs agree.
  void expect_same_start(const std::string& before, const std::string& now) {
    for (const std::string& file : {before, now}) {
      std::string start;
      const auto lines = lines_of(scratch.read(file));
      ASSERT_GT(lines.size(), kFirstEpochs) << file;
      for (std::size_t k = 0; k <= kFirstEpochs; ++k) start += lines[k] + '\n';
      scratch.write(file + ".start", start);
    }
    expect_close(before + ".start", now + ".start", kOtherTraining);
  }

  Scratch scratch;
};

/// An array of float32 in numpy's format: equal headers, close numbers.
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
    EXPECT_NEAR(a, b, kOtherInstructions * std::max(1.0F, std::abs(a)));
  }
}

/// The members of a zip archive, unpacked, by name.
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

TEST_F(Before, ModelsScore) {
  run("molgraph-score -m grpe -i molecules.csv -o now.csv -q");
  expect_close("scored.csv", "now.csv");
  run("molgraph-score -m graphormer/model.safetensors -i molecules.csv -o classes.csv -q");
  expect_close("classified.csv", "classes.csv");
  run("molgraph-score -m imported/model.safetensors -i molecules.csv -o of_import.csv -q");  // it has no run.json
  expect_close("imported_scored.csv", "of_import.csv");
}

TEST_F(Before, AnExportedModelIsImported) {
  run("molgraph-import exported.pt --origin graphormer-v2 -o back -q");
  run("molgraph-score -m back -i molecules.csv -o of_import.csv -q");
  expect_close("imported_scored.csv", "of_import.csv");
}

TEST_F(Before, AStoppedRunGoesOn) {
  run("molgraph-train molecules.csv -o stopped --resume -q");
  expect_same_start("grpe/metrics.csv", "stopped/metrics.csv");  // it was stopped after the second epoch
  expect_close("grpe/splits.csv", "stopped/splits.csv");
  run("molgraph-score -m stopped -i molecules.csv -o now.csv -q");
  EXPECT_EQ(lines_of(scratch.read("now.csv")).size(), lines_of(scratch.read("scored.csv")).size());
}

TEST_F(Before, TrainingStartsFromAModel) {
  run("molgraph-train molecules.csv -o tuned --from grpe --target-columns penalized_logp --steps 2 -q");
  run("molgraph-train molecules.csv -o classes --from graphormer --target-columns nitrogen --freeze encoder --steps 2 "
      "-q");
  run("molgraph-train molecules.csv -o of_import --from imported --target-columns penalized_logp --steps 2 -q");
}

TEST_F(Before, AConfigurationTrains) {
  run("molgraph-train --config grpe/config.toml --descriptors none -o again -q");
  expect_same_start("grpe/metrics.csv", "again/metrics.csv");
}

TEST_F(Before, AStoreTrains) {
  run("molgraph-train molecules.h5 -o of_store --layers 1 --width 8 --ffn 8 --heads 2 --steps 2 -q");
  EXPECT_NE(run("molgraph-info of_store").find("scaffold"), std::string::npos);
  run("molgraph-score -m of_store -i molecules.csv -o near.csv --nearest molecules.h5 -q");
}

TEST_F(Before, InfoSaysWhatTheyAre) {
  EXPECT_NE(run("molgraph-info grpe").find("penalized_logp"), std::string::npos);
  EXPECT_NE(run("molgraph-info graphormer").find("nitrogen"), std::string::npos);
  EXPECT_NE(run("molgraph-info imported").find("graphormer-v2"), std::string::npos);
  EXPECT_NE(run("molgraph-info molecules.h5").find("44"), std::string::npos);
}

TEST_F(Before, EmbeddingsAreWrittenTheSame) {
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
  for (std::size_t k = 0; k < old_values.size(); ++k) EXPECT_NEAR(old_values[k], new_values[k], kOtherInstructions);
}

TEST_F(Before, AFinishedOutputIsKnownByItsRecord) {
  // The record names the program's version too, and another version's output is made anew.
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
