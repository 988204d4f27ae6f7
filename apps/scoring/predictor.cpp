#include "apps/scoring/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <variant>

#include "apps/scoring/calibrated_prediction.hpp"
#include "apps/scoring/domain_file.hpp"
#include "apps/scoring/explainer.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/scoring/molecule_window.hpp"
#include "apps/scoring/occlusion.hpp"
#include "apps/scoring/placed_prediction.hpp"
#include "apps/scoring/result_rows.hpp"
#include "apps/scoring/rollout.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/scoring/run_files.hpp"
#include "apps/scoring/run_record.hpp"
#include "attention/spec/missing_rows.hpp"
#include "attention/spec/scalar.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMoleculesPerPiece = 16;  // unit of work of a featurising thread
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// `parts`: SMILES of parts of a molecule that is already standardised.
enum class InputText : std::uint8_t { smiles, mol_block, parts };

}  // namespace

struct Predictor::State {
  State(const PredictorOptions& given, std::vector<ScoringModel> loaded, std::vector<std::string> names,
        std::vector<std::shared_ptr<const RunBlend>> loaded_blends)
      : options(given), runs(std::move(loaded)), blends(std::move(loaded_blends)), files(std::move(names)),
        featurizer(runs[0].config.featurizer, options.limits, extras_of(blends, options.domain)),
        graph_featurizer(without_descriptors(runs[0].config.featurizer), options.limits),
        part_featurizer(without_standardisation(runs[0].config.featurizer), options.limits, extras_of(blends, false)),
        output_scale(runs[0].target_scale) {
    for (const ScoringModel& run : runs)
      for (std::size_t o = 0; o < output_scale.size(); ++o)
        output_scale[o] =
            runs[0].config.task.is_logarithmic(o) ? INFINITY : std::min(output_scale[o], run.target_scale[o]);
  }

  PredictorOptions options;
  std::vector<std::string> paths;  ///< the given runs
  UsedPrecision precision;
  std::vector<ScoringModel> runs;
  std::vector<std::shared_ptr<const RunBlend>> blends;  ///< [runs], null = none; members of an ensemble share one
  std::vector<std::string> files;                       // of `runs`, then of `blends`
  Featurizer featurizer, graph_featurizer;  ///< the second is for embeddings, which do not depend on descriptors
  Featurizer part_featurizer;               ///< for parts of a molecule that is already standardised
  std::vector<double> output_scale;
  std::optional<Calibration> calibration;
  std::unique_ptr<const DomainIndex> domain;         ///< for PredictorOptions::domain, else null
  std::unique_ptr<const Explainer> explainer;        ///< for ExplainMethod::atoms, else null
  std::unique_ptr<const RolloutExplainer> rollouts;  ///< for ExplainMethod::rollout, else null

  static FeaturizerOptions without_descriptors(FeaturizerOptions featurizer_options) {
    featurizer_options.descriptors = DescriptorSet::none;
    return featurizer_options;
  }
  static FeaturizerOptions without_standardisation(FeaturizerOptions featurizer_options) {
    featurizer_options.standardize = Standardize::none;
    return featurizer_options;
  }
  static FeaturizerExtras extras_of(const std::vector<std::shared_ptr<const RunBlend>>& blends, bool domain) {
    const bool any = std::ranges::any_of(blends, [](const auto& one) { return one != nullptr; });
    return {.descriptors = any, .fingerprint = any || domain};
  }

  /// Rejects a molecule for whose atoms or bonds an imported model has no embedding rows. Every run must support it.
  void reject_unsupported(FeaturizeResult& molecule) const {
    for (const ScoringModel& run : runs) {
      const auto* graph = std::get_if<MolecularGraph>(&molecule);
      if (graph == nullptr || run.config.model.missing.empty()) continue;
      const std::string reason =
          missing_rows_reason(graph->view(), run.config.model.max_distance, run.config.model.missing);
      if (!reason.empty()) molecule = Rejection{RowStatus::unsupported, reason};
    }
  }

