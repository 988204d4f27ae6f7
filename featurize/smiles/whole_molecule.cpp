#include "featurize/smiles/whole_molecule.hpp"

#include <GraphMol/GraphMol.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "featurize/descriptors/calculator.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/molecule.hpp"

namespace molgraph {
namespace {

/// Made by the first caller; a failure is thrown to that caller and tried again by the next.
const DescriptorCalculator& calculator() {
  static const DescriptorCalculator made(rdkit_data_dir() + "/Data/FragmentDescriptors.csv");
  return made;
}

bool has_hydrogen_atoms(const RDKit::ROMol& molecule) {
  for (const RDKit::Atom* atom : molecule.atoms())
    if (atom->getAtomicNum() == 1) return true;
  return false;
}

/// What is too large for a float has no value: it would make the mean of a column infinite.
float as_float(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() ? static_cast<float>(value)
                                                              : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

void prepare_descriptors() { calculator(); }

void add_whole_molecule(const RDKit::ROMol& molecule, std::string_view text, StereoMarks marks, Standardize standardize,
                        const FeaturizerExtras& extras, MolecularGraph& graph) {
  if (!extras.descriptors && !extras.fingerprint) return;
  const RDKit::ROMol* looked_at = &molecule;
  // Stereo marks decide nothing but which hydrogen atoms RDKit folds in, so only then is its own clean-up of them
  // needed.
  ParsedMolecule cleaned;
  if (marks == StereoMarks::as_written && has_hydrogen_atoms(molecule)) {
    cleaned = parse_smiles(text);
    const std::string failure =
        reason_of_failure([&] { standardise(cleaned.molecule, standardize, StereoMarks::cleaned); });
    if (cleaned.molecule && failure.empty()) looked_at = cleaned.molecule.get();
  }
  const LogCapture log;
  if (extras.descriptors) {
    thread_local std::vector<double> values(descriptor_names().size());
    calculator().descriptors(*looked_at, values);
    graph.descriptors.resize(values.size());
    std::transform(values.begin(), values.end(), graph.descriptors.begin(), as_float);
  }
  if (extras.fingerprint) {
    graph.fingerprint.resize(kFingerprintBins);
    morgan_fingerprint(*looked_at, graph.fingerprint);
  }
}

}  // namespace molgraph
