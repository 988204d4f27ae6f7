// molgraph-import: published weights can be scored, embedded, fine-tuned and exported; errors name what does not fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/archives/torch_archive.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using Tensors = std::map<std::string, StoredTensor>;

const std::string kGolden = tests_dir("golden") + "/";

/// The cells of a column as numbers.
std::vector<double> column_of(const std::string& csv, const std::string& name) {
  const auto lines = lines_of(csv);
  const auto header = cells_of(lines.at(0));
  const auto column = static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  EXPECT_LT(column, header.size()) << "no column " << name;
  std::vector<double> values;
  for (std::size_t k = 1; k < lines.size(); ++k) values.push_back(std::stod(cells_of(lines[k]).at(column)));
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

void write_tensors(const std::string& path, const Tensors& tensors) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : tensors) views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_state_dict(path, views);
}

/// Keeps the first `rows` rows of a table.
void keep_rows(StoredTensor& table, std::int64_t rows) {
  table.bytes.resize(table.bytes.size() / static_cast<std::size_t>(table.shape[0]) * static_cast<std::size_t>(rows));
  table.shape[0] = rows;
}

class ImportTest : public testing::Test {
 protected:
  ShellResult run(const std::string& command) { return scratch.run(bin_dir(), command); }
  ShellResult import(const std::string& arguments) { return run("molgraph-import " + arguments); }

  Scratch scratch;
};

struct Published {
  std::string name, flags;
  std::vector<std::string> predictions{"prediction"}, targets{"target"};
};

class PublishedWeights : public ImportTest, public testing::WithParamInterface<Published> {};

TEST_P(PublishedWeights, CanBeScoredEmbeddedAndExported) {
  const std::string folder = kGolden + GetParam().name;
  const std::string expected = scratch.path("expected.csv");
  std::filesystem::copy(folder + "/expected.csv", expected);
  auto result = import(folder + "/weights.pt " + GetParam().flags + " -o R");
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_EQ((result = run("molgraph-score -m R -i expected.csv -o out.csv")).code, 0) << result.err;
  const std::string scored = scratch.read("out.csv");
  for (std::size_t t = 0; t < GetParam().targets.size(); ++t) {
    std::string column = GetParam().targets[t] + "_pred";
    EXPECT_LT(largest_difference(column_of(scored, column), column_of(scored, GetParam().predictions[t])), 1e-4);
  }
  ASSERT_EQ((result = run("molgraph-embed -m R -i expected.csv --pooling token -o embedded.csv")).code, 0)
      << result.err;
  const auto embedded = lines_of(scratch.read("embedded.csv")), reference = lines_of(scored);
  const auto header = cells_of(reference.at(0));
  const auto first = std::find(header.begin(), header.end(), "embedding_0") - header.begin();
  for (std::size_t k = 1; k < reference.size(); ++k) {
    const auto row = cells_of(reference[k]), actual = cells_of(embedded.at(k));
    const std::size_t width = actual.size() - 4;  // after id, smiles, status, reason
    for (std::size_t c = 0; c < width; ++c)
      EXPECT_NEAR(std::stod(actual[4 + c]), std::stod(row[static_cast<std::size_t>(first) + c]), 1e-4) << k << " " << c;
  }
  // The export has the original names and shapes. Importing it again gives the same run.
  ASSERT_EQ((result = import("R --export back.pt")).code, 0) << result.err;
  const Tensors original = read_state_dict(folder + "/weights.pt"), exported = read_state_dict(scratch.path("back.pt"));
  ASSERT_EQ(original.size(), exported.size());
  for (const auto& [name, tensor] : original) {
    ASSERT_TRUE(exported.contains(name)) << name;
    EXPECT_EQ(exported.at(name).shape, tensor.shape) << name;
  }
  ASSERT_EQ((result = import("back.pt " + GetParam().flags + " -o again")).code, 0) << result.err;
  EXPECT_TRUE(scratch.read("R/model.safetensors") == scratch.read("again/model.safetensors"));
}

INSTANTIATE_TEST_SUITE_P(Import, PublishedWeights,
                         testing::Values(Published{"graphormer_ogb_small", "--origin graphormer-v1 --path-hops 5"},
                                         Published{"graphormer_ogb_capped",
                                                   "--origin graphormer-v1 --path-hops 20 --spatial-pos-max 20"},
                                         Published{"grpe_ogb_small", "--origin grpe --heads 4"},
                                         Published{"graphormer_v2_small", "--origin graphormer-v2 --features ogb"},
                                         Published{"graphormer_v2_preln", "--origin graphormer-v2 --path-hops 20"},
                                         Published{"graphormer_hf_small",
                                                   "--origin graphormer-hf",
                                                   {"prediction_1", "prediction_2"},
                                                   {"target_1", "target_2"}}),
                         [](const auto& test) { return test.param.name; });

