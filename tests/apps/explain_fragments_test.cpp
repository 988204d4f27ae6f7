// Explanations by occlusion of fragments: differences of whole predictions.
#include "apps/scoring/tree_file.hpp"
#include "featurize/smiles/fragments.hpp"
#include "tests/apps/explain_fixture.hpp"

namespace molgraph::test {
namespace {

class ExplainFragments : public Explain {
 protected:
  /// Compares the explanations with differences between predictions of `quantity`, in the model's unit or in logits.
  template <class Quantity>
  void expect_differences(const Texts& runs, const Quantity& quantity) const {
    const Predictor predictor(runs, explaining(ExplainMethod::fragments));
    const auto whole = predictor.predict(kMolecules);
    const auto explanations = predictor.explain(kMolecules);
    std::size_t defined = 0;
    for (std::size_t i = 0; i < kMolecules.size(); ++i) {
      const MoleculeFragments fragments = murcko_fragments(kMolecules[i], false, predictor.featurizer());
      const auto rests = predictor.predict(fragments.without);
      EXPECT_EQ(explanations[i].fragment, fragments.of_atom);
      ASSERT_EQ(explanations[i].targets.size(), predictor.task().names.size());
      for (std::size_t t = 0; t < explanations[i].targets.size(); ++t) {
        const TargetExplanation& one = explanations[i].targets[t];
        EXPECT_NEAR(one.prediction, quantity(whole[i], t, whole[i]), 1e-12);
        ASSERT_EQ(one.fragments.size(), rests.size());
        for (std::size_t f = 0; f < rests.size(); ++f) {
          EXPECT_EQ(std::isnan(one.fragments[f]), fragments.without[f].empty()) << kMolecules[i] << " " << f;
          if (fragments.without[f].empty()) continue;
          EXPECT_NEAR(one.fragments[f], one.prediction - quantity(rests[f], t, whole[i]), 1e-9);
          EXPECT_NE(one.fragments[f], 0);
          ++defined;
        }
      }
    }
    EXPECT_EQ(defined, 10 * predictor.task().names.size());
  }
};

double value_of(const Prediction& prediction, std::size_t t, const Prediction&) { return prediction.values[t]; }

TEST_F(ExplainFragments, AreDifferencesOfWholePredictions) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a", "b"});
  const std::string first = save("first", config, 1), second = save("second", config, 2);
  expect_differences({first}, value_of);
  expect_differences({first, second}, value_of);
  const std::string blended = save("blended", config);
  Trees trees{.targets = blend_targets(config.task)};  // without trees, so it predicts a constant
  for (BlendTarget& target : trees.targets) target.share = 0.25;
  trees.forest.assign(2, false);
  trees.output_offset.assign(3, 0);
  trees.base.assign(2, 10);
  trees.scale.assign(2, 1);
  write_trees(blended + "/" + kTreesFile, trees, config.featurizer);
  expect_differences({blended}, value_of);
}

TEST_F(ExplainFragments, OfClassesAreInLogits) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a", "b"});
  config.task.kind = TaskKind::binary;
  const std::string first = save("first", config, 1), second = save("second", config, 2);
  const auto log_odds = [](const Prediction& prediction, std::size_t t, const Prediction&) {
    return std::log(prediction.values[t] / (1 - prediction.values[t]));
  };
  expect_differences({first}, log_odds);
  expect_differences({first, second}, log_odds);
  config.task.kind = TaskKind::multiclass;
  config.task.classes = 3;
  expect_differences({save("several", config)},
                     [](const Prediction& prediction, std::size_t t, const Prediction& whole) {
                       const double *p = prediction.values.data() + 3 * t, *w = whole.values.data() + 3 * t;
                       const auto chosen = std::max_element(w, w + 3) - w;  // the class of the whole molecule
                       return std::log(p[chosen]) - (std::log(p[0]) + std::log(p[1]) + std::log(p[2])) / 3;
                     });
}

TEST_F(ExplainFragments, OfLogarithmicTargetsAreInLogarithms) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a", "b"});
  config.task.logarithmic = {true, false};
  expect_differences({save("run", config)}, [](const Prediction& prediction, std::size_t t, const Prediction&) {
    return t == 0 ? std::log10(prediction.values[0]) : prediction.values[1];
  });
}

// With --standardize parent, the molecule is standardised once. Both rings count, although they are not connected.
TEST_F(ExplainFragments, KeepAllComponentsOfAParent) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const Predictor plain({save("plain", config)});
  config.featurizer.standardize = Standardize::parent;
  const Predictor parent({save("parent", config)}, explaining(ExplainMethod::fragments));
  const Explanation one = parent.explain(Texts{"c1ccccc1CCC1CC1.Cl"})[0];
  EXPECT_EQ(one.fragment, (std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2}));
  EXPECT_NEAR(one.targets[0].prediction, plain.predict_one("c1ccccc1CCC1CC1").values[0], 1e-9);
  EXPECT_NEAR(one.targets[0].fragments[1], one.targets[0].prediction - plain.predict_one("c1ccccc1.C1CC1").values[0],
              1e-6);
}

TEST_F(ExplainFragments, UseTheColumnsOfTheirRow) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  config.input_names = {"mass"};
  config.model.head.inputs = 1;
  config.model.head.mixed = 8;
  config.model.input_scaling = std::make_shared<InputScaling>(InputScaling{{100}, {50}});
  const Predictor predictor({save("run", config)}, explaining(ExplainMethod::fragments));
  const Texts molecules{"CCO", "nope", "Cc1ccccc1", "Cc1ccccc1"};
  const auto explanations = predictor.explain(molecules, std::vector<float>{0, 0, 100, 300});
  const auto rests = predictor.predict(Texts{"c1ccccc1", "c1ccccc1"}, std::vector<float>{100, 300});
  for (std::size_t k = 0; k < 2; ++k) {
    const TargetExplanation& one = explanations[2 + k].targets[0];
    EXPECT_NEAR(one.fragments[0], one.prediction - rests[k].values[0], 1e-9);
  }
  EXPECT_NE(rests[0].values[0], rests[1].values[0]);
  EXPECT_EQ(explanations[1].status, RowStatus::invalid_smiles);
  EXPECT_TRUE(explanations[1].targets.empty() && explanations[1].fragment.empty());
}

TEST_F(ExplainFragments, NeedNoTrainingMeanAndReadMolBlocks) {
  ModelConfig config = tiny_config(grpe_architecture(), {"a"});
  const std::string run = scratch.path("run");
  save_tiny_run(run, config, 1);
  const Predictor predictor({run}, explaining(ExplainMethod::fragments));
  const std::string block =
      "\n\n\n  4  4  0  0  0  0            999 V2000\n"
      "    0.0000    0.0000    0.0000 C   0  0\n    1.0000    0.0000    0.0000 C   0  0\n"
      "    0.5000    1.0000    0.0000 C   0  0\n    2.0000    0.0000    0.0000 F   0  0\n"
      "  1  2  1  0\n  2  3  1  0\n  3  1  1  0\n  2  4  1  0\nM  END\n";
  const Explanation of_block = predictor.explain_mol_blocks(Texts{block})[0],
                    of_smiles = predictor.explain(Texts{"C1C(F)C1"})[0];
  EXPECT_EQ(of_block.fragment, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(of_smiles.fragment, (std::vector<int>{0, 0, 1, 0}));
  EXPECT_NEAR(of_block.targets[0].fragments[1], of_smiles.targets[0].fragments[1], 1e-6);
}

}  // namespace
}  // namespace molgraph::test
