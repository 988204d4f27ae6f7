// Parses text into RDKit molecules and gives RDKit's reason if it fails. Private to this folder, because it uses RDKit
// types.
#pragma once

#include <GraphMol/RWMol.h>

#include <memory>
#include <string>
#include <string_view>

namespace molgraph {

/// A molecule, or a one-line reason why the text could not be parsed.
struct ParsedMolecule {
  std::unique_ptr<RDKit::RWMol> molecule;
  std::string reason;
};

/// Returns the text without leading and trailing whitespace.
std::string_view trimmed(std::string_view text);

/// Returns a sanitised molecule with hydrogens folded in and atoms in the order of the text. Ignores whitespace around
/// the text. Never throws on invalid text. Thread-safe.
ParsedMolecule parse_smiles(std::string_view smiles);
/// Like parse_smiles, but keeps stereo marks as written: RDKit's clean-up, which in rare cases depends on the order of
/// the atoms, does not remove chiral tags, and direction marks become cis and trans. Faster than parse_smiles.
ParsedMolecule parse_smiles_as_written(std::string_view smiles);
/// Like parse_smiles, for a V2000 or V3000 mol block. Ignores everything after "M  END".
ParsedMolecule parse_mol_block(std::string_view block);
/// Like parse_smiles, but throws DataError("", 0, reason, smiles) on invalid text.
std::unique_ptr<RDKit::RWMol> molecule_or_throw(std::string_view smiles);

/// Runs `work` with this thread's RDKit log captured. Turns exceptions into a reason ("" = success). Use it also for
/// operations after parsing, because some RDKit functions throw late.
template <typename Work>
std::string reason_of_failure(Work work);

/// While an object lives, captures what RDKit logs in this thread, so that it does not reach the terminal.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  /// Returns the first logged line without time stamp, prefix and the echoed input; "" if nothing was logged.
  std::string first_reason() const;
};

/// Returns the text of the exception being handled as one line; call inside catch (...).
std::string current_exception_reason();

template <typename Work>
std::string reason_of_failure(Work work) {
  const LogCapture log;
  try {
    work();
    return {};
  } catch (...) {
    return current_exception_reason();
  }
}

}  // namespace molgraph
