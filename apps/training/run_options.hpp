// Options resolved: what was left automatic is decided by the data, and one struct per part comes out.
#pragma once

#include <string>

#include "apps/scoring/model_config.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"
#include "apps/training/trainer.hpp"
#include "datasets/load.hpp"

namespace molgraph {

// --- named defaults for one's own table; chosen by measurement, see docs/training.md ---
inline constexpr const char* kDefaultModel = "grpe";
inline constexpr std::int64_t kDefaultEpochs = 300;
inline constexpr std::int64_t kDefaultPatience = 30;
inline constexpr std::int64_t kEpochsWithoutValidation = 100;
inline constexpr std::int64_t kZincSteps = 20000;
inline constexpr std::int64_t kZincBatch = 256;

/// How to load the data of these options, without hooks. Throws UsageError.
LoadOptions to_load_options(const TrainOptions& options, int threads);

/// Decides what the options leave automatic and writes it back, so that config.toml holds every value in use.
/// `start` is the configuration of the run that --from names, else null. Throws UsageError on contradictions.
/// `named`: see option_conflicts.hpp.
ModelConfig resolve_model(TrainOptions& options, const MoleculeSet& set, const ModelConfig* start, const NamedFlags& named = {});
/// Call after resolve_model. `folder` and `identity` of the result are set too.
TrainerOptions resolve_training(TrainOptions& options, const LoadedData& data, const std::string& folder);

}  // namespace molgraph
