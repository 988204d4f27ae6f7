// Canonical SMILES, scaffolds and ZINC's penalised logP. Only the .cpp files include RDKit.
#pragma once

#include <string>
#include <string_view>

#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

/// Returns the RDKit canonical SMILES (with stereo and isotopes) of the molecule or of its parent; empty if the text
/// cannot be parsed or has no parent. Used to identify duplicate molecules. Without RDKit, returns the text unchanged.
std::string canonical_smiles(std::string_view smiles, Standardize standardize = Standardize::none);

/// Returns the canonical SMILES of one SDF record, empty if it cannot be parsed.
std::string smiles_of_mol_block(std::string_view mol_block);

/// Returns the Bemis-Murcko scaffold without chirality, as OGB computes it, of the molecule or of its parent; "" for an
/// acyclic molecule. Throws DataError on invalid text.
std::string murcko_scaffold(std::string_view smiles, Standardize standardize = Standardize::none);

/// The label of ZINC-12k and ZINC-full (docs/reference/data.md section 4).
struct PenalizedLogP {
  double logp;  ///< Crippen logP
  double sa;    ///< synthetic accessibility, Ertl & Schuffenhauer 2009, J. Cheminform. 1:8
  int cycle;    ///< max(0, largest cycle of a Paton basis - 6)
  double y;     ///< normalised sum logP - SA - cycle
};
/// Throws DataError on invalid text, and FileError if RDKit's fpscores.pkl.gz cannot be found or read.
PenalizedLogP penalized_logp(std::string_view smiles);

/// Returns RDKit's data directory: that of the package, otherwise of the RDKit used in the build, of the Linux
/// distribution, or $RDBASE. The Python package rdkit and conda set RDBASE to the data of another version, which would
/// change the descriptors. Throws FileError with the list of these locations.
std::string rdkit_data_dir();

}  // namespace molgraph
