// Resolves options: unset options get values from the data and the other options. The result is one struct for each
// component of a run.
#pragma once

#include "apps/scoring/model_config.hpp"
#include "apps/training/loop/trainer.hpp"
#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/options/train_options.hpp"
#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

// --- defaults for measured targets, chosen on inner splits of the panel in docs/development/accuracy.md; see
// docs/reference/training.md. The defaults of a named data set are in its catalogue entry ---
inline constexpr const char* kDefaultModel = "grpe";
/// Passes over the training set. A model memorises classes faster than numbers.
inline constexpr std::int64_t kRegressionEpochs = 60;
inline constexpr std::int64_t kClassEpochs = 20;
/// The warm-up is 1/kWarmup of all steps.
inline constexpr std::int64_t kWarmup = 10;
/// With fewer training molecules, a model has fewer layers, which gives equal quality in half the time. If it has only
/// class targets, the layer that mixes descriptors in is also narrower (default: HeadOptions::mixed).
inline constexpr std::int64_t kSmallTable = 5000;
inline constexpr int kSmallTableLayers = 6;
inline constexpr int kMixWidthOfFewClasses = 32;
// --- defaults for computed targets, which have no assay noise (TrainingDefaults::computed) ---
inline constexpr std::int64_t kMaxComputedEpochs = 300;
inline constexpr std::int64_t kComputedPatience = 30;
inline constexpr std::int64_t kEpochsWithoutValidation = 100;

/// Options for loading the data, without hooks. Throws UsageError.
LoadOptions to_load_options(const TrainOptions& options, int threads);

/// Settings of a run or of one of its models. Created only by resolve() and the functions below.
struct ResolvedRun {
  TrainOptions options;  ///< all values in use, as in config.toml
  ModelConfig model;
  TrainerOptions trainer;   ///< for one split; without folder, processes and control
  bool keeps_head = false;  ///< the head comes from --from, with its input scaling
};

/// Resolves the options. Resolving the resulting options again changes nothing. `start`: configuration of the run given
/// with --from, or null; `named`: see option_conflicts.hpp. Throws UsageError for contradictions, DataError without
/// training molecules.
ResolvedRun resolve(const TrainOptions& options, const LoadedData& data, const ModelConfig* start,
                    const NamedFlags& named = {});

/// Settings for `split`, one of several: the same number of epochs on its training set, which may be larger or
/// smaller by a molecule or a group.
ResolvedRun for_fold(const ResolvedRun& run, const LoadedData& data, const Split& split);
/// Settings for the second training of a run with --refit, on the rows of `refit` instead of `split`: the same
/// schedule, stretched in proportion to the number of rows, for the first `epochs` epochs.
ResolvedRun for_refit(const ResolvedRun& run, const LoadedData& data, const Split& split, const Split& refit,
                      std::int64_t epochs);
/// Settings for member `member` (0, 1, ...) of an ensemble, with its own seed.
ResolvedRun for_member(const ResolvedRun& run, const LoadedData& data, const Split& split, std::int64_t member);

}  // namespace molgraph
