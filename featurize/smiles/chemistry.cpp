#include "featurize/smiles/chemistry.hpp"

#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>

#include <memory>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/molecule.hpp"
#include "featurize/smiles/parent.hpp"

namespace molgraph {
namespace {

std::string canonical_text(ParsedMolecule&& parsed, Standardize standardize) {
  std::string text;
  if (!parsed.molecule) return text;
  const std::string failure = reason_of_failure([&] {
    standardise(parsed.molecule, standardize, StereoMarks::cleaned);
    text = RDKit::MolToSmiles(*parsed.molecule);
  });
  return failure.empty() ? text : std::string();
}

}  // namespace

std::string canonical_smiles(std::string_view smiles, Standardize standardize) {
  return canonical_text(parse_smiles(smiles), standardize);
}

std::string smiles_of_mol_block(std::string_view mol_block) {
  return canonical_text(parse_mol_block(mol_block), Standardize::none);
}

std::string murcko_scaffold(std::string_view smiles, Standardize standardize) {
  auto molecule = molecule_or_throw(smiles);
  std::string scaffold;
  const std::string failure = reason_of_failure([&] {
    standardise(molecule, standardize, StereoMarks::cleaned);
    const std::unique_ptr<RDKit::ROMol> core(RDKit::MurckoDecompose(*molecule));
    core->clearComputedProps();
    core->updatePropertyCache();
    RDKit::MolOps::symmetrizeSSSR(*core);
    scaffold = RDKit::MolToSmiles(*core, false);  // without chirality
  });
  if (!failure.empty()) throw DataError("", 0, "no scaffold: " + failure, std::string(smiles));
  return scaffold;
}

}  // namespace molgraph
