#include <iostream>
#include <string>
#include <vector>

#include <molgraph/predictor.hpp>

int main(int, char** argv) {
  const std::vector<std::string> smiles{"CCO", "C1CC"};
  molgraph::Predictor predictor({argv[1]});
  const auto results = predictor.predict(smiles);
  std::cout << smiles[0] << ' ' << std::fixed << results[0].values[0] << '\n';
  std::cout << smiles[1] << ' ' << to_string(results[1].status) << ": " << results[1].reason << '\n';
}
