// molgraph-embed on the command line: one row per input row, with IDs, and NaN for invalid molecules.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class EmbedTest : public testing::Test {
 protected:
  void SetUp() override {
    save_tiny_run(scratch.path("run"), tiny_config(graphormer_architecture(), {"y"}), 1);
    scratch.write("in.csv", "id,smiles\nfirst,CCO\n\"se,cond\",not one\nthird,c1ccccc1\n");
  }

  ShellResult embed(const std::string& arguments) { return scratch.run(bin_dir(), "molgraph-embed " + arguments); }

  /// The rows of out.csv, without the header.
  std::vector<std::vector<std::string>> csv(const std::string& arguments) {
    const auto result = embed(arguments + " -o out.csv");
    EXPECT_EQ(result.code, 0) << result.err;
    std::vector<std::vector<std::string>> rows;
    for (const auto& line : lines_of(scratch.read("out.csv"))) rows.push_back(cells_of(line));
    rows.erase(rows.begin());
    return rows;
  }

  Scratch scratch;
};

/// Data of a version 1 .npy file of float32.
std::vector<float> npy_floats(const std::string& bytes, std::string& header) {
  EXPECT_EQ(bytes.substr(0, 6), "\x93NUMPY");
  const auto length =
      static_cast<std::size_t>(static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]));
  header = bytes.substr(10, length);
  std::vector<float> values((bytes.size() - 10 - length) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + 10 + length, values.size() * sizeof(float));
  return values;
}

TEST_F(EmbedTest, CsvHasIdsStatusesAndNaN) {
  const auto rows = csv("-m run -i in.csv");
  EXPECT_EQ(lines_of(scratch.read("out.csv"))[0].substr(0, 31), "id,smiles,status,reason,e0,e1,e");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].size(), 4u + kTinyWidth);
  EXPECT_EQ(rows[0][0], "first");
  EXPECT_EQ(rows[0][2], "ok");
  EXPECT_NE(rows[0][4], rows[2][4]);
  EXPECT_EQ(lines_of(scratch.read("out.csv"))[2].substr(0, 33), "\"se,cond\",not one,invalid_smiles,");
  EXPECT_EQ(rows[1].back(), "nan");
}

TEST_F(EmbedTest, NpyEqualsTheCsvAndWritesIdsToARowsFile) {
  const auto rows = csv("-m run -i in.csv --pooling mean");
  ASSERT_EQ(embed("-m run -i in.csv --pooling mean -o out.npy").code, 0);
  std::string header;
  const auto values = npy_floats(scratch.read("out.npy"), header);
  EXPECT_NE(header.find("(3, 16)"), std::string::npos) << header;
  ASSERT_EQ(values.size(), 3u * kTinyWidth);
  for (std::size_t e = 0; e < kTinyWidth; ++e) {
    EXPECT_EQ(values[e], std::stof(rows[0][4 + e]));
    EXPECT_TRUE(std::isnan(values[kTinyWidth + e]));
  }
  EXPECT_EQ(lines_of(scratch.read("out.npy.rows.csv"))[3].substr(0, 18), "third,c1ccccc1,ok,");
  ASSERT_EQ(embed("-m run -i in.csv -o half.npy --dtype float16").code, 0);
  EXPECT_NE(scratch.read("half.npy").find("'<f2'"), std::string::npos);
}

TEST_F(EmbedTest, NpzOpensInNumpy) {
  ASSERT_EQ(embed("-m run -i in.csv -o out.npz").code, 0);
  for (const char* name : {"embeddings.npy", "ids.npy", "smiles.npy", "status.npy"}) {
    EXPECT_NE(scratch.read("out.npz").find(name), std::string::npos) << name;
  }
  if (scratch.run(bin_dir(), "python3 -c 'import numpy'").code != 0) GTEST_SKIP() << "python3 has no NumPy";
  const auto result = scratch.run(
      bin_dir(),
      "python3 -c \"import numpy as np; f = np.load('out.npz'); e = f['embeddings']; print(e.shape, e.dtype, "
      "list(map(str, f['ids'])), list(map(str, f['status'])), str(f['smiles'][1]), int(np.isnan(e).any(1).sum()))\"");
  EXPECT_EQ(result.out, "(3, 16) float32 ['first', 'se,cond', 'third'] ['ok', 'invalid_smiles', 'ok'] not one 1\n")
      << result.err;
}

