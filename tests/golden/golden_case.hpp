// A golden case: published weights, and the predictions, embeddings and gradients that the published code computes from
// them in float64. The weights pass through the same links as in molgraph-import; the gradients pass back through them.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attention/reference/engine_boundary.hpp"
#include "attention/reference/graph_model.hpp"
#include "attention/reference/node_input.hpp"
#include "attention/reference/published_tensors.hpp"
#include "datasets/archives/torch_archive.hpp"
#include "featurize/graph/molecular_graph.hpp"
#include "tests/featurize/golden_table.hpp"

namespace molgraph::test {

/// Rows of expected.csv: smiles, target, prediction of every output, embedding ...
struct GoldenCase {
  std::string folder;
  nlohmann::json info;           ///< case.json
  StateDict weights, gradients;  ///< gradients of mean |prediction - target|
  std::vector<std::string> smiles;
  torch::Tensor target, prediction;  ///< [B, 1], [B, outputs] float64
  torch::Tensor embedding;           ///< [B, C]
};

inline StateDict read_tensors(const std::string& path) {
  StateDict state;
  for (const auto& [name, stored] : read_state_dict(path)) {
    auto* bytes = const_cast<std::byte*>(stored.bytes.data());
    state.emplace(name, torch::from_blob(bytes, stored.shape, torch::kFloat32).clone());
  }
  return state;
}

inline GoldenCase read_case(const std::string& folder) {
  GoldenCase c{.folder = folder};
  std::ifstream info(folder + "/case.json");
  c.info = nlohmann::json::parse(info);
  c.weights = read_tensors(folder + "/weights.pt");
  c.gradients = read_tensors(folder + "/gradients.pt");
  std::vector<double> values;
  for (const auto& row : golden_rows(folder + "/expected.csv")) {
    c.smiles.push_back(row.at(0));
    for (std::size_t k = 1; k < row.size(); ++k) values.push_back(std::stod(row[k]));
  }
  const auto rows = static_cast<std::int64_t>(c.smiles.size());
  const std::int64_t outputs = c.info.value("outputs", 1);
  const torch::Tensor table = torch::tensor(values, torch::kFloat64).view({rows, -1});
  c.target = table.slice(1, 0, 1);
  c.prediction = table.slice(1, 1, 1 + outputs);
  c.embedding = table.slice(1, 1 + outputs);
  return c;
}

// expected.csv has 9 digits of predictions of up to 10, and 7 of embeddings. Gradients are stored as float32.
inline constexpr double kPredictionDigits = 1e-8, kEmbeddingDigits = 1e-6, kGradientDigits = 1e-6;
// float32: a prediction depends on up to 25 sums (two per block and the head) of up to 80 numbers of order one. Each
// sum loses about 80^(1/2) * 6e-8. Embeddings have unit variance and reach 3.
inline constexpr double kSinglePrediction = 2e-5, kSingleEmbedding = 2e-5, kSingleGradient = 2e-5;

/// The largest absolute differences.
struct GoldenErrors {
  double prediction = 0, embedding = 0;
};

inline GoldenErrors forward_errors(GraphModel& model, const GraphBatch& batch, const GoldenCase& c,
                                   torch::Tensor* loss) {
  const ModelOutput output = model.run(batch, {.keep_layers = {-1}});
  const torch::Tensor embedding = output.layers.at(0).index_select(0, virtual_tokens(batch));
  if (loss != nullptr) *loss = (output.values - c.target).abs().mean();
  return {(output.values.to(torch::kFloat64) - c.prediction).abs().max().item<double>(),
          (embedding.to(torch::kFloat64) - c.embedding).abs().max().item<double>()};
}

/// The largest relative difference of a published parameter's gradient, by norm. Some exact gradients are zero, such as
/// those of key biases. `floor` is the smallest divisor, so that rounding errors are not divided by themselves.
inline double gradient_error(const StateDict& own_gradients, const std::vector<PublishedLink>& links,
                             const GoldenCase& c, double floor) {
  double error = 0;
  for (const auto& [name, actual] : export_published(own_gradients, links, TiedRows::sum, c.folder)) {
    if (!c.gradients.contains(name)) continue;
    const torch::Tensor expected = c.gradients.at(name).to(torch::kFloat64);
    error =
        std::max(error, (actual - expected).norm().item<double>() / std::max(expected.norm().item<double>(), floor));
  }
  return error;
}

struct EngineErrors {
  GoldenErrors forward;
  double gradient = 0;
};

/// Errors of an engine with the same weights in float32.
inline EngineErrors engine_errors(const Device& device, GraphModel& model, const std::vector<PublishedLink>& links,
                                  const GraphBatch& batch, const GoldenCase& c) {
  EngineBoundary engine(model, device);
  const ModelOutput output = engine.predict(batch, {-1});
  const torch::Tensor embedding = output.layers.at(0).index_select(0, virtual_tokens(batch));
  const torch::Tensor target = c.target.to(torch::kFloat32);
  const auto outputs = static_cast<std::size_t>(c.prediction.size(1));
  for (auto& item : model.named_parameters()) item->mutable_grad() = torch::Tensor();
  engine.train(batch, {}, [&](std::size_t b, const float* y, float* dy) {
    for (std::size_t o = 0; o < outputs; ++o)
      dy[o] = (y[o] > target.const_data_ptr<float>()[b] ? 1.0f : -1.0f) / static_cast<float>(c.prediction.numel());
  });
  StateDict gradients;
  for (const auto& item : model.named_parameters()) gradients[item.key()] = item->grad().to(torch::kFloat64);
  return {{(output.values.to(torch::kFloat64) - c.prediction).abs().max().item<double>(),
           (embedding.to(torch::kFloat64) - c.embedding).abs().max().item<double>()},
          gradient_error(gradients, links, c, 1e-2)};
}

/// Imports the weights into `model` and compares all results in float64 and in float32. Prints the measured
/// differences, which docs/development/results.md lists.
inline void expect_golden(GraphModel& model, const std::vector<PublishedLink>& links, const GoldenCase& c,
                          const std::vector<MolecularGraph>& graphs) {
  const StateDict ours = import_published(c.weights, links, model.specs(), c.folder);
  model.to(torch::kFloat64);
  {
    torch::NoGradGuard no_grad;
    for (auto& item : model.named_parameters()) item.value().copy_(ours.at(item.key()));
  }
  std::vector<GraphView> views;
  std::vector<std::int64_t> rows;
  for (const MolecularGraph& graph : graphs) {
    views.push_back(graph.view());
    rows.push_back(static_cast<std::int64_t>(rows.size()));
  }
  const GraphBatch batch = pack(views, rows, model.pack_options());

  torch::Tensor loss;
  const GoldenErrors exact = forward_errors(model, batch, c, &loss);
  EXPECT_LT(exact.prediction, kPredictionDigits);
  EXPECT_LT(exact.embedding, kEmbeddingDigits);
  loss.backward();
  StateDict own_gradients;
  for (const auto& item : model.named_parameters())
    own_gradients[item.key()] = item->grad().defined() ? item->grad() : torch::zeros_like(item.value());
  for (const auto& [name, actual] : export_published(own_gradients, links, TiedRows::sum, c.folder)) {
    if (!c.gradients.contains(name)) {
      EXPECT_EQ(actual.abs().max().item<double>(), 0.0) << name;  // part of the layout, but missing in this file
      continue;
    }
    const torch::Tensor expected = c.gradients.at(name).to(torch::kFloat64);
    EXPECT_TRUE(torch::allclose(actual, expected, kGradientDigits, 1e-8))
        << name << " differs by " << (actual - expected).abs().max().item<double>();
  }
  const double gradient = gradient_error(own_gradients, links, c, 1e-4);
  EXPECT_EQ(own_gradients.size(), model.specs().size());

  model.to(torch::kFloat32);
  const torch::NoGradGuard no_grad;
  const GoldenErrors single = forward_errors(model, batch, c, nullptr);
  EXPECT_LT(single.prediction, kSinglePrediction);
  EXPECT_LT(single.embedding, kSingleEmbedding);
  const auto expect_near = [](const EngineErrors& errors) {
    EXPECT_LT(errors.forward.prediction, kSinglePrediction);
    EXPECT_LT(errors.forward.embedding, kSingleEmbedding);
    EXPECT_LT(errors.gradient, kSingleGradient);
    return errors;
  };
  const EngineErrors engine = expect_near(engine_errors({.threads = 2}, model, links, batch, c));
  expect_near(engine_errors({.kind = Device::Kind::cuda}, model, links, batch, c));  // on the emulated GPU
  std::printf("| %s | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e | %.1e |\n",
              c.folder.substr(c.folder.rfind('/') + 1).c_str(), exact.prediction, exact.embedding, gradient,
              single.prediction, single.embedding, engine.forward.prediction, engine.forward.embedding,
              engine.gradient);
}

/// The molecules of the `zinc` cases in written atom order: rows train,0 .. train,15 of the table with the columns
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

}  // namespace molgraph::test
