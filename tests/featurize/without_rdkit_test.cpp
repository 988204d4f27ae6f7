#include <gtest/gtest.h>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

TEST(WithoutRdkit, ErrorsSayWhatToDo) {
  const Featurizer featurizer;
  try {
    featurizer.smiles("C");
    FAIL() << "parsed a molecule without RDKit";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "built without RDKit: use a store");
  }
  EXPECT_THROW(featurizer.mol_block("x"), FileError);
  EXPECT_EQ(canonical_smiles("OC"), "OC");  // unchanged, so that training from stores with a split works without RDKit
  EXPECT_THROW(smiles_of_mol_block("x"), FileError);
  EXPECT_THROW(murcko_scaffold("C"), FileError);
  EXPECT_THROW(penalized_logp("C"), FileError);
  EXPECT_EQ(rdkit_version(), "");
  EXPECT_EQ(to_string(RowStatus::no_atoms), "no_atoms");
}

}  // namespace
}  // namespace molgraph
