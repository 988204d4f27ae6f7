// What a run holds of the molecules it was trained on, and how to take it out.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// A file of a run that tells of training, validation or test molecules.
struct FileOfMolecules {
  std::string path;
  std::string holds;     ///< "ids and SMILES", ...
  bool needed = false;   ///< predictions are made from it
  bool in_part = false;  ///< the rest of the file tells of no molecule, and stays
};

/// Those of a run directory and of the runs in it (model_0, refit ...) that are there.
std::vector<FileOfMolecules> files_of_molecules(const std::string& run);

/// Removes those that no prediction needs, and what records hold of molecules. Returns what was done, line by line.
/// Throws UsageError for what is no run directory and for a run whose training has not ended, FileError.
std::string strip_run(const std::string& run);

}  // namespace molgraph
