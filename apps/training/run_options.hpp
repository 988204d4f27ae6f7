// Options resolved: what was left open is decided by the data and the other options, and one struct per part comes out.
#pragma once

#include "apps/scoring/model_config.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"
#include "apps/training/trainer.hpp"
#include "datasets/load.hpp"

namespace molgraph {

// --- named defaults for one's own table; chosen by measurement, see docs/training.md. A named data set's own stand in
// its entry of the catalogue ---
inline constexpr const char* kDefaultModel = "grpe";
/// Passes over it: chosen on inner parts of docs/accuracy.md's panel. Classes are learned by heart sooner than numbers.
inline constexpr std::int64_t kDefaultEpochs = 60;
inline constexpr std::int64_t kDefaultEpochsOfClasses = 20;
/// With fewer training molecules it gets fewer blocks: as good there, in half the time.
inline constexpr std::int64_t kSmallTable = 5000;
inline constexpr int kLayersOfSmallTable = 6;
/// Of the layer that mixes descriptors in (HeadOptions::mixed), where all targets are classes.
inline constexpr int kMixWidthOfClasses = 32;
/// Of named data sets without defaults of their own, whose targets are often computed ones, without an assay's noise.
inline constexpr std::int64_t kMostEpochsOfNamedData = 300;
inline constexpr std::int64_t kPatienceOfNamedData = 30;
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
/// Model `member` of an ensemble (0, 1, ...), with a seed of its own.
ResolvedRun for_member(const ResolvedRun& run, const LoadedData& data, std::int64_t member);

}  // namespace molgraph
