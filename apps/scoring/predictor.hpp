// The public scoring class: open a run (or an ensemble of runs), score SMILES, get values, statuses and embeddings.
// No header of LibTorch, RDKit or HDF5 is needed to use it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/domain_place.hpp"
#include "apps/scoring/explanation.hpp"
#include "attention/spec/precision.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

/// How to pool an embedding. `token`: what the head reads, the virtual node's row or, if the model was trained with
/// another readout (EncoderOptions::readout), the sum (divided by 16) or mean of the atoms'; the others run over atoms
/// only.
enum class Pooling : std::uint8_t { token, mean, sum, max };
Pooling pooling_from_string(const std::string& text);  ///< throws UsageError

Precision precision_from_string(const std::string& text);  ///< throws UsageError

struct PredictorOptions {
  int threads = 0;  ///< 0 = all cores this process may use
  FeaturizerLimits limits;
  /// Of matrix products. On the CPU bf16 is about 1.4 times as fast, to three digits, and used where the processor
  /// gains by it (used_precision()); tf32 is for GPUs.
  Precision precision = Precision::fp32;
  int gpu = -1;  ///< number of the NVIDIA GPU that computes; -1 = the CPU
  /// Probabilities get the temperature that the run found (calibration.json). It belongs to the run as a whole: a
  /// model file and several runs together have none.
  bool calibrate = true;
  double interval = 0;  ///< level of Prediction::low and high, 0 to 1; 0 = none
  bool domain = false;  ///< Prediction::domain: how far a molecule lies from those of training
  ExplainMethod explain =
      ExplainMethod::none;  ///< what explain() does: each thread holds the weights and gradients of its own
};

struct EmbeddingOptions {
  Pooling pooling = Pooling::token;
  std::vector<int> layers{-1};  ///< -1 = last, after the final LayerNorm; l = after block l (1-based), 0 = node input
  bool l2 = false;              ///< scale each row to length 1
};

/// One molecule's result. `values` and `members` are NaN where status is not ok. In double, so that a target whose mean
/// is large beside its spread (an energy of -500,000 +- 0.05) keeps its digits.
struct Prediction {
  RowStatus status = RowStatus::ok;
  std::string reason;             ///< empty when ok
  std::vector<double> values;     ///< [outputs]: target's unit, probability, or class probabilities (target-major)
  std::vector<double> deviation;  ///< [outputs] standard deviation over an ensemble (population), empty for one run
  /// [outputs] the interval that holds the target's true value with the probability PredictorOptions::interval; NaN of
  /// classes and of targets with too few labels; empty where none is asked for.
  std::vector<double> low, high;
  std::vector<std::vector<double>> members;  ///< [runs][outputs] of an ensemble, empty for one run
  std::vector<float> embedding;              ///< [layers * C] where asked for
  std::optional<DomainPlace> domain;         ///< of a row that is ok, where asked for
};

struct Embedding {
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::vector<float> values;  ///< [layers * C]
};

/// Thread-safe: several threads may use one object; each call uses PredictorOptions::threads inside. What a text gives
/// depends on nothing that stands beside it; texts that occur more than once in a call are computed once.
class Predictor {
 public:
  /// `runs`: run directories, folders of runs (model_0, model_1, ...) or model.safetensors files. All must have the
  /// same task and featuriser. Throws FileError naming what is missing (a model of an ensemble, a run directory's
  /// run.json), damaged, different or, by the checksums in run.json, of another run, UsageError if the CPU is asked for
  /// tf32, the GPU cannot be used, or an interval, a domain or explanations are asked for that the run does not have.
  explicit Predictor(const std::vector<std::string>& runs, const PredictorOptions& options = {});
  ~Predictor();
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;

  const Task& task() const;
  const FeaturizerOptions& featurizer() const;
  std::size_t num_runs() const;
  /// What products are computed in, and why if another precision was asked for.
  const UsedPrecision& precision() const;
  /// What predictions are made from: the weight files, in the order of Prediction::members, then the trees of blends,
  /// then a run's calibration, domain and explanation.
  const std::vector<std::string>& files() const;
  /// [outputs] what one unit of the model's raw output, a float, is in the target's unit (of several runs the
  /// smallest): it says how many digits of a prediction mean something. 1 where the targets were not scaled, and for
  /// classes.
  const std::vector<double>& output_scale() const;
  /// Targets without an interval at PredictorOptions::interval, though others have one; empty without it.
  std::vector<std::string> without_interval() const;
  /// Of the molecules that PredictorOptions::domain compares with; null where the run keeps none of it.
  const DomainLabels* domain_labels() const;
  /// Whether heads read numbers beside the graph, and whether other methods are mixed in: parts of explanations.
  bool reads_inputs() const;
  bool is_blend() const;
  /// Numbers per molecule that embed() yields.
  int embedding_width(const EmbeddingOptions& options) const;

  /// Names of measured numbers that the model reads beside the molecule (molgraph-train --descriptor-columns), K.
  std::span<const std::string> input_columns() const;

  /// One result per text, in order. Bad text gives a status, never an exception. `columns` [texts, K] are the
  /// input_columns() of each, NaN = not measured; empty = none is. Throws UsageError for another number.
  std::vector<Prediction> predict(std::span<const std::string> smiles, std::span<const float> columns = {}) const;
  /// With the embedding of each molecule, at no further cost. One run only; beside a domain the default options only
  /// (UsageError).
  std::vector<Prediction> predict(std::span<const std::string> smiles, const EmbeddingOptions& embedding,
                                  std::span<const float> columns = {}) const;
  /// An embedding is what the head reads: no column has a part in it.
  std::vector<Embedding> embed(std::span<const std::string> smiles, const EmbeddingOptions& options = {}) const;
  /// What predictions are made of, atom by atom, as PredictorOptions::explain says (none: UsageError), on the CPU in
  /// fp32. For each target ten to a hundred times the work of predict().
  std::vector<Explanation> explain(std::span<const std::string> smiles, std::span<const float> columns = {}) const;
  std::vector<Explanation> explain_mol_blocks(std::span<const std::string> blocks,
                                              std::span<const float> columns = {}) const;
  /// The same for SDF records.
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