TEST_F(EmbedTest, NpzHoldsAVeryLongSmiles) {
  std::string table = "smiles\n" + std::string(60'000, '(') + "\n";  // invalid, but the output contains its text
  for (int row = 0; row < 1000; ++row) table += "CCO\n";
  scratch.write("long.csv", table);
  ASSERT_EQ(embed("-m run -i long.csv -o long.npz").code, 0);
  if (scratch.run(bin_dir(), "python3 -c 'import numpy'").code != 0) GTEST_SKIP() << "python3 has no NumPy";
  const auto result = scratch.run(bin_dir(),
                                  "python3 -c \"import numpy as np; f = np.load('long.npz'); s = f['smiles']; b = "
                                  "f['smiles_utf8']; o = f['smiles_offsets']; "
                                  "text = lambda i: bytes(b[o[i]:o[i + 1]]).decode(); "
                                  "print(s.shape, s.nbytes < 20e6, str(s[1]), len(text(0)), text(1000), "
                                  "str(f['smiles_note'][0])[:31], str(f['ids'][1000]))\"");
  EXPECT_EQ(result.out, "(1001,) True CCO 60000 CCO 1 of the smiles are longer than 1001\n") << result.err;
}

TEST_F(EmbedTest, ValuesBeyondFloat16AreNotEmbeddings) {
  const auto rows = csv("-m run -i in.csv --pooling sum --layer 0");  // sums of atom rows
  ASSERT_EQ(rows[2][2], "ok");
  auto config = tiny_config(graphormer_architecture(), {"y"});
  save_tiny_run(scratch.path("big"), config, 1);
  scale_weights(scratch.path("big"), "node.atom", 1e5f);
  ASSERT_EQ(embed("-m big -i in.csv -o single.jsonl --layer 0 --pooling sum").code, 0);
  EXPECT_NE(scratch.read("single.jsonl").find("\"status\":\"ok\""), std::string::npos);
  ASSERT_EQ(embed("-m big -i in.csv -o half.npy --layer 0 --pooling sum --dtype float16").code, 3) << "no usable row";
  save_tiny_run(scratch.path("mixed"), config, 1);
  ASSERT_EQ(embed("-m mixed -i in.csv -o half.npy --layer 0 --pooling sum --dtype float16").code, 0);
  EXPECT_EQ(lines_of(scratch.read("half.npy.rows.csv"))[1], "first,CCO,ok,");
}

TEST_F(EmbedTest, JsonLinesHaveNullForInvalidRows) {
  ASSERT_EQ(embed("-m run -i in.csv -o out.jsonl.gz && gunzip out.jsonl.gz").code, 0);
  const auto lines = lines_of(scratch.read("out.jsonl"));
  ASSERT_EQ(lines.size(), 3u);
  const auto first = nlohmann::json::parse(lines[0]), second = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(first["id"], "first");
  EXPECT_EQ(first["embedding"].size(), static_cast<std::size_t>(kTinyWidth));
  EXPECT_TRUE(second["embedding"].is_null());
  EXPECT_EQ(second["status"], "invalid_smiles");
}

TEST_F(EmbedTest, LayersPoolingAndNormalisation) {
  const auto layers = csv("-m run -i in.csv --layer 0 -1"), last = csv("-m run -i in.csv");
  ASSERT_EQ(layers[0].size(), 4u + 2 * kTinyWidth);
  for (std::size_t e = 0; e < kTinyWidth; ++e) EXPECT_EQ(layers[0][4 + kTinyWidth + e], last[0][4 + e]);
  EXPECT_NE(layers[0][4], last[0][4]);
  EXPECT_NE(csv("-m run -i in.csv --pooling sum")[0][4], csv("-m run -i in.csv --pooling max")[0][4]);
  double length = 0;
  const auto unit = csv("-m run -i in.csv --l2");
  for (std::size_t e = 0; e < kTinyWidth; ++e) length += std::pow(std::stod(unit[0][4 + e]), 2);
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST_F(EmbedTest, RowNumbersReplaceIdsAndPipesWork) {
  const auto result = scratch.run(bin_dir(), "printf 'smiles\\nC\\nCC\\n' | molgraph-embed -m run -i - -o -");
  EXPECT_EQ(result.code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].substr(0, 7), "1,C,ok,");
  EXPECT_EQ(lines[2].substr(0, 8), "2,CC,ok,");
}

TEST_F(EmbedTest, ExitCodes) {
  save_tiny_run(scratch.path("all/model_0"), tiny_config(grpe_architecture(), {"y"}), 1);
  save_tiny_run(scratch.path("all/model_1"), tiny_config(grpe_architecture(), {"y"}), 2);
  scratch.write("bad.csv", "smiles\nbad(\n");
  const struct {
    std::string arguments;
    int code;
    std::string message;
  } cases[] = {
      {"-m run -i in.csv -o out.parquet", 2, "out.parquet: the suffix must be"},
      {"-m run -i in.csv -o out.h5 --resume", 2, "--resume is for"},
      {"-m run -i in.csv -o out.csv --dtype float16", 2, "float16 is for"},
      {"-m run -i in.csv -o out.npy --dtype bfloat16", 2, "bfloat16"},
      {"-m run -i in.csv -o out.npy --pooling median", 2, "median"},
      {"-m run -i in.csv -o out.npy --layer 3", 2, "layer 3: this model has layers 0 (input) to 2"},
      {"-m all -i in.csv -o out.npy", 2, "requires a single model, but 2 are given"},
      {"-m run -i bad.csv -o out.npy", 3, "no usable row"},
      {"-m run -i in.csv -o strict.npy --strict", 3, "in.csv, row 2"},
      {"-m nothing -i in.csv -o out.npy", 4, "nothing"},
  };
  for (const auto& one : cases) {
    const auto result = embed(one.arguments);
    EXPECT_EQ(result.code, one.code) << one.arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(one.message), std::string::npos) << one.arguments << "\n" << result.err;
  }
  const auto left = scratch.run(bin_dir(), "ls | grep -E 'strict|part'");
  EXPECT_EQ(left.out, "");
}

}  // namespace
}  // namespace molgraph::test
