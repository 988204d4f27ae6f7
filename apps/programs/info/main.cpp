// molgraph-info: describes a run or a store as text or JSON.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/programs/info/info_card.hpp"
#include "apps/programs/info/strip_run.hpp"
#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/report/report_page.hpp"
#include "apps/scoring/run_record.hpp"
#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Writes RUN/report.html and RUN/model_card.md again. Throws UsageError if one is a link to a file of the run, which
/// would be overwritten.
void remake_report(const std::string& run) {
  require_existing(run, "no such run");
  if (!std::filesystem::is_directory(run))
    throw UsageError("--html: " + run + " is not a run directory; only run directories have a report");
  const std::string page = run + "/" + kReportPage;
  std::vector<std::string> files;
  for (const char* name : {"model.safetensors", "run.json", "report.json", "results.csv", "metrics.csv", "splits.csv",
                           "test_predictions.csv", "valid_predictions.csv", "calibration.json", "domain.safetensors"})
    files.push_back(run + "/" + name);
  reject_overwriting(in_role("a file of the run", files),
                     {{page, "the report"}, {run + "/" + kModelCard, "the model card"}});
  write_stdout(write_report(run).path + "\n");
}

int info(const std::vector<std::string>& arguments) {
  std::string path;
  bool json = false, html = false, strip = false;
  CommandLine line(
      "molgraph-info",
      "Describes a run or a store. For a run: targets, data, results, time of training and version; with -v\n"
      "also all options and numbers.",
      "molgraph-info runs/esol\n  molgraph-info runs/esol -v\n  molgraph-info zinc.h5 --json | jq .splits\n  "
      "molgraph-info "
      "runs/esol --html");
  line.app()
      .add_option("path", path, "Run directory, folder of runs, model.safetensors or store")
      ->required()
      ->type_name("PATH");
  line.app().add_flag("--json", json, "Print one JSON object instead of text");
  line.app().add_flag("--strip", strip,
                      "Remove the training data from a finished run: fingerprints, embeddings, labels and all tables "
                      "with SMILES; lists what predictions need and therefore stays");
  line.app().add_flag("--html", html,
                      "Write PATH/report.html and PATH/model_card.md again; print the path of the report");
  line.parse(arguments);
  if (html + strip + (json || line.given("--verbose")) > 1)
    throw UsageError("--html, --strip and --json (or -v) cannot be combined");
  if (strip) {
    write_stdout(strip_run(path));
    return kExitDone;
  }
  if (html) {
    remake_report(path);
    return kExitDone;
  }
  reject_overwriting({{path, "the input"}}, {{"-", "the output"}});
  const nlohmann::ordered_json card = is_meant_as_store(path) ? store_card(path) : run_card(path);
  write_stdout(json ? card.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                    : card_text(card, line.given("--verbose")));
  return kExitDone;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) { return molgraph::run_program(argc, argv, molgraph::info); }
