#include "apps/programs/info/strip_run.hpp"

#include <filesystem>
#include <optional>
#include <set>

#include "apps/report/model_card.hpp"
#include "apps/scoring/molecule_files.hpp"
#include "apps/scoring/run_record.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

namespace fs = std::filesystem;

std::string strip_run(const std::string& run) {
  std::error_code error;
  require_existing(run, "no such run");
  if (!fs::is_directory(run, error)) throw UsageError("--strip needs a run directory, not " + run);
  (void)weight_files(run);  // throws if there is no run
  const std::optional<RunRecord> record = read_run_record(run);
  if (record && record->finished.empty())
    throw UsageError(run + ": its training is not finished; --resume needs the data that --strip removes");
  std::string actions;
  std::set<std::string> folders{run};
  for (const MoleculeFile& file : molecule_files(run)) {
    folders.insert(fs::path(file.path).parent_path().string());
    if (file.needed) {
      actions += "kept: " + file.path + " (" + file.contents + "; needed for predictions)\n";
      continue;
    }
    if (file.in_part) {
      strip_run_record(fs::path(file.path).parent_path().string());
      actions += "removed from " + file.path + ": " + file.contents + "\n";
      continue;
    }
    if (!fs::remove(file.path, error) || error) throw FileError(file.path + ": cannot be removed: " + error.message());
    actions += "removed: " + file.path + " (" + file.contents + ")\n";
  }
  // The card of the run that a member belongs to lists the member's files.
  if (const fs::path folder = fs::canonical(run, error); !error && is_member(folder.filename().string()))
    folders.insert(folder.parent_path().string());
  for (const std::string& folder : folders) update_model_card(folder);
  return actions.empty() ? run + " contains no data about its training molecules\n" : actions;
}

}  // namespace molgraph
