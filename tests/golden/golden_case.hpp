// A golden case: weights in the published layout, converted, with predictions, embeddings and gradients in float64.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "datasets/safetensors.hpp"
#include "featurize/molecular_graph.hpp"
#include "graphormer/attention/graph_model.hpp"
#include "graphormer/attention/node_embedding.hpp"
#include "tests/featurize/golden_table.hpp"

namespace molgraph::test {

/// Sizes of the model as convert_weights.py wrote them.
class GoldenSizes {
 public:
  explicit GoldenSizes(std::map<std::string, std::string> metadata) : metadata_(std::move(metadata)) {}
  int operator[](const std::string& key) const { return std::stoi(metadata_.at(key)); }
  Features features() const { return features_from_string(metadata_.at("features")); }
  EncoderOptions encoder(EncoderOptions e) const {
    e.layers = (*this)["layers"], e.width = (*this)["hidden"], e.ffn = (*this)["ffn"], e.heads = (*this)["heads"];
    return e;
  }

 private:
  std::map<std::string, std::string> metadata_;
};

/// Rows of expected.csv: smiles, target, prediction, embedding ...
struct GoldenExpectations {
  std::vector<std::string> smiles;
  torch::Tensor target, prediction;   ///< [B] float64
  torch::Tensor embedding;            ///< [B, C]
};

inline GoldenExpectations read_expectations(const std::string& path) {
  GoldenExpectations expected;
  std::vector<double> values;
  for (const auto& row : golden_rows(path)) {
    expected.smiles.push_back(row.at(0));
    for (std::size_t k = 1; k < row.size(); ++k) values.push_back(std::stod(row[k]));
  }
  const auto rows = static_cast<std::int64_t>(expected.smiles.size());
  const torch::Tensor table = torch::tensor(values, torch::kFloat64).view({rows, -1});
  expected.target = table.select(1, 0);
  expected.prediction = table.select(1, 1);
  expected.embedding = table.slice(1, 2);
  return expected;
}

inline torch::Tensor to_tensor(const StoredTensor& stored) {
  auto* bytes = const_cast<std::byte*>(stored.bytes.data());
  return torch::from_blob(bytes, stored.shape, torch::kFloat32).to(torch::kFloat64);
}

/// Turns the model to float64 and fills every parameter; each stored tensor has to have its place.
inline void load_golden(GraphModel& model, const SafetensorsFile& weights) {
  model.to(torch::kFloat64);
  torch::NoGradGuard no_grad;
  const auto parameters = model.named_parameters();
  ASSERT_EQ(parameters.size(), weights.tensors.size());
  for (const auto& [name, stored] : weights.tensors) {
    const torch::Tensor* parameter = parameters.find(name);
    ASSERT_NE(parameter, nullptr) << name;
    ASSERT_EQ(parameter->sizes(), c10::IntArrayRef(stored.shape)) << name;
    parameter->copy_(to_tensor(stored));
  }
}

/// Predictions to the 9 printed digits, embeddings to 7, gradients of mean |prediction - target| to float32.
inline void expect_golden(GraphModel& model, const std::vector<MolecularGraph>& graphs,
                          const GoldenExpectations& expected, const SafetensorsFile& gradients) {
  std::vector<GraphView> views;
  std::vector<std::int64_t> rows;
  for (const MolecularGraph& graph : graphs) {
    views.push_back(graph.view());
    rows.push_back(static_cast<std::int64_t>(rows.size()));
  }
  const GraphBatch batch = pack(views, rows, model.pack_options());
  const ModelOutput output = model.run(batch, {.keep_layers = {-1}});
  const torch::Tensor prediction = output.values.squeeze(1);
  const torch::Tensor embedding = output.layers.at(0).index_select(0, virtual_tokens(batch));
  for (std::int64_t b = 0; b < prediction.size(0); ++b) {
    const std::string& smiles = expected.smiles[static_cast<std::size_t>(b)];
    EXPECT_NEAR(prediction[b].item<double>(), expected.prediction[b].item<double>(), 1e-8) << smiles;
    EXPECT_LT((embedding[b] - expected.embedding[b]).abs().max().item<double>(), 1e-6) << smiles;
  }
  (prediction - expected.target).abs().mean().backward();
  for (const auto& item : model.named_parameters()) {
    ASSERT_TRUE(gradients.tensors.contains(item.key())) << item.key();
    const torch::Tensor wanted = to_tensor(gradients.tensors.at(item.key()));
    const torch::Tensor got = item->grad().defined() ? item->grad() : torch::zeros_like(wanted);
    EXPECT_TRUE(torch::allclose(got, wanted, 1e-6, 1e-8))
        << item.key() << " differs by " << (got - wanted).abs().max().item<double>();
  }
}

/// The molecules that the `zinc` cases were made of, in written atom order: rows train,0 .. train,15 of the table
/// split, k, SMILES, atom types "0 1 ...", bonds "i-j-type ...".
inline std::vector<MolecularGraph> zinc_graphs(const std::string& path, std::size_t count) {
  std::vector<MolecularGraph> graphs;
  for (const auto& row : golden_rows(path)) {
    if (graphs.size() == count) break;
    MolecularGraph graph;
    graph.features = Features::zinc;
    for (const auto& type : split(row.at(3), ' ')) graph.atoms.push_back(static_cast<std::uint8_t>(std::stoi(type)));
    for (const auto& bond : split(row.at(4), ' ')) {
      const auto parts = split(bond, '-');
      graph.bond_atoms.push_back(std::stoi(parts.at(0)));
      graph.bond_atoms.push_back(std::stoi(parts.at(1)));
      graph.bonds.push_back(static_cast<std::uint8_t>(std::stoi(parts.at(2))));
    }
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

inline bool has_python() { return std::system("python3 --version > /dev/null 2>&1") == 0; }

/// Converts a case that is too large to be kept here; the folder of its files, which the caller removes.
inline std::filesystem::path convert_case(const std::string& folder, const std::string& name) {
  const auto target = std::filesystem::path(testing::TempDir()) / ("molgraph_" + name);
  const std::string command = "python3 '" MOLGRAPH_GOLDEN_DIR "/convert_weights.py' '" + folder + "' '" +
                              target.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return target;
}

}  // namespace molgraph::test
