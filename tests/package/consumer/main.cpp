#include <iostream>
#include <string>
#include <vector>

#include <molgraph/apps/scoring/predictor.hpp>

int main(int, char** argv) {
  const std::vector<std::string> smiles{"CCO", "C1CC"};
  molgraph::Predictor predictor({argv[1]});
  const auto results = predictor.predict(smiles);
  if (predictor.predict_one(smiles[0]).values != results[0].values) return 1;
  try {
    molgraph::Predictor none({"no/such/run"});
    return 1;
  } catch (const molgraph::Error&) {
  }
  std::cout << smiles[0] << ' ' << std::fixed << results[0].values[0] << '\n';
  std::cout << smiles[1] << ' ' << to_string(results[1].status) << ": " << results[1].reason << '\n';
}
