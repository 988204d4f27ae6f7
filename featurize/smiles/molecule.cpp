#include "featurize/smiles/molecule.hpp"

#include <GraphMol/FileParsers/FileParsers.h>
#include <GraphMol/GraphMol.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/BadFileException.h>
#include <RDGeneral/FileParseException.h>
#include <RDGeneral/Invariant.h>
#include <RDGeneral/RDLog.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <ostream>
#include <streambuf>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/syntax_reason.hpp"

namespace molgraph {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
/// More than any first line needs. Limits the log of malicious text.
constexpr std::size_t kMaxLogBytes = 2048;
/// Longer reasons (lists of atoms) are cut, because people read them.
constexpr std::size_t kMaxReasonBytes = 160;

thread_local std::string captured_log;
thread_local int captures = 0;

/// Writes to the log of the writing thread. The stream has no buffer, so the one stream that RDKit's loggers share has
/// no state that threads could corrupt.
class ThreadLogBuffer : public std::streambuf {
 protected:
  int_type overflow(int_type c) override {
    if (!traits_type::eq_int_type(c, traits_type::eof())) {
      const char byte = traits_type::to_char_type(c);
      keep(&byte, 1);
    }
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* text, std::streamsize length) override {
    keep(text, static_cast<std::size_t>(length));
    return length;
  }

 private:
  static void keep(const char* text, std::size_t length) {
    if (captures == 0 || captured_log.size() >= kMaxLogBytes) return;
    captured_log.append(text, std::min(length, kMaxLogBytes - captured_log.size()));
  }
};

/// Redirects all of RDKit's loggers to the buffer above and makes RDKit build its lazy tables (periodic table, stream
/// locale, parsers) while only one thread uses it.
void prepare_rdkit() {
  static std::once_flag once;
  std::call_once(once, [] {
    static ThreadLogBuffer buffer;
    static std::ostream stream(&buffer);
    for (RDLogger* logger : {&rdAppLog, &rdDebugLog, &rdInfoLog, &rdErrorLog, &rdWarningLog, &rdStatusLog}) {
      *logger = std::make_shared<boost::logging::rdLogger>(&stream);
      (*logger)->df_enabled = logger == &rdErrorLog;
    }
    ++captures;
    const std::unique_ptr<RDKit::RWMol> molecule(RDKit::SmilesToMol("C[C@H](N)C(=O)/N=C/c1c[nH]c2ccccc12.[Na+]"));
    RDKit::MolToSmiles(*molecule);
    const std::unique_ptr<RDKit::RWMol> bad(RDKit::SmilesToMol("C1"));
    const std::unique_ptr<RDKit::RWMol> block(RDKit::MolBlockToMol(RDKit::MolToMolBlock(*molecule)));
    --captures;
    captured_log.clear();
  });
}

void cut_from(std::string& line, std::string_view marker) {
  const std::size_t at = line.find(marker);
  if (at != std::string::npos) line.erase(at);
}

void strip_prefix(std::string& line, std::string_view prefix) {
  if (line.rfind(prefix, 0) == 0) line.erase(0, prefix.size());
}

/// Returns one printable line of bounded length.
std::string tidy(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  for (std::size_t at; (at = text.find("  ")) != std::string::npos;) text.erase(at, 1);
  if (text.size() > kMaxReasonBytes) text = text.substr(0, kMaxReasonBytes - 3) + "...";
  return text;
}

/// Runs one of RDKit's parsers and collects errors.
template <typename Parse>
ParsedMolecule guarded(Parse parse) {
  prepare_rdkit();
  const LogCapture log;
  ParsedMolecule parsed;
  try {
    parsed.molecule.reset(parse());
    if (!parsed.molecule) parsed.reason = log.first_reason();
  } catch (...) {
    parsed.reason = current_exception_reason();
  }
  if (!parsed.molecule && parsed.reason.empty()) parsed.reason = "not a molecule";
  return parsed;
}

/// Rejects text that RDKit would truncate, then runs one of RDKit's parsers.
template <typename Parse>
ParsedMolecule checked_smiles(std::string_view text, Parse parse) {
  const std::string_view smiles = trimmed(text);
  if (std::string reason = invalid_symbol_reason(smiles); !reason.empty()) return {nullptr, std::move(reason)};
  // RDKit treats text after a blank as a name, so half a cell would be ignored silently. "|...|" is CXSMILES.
  const std::size_t blank = smiles.find_first_of(kBlanks);
  if (blank != std::string_view::npos && smiles[smiles.find_first_not_of(kBlanks, blank)] != '|') {
    return {nullptr, "blank inside the SMILES (character " + std::to_string(blank + 1) + ")"};
  }
  ParsedMolecule parsed = guarded([&] { return parse(std::string(smiles)); });
  if (!parsed.molecule) parsed.reason = syntax_reason(smiles, parsed.reason);
  return parsed;
}

}  // namespace

LogCapture::LogCapture() {
  if (captures++ == 0) captured_log.clear();
}
LogCapture::~LogCapture() { --captures; }

std::string LogCapture::first_reason() const {
  std::string line = captured_log.substr(0, captured_log.find('\n'));
  // "[12:34:56] SMILES Parse Error: unclosed ring for input: 'C1CC'"
  if (!line.empty() && line.front() == '[' && line.size() > 10 && line[9] == ']') line.erase(0, 11);
  strip_prefix(line, "SMILES Parse Error: ");
  cut_from(line, " while parsing: ");
  cut_from(line, " for input: ");
  return tidy(line);
}

std::string current_exception_reason() {
  try {
    throw;
  } catch (const Invar::Invariant& broken) {
    return tidy(std::string("internal check of the chemistry toolkit failed: ") + broken.what());
  } catch (const RDKit::FileParseException& error) {
    return tidy(error.what());
  } catch (const RDKit::BadFileException& error) {
    return tidy(error.what());
  } catch (const std::bad_alloc&) {
    return "not enough memory for this molecule";
  } catch (const std::exception& error) {
    const std::string reason = tidy(error.what());
    return reason.empty() ? "the chemistry toolkit failed" : reason;
  } catch (...) {
    return "the chemistry toolkit failed";
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

ParsedMolecule parse_smiles(std::string_view text) {
  return checked_smiles(text, [](const std::string& smiles) { return RDKit::SmilesToMol(smiles); });
}

ParsedMolecule parse_smiles_as_written(std::string_view text) {
  return checked_smiles(text, [](const std::string& smiles) {
    // Only RDKit's full parser reads the configurations in extensions.
    if (smiles.find('|') != std::string::npos) return RDKit::SmilesToMol(smiles);
    RDKit::SmilesParserParams raw;
    raw.sanitize = false;
    raw.removeHs = false;
    std::unique_ptr<RDKit::RWMol> molecule(RDKit::SmilesToMol(smiles, raw));
    if (!molecule) return molecule.release();
    constexpr bool implicit_only = false, update_explicit_count = true;
    RDKit::MolOps::removeHs(*molecule, implicit_only, update_explicit_count);  // also sanitises
    RDKit::MolOps::setBondStereoFromDirections(*molecule);
    return molecule.release();
  });
}

ParsedMolecule parse_mol_block(std::string_view block) {
  return guarded([&] { return RDKit::MolBlockToMol(std::string(block)); });
}

std::unique_ptr<RDKit::RWMol> molecule_or_throw(std::string_view smiles) {
  ParsedMolecule parsed = parse_smiles(smiles);
  if (!parsed.molecule) throw DataError("", 0, parsed.reason, std::string(smiles));
  return std::move(parsed.molecule);
}

}  // namespace molgraph
