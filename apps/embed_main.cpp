// molgraph-embed: a table of molecules in, one vector per row out, with its id.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "apps/embed_output.hpp"
#include "apps/predictor.hpp"
#include "apps/program.hpp"
#include "apps/row_windows.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

struct EmbedOptions {
  CommonOptions common;
  TableFlags table;
  std::string model, input, output, pooling = "token", dtype = "float32";
  std::vector<int> layers{-1};
  bool l2 = false, strict = false;
  int batch_size = 2048;
  std::string precision = "fp32";
};

EmbedOptions parse(const std::vector<std::string>& arguments) {
  EmbedOptions options;
  CommandLine line(
      "molgraph-embed",
      "Writes one embedding per molecule, in the input's order. A molecule that the model cannot read gives a row\n"
      "of NaN (JSON lines: null) and a status that says why.",
      "molgraph-embed -m runs/esol -i library.csv -o library.npz --pooling mean");
  CLI::App& app = line.app();
  app.add_option("-m,--model", options.model, "Run directory or model.safetensors; one run, no ensemble")
      ->required()
      ->type_name("RUN");
  app.add_option("-i,--input", options.input, "CSV, TSV, SMI or SDF, also .gz; - is standard input")
      ->required()
      ->type_name("IN");
  app.add_option(
         "-o,--output", options.output,
         "By suffix: .npz (arrays embeddings, ids, smiles, status), .npy (with the ids in OUT.rows.csv), .csv, .tsv or "
         ".jsonl, these three also .gz; - is CSV on standard output")
      ->required()
      ->type_name("OUT");
  app.add_option("--pooling", options.pooling, "token (the virtual node), or mean, sum or max over the atoms")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option(
         "--layer", options.layers,
         "-1 = the last, after the final LayerNorm; l = after block l; 0 = the input; several are put side by side")
      ->capture_default_str()
      ->type_name("L");
  app.add_flag("--l2", options.l2, "Scale each row to length 1");
  app.add_option("--dtype", options.dtype, "float32, or float16 for .npy and .npz")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_flag("--strict", options.strict, "End with code 3 at the first row without an embedding, without output");
  app.add_option("--batch-size", options.batch_size, "Molecules that are read, embedded and written at a time")
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

FloatKind float_kind(const std::string& dtype) {
  if (dtype == "float32") return FloatKind::float32;
  if (dtype == "float16") return FloatKind::float16;
  throw UsageError("--dtype " + dtype + ": use float32 or float16");
}

int embed(const EmbedOptions& options) {
  const EmbeddingOptions embedding{pooling_from_string(options.pooling), options.layers, options.l2};
  const FloatKind kind = float_kind(options.dtype);
  Predictor predictor({options.model}, {options.common.threads, {.max_atoms = options.common.max_atoms},
                                       precision_from_string(options.precision)});
  const int width = predictor.embedding_width(embedding);
  spdlog::debug("{} numbers per molecule, {}", width, predictor.featurizer().canonical_text());
  RowWindows windows(options.input, options.table.options(), static_cast<std::size_t>(options.batch_size));
  const auto writer = make_embedding_writer(options.output, width, kind);
  StatusCounts counts;
  Progress progress("Embedding", "molecules", 0);
  for (RowWindow window; windows.next(window);) {
    std::vector<Embedding> rows = window.mol_blocks ? predictor.embed_mol_blocks(window.molecules, embedding)
                                                    : predictor.embed(window.molecules, embedding);
    mark_malformed_rows(window, rows);
    windows.complete_smiles(window, options.common.threads);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const TableRow& row = window.rows[i];
      if (options.strict && rows[i].status != RowStatus::ok) {
        refuse_row(options.input, row, rows[i].status, rows[i].reason, windows.smiles(row));
      }
      counts.add(rows[i].status);
      writer->add(windows.id(row), windows.smiles(row), rows[i]);
    }
    progress.update(counts.rows());
  }
  writer->finish();
  return finish_rows(counts, progress.seconds());
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::embed(molgraph::parse(arguments)); });
}
