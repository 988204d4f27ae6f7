// molgraph-score: adds a model's predictions to a table of molecules, in constant memory.
#include <CLI/CLI.hpp>

#include "apps/programs/score/score.hpp"
#include "apps/programs/shell/option_values.hpp"

namespace molgraph {
namespace {

ScoreOptions parse(const std::vector<std::string>& arguments) {
  ScoreOptions options;
  CommandLine line(
      "molgraph-score",
      "Scores molecules with a trained model. Every input row gives one output row, in order, with all its\n"
      "columns and the new ones <target>_pred, status and reason; the reason explains why a row cannot be scored.",
      "molgraph-score -m runs/esol -i library.csv.gz -o scored.csv\n"
      "  zcat library.smi.gz | molgraph-score -m runs/esol -i - -o - | head");
  CLI::App& app = line.app();
  app.add_option("-m,--model", options.models,
                 "Run directory, folder of runs (model_0, model_1, ...) or model.safetensors; several form an "
                 "ensemble: the mean, and the standard deviation in <target>_std")
      ->required()
      ->type_name("RUN");
  app.add_flag("--individual", options.individual,
               "Add a column for each model: <target>_pred_0, <target>_pred_1, ...");
  limit(app.add_option("--interval", options.interval,
                       "Add columns <target>_low and <target>_high: the prediction interval with this coverage, for "
                       "example 0.9; see docs/reference/uncertainty.md"),
        RealRange{0.5, 0.999})
      ->type_name("LEVEL");
  app.add_flag("!--no-calibrate", options.calibrate,
               "Do not apply the temperature that training fitted to probabilities");
  app.add_flag("--domain", options.domain,
               "Applicability domain: add columns domain_similarity (Tanimoto similarity to the nearest training "
               "molecule), domain_percentile, domain_elements_seen, domain_rings_seen, and with stored labels "
               "domain_id, domain_smiles and domain_<target>; see docs/reference/domain.md");
  app.add_option("--nearest", options.nearest,
                 "Store or table of training molecules: add columns nearest_distance (in embedding space) and "
                 "nearest_id; one run, no ensemble")
      ->type_name("TRAIN");
  choose(app.add_option("--explain", options.explain,
                        "Explain predictions: atoms adds <target>_atoms, a contribution per atom in the unit of the "
                        "target (log10 if the model learned logarithms), and <target>_baseline, the value without "
                        "any contribution; "
                        "fragments adds <target>_fragments, the change of the prediction without each ring system, "
                        "linker and side chain; rollout adds attention rollout, which has no sign and no unit; see "
                        "docs/reference/explanation.md"),
         {"atoms", "fragments", "rollout"});
  app.add_option("--draw", options.draw,
                 "New folder for drawings of the explanations, ROW.svg or ROW-ID.svg, of the first 10,000 rows")
      ->type_name("DIR");
  app.add_option("--draw-target", options.draw_target, "Target to draw (empty: the first)")->type_name("NAME");
  add_batch_options(line, options.batch,
                    "Output file: .csv, .tsv or .jsonl (JSON lines), also .gz; - is standard output (TSV for TSV "
                    "input, else CSV). It is OUT.part until it is complete; CSV and TSV always have a header");
  line.parse(arguments);
  options.batch.config = line.config_file();
  return options;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::score(molgraph::parse(arguments)); });
}