TEST_F(ImportTest, ListsAllMismatchedTensorsAtOnce) {
  Tensors tensors = read_state_dict(kGolden + "grpe_ogb_small/weights.pt");
  tensors.erase("final_ln.bias");
  tensors.erase("layers.1.ffn.layer2.weight");
  tensors["something.else"] = tensors.at("linear.bias");
  keep_rows(tensors.at("key_hop_emb.weight"), 5);
  write_tensors(scratch.path("bad.pt"), tensors);
  const auto result = import("bad.pt --origin grpe --heads 4 -o R");
  EXPECT_EQ(result.code, 4);
  for (const char* part :
       {"bad.pt", "missing: final_ln.bias [32]", "missing: layers.1.ffn.layer2.weight [32, 48]",
        "surplus: something.else [1]", "misshapen: key_hop_emb.weight is [5, 32], should be [8, 32]"})
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  EXPECT_FALSE(scratch.exists("R"));
}

TEST_F(ImportTest, ReadsPrefixedNamesAndSafetensors) {
  Tensors wrapped;
  for (auto& [name, tensor] : read_state_dict(kGolden + "grpe_ogb_small/weights.pt"))
    wrapped["module.model." + name] = tensor;
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : wrapped) views.push_back({name, tensor.dtype, tensor.shape, tensor.bytes.data()});
  write_safetensors(scratch.path("wrapped.safetensors"), {}, views);
  auto result = import("wrapped.safetensors --origin grpe --heads 4 -o R");
  ASSERT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(import(kGolden + "grpe_ogb_small/weights.pt --origin grpe --heads 4 -o plain").code, 0);
  EXPECT_TRUE(scratch.read("R/model.safetensors") == scratch.read("plain/model.safetensors"));
}

TEST_F(ImportTest, RejectsInvalidArguments) {
  const std::string grpe = kGolden + "grpe_ogb_small/weights.pt",
                    graphormer = kGolden + "graphormer_ogb_small/weights.pt";
  const auto rejects = [&](const std::string& arguments, const std::string& part, int code = 2) {
    const auto result = import(arguments);
    EXPECT_EQ(result.code, code) << arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << arguments << "\n" << result.err;
  };
  rejects(grpe + " -o R", "--origin");
  rejects(grpe + " --origin grpe -o R", "--heads is needed");
  rejects(grpe + " --origin grpe --heads 5 -o R", "--heads 5 does not divide");
  rejects(grpe + " --origin grpe --heads 4 --features zinc -o R", "--features zinc contradicts");
  rejects(grpe + " --origin grpe --heads 4 --max-distance 9 -o R", "--max-distance contradicts");
  rejects(grpe + " --origin grpe --heads 4 --path-hops 9 -o R", "--path-hops");
  rejects(grpe + " --origin grpe --heads 4", "--output-dir");
  rejects(grpe + " --origin grpe --heads 4 --target-names a b -o R", "1 output");
  rejects(grpe + " --origin graphormer-v3 -o R", "graphormer-v3");
  rejects(graphormer + " --origin graphormer-v1 --heads 8 -o R", "--heads 8 contradicts");
  rejects(graphormer + " --origin graphormer-v1 --path-hops 129 -o R", "--path-hops must lie between 1 and 128");
  rejects(graphormer + " --origin graphormer-v1 --max-distance 510 -o R", "--max-distance must lie between 1 and 509");
  rejects(graphormer + " --origin grpe --heads 4 -o R", "another layout", 4);
  rejects(graphormer + " --origin graphormer-v2 -o R", "another layout", 4);
  rejects("absent.pt --origin grpe --heads 4 -o R", "absent.pt", 4);
  ASSERT_EQ(import(grpe + " --origin grpe --heads 4 -o R --target-names gap").code, 0);
  rejects(grpe + " --origin grpe --heads 4 -o R", "already contains a run");
  rejects("R --export out.pt --heads 4", "--heads is for importing");
  EXPECT_FALSE(scratch.exists("out.pt"));
}

/// Writes GRPE weights whose edge tables contain only single, double and triple bonds.
void write_without_aromatic_bonds(const std::string& path) {
  Tensors tensors = read_state_dict(kGolden + "grpe_ogb_small/weights.pt");
  for (const char* part : {"query", "key", "value"})
    keep_rows(tensors.at(std::string(part) + "_edge_emb.weight"), 3 + 4);
  write_tensors(path, tensors);
}

