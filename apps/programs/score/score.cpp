#include "apps/programs/score/score.hpp"

#include <spdlog/spdlog.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apps/programs/batch/input_cells.hpp"
#include "apps/programs/batch/score_output.hpp"
#include "apps/programs/score/explain_rows.hpp"
#include "apps/programs/score/training_molecules.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// The output format: by suffix; for a stream without a suffix, TSV for TSV input, otherwise CSV. Throws UsageError for
/// any other suffix.
RowFormat format_for(const std::string& output, TableFormat input) {
  if (const auto format = line_format_of(output)) return *format;
  if (is_output_stream(output)) return input == TableFormat::tsv ? RowFormat::tsv : RowFormat::csv;
  throw UsageError(output + ": the suffix must be .csv, .tsv or .jsonl, each also with .gz (- is standard output)");
}

/// Predictions for a window, with the nearest training molecules if `training` is set.
std::vector<ScoredRow> score_window(const Predictor& predictor, const std::optional<TrainingMolecules>& training,
                                    bool explain, const InputCells& cells, const RowWindow& window) {
  const std::vector<float> columns = cells.values(window);
  const auto predict = [&](const auto&... embedding) {
    return window.mol_blocks ? predictor.predict_mol_blocks(window.molecules, embedding..., columns)
                             : predictor.predict(window.molecules, embedding..., columns);
  };
  std::vector<ScoredRow> rows;
  for (Prediction& one : training ? predict(EmbeddingOptions{}) : predict()) rows.push_back({std::move(one), 0, {}});
  if (explain) explain_rows(predictor, window, columns, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) cells.check(window.rows[i], rows[i]);
  if (!training) return rows;
  std::vector<float> queries;
  for (const ScoredRow& row : rows)
    if (row.status == RowStatus::ok) queries.insert(queries.end(), row.embedding.begin(), row.embedding.end());
  const std::vector<Neighbour> found = training->rows.find(queries);
  std::size_t next = 0;
  for (ScoredRow& row : rows) {
    if (row.status != RowStatus::ok) continue;
    row.nearest_distance = found[next].distance;
    row.nearest_id = training->ids[found[next++].index];
  }
  return rows;
}

}  // namespace

int score(const ScoreOptions& options) {
  const bool explain = !options.explain.empty();
  const BatchOptions batch = explain ? explained_batch(options.batch) : options.batch;
  (void)format_for(batch.output, TableFormat::automatic);  // fails early for a wrong suffix
  PredictorOptions predictor_options = batch.predictor();
  predictor_options.calibrate = options.calibrate;
  predictor_options.interval = options.interval;
  predictor_options.domain = options.domain;
  predictor_options.explain = explain_method(options.explain);
  const Predictor predictor(options.models, predictor_options);
  spdlog::debug("{} model(s), {}", predictor.num_runs(), predictor.featurizer().canonical_text());
  log_model_notes(predictor);
  if (const auto without_intervals = predictor.without_interval(); !without_intervals.empty())
    spdlog::warn("No interval for {} (too few labels, or a classification target)", list_of(without_intervals, 5));
  const bool nearest = !options.nearest.empty();
  if (nearest && predictor.num_runs() > 1) throw UsageError("--nearest uses one model's embedding space: give one -m");
  reject_overwriting(batch, predictor.files(), {{options.nearest, "--nearest"}});
  const Pictures pictures(options, predictor);
  InputRange range = open_input(batch);
  const InputCells cells(range.tables, predictor.input_columns());
  const ScoreTable table(range.tables.columns(), predictor.task(), predictor.output_scale(),
                         {predictor.num_runs(), options.individual, options.interval > 0, nearest, options.domain,
                          predictor.domain_labels(), explained_columns(predictor, predictor_options.explain)},
                         format_for(batch.output, range.tables.format()));
  std::map<std::string, std::string> made_from{{"individual", options.individual ? "yes" : "no"},
                                               {"nearest", nearest ? fingerprint_of(options.nearest) : "none"}};
  if (options.interval > 0) made_from["interval"] = text("%.17g", options.interval);
  if (options.domain) made_from["domain"] = "yes";
  if (explain) made_from["explain"] = options.explain;
  if (!options.calibrate) made_from["calibrate"] = "no";
  if (!options.draw.empty()) made_from["draw"] = "yes";
  TextOutput output(batch, range, table.header(), predictor.files(), std::move(made_from));
  if (output.done()) return output.exit_code();
  std::optional<TrainingMolecules> training;
  if (nearest) training = embed_training_molecules(options.nearest, predictor, batch.common.threads);
  TextSink<ScoredRow> sink(output,
                           [&](const RowWindows& windows, const RowWindow& window, const std::vector<ScoredRow>& rows) {
                             pictures.draw(windows, window, rows);
                             std::string text;
                             for (std::size_t i = 0; i < rows.size(); ++i) table.append(window.rows[i], rows[i], text);
                             return text;
                           });
  return run_batch<ScoredRow>(
      batch, "Scoring", std::move(range), output.counts(),
      [&](const RowWindow& window) { return score_window(predictor, training, explain, cells, window); }, sink);
}

}  // namespace molgraph
