// Options resolved: what was left open is decided by the data and the other options, and one struct per part comes out.
#pragma once

#include "apps/scoring/model_config.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"
#include "apps/training/trainer.hpp"
#include "datasets/load.hpp"

namespace molgraph {

// --- named defaults of measured targets; chosen on inner parts of docs/development/accuracy.md's panel, see
// docs/reference/training.md. A named data set's own stand in its entry of the catalogue ---
inline constexpr const char* kDefaultModel = "grpe";
/// Passes over the training molecules. Classes are learned by heart sooner than numbers.
inline constexpr std::int64_t kEpochsOfNumbers = 60;
inline constexpr std::int64_t kEpochsOfClasses = 20;
/// One of so many steps warms up.
inline constexpr std::int64_t kWarmup = 10;
/// With fewer training molecules a model gets fewer blocks, as good there in half the time, and one of classes a
/// narrower layer that mixes descriptors in (else HeadOptions::mixed).
inline constexpr std::int64_t kSmallTable = 5000;
inline constexpr int kLayersOfSmallTable = 6;
inline constexpr int kMixWidthOfFewClasses = 32;
// --- of targets that are computed, without an assay's noise (TrainingDefaults::computed) ---
inline constexpr std::int64_t kMostEpochsOfComputed = 300;
inline constexpr std::int64_t kPatienceOfComputed = 30;
inline constexpr std::int64_t kEpochsWithoutValidation = 100;

/// How to load the data of these options, without hooks. Throws UsageError.
LoadOptions to_load_options(const TrainOptions& options, int threads);

/// What a run, or one model of it, does. Only resolve() and what derives from its result make one.
struct ResolvedRun {
  TrainOptions options;  ///< every value in use: config.toml
  ModelConfig model;
  TrainerOptions trainer;   ///< on data.split; without the folder, the processes and the control
  bool keeps_head = false;  ///< the head is that of --from, and reads its inputs as scaled there
};

/// Decides what the options leave open. Resolving the result's options again changes nothing. `start` is the
/// configuration of the run that --from names, else null; `named`: see option_conflicts.hpp. Throws UsageError on
/// contradictions, DataError without training molecules.
ResolvedRun resolve(const TrainOptions& options, const LoadedData& data, const ModelConfig* start,
                    const NamedFlags& named = {});

/// The same for one of several splits: as many epochs, of data.split, which may be longer or shorter by a molecule or a
/// group.
ResolvedRun for_fold(const ResolvedRun& run, const LoadedData& data);
/// The second training of a run with --refit, of the rows of `split`: the same schedule, stretched by how many rows
/// there are more, up to `epochs` of it.
ResolvedRun for_refit(const ResolvedRun& run, const LoadedData& data, const Split& split, std::int64_t epochs);
/// Model `member` of an ensemble (0, 1, ...), with a seed of its own.
ResolvedRun for_member(const ResolvedRun& run, const LoadedData& data, std::int64_t member);

}  // namespace molgraph
