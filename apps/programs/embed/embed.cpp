#include "apps/programs/embed/embed.hpp"

#include <spdlog/spdlog.h>

#include "apps/programs/embed/embed_output.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string text_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace

int embed(const EmbedOptions& options) {
  const EmbeddingOptions embedding{pooling_from_string(options.pooling), options.layers, options.l2};
  const FloatKind kind = options.dtype == "float16" ? FloatKind::float16 : FloatKind::float32;
  const auto format = embedding_lines_format(options.batch.output);
  if (format && kind == FloatKind::float16) throw UsageError("--dtype float16 is for .npz, .npy and .h5 only");
  if (!format && options.batch.resume) throw UsageError("--resume is for .csv, .tsv and .jsonl only");
  const Predictor predictor({options.model}, options.batch.predictor());
  const int width = predictor.embedding_width(embedding);
  spdlog::debug("{} numbers per molecule, {}", width, predictor.featurizer().canonical_text());
  log_model_notes(predictor);
  reject_overwriting(options.batch, predictor.files(), {},
                     format ? std::vector<std::string>{} : array_output_files(options.batch.output));
  InputRange range = open_input(options.batch);
  const auto compute = [&](const RowWindow& window) {
    auto rows = window.mol_blocks ? predictor.embed_mol_blocks(window.molecules, embedding)
                                  : predictor.embed(window.molecules, embedding);
    if (kind == FloatKind::float16) reject_float16_overflow(rows);
    return rows;
  };
  if (!format) {
    const auto arrays = make_embedding_arrays(options.batch.output, width, kind);
    return run_batch<Embedding>(options.batch, "Embedding", std::move(range), {}, compute, *arrays);
  }
  const EmbeddingTable table(width, *format);
  TextOutput output(
      options.batch, range, table.header(), predictor.files(),
      {{"embedding", options.pooling + ", layers " + text_of(options.layers) + (options.l2 ? ", l2" : "")}});
  if (output.done()) return output.exit_code();
  TextSink<Embedding> sink(output,
                           [&](const RowWindows& windows, const RowWindow& window, const std::vector<Embedding>& rows) {
                             std::string text;
                             for (std::size_t i = 0; i < rows.size(); ++i) {
                               table.append(windows.id(window, i), windows.smiles(window.rows[i]), rows[i], text);
                             }
                             return text;
                           });
  return run_batch<Embedding>(options.batch, "Embedding", std::move(range), output.counts(), compute, sink);
}

}  // namespace molgraph
