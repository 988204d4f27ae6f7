// Atom attributions of one model: sums compared with predictions, values with the formula and hand calculations.
#include <array>
#include <map>

#include "apps/scoring/explanation_file.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/path_integral.hpp"
#include "attention/formula/model.hpp"
#include "attention/spec/encodings.hpp"
#include "tests/apps/explain_fixture.hpp"

namespace molgraph::test {
namespace {

TEST_F(Explain, AttributionsSumToPredictionForEveryEncoding) {
  for (const Encoding& encoding : encodings()) {
    SCOPED_TRACE(encoding.name);
    ModelConfig config = tiny_config(encoding.path_bias ? graphormer_architecture() : grpe_architecture(), {"a", "b"});
    set_encoding(config.encoder(), encoding);
    config.encoder().gate.enabled = true;
    explained({save("run", config)});
  }
}

TEST_F(Explain, AttributionsSumForEveryReadoutNormAndHead) {
  for (const Readout readout : {Readout::sum, Readout::mean, Readout::virtual_node})
    for (const bool post : {false, true}) {
      ModelConfig config = tiny_config(graphormer_architecture(), {"a"});
      config.encoder().readout = readout;
      config.encoder().post_ln = config.encoder().input_norm = config.model.head.transform = post;
      explained({save("run", config)});
      ModelConfig walk = tiny_config(grpe_architecture(), {"a"});
      set_encoding(walk.encoder(), encoding_from_string("grpe-walk"));
      walk.encoder().readout = readout;
      walk.encoder().pair_paths = walk.encoder().pair_rings = post;
      walk.encoder().degree_scaler = true;
      walk.encoder().pair_state = post ? 8 : 0;
      explained({save("run", walk)});
    }
}

// The rows include the position encodings: walks, eigenvectors, paths and rings.
TEST_F(Explain, NodeRowsMatchTheEngine) {
  for (const Encoding& encoding : encodings()) {
    ModelConfig config = tiny_config(encoding.path_bias ? graphormer_architecture() : grpe_architecture(), {"a"});
    set_encoding(config.encoder(), encoding);
    config.encoder().pair_paths = config.encoder().pair_rings = encoding.name == "grpe-walk";
    const std::string run = save("run", config);
    const std::string path = run + "/model.safetensors";
    const SafetensorsFile file = read_model_file(path);
    const ScoringModel model = load_scoring_model(path);
    const NodeRows rows(model_plan(config), [&](const std::string& name) {
      return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
    });
    const auto molecule = std::get<MolecularGraph>(Featurizer(config.featurizer).smiles("CC(=O)Nc1ccccc1"));
    const std::array graphs{molecule.view()};
    const GraphBatch batch = pack(graphs, std::array<std::int64_t, 1>{0}, model.engine->pack_options());
    std::vector<float> states(static_cast<std::size_t>(batch.num_tokens()) * kTinyWidth);
    float scaled = 0;
    model.engine->predict(batch, &scaled, {{0, states.data()}});
    const std::vector<double> own = rows.of(batch, 0);
    ASSERT_EQ(own.size() + kTinyWidth, states.size());
    for (std::size_t i = 0; i < own.size(); ++i)
      ASSERT_NEAR(own[i], states[kTinyWidth + i], kSymmetric) << encoding.name << " " << i;
  }
}

// The weights make the model a sum over atoms: no attention, no FFN, no final LayerNorm, sum readout.
TEST_F(Explain, LinearModelAttributionsAreItsTerms) {
  ModelConfig config = tiny_config(graphormer_architecture(), {"a"});
  config.encoder().readout = Readout::sum;
  config.encoder().final_norm = false;
  const std::string run = save("run", config);
  for (int l = 0; l < kTinyLayers; ++l)
    for (const char* part : {"attention.output", "ffn.linear2"})
      for (const char* kind : {".weight", ".bias"})
        scale_weights(run, "encoder.layers." + std::to_string(l) + "." + part + kind, 0);
  write_mean(run, config);
  const SafetensorsFile file = read_model_file(run + "/model.safetensors");
  const auto tensor = [&](const std::string& name) {
    return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
  };
  const NodeMean mean = read_node_mean(run + "/explanation.safetensors", config);
  EXPECT_EQ(mean.molecules, 6);
  EXPECT_EQ(mean.atoms, 3 + 9 + 1 + 2 + 11 + 13);
  // The rows of ethanol's atoms from their parts: the concatenated tables of node.atom, and the degrees.
  const auto graph = std::get<MolecularGraph>(Featurizer(config.featurizer).smiles("CCO"));
  const FeatureShape& shape = feature_shape(config.featurizer.features);
  const TargetExplanation one = explained({run}, {"CCO"})[0];
  for (std::size_t i = 0; i < 3; ++i) {
    const int degree = i == 1 ? 2 : 1;
    double sum = 0;
    for (int c = 0; c < kTinyWidth; ++c) {
      double x = tensor("in_degree")[degree * kTinyWidth + c] + tensor("out_degree")[degree * kTinyWidth + c];
      int first = 0;
      for (int k = 0; k < shape.atom_columns; first += shape.atom_dims[static_cast<std::size_t>(k++)])
        x += tensor(
            "node.atom")[(first +
                          graph.atoms[i * static_cast<std::size_t>(shape.atom_columns) + static_cast<std::size_t>(k)]) *
                             kTinyWidth +
                         c];
      sum += tensor("head.linear.weight")[c] * (x - mean.row[static_cast<std::size_t>(c)]);
    }
    EXPECT_NEAR(one.atoms[i], kScale * sum / 16, 1e-5) << i;  // the head reads 1/16 of the sum
  }
}

// The integrand is the derivative along the path. The test computes it from the formula by finite differences, moving
// one atom at a time.
TEST_F(Explain, AttributionsMatchTheIntegralOfTheFormula) {
  for (const Architecture* architecture : {&graphormer_architecture(), &grpe_architecture()}) {
    const ModelConfig config = tiny_config(*architecture, {"a", "b"});
    const std::string run = save("run", config);
    const SafetensorsFile file = read_model_file(run + "/model.safetensors");
    const ModelPlan plan = model_plan(config);
    const formula::Parameters parameters(parameters_of(plan), [&](const std::string& name) {
      return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
    });
    const auto molecule = std::get<MolecularGraph>(Featurizer(config.featurizer).smiles("CC(=O)N"));
    const std::array graphs{molecule.view()};
    const GraphBatch batch = pack(graphs, std::array<std::int64_t, 1>{0});
    const std::vector<double> moved = PathIntegral(run + "/model.safetensors").differences(graphs)[0];
    const std::size_t width = kTinyWidth, atoms = moved.size() / width;
    const Quadrature rule = gauss_legendre(24);
    constexpr double kStep = 1e-4;
    std::vector<double> expected(atoms);
    for (std::size_t k = 0; k < rule.node.size(); ++k)
      for (std::size_t i = 0; i < atoms; ++i) {
        const auto at = [&](double step) {
          formula::Matrix perturbation(static_cast<std::int64_t>(atoms) + 1, kTinyWidth);
          for (std::size_t j = 0; j < moved.size(); ++j)
            perturbation.values[width + j] = (rule.node[k] - 1 + (j / width == i ? step : 0)) * moved[j];
          return formula::run(plan, batch, 0, parameters, {}, perturbation).scaled[0];
        };
        expected[i] += rule.weight[k] * (at(kStep) - at(-kStep)) / (2 * kStep);
      }
    const TargetExplanation one = explained({run}, {"CC(=O)N"})[0];
    const double scale = std::abs(*std::ranges::max_element(expected, {}, [](double v) { return std::abs(v); }));
    // The quadrature stops when the sum is complete to 1 %.
    for (std::size_t i = 0; i < atoms; ++i) EXPECT_NEAR(one.atoms[i], kScale * expected[i], 0.02 * kScale * scale) << i;
  }
}

// The gradient of the node input is the same without the parameters' gradients. Later parameter gradients are
// unchanged.
TEST_F(Explain, InputGradientAloneIsUnchanged) {
  ModelConfig config = tiny_config(graphormer_architecture(), {"a", "b"});
  config.encoder().terms.topology_value = true;
  const std::string run = save("run", config);
  const SafetensorsFile file = read_model_file(run + "/model.safetensors");
  const ModelPlan plan = model_plan(config);
  const auto engine = make_engine(plan);
  engine->assign(
      [&](const std::string& name) { return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data()); },
      true);
  std::vector<MolecularGraph> molecules;
  std::vector<GraphView> graphs;
  for (const std::string& smiles : kMolecules)
    molecules.push_back(std::get<MolecularGraph>(Featurizer(config.featurizer).smiles(smiles)));
  for (const MolecularGraph& molecule : molecules) graphs.push_back(molecule.view());
  const GraphBatch batch = pack(graphs, std::vector<std::int64_t>(graphs.size()), engine->pack_options());
  const auto pass = [&](bool with_parameters) {
    std::map<std::string, std::vector<float>> gradients;
    for (const ParameterSpec& spec : parameters_of(plan))
      gradients[spec.name].resize(static_cast<std::size_t>(spec.size()));
    std::vector<float> scaled(graphs.size() * 2), input(static_cast<std::size_t>(batch.num_tokens()) * kTinyWidth);
    engine->gradients(
        batch, {}, [](std::size_t, const float* y, float* dy) { dy[0] = y[1], dy[1] = 1; }, scaled.data(),
        [&](const std::string& name) { return with_parameters ? gradients.at(name).data() : nullptr; }, nullptr,
        input.data());
    return std::pair(input, gradients);
  };
  const auto before = pass(true), without = pass(false), after = pass(true);
  EXPECT_EQ(before.first, without.first);
  EXPECT_EQ(before.second, after.second);
  EXPECT_NE(before.second.at("head.linear.weight"), without.second.at("head.linear.weight"));
}

TEST_F(Explain, GaussLegendreIsExactForPolynomials) {
  const Quadrature rule = gauss_legendre(8);
  for (int degree = 0; degree < 16; ++degree) {
    double sum = 0;
    for (std::size_t k = 0; k < 8; ++k) sum += rule.weight[k] * std::pow(rule.node[k], degree);
    EXPECT_NEAR(sum, 1.0 / (degree + 1), 1e-14) << degree;
  }
  const Quadrature fine = gauss_legendre(512);
  double sum = 0;
  for (std::size_t k = 0; k < 512; ++k) sum += fine.weight[k] * std::pow(fine.node[k], 1000);
  EXPECT_NEAR(sum * 1001, 1, 1e-10);
}

TEST_F(Explain, SymmetricAtomsGetEqualAttributions) {
  for (const char* name : {"grpe", "graphormer", "grpe-walk"}) {
    const Encoding& encoding = encoding_from_string(name);
    ModelConfig config = tiny_config(encoding.path_bias ? graphormer_architecture() : grpe_architecture(), {"a"});
    set_encoding(config.encoder(), encoding);
    const auto explanations = explained({save("run", config)}, {"c1ccccc1", "Cc1ccc(C)cc1"});
    for (const double value : explanations[0].atoms)
      EXPECT_NEAR(value, explanations[0].atoms[0], kSymmetric * kScale) << name;
    const std::vector<double>& xylene = explanations[1].atoms;  // C c1 c c c(C) c c
    for (const auto& [a, b] : {std::pair{0, 5}, {1, 4}, {2, 3}, {2, 6}, {2, 7}})
      EXPECT_NEAR(xylene[static_cast<std::size_t>(a)], xylene[static_cast<std::size_t>(b)], kSymmetric * kScale);
    EXPECT_GT(std::abs(xylene[0] - xylene[1]), 1e-3);
  }
}

TEST_F(Explain, AtomsFollowTheOrderOfTheSmiles) {
  const std::string run = save("run", tiny_config(grpe_architecture(), {"a"}));
  const auto explanations = explained({run}, {"CCO", "OCC", "C(O)C", "[H]OCC", "[2H]OCC"});
  const std::array<std::size_t, 3> reversed{2, 1, 0}, branched{1, 2, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(explanations[0].atoms[i], explanations[1].atoms[reversed[i]], kSymmetric * kScale);
    EXPECT_NEAR(explanations[0].atoms[branched[i]], explanations[2].atoms[i], kSymmetric * kScale);
    EXPECT_EQ(explanations[3].atoms[i], explanations[1].atoms[i]) << "an explicit hydrogen belongs to its heavy atom";
  }
  EXPECT_EQ(explanations[4].atoms.size(), 4u) << "deuterium is an atom";
}

TEST_F(Explain, AttributionsDoNotDependOnTheBatch) {
  const std::string run = save("run", tiny_config(graphormer_architecture(), {"a"}));
  const auto together = explained({run});
  EXPECT_EQ(together[2].atoms.size(), 1u);
  for (std::size_t i = 0; i < kMolecules.size(); ++i) {
    const auto alone = explained({run}, {kMolecules[i]});
    EXPECT_EQ(alone[0].atoms, together[i].atoms) << kMolecules[i];
    EXPECT_EQ(alone[0].baseline, together[i].baseline);
  }
}

TEST_F(Explain, InvalidRowsHaveAStatusAndNoAttributions) {
  const Predictor predictor({save("run", tiny_config(grpe_architecture(), {"a"}))}, explaining());
  const auto all = predictor.explain(Texts{"CCO", "nope", "", "CCO"});
  EXPECT_EQ(all[1].status, RowStatus::invalid_smiles);
  EXPECT_EQ(all[2].status, RowStatus::empty);
  EXPECT_TRUE(all[1].targets.empty());
  EXPECT_EQ(all[3].targets.at(0).atoms, all[0].targets.at(0).atoms);
}

}  // namespace
}  // namespace molgraph::test