TEST_F(ImportTest, RejectsMoleculesWithUnsupportedBonds) {
  write_without_aromatic_bonds(scratch.path("small.pt"));
  ASSERT_EQ(import("small.pt --origin grpe --heads 4 --target-names y -o R").code, 0);
  scratch.write("in.csv", "smiles\nCCO\nc1ccccc1\nCC#N\n");
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o out.csv").code, 0);
  const auto lines = lines_of(scratch.read("out.csv"));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_NE(lines[1].find("ok"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("unsupported"), std::string::npos) << lines[2];
  EXPECT_NE(lines[2].find("the bond of atoms 1 and 2"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("ok"), std::string::npos) << lines[3];
  const auto card = nlohmann::json::parse(run("molgraph-info R --json").out);
  EXPECT_EQ(card["options"]["origin"], "grpe");
  EXPECT_EQ(card["options"]["published_classes"], true);
  EXPECT_EQ(card["encoder"]["key_term"], "row");
  EXPECT_FALSE(card["options"]["missing_bonds"].empty());

  // Fine-tuning also rejects them, in tables and in stores, and logs their number.
  std::string table = "smiles,y\nc1ccccc1,1\n";
  for (int k = 1; k <= 12; ++k)
    table += std::string(static_cast<std::size_t>(k), 'C') + "O," + std::to_string(k) + "\n";
  scratch.write("table.csv", table);
  auto result =
      run("molgraph-train table.csv --from R --epochs 1 --lr 1e-12 --dropout 0 --attention-dropout 0 --threads 1 -o F");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(scratch.read("F/rejected.csv").find("unsupported,the bond of atoms"), std::string::npos)
      << scratch.read("F/rejected.csv");
  EXPECT_NE(result.err.find("12 molecules (1 rejected)"), std::string::npos) << result.err;
  ASSERT_EQ(run("molgraph-featurize table.csv --features ogb -o table.h5").code, 0);
  result =
      run("molgraph-train table.h5 --from R --epochs 1 --lr 1e-12 --dropout 0 --attention-dropout 0 --threads 1 -o S");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("12 molecules (1 rejected)"), std::string::npos) << result.err;

  // The fine-tuned model can be exported in the original format. After import, it gives the same predictions.
  ASSERT_EQ((result = import("F --export tuned.pt")).code, 0) << result.err;
  EXPECT_NE(result.err.find("only the weights of its transformer"), std::string::npos) << result.err;
  ASSERT_EQ((result = import("tuned.pt --origin grpe --heads 4 --target-names y -o T")).code, 0) << result.err;
  scratch.write("ok.csv", "smiles\nCCO\nCC#N\nCC=C\n");
  const auto score_both = [&](const std::string& tuned, const std::string& imported) {  // only the transformers
    return run("molgraph-score -m " + tuned + "/model.safetensors -i ok.csv -o f.csv && molgraph-score -m " + imported +
               " -i ok.csv -o t.csv")
        .code;
  };
  ASSERT_EQ(score_both("F", "T"), 0);
  EXPECT_LT(largest_difference(column_of(scratch.read("f.csv"), "y_pred"), column_of(scratch.read("t.csv"), "y_pred")),
            1e-5);
  // With other targets, the head is new and has a target scaling. The exported head includes the scaling.
  scratch.write("other.csv", "smiles,z\n" + table.substr(table.find('\n', 9) + 1));
  ASSERT_EQ((result = run("molgraph-train other.csv --from R --epochs 2 --threads 1 -o N")).code, 0) << result.err;
  ASSERT_EQ((result = import("N --export new.pt")).code, 0) << result.err;
  ASSERT_EQ(import("new.pt --origin grpe --heads 4 --target-names z -o M").code, 0);
  ASSERT_EQ(score_both("N", "M"), 0);
  EXPECT_LT(largest_difference(column_of(scratch.read("f.csv"), "z_pred"), column_of(scratch.read("t.csv"), "z_pred")),
            1e-4);
  // The published format has no tensor for a gate.
  ASSERT_EQ(run("molgraph-train table.csv --from R --urpe --epochs 1 --threads 1 -o G").code, 0);
  result = import("G --export gated.pt");
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("encoder.gate [11, 4] does not exist in the published layout"), std::string::npos)
      << result.err;
  EXPECT_FALSE(scratch.exists("gated.pt"));
}

TEST_F(ImportTest, ExportRejectsRunsThatWereNotImported) {
  scratch.write("table.csv", "smiles,y\nC,1\nCC,2\nCCC,3\nCCCC,4\nCCO,5\nCCN,6\nCO,7\nCN,8\nCCCl,9\nCF,10\n");
  ASSERT_EQ(run("molgraph-train table.csv --layers 1 --width 8 --ffn 8 --heads 2 --epochs 1 --threads 1 -o R").code, 0);
  const auto result = import("R --export out.pt");
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("was not imported from published weights"), std::string::npos) << result.err;
  EXPECT_EQ(run("molgraph-info R -v").out.find("origin"), std::string::npos);
}

}  // namespace
}  // namespace molgraph::test
