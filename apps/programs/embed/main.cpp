// molgraph-embed: reads a table of molecules and writes one vector with its id per row.
#include <CLI/CLI.hpp>

#include "apps/programs/embed/embed.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/scoring/model_limits.hpp"

namespace molgraph {
namespace {

EmbedOptions parse(const std::vector<std::string>& arguments) {
  EmbedOptions options;
  CommandLine line(
      "molgraph-embed",
      "Writes one embedding per molecule, in the input's order. A molecule that the model cannot read gives a row\n"
      "of NaN (JSON lines: null) and a status that gives the reason.",
      "molgraph-embed -m runs/esol -i library.csv -o library.npz --pooling mean");
  CLI::App& app = line.app();
  app.add_option("-m,--model", options.model, "Run directory or model.safetensors; one run, no ensemble")
      ->required()
      ->type_name("RUN");
  choose(app.add_option("--pooling", options.pooling,
                        "token: the input of the head (the virtual node, or the --readout of training); or a mean, sum "
                        "or maximum over the atoms"),
         {"token", "mean", "sum", "max"})
      ->capture_default_str();
  limit(
      app.add_option(
          "--layer", options.layers,
          "-1 = the last layer, after the final LayerNorm; l = after block l; 0 = the input; several are concatenated"),
      WholeRange{-1, kMaxLayers})
      ->capture_default_str();
  app.add_flag("--l2", options.l2, "Scale each row to length 1");
  choose(app.add_option("--dtype", options.dtype, "Number format; float16 needs .npz, .npy or .h5"),
         {"float32", "float16"})
      ->capture_default_str();
  add_batch_options(
      line, options.batch,
      "Output file: .npz (arrays embeddings, ids, smiles, status), .h5 (embeddings, id, smiles, status, reason), .npy "
      "(with the ids in OUT.npy.rows.csv), .csv, .tsv or .jsonl, these three also .gz; - is CSV on standard output");
  line.parse(arguments);
  options.batch.config = line.config_file();
  return options;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::embed(molgraph::parse(arguments)); });
}
