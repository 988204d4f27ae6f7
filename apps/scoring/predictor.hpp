// The public scoring class: loads a run (or an ensemble of runs) and computes predictions, statuses and embeddings from
// SMILES. Requires no header of LibTorch, RDKit or HDF5.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/domain_place.hpp"
#include "apps/scoring/explanation.hpp"
#include "attention/spec/device.hpp"
#include "attention/spec/precision.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// How to pool an embedding. `token`: the head's input, which is the virtual node's row or, if the model was trained
/// with another readout (EncoderOptions::readout), the sum (divided by 16) or mean of the atoms' rows. The others pool
/// over atoms only.
enum class Pooling : std::uint8_t { token, mean, sum, max };
Pooling pooling_from_string(const std::string& text);  ///< Throws UsageError.

Precision precision_from_string(const std::string& text);  ///< Throws UsageError.

struct PredictorOptions {
  int threads = 0;  ///< 0 = all cores this process may use
  FeaturizerLimits limits;
  /// Of matrix products. On the CPU, bf16 is accurate to three digits and used only if it is faster on this processor
  /// (used_precision()); tf32 is for GPUs.
  Precision precision = Precision::fp32;
  Device device;  ///< the CPU or a GPU; the number of threads is `threads`
  /// Whether to apply the run's temperatures (calibration.json) to probabilities. They belong to the run as a whole: a
  /// model file and several runs together have none.
  bool calibrate = true;
  double interval = 0;  ///< level of Prediction::low and high, from 0.5 to below 1; 0 = none
  bool domain = false;  ///< whether to fill Prediction::domain, the distance to the training molecules
  /// Method of explain(). For `atoms`, each thread has its own copy of the weights and gradients.
  ExplainMethod explain = ExplainMethod::none;
};

struct EmbeddingOptions {
  Pooling pooling = Pooling::token;
  std::vector<int> layers{-1};  ///< -1 = last, after the final LayerNorm; l = after block l (1-based), 0 = node input
  bool l2 = false;              ///< scale each row to length 1
};

/// One molecule's result. `values` and `members` are NaN if status is not ok. They are doubles to keep the digits of a
/// target whose mean is large compared with its spread (an energy of -500,000 +- 0.05).
struct Prediction {
  RowStatus status = RowStatus::ok;
  std::string reason;             ///< empty when ok
  std::vector<double> values;     ///< [outputs]: target's unit, probability, or class probabilities (target-major)
                                  ///< For a logarithmic target of an ensemble, the geometric mean of its members.
  std::vector<double> deviation;  ///< [outputs] population standard deviation over an ensemble, empty for one run
  /// [outputs] the prediction interval, which contains the true value with the requested probability.
  /// NaN for classes and for targets with too few labels; empty if not requested.
  std::vector<double> low, high;
  std::vector<std::vector<double>> members;  ///< [runs][outputs] of an ensemble, empty for one run
  std::vector<float> embedding;              ///< [layers * C] if requested
  std::optional<DomainPlace> domain;         ///< of a row with status ok, if requested
};

struct Embedding {
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::vector<float> values;  ///< [layers * C]
};

/// Thread-safe: several threads may use one object; each call uses PredictorOptions::threads internally. The result of
/// a text does not depend on the other texts of the call. Duplicate texts in a call are computed once.
class Predictor {
 public:
  /// `runs`: run directories, folders of runs (model_0, model_1, ...) or model.safetensors files. All must have the
  /// same task and featuriser. Throws FileError naming the file that is missing (an ensemble member, a run directory's
  /// run.json), damaged, different or, according to the checksums in run.json, from another run. Throws UsageError if
  /// tf32 is requested on the CPU, if the GPU cannot be used, if the interval's level is out of range, or if the
  /// run lacks a requested interval, domain or explanation.
  explicit Predictor(const std::vector<std::string>& runs, const PredictorOptions& options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  const Task& task() const;
  const FeaturizerOptions& featurizer() const;
  std::size_t num_runs() const;
  /// The precision of matrix products, with the reason if it is not the requested one.
  const UsedPrecision& precision() const;
  /// The files that predictions are computed from: the weight files, in the order of Prediction::members, then the
  /// partners of blends, then a run's calibration, domain and explanation.
  const std::vector<std::string>& files() const;
  /// [outputs] one unit of the model's raw output (a float) in the target's unit, for several runs the smallest. It
  /// determines how many digits of a prediction are significant. 1 for unscaled targets and for classes, infinite for
  /// logarithmic targets.
  const std::vector<double>& output_scale() const;
  /// Targets without an interval at PredictorOptions::interval although others have one; empty if none is requested.
  std::vector<std::string> without_interval() const;
  /// Of the molecules that PredictorOptions::domain compares with; null if the run does not store them.
  const DomainLabels* domain_labels() const;
  /// Whether the head has numeric inputs in addition to the graph, and whether the run is a blend. Both contribute to
  /// explanations.
  bool reads_inputs() const;
  bool is_blend() const;
  /// The length of an embedding.
  int embedding_width(const EmbeddingOptions& options) const;

  /// [K] names of the measured columns that are inputs of the model (molgraph-train --descriptor-columns).
  std::span<const std::string> input_columns() const;

  /// Returns one result per text, in order. Invalid text results in a status, never in an exception. `columns`
  /// [texts, K] are the input_columns() of each text, NaN = missing; empty = all missing. Throws UsageError if its size
  /// is wrong. `interval` replaces PredictorOptions::interval for this call; UsageError as in the constructor.
  std::vector<Prediction> predict(std::span<const std::string> smiles, std::span<const float> columns = {},
                                  std::optional<double> interval = {}) const;
  /// Returns the result of one text.
  Prediction predict_one(const std::string& smiles, std::span<const float> columns = {}) const;
  /// Also returns the embedding of each molecule, at no additional cost. Throws UsageError for more than one run and,
  /// if a domain is requested, for options other than the default.
  std::vector<Prediction> predict(std::span<const std::string> smiles, const EmbeddingOptions& embedding,
                                  std::span<const float> columns = {}) const;
  /// Returns embeddings, which do not depend on input columns.
  std::vector<Embedding> embed(std::span<const std::string> smiles, const EmbeddingOptions& options = {}) const;
  /// Attributions of predictions to atoms or fragments by the method PredictorOptions::explain (UsageError if it is
  /// none), on the CPU in fp32. `atoms` takes ten to a hundred times as long as predict() for each target, `fragments`
  /// about as many times as a molecule has fragments.
  std::vector<Explanation> explain(std::span<const std::string> smiles, std::span<const float> columns = {}) const;
  std::vector<Explanation> explain_mol_blocks(std::span<const std::string> blocks,
                                              std::span<const float> columns = {}) const;
  /// The same for SDF records, with PredictorOptions::interval.
  std::vector<Prediction> predict_mol_blocks(std::span<const std::string> blocks,
                                             std::span<const float> columns = {}) const;
  std::vector<Prediction> predict_mol_blocks(std::span<const std::string> blocks, const EmbeddingOptions& embedding,
                                             std::span<const float> columns = {}) const;
  std::vector<Embedding> embed_mol_blocks(std::span<const std::string> blocks,
                                          const EmbeddingOptions& options = {}) const;

 private:
  void check_embedding(const EmbeddingOptions& options) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph
