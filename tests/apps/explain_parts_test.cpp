// Explanations of ensembles, blends, descriptors and classes; attention rollout; errors.
#include <array>
#include <filesystem>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/tree_file.hpp"
#include "attention/formula/rollout.hpp"
#include "attention/spec/encodings.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/explain_fixture.hpp"

namespace molgraph::test {
namespace {

TEST_F(Explain, EnsembleAttributionsAreMeans) {
  const ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const std::string first = save("a", config, 1), second = save("b", config, 2);
  const auto one = explained({first}), other = explained({second}), both = explained({first, second});
  for (std::size_t i = 0; i < kMolecules.size(); ++i)
    for (std::size_t k = 0; k < both[i].atoms.size(); ++k)  // a single model may use fewer quadrature nodes
      EXPECT_NEAR(both[i].atoms[k], (one[i].atoms[k] + other[i].atoms[k]) / 2, 0.02 * kScale);
  EXPECT_NEAR(both[0].baseline, (one[0].baseline + other[0].baseline) / 2, 1e-9);
}

/// Writes a tree file without trees: it predicts `value` for every molecule and has the given share.
void write_constant(const std::string& run, const ModelConfig& config, double value, double share) {
  const auto outputs = static_cast<std::size_t>(config.task.num_outputs());
  Trees trees;
  trees.targets = blend_targets(config.task);
  for (BlendTarget& target : trees.targets) target.share = share;
  trees.forest.assign(trees.targets.size(), false);
  trees.output_offset.assign(outputs + 1, 0);
  trees.base.assign(outputs, value);
  trees.scale.assign(outputs, 1);
  write_trees(run + "/" + kTreesFile, trees, config.featurizer);
}

TEST_F(Explain, BlendTermIsSeparateAndAtomsAreScaledByTheShare) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const std::string alone = save("alone", config), blended = save("blended", config);
  write_constant(blended, config, 10, 0.25);
  const auto model = explained({alone}), run = explained({blended});
  for (std::size_t i = 0; i < kMolecules.size(); ++i) {
    EXPECT_NEAR(run[i].baseline, model[i].baseline, 1e-9);
    EXPECT_NEAR(run[i].blend, 0.25 * (10 - model[i].baseline), 1e-6);
    EXPECT_NEAR(run[i].atoms[0], 0.75 * model[i].atoms[0], 0.01 * kScale);
    EXPECT_EQ(model[i].blend, 0);
  }
  config.task.kind = TaskKind::binary;
  const std::string classes = save("classes", config);
  write_constant(classes, config, -1, 0.4);
  const Predictor predictor({classes}, explaining());
  const double p = predictor.predict(kMolecules)[1].values[0];
  const auto explanations = explained({classes});
  EXPECT_NEAR(total(explanations[1]), std::log(p / (1 - p)), 0.02);
  EXPECT_NE(explanations[1].blend, 0);
}

TEST_F(Explain, DescriptorsHaveTheirOwnTerm) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  config.input_names = {"mass", "charge"};
  config.model.head.inputs = 2;
  config.model.head.mixed = 8;
  config.model.input_scaling = std::make_shared<InputScaling>(InputScaling{{100, 0}, {50, 1}});
  const std::string run = save("run", config);
  const Predictor predictor({run}, explaining());
  EXPECT_TRUE(predictor.reads_inputs());
  const Texts molecules(4, "CCOC(=O)C");
  const std::vector<float> columns{100, 0, 200, 3, std::nanf(""), 0, 100, 0};
  const auto predictions = predictor.predict(molecules, columns);
  const auto explanations = predictor.explain(molecules, columns);
  for (std::size_t i = 0; i < 4; ++i) {
    const TargetExplanation& one = explanations[i].targets.at(0);
    EXPECT_NEAR(total(one), predictions[i].values[0], 0.01 * std::max(std::abs(one.prediction - one.baseline), 0.2));
    // Atoms are explained at the mean descriptors. The descriptors get the difference to the actual values.
    EXPECT_EQ(one.atoms, explanations[0].targets[0].atoms);
    EXPECT_NEAR(one.descriptors, predictions[i].values[0] - predictions[0].values[0], 1e-5);
  }
  EXPECT_NE(explanations[1].targets[0].descriptors, 0);
  EXPECT_NE(explanations[2].targets[0].descriptors, 0) << "a missing value has its own replacement";
}

