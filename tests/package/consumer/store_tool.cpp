// Writes a store of two molecules and reads it back.
#include <cmath>
#include <iostream>
#include <string>
#include <variant>

#include <molgraph/datasets/store/store.hpp>
#include <molgraph/featurize/smiles/smiles.hpp>

int main(int, char** argv) {
  const molgraph::Featurizer featurizer;
  molgraph::Task task;
  task.names = {"y"};
  task.units = {""};
  molgraph::StoreWriter writer(argv[1], featurizer.options(), task, {.name = "two"});
  for (const std::string smiles : {"CCO", "C=O"}) {
    const auto graph = std::get<molgraph::MolecularGraph>(featurizer.smiles(smiles));
    writer.add(graph, writer.size(), "", smiles, {std::nan("")});
  }
  writer.finish();
  const molgraph::MoleculeSet molecules = molgraph::Store(argv[1]).load();
  std::cout << molecules.size() << " molecules, " << molecules.atom_offset.back() << " atoms\n";
}