  std::vector<FeaturizeResult> featurize(std::span<const std::string> texts, InputText input, bool graphs_only) const {
    const Featurizer& used = graphs_only ? graph_featurizer : input == InputText::parts ? part_featurizer : featurizer;
    std::vector<FeaturizeResult> molecules(texts.size());
    parallel_for(static_cast<std::int64_t>(texts.size()), kMoleculesPerPiece, options.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     const auto at = static_cast<std::size_t>(i);
                     molecules[at] = input == InputText::mol_block ? used.mol_block(texts[at]) : used.smiles(texts[at]);
                     reject_unsupported(molecules[at]);
                   }
                 });
    return molecules;
  }

  /// The head's numeric inputs of every molecule that has a graph [molecules, D]: its descriptors, then the columns.
  /// All are missing if only embeddings are computed.
  std::vector<float> inputs_of(const std::vector<FeaturizeResult>& molecules, std::span<const float> columns) const {
    const ModelConfig& config = runs[0].config;
    const std::size_t count = config.input_names.size(), measured = config.input_columns().size();
    std::vector<float> inputs(molecules.size() * count, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < molecules.size() && count > 0; ++i) {
      const auto* graph = std::get_if<MolecularGraph>(&molecules[i]);
      if (graph == nullptr) continue;
      float* to = inputs.data() + i * count;
      if (config.featurizer.descriptors != DescriptorSet::none)  // else only the partners use them
        std::copy(graph->descriptors.begin(), graph->descriptors.end(), to);
      if (!columns.empty()) std::copy_n(columns.data() + i * measured, measured, to + count - measured);
    }
    return inputs;
  }

  PartnerRows partners_of(const std::vector<FeaturizeResult>& molecules, std::span<const float> columns,
                          double level) const {
    const ModelConfig& config = runs[0].config;
    const bool with_difficulty = level > 0 && calibration && calibration->by_difficulty();
    return partner_rows(blends, molecules, columns, config.input_columns().size(),
                        static_cast<std::size_t>(config.task.num_outputs()), with_difficulty, options.threads);
  }

  /// Calls work(run, window indices of the batch, packed batch) for every batch and run. One thread computes each
  /// batch, so results do not depend on the number of threads.
  void for_each_batch(
      const std::vector<FeaturizeResult>& molecules, const std::vector<float>& inputs,
      const std::function<void(std::size_t, std::span<const std::size_t>, const GraphBatch&)>& work) const {
    const Batches batches = make_batches(molecules, runs[0].engine->pairs_per_call());
    const auto count = static_cast<int>(runs[0].config.input_names.size());
    parallel_for(batches.size(), 1, options.threads, [&](std::int64_t begin, std::int64_t) {
      const auto b = static_cast<std::size_t>(begin);
      const std::span<const std::size_t> chosen(batches.order.data() + batches.offset[b],
                                                batches.offset[b + 1] - batches.offset[b]);
      std::vector<GraphView> graphs;
      std::vector<std::int64_t> rows;
      for (const std::size_t i : chosen) {
        graphs.push_back(std::get<MolecularGraph>(molecules[i]).view());
        graphs.back().num_inputs = count;
        graphs.back().inputs = inputs.data() + i * static_cast<std::size_t>(count);
        rows.push_back(static_cast<std::int64_t>(i));
      }
      for (std::size_t r = 0; r < runs.size(); ++r) {
        work(r, chosen, pack(graphs, rows, runs[r].engine->pack_options()));
      }
    });
  }

  /// `requested` null = no embeddings; else there must be a single run. `embedding_only`: predictions are not used.
  std::vector<Prediction> predict(std::span<const std::string> texts, std::span<const float> columns, InputText input,
                                  const EmbeddingOptions* requested = nullptr, bool embedding_only = false,
                                  std::optional<double> interval = {}) const {
    const double level = interval.value_or(options.interval);
    if (interval) check_interval(calibration, runs[0].config.task, paths, level);
    const DistinctRows distinct(texts, columns, runs[0].config.input_columns().size());
    const bool with_domain = domain != nullptr && !embedding_only && input != InputText::parts;
    const EmbeddingOptions default_embedding;
    const EmbeddingOptions* embedding = with_domain ? &default_embedding : requested;
    const std::vector<FeaturizeResult> molecules = featurize(distinct.texts, input, embedding_only);
    const std::vector<float> inputs = inputs_of(molecules, distinct.columns);
    const auto outputs = static_cast<std::size_t>(runs[0].config.task.num_outputs());
    const auto channels = static_cast<std::size_t>(runs[0].config.encoder().width);
    std::vector<Prediction> predictions(molecules.size());
    for (std::size_t i = 0; i < molecules.size(); ++i) {
      predictions[i].members.assign(runs.size(), std::vector<double>(outputs, kNaN));
      if (embedding != nullptr)
        predictions[i].embedding.assign(embedding->layers.size() * channels, std::numeric_limits<float>::quiet_NaN());
      if (const Rejection* rejection = std::get_if<Rejection>(&molecules[i])) {
        predictions[i].status = rejection->status;
        predictions[i].reason = rejection->reason;
      }
    }
    const Pooling pooling = embedding == nullptr ? Pooling::token : pooling_of(embedding->pooling, runs[0].config);
    const PartnerRows partners = embedding_only ? PartnerRows{} : partners_of(molecules, distinct.columns, level);
    for_each_batch(molecules, inputs, [&](std::size_t r, std::span<const std::size_t> chosen, const GraphBatch& batch) {
      std::vector<float> values(chosen.size() * outputs);
      std::vector<std::vector<float>> states(embedding != nullptr && r == 0 ? embedding->layers.size() : 0);
      std::vector<KeptStates> kept;
      for (std::size_t l = 0; l < states.size(); ++l) {
        states[l].resize(static_cast<std::size_t>(batch.num_tokens()) * channels);
        kept.push_back({embedding->layers[l], states[l].data()});
      }
      runs[r].engine->predict(batch, values.data(), kept);
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        const std::span<float> row(values.data() + k * outputs, outputs);
        Prediction& to = predictions[chosen[k]];
        std::string problem = not_finite(std::span<const float>(row));  // an infinite logit gives a finite probability
        runs[r].to_predictions(row.data(), to.members[r].data());
        if (blends[r] != nullptr && !embedding_only)
          blends[r]->mix(std::span(partners.contribution.at(blends[r].get())).subspan(chosen[k] * outputs, outputs),
                         to.members[r].data());
        if (problem.empty()) problem = not_finite(std::span<const double>(to.members[r]));
        if (!problem.empty())
          mark_not_finite(to, (runs.size() > 1 ? "model " + std::to_string(r) : "the model") + " gives " + problem);
        const std::int64_t first = batch.token_offset[k], tokens = batch.token_offset[k + 1] - first;
        for (std::size_t l = 0; l < states.size(); ++l) {
          pool(pooling, states[l].data() + static_cast<std::size_t>(first) * channels, tokens,
               static_cast<std::int64_t>(channels), to.embedding.data() + l * channels);
          if (pooling == embedding->pooling || pooling != Pooling::sum) continue;
          for (std::size_t c = 0; c < channels; ++c)  // the head's input is a fraction of the sum
            to.embedding[l * channels + c] *= readout_share<float>(false, 1);
        }
        if (const std::string embedding_problem = not_finite(std::span<const float>(to.embedding));
            !embedding_problem.empty() && to.status == RowStatus::ok)
          mark_not_finite(to, "its embedding contains " + embedding_problem);
      }
    });
    if (with_domain) add_places(*domain, molecules, options.threads, predictions);
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      Prediction& prediction = predictions[i];
      if (requested == nullptr) prediction.embedding.clear();
      if (prediction.status == RowStatus::not_finite) clear_results(prediction);
      summarise_members(prediction);
      if (calibration && !embedding_only)
        calibrate(*calibration, options.calibrate, level, partners.difficulty_of(i, outputs), prediction);
      if (!embedding_only) convert_to_table_unit(runs[0].config.task, prediction);
      if (requested != nullptr && requested->l2) scale_to_length_one(prediction.embedding);
    }
    return distinct.expand(std::move(predictions));
  }

  void prepare_explanations() {
    if (options.explain == ExplainMethod::fragments) return;
    const std::vector<std::string> weights(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(runs.size()));
    if (options.explain == ExplainMethod::rollout) {
      rollouts = std::make_unique<const RolloutExplainer>(weights, options.threads);
      return;
    }
    explainer = std::make_unique<const Explainer>(runs, blends, weights, options.threads);
    std::ranges::copy(explainer->files(), std::back_inserter(files));
  }
  std::vector<Explanation> explain(std::span<const std::string> texts, std::span<const float> columns,
                                   InputText input) const {
    if (options.explain == ExplainMethod::none) throw UsageError("explain() requires PredictorOptions::explain");
    const DistinctRows distinct(texts, columns, runs[0].config.input_columns().size());
    if (options.explain == ExplainMethod::fragments) {
      const auto predicted = [this](const auto& rows, const auto& of_rows, InputText kind) {
        return predict(rows, of_rows, kind, nullptr, false, 0.0);
      };
      return distinct.expand(explain_fragments(
          {distinct.texts, distinct.columns, input == InputText::mol_block},
          predicted(distinct.texts, distinct.columns, input), featurizer.options(), runs[0].config.task,
          options.threads,
          [&](const auto& parts, const auto& of_parts) { return predicted(parts, of_parts, InputText::parts); }));
    }
    const std::vector<FeaturizeResult> molecules = featurize(distinct.texts, input, rollouts != nullptr);
    if (rollouts) return distinct.expand(rollouts->explain(molecules));
    return distinct.expand(explainer->explain(
        {molecules, inputs_of(molecules, distinct.columns), partners_of(molecules, distinct.columns, 0)},
        calibration && options.calibrate ? &*calibration : nullptr));
  }
};

