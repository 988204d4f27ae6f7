// Molecules with every kind of stereochemistry, each with ten SMILES (spellings.csv, made by make_spellings.py).
#pragma once

#include <string>
#include <vector>

#include "tests/featurize/golden_table.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {

struct Spelling {
  int molecule;
  std::string smiles;
  std::vector<int> order;  ///< for every atom, its index in the molecule's first spelling
};

inline std::vector<Spelling> spellings() {
  std::vector<Spelling> all;
  for (const auto& row : golden_rows(tests_dir("golden") + "/spellings.csv")) {
    Spelling& spelling = all.emplace_back(Spelling{std::stoi(row.at(0)), row.at(1), {}});
    for (const auto& number : split(row.at(2), ' ')) spelling.order.push_back(std::stoi(number));
  }
  return all;
}

}  // namespace molgraph::test
