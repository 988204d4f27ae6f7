// The SMILES library of a build without RDKit. Functions that need chemistry throw FileError.
#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/fragments.hpp"
#include "featurize/smiles/row_status.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

[[noreturn]] void no_rdkit() { throw FileError("built without RDKit: use a store"); }

}  // namespace

Featurizer::Featurizer(const FeaturizerOptions& options, const FeaturizerLimits& limits, const FeaturizerExtras& extras)
    : options_(options), limits_(limits), extras_(extras) {}

FeaturizeResult Featurizer::smiles(std::string_view) const { no_rdkit(); }
FeaturizeResult Featurizer::mol_block(std::string_view) const { no_rdkit(); }

std::string canonical_smiles(std::string_view smiles, Standardize) { return std::string(smiles); }
std::string smiles_of_mol_block(std::string_view) { no_rdkit(); }
std::string murcko_scaffold(std::string_view, Standardize) { no_rdkit(); }
PenalizedLogP penalized_logp(std::string_view) { no_rdkit(); }
MoleculeFragments murcko_fragments(std::string_view, bool, const FeaturizerOptions&) { no_rdkit(); }

std::string_view to_string(RowStatus status) { return row_status_word(status); }
std::string rdkit_version() { return {}; }

}  // namespace molgraph