Predictor::Predictor(const std::vector<std::string>& runs, const PredictorOptions& options) {
  if (runs.empty()) throw UsageError("no model is given");
  Device device = options.device;
  device.threads = 1;  // predict() is called from several threads
  if (options.explain != ExplainMethod::none && (device.is_gpu() || options.precision != Precision::fp32))
    throw UsageError("explanations require the CPU and fp32");
  const UsedPrecision precision = used_precision(device, options.precision);
  check_device(device, precision.precision);
  std::vector<std::string> files;
  std::vector<PartnerFiles> partner_files;
  for (const std::string& run : runs)
    for (const std::string& file : weight_files(run)) {
      files.push_back(file);
      partner_files.push_back(file == run ? PartnerFiles{}
                                          : partner_files_of(file));  // a model file is scored without partners
    }
  std::vector<ScoringModel> loaded;
  for (const std::string& file : files) {
    loaded.push_back(load_scoring_model(file, device, precision.precision));
    if (const std::string text = model_difference(loaded[0].config, loaded.back().config); !text.empty()) {
      throw FileError(file + ": cannot be combined with " + files[0] + ": it has " + text);
    }
  }
  std::vector<std::shared_ptr<const RunBlend>> blends = load_blends(partner_files, loaded[0].config, files);
  std::optional<Calibration> calibration;
  if (runs.size() == 1) calibration = calibration_of(runs[0], loaded[0].config.task);
  check_calibration(calibration, runs, loaded.size());
  check_interval(calibration, loaded[0].config.task, runs, options.interval);
  if (calibration) files.push_back(runs[0] + "/" + kCalibrationFile);
  std::unique_ptr<const DomainIndex> domain;
  if (options.domain) {
    files.push_back(domain_file_for(runs));
    domain = std::make_unique<const DomainIndex>(read_domain(files.back(), loaded[0].config));
  }
  state_ = std::make_unique<State>(options, std::move(loaded), std::move(files), std::move(blends));
  state_->paths = runs;
  state_->precision = precision;
  state_->calibration = std::move(calibration);
  state_->domain = std::move(domain);
  if (options.explain != ExplainMethod::none) state_->prepare_explanations();
  check_run_files(runs, state_->files);
  check_difficulty(state_->calibration, runs, state_->blends[0] != nullptr && state_->blends[0]->has_process());
}

