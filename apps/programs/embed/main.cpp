// molgraph-embed: a table of molecules in, one vector per row out, with its id.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>

#include "apps/programs/embed/embed_output.hpp"
#include "apps/scoring/model_limits.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

struct EmbedOptions {
  BatchOptions batch;
  std::string model, pooling = "token", dtype = "float32";
  std::vector<int> layers{-1};
  bool l2 = false;
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
  choose(app.add_option("--pooling", options.pooling, "The virtual node (token), or over the atoms"), {"token", "mean", "sum", "max"})
      ->capture_default_str();
  limit(app.add_option("--layer", options.layers,
                       "-1 = the last, after the final LayerNorm; l = after block l; 0 = the input; several are put side by side"),
        WholeRange{-1, kMostLayers})
      ->capture_default_str();
  app.add_flag("--l2", options.l2, "Scale each row to length 1");
  choose(app.add_option("--dtype", options.dtype, "float16 is for .npz, .npy and .h5"), {"float32", "float16"})
      ->capture_default_str();
  add_batch_options(line, options.batch,
                    "By suffix: .npz (arrays embeddings, ids, smiles, status), .h5 (embeddings, id, smiles, status, reason), "
                    ".npy (with the ids in OUT.npy.rows.csv), .csv, .tsv or .jsonl, these three also .gz; - is CSV on standard output");
  line.parse(arguments);
  options.batch.config = line.config_file();
  return options;
}

std::string text_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

int embed(const EmbedOptions& options) {
  const EmbeddingOptions embedding{pooling_from_string(options.pooling), options.layers, options.l2};
  const FloatKind kind = options.dtype == "float16" ? FloatKind::float16 : FloatKind::float32;
  const auto format = embedding_lines_format(options.batch.output);
  if (format && kind == FloatKind::float16) throw UsageError("--dtype float16 is for .npz, .npy and .h5 only");
  if (!format && options.batch.resume) throw UsageError("--resume is for .csv, .tsv and .jsonl only");
  const Predictor predictor({options.model}, options.batch.predictor());
  const int width = predictor.embedding_width(embedding);
  spdlog::debug("{} numbers per molecule, {}", width, predictor.featurizer().canonical_text());
  refuse_overwriting(options.batch, predictor.files(), {},
                     format ? std::vector<std::string>{} : files_of_arrays(options.batch.output));
  InputRange range = open_input(options.batch);
  const auto compute = [&](const RowWindow& window) {
    auto rows = window.mol_blocks ? predictor.embed_mol_blocks(window.molecules, embedding)
                                  : predictor.embed(window.molecules, embedding);
    if (kind == FloatKind::float16) refuse_beyond_half(rows);
    return rows;
  };
  if (!format) {
    const auto arrays = make_embedding_arrays(options.batch.output, width, kind);
    return run_batch<Embedding>(options.batch, "Embedding", std::move(range), {}, compute, *arrays);
  }
  const EmbeddingTable table(width, *format);
  TextOutput output(options.batch, range, table.header(), predictor.files(),
                    {{"embedding", options.pooling + ", layers " + text_of(options.layers) + (options.l2 ? ", l2" : "")}});
  if (output.done()) return output.exit_code();
  TextSink<Embedding> sink(output, [&](const RowWindows& windows, const RowWindow& window,
                                       const std::vector<Embedding>& rows) {
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.append(windows.id(window, i), windows.smiles(window.rows[i]), rows[i], text);
    }
    return text;
  });
  return run_batch<Embedding>(options.batch, "Embedding", std::move(range), output.counts(), compute, sink);
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::embed(molgraph::parse(arguments)); });
}
