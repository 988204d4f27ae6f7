// Fixture for the tests of explanations: a run that can be explained, and a check of the sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "apps/scoring/predictor.hpp"
#include "apps/training/run/run_explanation.hpp"
#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"

namespace molgraph::test {

/// Required precision of a sum: 1 % of max(|difference|, 0.1 standard deviations).
inline constexpr double kComplete = 0.01, kFloor = 0.1;
/// In standard deviations: float32 sums over the atoms in another order.
inline constexpr double kSymmetric = 1e-5;
inline constexpr double kScale = 2, kShift = 3;  // as in save_tiny_run()

using Texts = std::vector<std::string>;
inline const Texts kMolecules{"CCO",         "c1ccccc1C(=O)O",      "C",
                              "[Na+].[Cl-]", "CC(C)(C)c1ccc(O)cc1", "O=C(NCc1ccccn1)C1CC1"};

inline double total(const TargetExplanation& of) {
  return std::accumulate(of.atoms.begin(), of.atoms.end(), of.baseline + of.descriptors + of.blend);
}

class Explain : public ::testing::Test {
 protected:
  /// Saves a run whose explanation file has kMolecules as training molecules.
  std::string save(const std::string& name, const ModelConfig& config, std::uint64_t seed = 11) const {
    const std::string folder = scratch.path(name);
    save_tiny_run(folder, config, seed);
    write_mean(folder, config);
    return folder;
  }
  void write_mean(const std::string& folder, const ModelConfig& config) const {
    FeaturizerOptions plain = config.featurizer;
    plain.descriptors = DescriptorSet::none;
    MoleculeSet set{.featurizer = plain};
    const Featurizer featurizer(plain);
    std::vector<std::int64_t> train;
    for (const std::string& smiles : kMolecules) {
      train.push_back(set.size());
      set.add(std::get<MolecularGraph>(featurizer.smiles(smiles)), set.size(), "", smiles, {});
    }
    write_explanation(folder, set, train, 2);
  }
  static PredictorOptions explaining(ExplainMethod method = ExplainMethod::atoms) {
    PredictorOptions options;
    options.threads = 2;
    options.explain = method;
    return options;
  }
  /// Explanations of the run's first target. Checks that the sums of all targets equal the predictions.
  std::vector<TargetExplanation> explained(const Texts& runs, const Texts& molecules = kMolecules) const {
    const Predictor predictor(runs, explaining());
    const auto predictions = predictor.predict(molecules);
    const auto explanations = predictor.explain(molecules);
    std::vector<TargetExplanation> first;
    for (std::size_t i = 0; i < molecules.size(); ++i) {
      EXPECT_EQ(explanations[i].status, RowStatus::ok) << explanations[i].reason;
      EXPECT_EQ(explanations[i].targets.size(), predictor.task().names.size());
      for (std::size_t t = 0; t < explanations[i].targets.size(); ++t) {
        const TargetExplanation& one = explanations[i].targets[t];
        const bool number = predictor.task().kind_of(t) == TaskKind::regression;
        if (number) {
          EXPECT_NEAR(one.prediction, predictions[i].values[t], 1e-9);
        }
        const double difference = one.prediction - one.baseline, scale = number ? kScale : 1;
        EXPECT_LE(std::abs(total(one) - one.prediction), kComplete * std::max(std::abs(difference), kFloor * scale))
            << molecules[i];
        EXPECT_TRUE(one.complete);
      }
      first.push_back(explanations[i].targets.at(0));
    }
    return first;
  }

  Scratch scratch;
};

}  // namespace molgraph::test
