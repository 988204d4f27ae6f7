// Text -> RDKit molecule, with RDKit's reason when there is none. Private to this room: it shows RDKit types.
#pragma once

#include <GraphMol/RWMol.h>

#include <memory>
#include <string>
#include <string_view>

namespace molgraph {

/// A molecule, or the one-line reason why the text is none.
struct ParsedMolecule {
  std::unique_ptr<RDKit::RWMol> molecule;
  std::string reason;
};

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

/// Sanitised, hydrogens folded in, atoms in the order of the text; blanks around it are
/// ignored. Never throws on bad text. Thread-safe.
ParsedMolecule parse_smiles(std::string_view smiles);
/// The same with configurations as they are written: RDKit's own clean-up, which in rare cases depends on the order of
/// atoms, has not removed any chiral tag, and direction marks have become cis and trans. Takes less time.
ParsedMolecule parse_smiles_as_written(std::string_view smiles);
/// Like parse_smiles, of a V2000 or V3000 mol block; what follows "M  END" is ignored.
ParsedMolecule parse_mol_block(std::string_view block);
/// parse_smiles, or DataError("", 0, reason, smiles).
std::unique_ptr<RDKit::RWMol> molecule_or_throw(std::string_view smiles);

/// Runs `work` with RDKit's log of this thread captured and its exceptions turned into a reason ("" = it succeeded).
/// Also for what is done with a molecule after parsing: some of RDKit's functions throw late.
template <typename Work>
std::string reason_of_failure(Work work);

/// What RDKit logs in this thread while one of these lives is kept here instead of reaching the terminal.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  /// The first line logged, without time stamp, prefix and the echo of the input; "" if nothing was logged.
  std::string first_reason() const;
};

/// The text of the exception being handled, as one line; call inside catch (...).
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
