// molgraph-score: a table of molecules in, the same table with the model's predictions out, in constant memory.
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
      "columns and the new ones <target>_pred, status and reason; a row that cannot be scored says why.",
      "molgraph-score -m runs/esol -i library.csv.gz -o scored.csv\n"
      "  zcat library.smi.gz | molgraph-score -m runs/esol -i - -o - | head");
  CLI::App& app = line.app();
  app.add_option("-m,--model", options.models,
                 "Run directory, folder of runs (model_0, model_1, ...) or model.safetensors; several are an ensemble: "
                 "the mean, and its deviation in <target>_std")
      ->required()
      ->type_name("RUN");
  app.add_flag("--individual", options.individual, "Also a column per run: <target>_pred_0, <target>_pred_1, ...");
  limit(app.add_option("--interval", options.interval,
                       "Columns <target>_low and <target>_high: the interval that holds the true value with this "
                       "probability, as 0.9; from the run's own errors, see docs/uncertainty.md"),
        RealRange{0.5, 0.999})
      ->type_name("LEVEL");
  app.add_flag("!--no-calibrate", options.calibrate,
               "Probabilities as the model says them, without the temperature that training found");
  app.add_flag("--domain", options.domain,
               "How far each molecule lies from those of training: columns domain_similarity (Tanimoto's coefficient "
               "with the most similar one), domain_percentile, domain_elements_seen, domain_rings_seen, and with "
               "labels domain_id, domain_smiles and domain_<target>; see docs/domain.md");
  app.add_option(
         "--nearest", options.nearest,
         "Store or table of the training molecules: columns nearest_distance (in embedding space) and nearest_id, "
         "to see how far a molecule lies from them; one run, no ensemble")
      ->type_name("TRAIN");
  choose(app.add_option("--explain", options.explain,
                        "What the prediction is made of: atoms adds <target>_atoms, a number per atom in the target's "
                        "unit, and <target>_baseline, which they are added to; rollout adds what attention "
                        "looks at, without sign and unit; see docs/explanation.md"),
         {"atoms", "rollout"});
  app.add_option("--draw", options.draw,
                 "New folder for a picture of each row's explanation, ROW.svg or ROW-ID.svg; of the first 10,000 rows")
      ->type_name("DIR");
  app.add_option("--draw-target", options.draw_target, "The target that is drawn (empty: the first)")
      ->type_name("NAME");
  add_batch_options(line, options.batch,
                    "By suffix: .csv, .tsv or .jsonl (JSON lines), also .gz; - is standard output (TSV for TSV input, "
                    "else CSV). It grows as OUT.part; CSV and TSV always have a header");
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