TEST_F(Explain, ClassesAreExplainedInLogits) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a", "b"});
  config.task.kind = TaskKind::binary;
  const std::string binary = save("binary", config);
  const auto log_odds = explained({binary});
  const auto of_binary = Predictor({binary}).predict(kMolecules);
  config.task.kind = TaskKind::multiclass;
  config.task.classes = 3;
  const std::string several = save("several", config);
  const auto logits = explained({several});
  const auto of_several = Predictor({several}).predict(kMolecules);
  for (std::size_t i = 0; i < kMolecules.size(); ++i) {
    const double p = of_binary[i].values[0];
    EXPECT_NEAR(log_odds[i].prediction, std::log(p / (1 - p)), 1e-3 * std::max(1.0, std::abs(log_odds[i].prediction)));
    const std::span<const double> classes(of_several[i].values.data(), 3);
    const double mean = (std::log(classes[0]) + std::log(classes[1]) + std::log(classes[2])) / 3;
    EXPECT_NEAR(logits[i].prediction, std::log(*std::ranges::max_element(classes)) - mean, 1e-3);
  }
}

TEST_F(Explain, RolloutIsTheProductOfAttentions) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const std::string run = save("run", config);
  std::filesystem::remove(run + "/explanation.safetensors");
  const Predictor predictor({run}, explaining(ExplainMethod::rollout));
  const auto all = predictor.explain(Texts{"CC(=O)OC", "nope", "C", "c1ccccc1"});
  EXPECT_NEAR(std::accumulate(all[0].rollout.begin(), all[0].rollout.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(all[1].status, RowStatus::invalid_smiles);
  EXPECT_DOUBLE_EQ(all[2].rollout.at(0), 1);
  for (const double value : all[3].rollout) EXPECT_NEAR(value, 1.0 / 6, 1e-9);
  // Without queries and key terms, attention is uniform: each of N tokens gets 1/N in every layer.
  set_encoding(config.encoder(), encoding_from_string("none"));
  const std::string uniform = save("uniform", config);
  for (int l = 0; l < kTinyLayers; ++l)
    for (const char* kind : {".weight", ".bias"})
      scale_weights(uniform, "encoder.layers." + std::to_string(l) + ".attention.query" + kind, 0);
  const SafetensorsFile file = read_model_file(uniform + "/model.safetensors");
  const ModelPlan plan = model_plan(config);
  const formula::Parameters parameters(parameters_of(plan), [&](const std::string& name) {
    return reinterpret_cast<const float*>(file.tensors.at(name).bytes.data());
  });
  const auto molecule = std::get<MolecularGraph>(Featurizer(config.featurizer).smiles("CCO"));
  const std::array graphs{molecule.view()};
  const auto tokens = formula::attention_rollout(plan, pack(graphs, std::array<std::int64_t, 1>{0}), 0, parameters);
  EXPECT_NEAR(tokens[0], 0.25 + 0.75 / 4, 1e-9);  // (I + 1/4)/2 twice, from the virtual node
  EXPECT_NEAR(tokens[1], 0.75 / 4, 1e-9);
}

TEST_F(Explain, UnavailableExplanationsFail) {
  const ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const std::string run = save("run", config);
  EXPECT_THROW(Predictor({run}).explain(Texts{"C"}), UsageError);
  PredictorOptions bf16 = explaining();
  bf16.precision = Precision::bf16;
  EXPECT_THROW(Predictor({run}, bf16), UsageError);
  // An explanation file of another model.
  ModelConfig wide = config;
  wide.encoder().width = 24;
  std::filesystem::copy(save("wide", wide) + "/explanation.safetensors", run + "/explanation.safetensors",
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(Predictor({run}, explaining()), FileError);
  std::filesystem::remove(run + "/explanation.safetensors");
  EXPECT_THROW(Predictor({run}, explaining()), UsageError);
  EXPECT_NO_THROW(Predictor({run}));
}

}  // namespace
}  // namespace molgraph::test
