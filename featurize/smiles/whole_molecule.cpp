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

/// Created by the first caller. On failure, that caller gets the exception, and the next caller tries again.
const DescriptorCalculator& calculator() {
  static const DescriptorCalculator instance(rdkit_data_dir() + "/Data/FragmentDescriptors.csv");
  return instance;
}

bool has_hydrogen_atoms(const RDKit::ROMol& molecule) {
  for (const RDKit::Atom* atom : molecule.atoms())
    if (atom->getAtomicNum() == 1) return true;
  return false;
}

/// Values too large for a float become NaN, because they would make the mean of a column infinite.
float as_float(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max() ? static_cast<float>(value)
                                                              : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

void prepare_descriptors() { calculator(); }

void add_whole_molecule(const RDKit::ROMol& molecule, std::string_view text, StereoMarks marks, Standardize standardize,
                        const FeaturizerExtras& extras, MolecularGraph& graph) {
  if (!extras.descriptors && !extras.fingerprint) return;
  const RDKit::ROMol* described = &molecule;
  // Stereo marks affect only which hydrogen atoms RDKit folds in, so RDKit's clean-up is needed only if there are any.
  ParsedMolecule cleaned;
  if (marks == StereoMarks::as_written && has_hydrogen_atoms(molecule)) {
    cleaned = parse_smiles(text);
    if (cleaned.molecule &&
        reason_of_failure([&] { standardise(cleaned.molecule, standardize, StereoMarks::cleaned); }).empty())
      described = cleaned.molecule.get();
  }
  const LogCapture log;
  if (extras.descriptors) {
    thread_local std::vector<double> values(descriptor_names().size());
    calculator().descriptors(*described, values);
    graph.descriptors.resize(values.size());
    std::transform(values.begin(), values.end(), graph.descriptors.begin(), as_float);
  }
  if (extras.fingerprint) {
    graph.fingerprint.resize(kFingerprintBins);
    morgan_fingerprint(*described, graph.fingerprint);
  }
}

}  // namespace molgraph
