// molgraph-score: a table of molecules in, the same table with the model's predictions out, in constant memory.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "apps/batch_run.hpp"
#include "apps/score_output.hpp"

namespace molgraph {
namespace {

struct ScoreOptions {
  BatchOptions batch;
  std::vector<std::string> models;
  bool individual = false;
};

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
  add_batch_options(line, options.batch,
                    "CSV, or by suffix .tsv or .jsonl (JSON lines), also .gz; - is standard output (TSV for TSV input, "
                    "else CSV). It grows as OUT.part and always has a header");
  line.parse(arguments);
  return options;
}

RowFormat format_for(const std::string& output, TableFormat input) {
  if (output == "-") return input == TableFormat::tsv ? RowFormat::tsv : RowFormat::csv;
  const std::string name = without_gz(output);
  return name.ends_with(".tsv") ? RowFormat::tsv : name.ends_with(".jsonl") ? RowFormat::json : RowFormat::csv;
}

int score(const ScoreOptions& options) {
  const Predictor predictor(options.models, options.batch.predictor());
  spdlog::debug("{} model(s), {}", predictor.num_runs(), predictor.featurizer().canonical_text());
  InputRange range = open_input(options.batch);
  const ScoreTable table(range.tables.columns(), predictor.task(), predictor.num_runs(), options.individual,
                         format_for(options.batch.output, range.tables.format()));
  TextOutput output(options.batch, range, table.header(), predictor.files(),
                    {{"individual", options.individual ? "yes" : "no"}});
  if (output.done()) return kExitDone;
  TextSink<Prediction> sink(output, [&](const RowWindows&, const RowWindow& window, const std::vector<Prediction>& rows) {
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) table.append(window.rows[i], rows[i], text);
    return text;
  });
  return run_batch<Prediction>(
      options.batch, "Scoring", std::move(range), output.counts(),
      [&](const RowWindow& window) {
        return window.mol_blocks ? predictor.predict_mol_blocks(window.molecules) : predictor.predict(window.molecules);
      },
      sink);
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::score(molgraph::parse(arguments)); });
}
