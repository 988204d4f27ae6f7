// The files of a run that contain information about its molecules.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// A file of a run with information about training, validation or test molecules.
struct MoleculeFile {
  std::string path;
  std::string contents;  ///< contents, such as "ids and SMILES"
  bool needed = false;   ///< needed for predictions
  bool in_part = false;  ///< only a part of the file is about molecules; the rest is kept
};

/// The existing files of a run directory and of the runs in it (model_0, refit ...).
std::vector<MoleculeFile> molecule_files(const std::string& run);

}  // namespace molgraph
