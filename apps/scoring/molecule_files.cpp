#include "apps/scoring/molecule_files.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "apps/scoring/domain_file.hpp"
#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_record.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

struct Kind {
  const char* name;
  const char* contents;
  bool needed = false;
};
constexpr std::array<Kind, 9> kKinds{
    {{kDomainFile, ""},
     {"splits.csv", "ids and SMILES of all molecules"},
     {"valid_predictions.csv", "ids, SMILES and true values of the validation set"},
     {"test_predictions.csv", "ids, SMILES and true values of the test set"},
     {"rejected.csv", "SMILES of rejected rows"},
     {"report.html", "ids, structures, predictions and true values of test and validation molecules"},
     {"duplicates.csv", "ids, SMILES and values of duplicate molecules"},
     {"log.txt", "training messages, with SMILES of some rows"},
     {kProcessFile,
      "fingerprint counts and descriptors of training molecules, from which their true values can be computed", true}}};

std::string domain_contents(const std::string& path) {
  try {
    const DomainSummary summary = domain_summary(path);
    return "fingerprints and embeddings of " + with_thousands(summary.molecules) + " training molecules" +
           (summary.labels ? ", with ids, SMILES and true values" : "");
  } catch (const FileError&) {
    return "fingerprints and embeddings of training molecules, possibly with labels (the file cannot be read)";
  }
}

}  // namespace

std::vector<MoleculeFile> molecule_files(const std::string& run) {
  std::vector<MoleculeFile> files;
  std::error_code error;
  for (const Kind& kind : kKinds) {
    const std::string path = run + "/" + kind.name;
    if (!fs::exists(path, error)) continue;
    files.push_back({path, *kind.contents != '\0' ? kind.contents : domain_contents(path), kind.needed});
  }
  if (const std::optional<RunRecord> record = read_run_record(run); record && !record->suspicious_labels.empty())
    files.push_back({run + "/" + kRunRecord, "ids and true values of labels that may be wrong", false, true});
  std::set<std::string> inner;
  for (fs::directory_iterator entry(run, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (is_member(name) || name == "refit")) inner.insert(name);
  }
  for (const std::string& name : inner)
    for (MoleculeFile& file : molecule_files(run + "/" + name)) files.push_back(std::move(file));
  return files;
}

}  // namespace molgraph
