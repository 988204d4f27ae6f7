#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 1500;

TEST(Threads, ReasonsAreNotMixedBetweenThreads) {
  const Featurizer featurizer;
  const auto reference = std::get<MolecularGraph>(featurizer.smiles("CC(C)[NH+](CCNC(=O)c1ccncc1)C1CC1"));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        // A ring label of three digits that depends on thread and round.
        const int label = 100 + (t * kRounds + round) % 900;
        const FeaturizeResult bad = featurizer.smiles("CC%(" + std::to_string(label) + ")CC");
        const auto* rejection = std::get_if<Rejection>(&bad);
        wrong += rejection == nullptr || rejection->reason != "ring " + std::to_string(label) + " not closed";
        // The index of the atom with too many bonds equals the length of the chain before it.
        const int before = (t + 3 * round) % 40 + 1;
        const FeaturizeResult overfull =
            featurizer.smiles(std::string(static_cast<std::size_t>(before), 'C') + "C(C)(C)(C)C");
        rejection = std::get_if<Rejection>(&overfull);
        wrong += rejection == nullptr || rejection->reason != "Explicit valence for atom # " + std::to_string(before) +
                                                                  " C, 5, is greater than permitted";
        const FeaturizeResult good = featurizer.smiles("CC(C)[NH+](CCNC(=O)c1ccncc1)C1CC1");
        const auto* graph = std::get_if<MolecularGraph>(&good);
        wrong += graph == nullptr || graph->atoms != reference.atoms || graph->bonds != reference.bonds;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Threads, LabelsAndScaffoldsDoNotDependOnThreads) {
  const std::vector<std::string> smiles = {"COc1ccc2ccc(O)c(CN3CCN(S(=O)(=O)c4ccn(C)c4)CC3)c2c1", "C[C@@H]1CCCCCCCC1O",
                                           "CC(C)[NH+](CCNC(=O)N1CCN(C(=O)c2ccncc2)CC1)C1CC1"};
  std::vector<double> labels;
  std::vector<std::string> scaffolds;
  for (const std::string& text : smiles) {
    labels.push_back(penalized_logp(text).y);
    scaffolds.push_back(murcko_scaffold(text));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        for (std::size_t k = 0; k < smiles.size(); ++k) {
          wrong += penalized_logp(smiles[k]).y != labels[k];
          wrong += murcko_scaffold(smiles[k]) != scaffolds[k];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace molgraph
