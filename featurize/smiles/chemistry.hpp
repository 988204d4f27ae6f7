// Chemistry beside the graph: canonical text, scaffolds, and ZINC's penalised logP. RDKit stays in the .cpp files.
#pragma once

#include <string>
#include <string_view>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// RDKit canonical SMILES (with stereo and isotopes) of the molecule, or of its parent; empty if the text does not
/// parse or has no parent. Used to find the same molecule again; without RDKit the text as it stands.
std::string canonical_smiles(std::string_view smiles, Standardize standardize = Standardize::none);

/// Canonical SMILES of one SDF record, empty if it does not parse.
std::string smiles_of_mol_block(std::string_view mol_block);

/// Bemis-Murcko scaffold without chirality as OGB computes it, of the molecule or of its parent; "" for an acyclic one.
/// Throws DataError on bad text.
std::string murcko_scaffold(std::string_view smiles, Standardize standardize = Standardize::none);

/// The label of ZINC-12k and ZINC-full (docs/reference/data.md section 4).
struct PenalizedLogP {
  double logp;  ///< Crippen logP
  double sa;    ///< synthetic accessibility, Ertl & Schuffenhauer 2009, J. Cheminform. 1:8
  int cycle;    ///< max(0, largest cycle of a Paton basis - 6)
  double y;     ///< normalised sum logP - SA - cycle
};
/// Throws DataError on bad text; FileError when RDKit's fpscores.pkl.gz cannot be found or read.
PenalizedLogP penalized_logp(std::string_view smiles);

/// RDKit's data directory: $RDBASE, else the places where packages put it. Throws FileError naming them.
std::string rdkit_data_dir();

}  // namespace molgraph
