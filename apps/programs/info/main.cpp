// molgraph-info: the card of a run or a store, as text or JSON.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/programs/info/info_card.hpp"
#include "apps/programs/shell/file_roles.hpp"
#include "apps/programs/shell/program.hpp"
#include "datasets/store/store.hpp"

namespace molgraph {
namespace {

int info(const std::vector<std::string>& arguments) {
  std::string path;
  bool json = false;
  CommandLine line(
      "molgraph-info",
      "Says what a run or a store is. Of a run: what it predicts, from which data, how well, made when and by what; "
      "with -v\n"
      "also all its options and numbers.",
      "molgraph-info runs/esol\n  molgraph-info runs/esol -v\n  molgraph-info zinc.h5 --json | jq .splits");
  line.app()
      .add_option("path", path, "Run directory, folder of runs, model.safetensors or store")
      ->required()
      ->type_name("PATH");
  line.app().add_flag("--json", json, "One JSON object instead of text");
  line.parse(arguments);
  refuse_overwriting({{path, "the input"}}, {{"-", "the output"}});
  const nlohmann::ordered_json card = is_meant_as_store(path) ? store_card(path) : run_card(path);
  write_stdout(json ? card.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                    : card_text(card, line.given("--verbose")));
  return kExitDone;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) { return molgraph::run_program(argc, argv, molgraph::info); }
