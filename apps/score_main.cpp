// molgraph-score: a table of molecules in, the same table with the model's predictions out, in constant memory.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "apps/output_file.hpp"
#include "apps/predictor.hpp"
#include "apps/program.hpp"
#include "apps/row_windows.hpp"
#include "apps/score_output.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

struct ScoreOptions {
  CommonOptions common;
  TableFlags table;
  std::vector<std::string> models;
  std::string input, output;
  bool individual = false, strict = false;
  int batch_size = 2048;
  std::string precision = "fp32";
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
  app.add_option("-i,--input", options.input, "CSV, TSV, SMI or SDF, also .gz; - is standard input")
      ->required()
      ->type_name("IN");
  app.add_option("-o,--output", options.output,
                 "CSV, or TSV if it ends with .tsv, also .gz; - is standard output (TSV for TSV input, else CSV). It "
                 "grows as OUT.part and always has a header")
      ->required()
      ->type_name("OUT");
  app.add_flag("--individual", options.individual, "Also a column per run: <target>_pred_0, <target>_pred_1, ...");
  app.add_flag("--strict", options.strict, "End with code 3 at the first row that cannot be scored, without output");
  app.add_option("--batch-size", options.batch_size, "Molecules that are read, scored and written at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app.add_option("--precision", options.precision, "Of the matrix products: bf16 is faster, to about three digits")
      ->capture_default_str()
      ->check(CLI::IsMember(std::vector<std::string>{"fp32", "bf16"}))
      ->type_name("TEXT");
  line.add_table(options.table);
  line.add_common(options.common, kThreads | kDevice | kMaxAtoms);
  line.parse(arguments);
  return options;
}

char delimiter_for(const std::string& output, TableFormat input) {
  if (output == "-") return input == TableFormat::tsv ? '\t' : ',';
  const std::string name = without_gz(output);
  return name.size() > 4 && name.compare(name.size() - 4, 4, ".tsv") == 0 ? '\t' : ',';
}

int score(const ScoreOptions& options) {
  Predictor predictor(options.models, {options.common.threads, {.max_atoms = options.common.max_atoms},
                                       precision_from_string(options.precision)});
  spdlog::debug("{} model(s), {}", predictor.num_runs(), predictor.featurizer().canonical_text());
  RowWindows windows(options.input, options.table.options(), static_cast<std::size_t>(options.batch_size));
  const ScoreTable table(windows.columns(), predictor.task(), predictor.num_runs(), options.individual,
                         delimiter_for(options.output, windows.format()));
  OutputFile output(options.output);
  std::string text = table.header();
  StatusCounts counts;
  Progress progress("Scoring", "molecules", 0);
  try {
    for (RowWindow window; windows.next(window);) {
      std::vector<Prediction> predictions =
          window.mol_blocks ? predictor.predict_mol_blocks(window.molecules) : predictor.predict(window.molecules);
      mark_malformed_rows(window, predictions);
      windows.complete_smiles(window, options.common.threads);
      for (std::size_t i = 0; i < predictions.size(); ++i) {
        const Prediction& prediction = predictions[i];
        if (options.strict && prediction.status != RowStatus::ok) {
          refuse_row(options.input, window.rows[i], prediction.status, prediction.reason,
                     windows.smiles(window.rows[i]));
        }
        counts.add(prediction.status);
        table.append(window.rows[i], prediction, text);
      }
      output.write(text);
      text.clear();
      progress.update(counts.rows());
    }
  } catch (const Stopped&) {
    output.write(text);
    const std::string part = output.keep_part();
    spdlog::warn("stopped after {} rows{}", with_thousands(counts.rows()), part.empty() ? "" : "; they are in " + part);
    throw;
  }
  output.write(text);
  output.finish();
  return finish_rows(counts, progress.seconds());
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::score(molgraph::parse(arguments)); });
}