Predictor::~Predictor() = default;
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;

const Task& Predictor::task() const { return state_->runs[0].config.task; }
const FeaturizerOptions& Predictor::featurizer() const { return state_->runs[0].config.featurizer; }
std::size_t Predictor::num_runs() const { return state_->runs.size(); }
const UsedPrecision& Predictor::precision() const { return state_->precision; }
const std::vector<std::string>& Predictor::files() const { return state_->files; }
const std::vector<double>& Predictor::output_scale() const { return state_->output_scale; }

std::vector<std::string> Predictor::without_interval() const {
  const double level = state_->options.interval;
  return state_->calibration && level > 0 ? targets_without_interval(*state_->calibration, level)
                                          : std::vector<std::string>();
}

const DomainLabels* Predictor::domain_labels() const {
  if (!state_->domain) return nullptr;
  const auto& labels = state_->domain->domain().labels;
  return labels ? &*labels : nullptr;
}

bool Predictor::reads_inputs() const { return state_->runs[0].config.model.head.inputs > 0; }
bool Predictor::is_blend() const {
  return std::ranges::any_of(state_->blends, [](const auto& one) { return one != nullptr; });
}

int Predictor::embedding_width(const EmbeddingOptions& options) const {
  if (num_runs() > 1)
    throw UsageError("an embedding requires a single model, but " + std::to_string(num_runs()) + " are given");
  if (options.layers.empty()) throw UsageError("no layer is given");
  const EncoderOptions& encoder = state_->runs[0].config.encoder();
  for (const int layer : options.layers)
    if (layer < -1 || layer > encoder.layers)
      throw UsageError("layer " + std::to_string(layer) + ": this model has layers 0 (input) to " +
                       std::to_string(encoder.layers) + ", and -1 (last, normalised)");
  return static_cast<int>(options.layers.size()) * encoder.width;
}

/// Throws UsageError if the embedding cannot be computed.
void Predictor::check_embedding(const EmbeddingOptions& options) const {
  embedding_width(options);
  if (state_->domain && (options.pooling != Pooling::token || options.layers != std::vector<int>{-1}))
    throw UsageError("with an applicability domain, embeddings are limited to pooling token and layer -1");
}

std::span<const std::string> Predictor::input_columns() const { return state_->runs[0].config.input_columns(); }

std::vector<Prediction> Predictor::predict(std::span<const std::string> smiles, std::span<const float> columns,
                                           std::optional<double> interval) const {
  return state_->predict(smiles, columns, InputText::smiles, nullptr, false, interval);
}

Prediction Predictor::predict_one(const std::string& smiles, std::span<const float> columns) const {
  return std::move(predict(std::span(&smiles, 1), columns)[0]);
}

std::vector<Prediction> Predictor::predict(std::span<const std::string> smiles, const EmbeddingOptions& embedding,
                                           std::span<const float> columns) const {
  check_embedding(embedding);
  return state_->predict(smiles, columns, InputText::smiles, &embedding);
}

std::vector<Prediction> Predictor::predict_mol_blocks(std::span<const std::string> blocks,
                                                      std::span<const float> columns) const {
  return state_->predict(blocks, columns, InputText::mol_block);
}

std::vector<Prediction> Predictor::predict_mol_blocks(std::span<const std::string> blocks,
                                                      const EmbeddingOptions& embedding,
                                                      std::span<const float> columns) const {
  check_embedding(embedding);
  return state_->predict(blocks, columns, InputText::mol_block, &embedding);
}

std::vector<Explanation> Predictor::explain(std::span<const std::string> smiles, std::span<const float> columns) const {
  return state_->explain(smiles, columns, InputText::smiles);
}

std::vector<Explanation> Predictor::explain_mol_blocks(std::span<const std::string> blocks,
                                                       std::span<const float> columns) const {
  return state_->explain(blocks, columns, InputText::mol_block);
}

std::vector<Embedding> Predictor::embed(std::span<const std::string> smiles, const EmbeddingOptions& options) const {
  embedding_width(options);
  return embeddings_of(state_->predict(smiles, {}, InputText::smiles, &options, true));
}

std::vector<Embedding> Predictor::embed_mol_blocks(std::span<const std::string> blocks,
                                                   const EmbeddingOptions& options) const {
  embedding_width(options);
  return embeddings_of(state_->predict(blocks, {}, InputText::mol_block, &options, true));
}

}  // namespace molgraph
