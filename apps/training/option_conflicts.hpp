// Flags that would be read and then do nothing, or that contradict each other: each is a UsageError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Long names of the flags that stand on the command line itself. Values from a recipe or a config.toml, which holds
/// every key, are not among them: those count as said where they differ from the default.
using NamedFlags = std::set<std::string>;

/// Of a model built from the options alone; before it is built.
void check_model_flags(const TrainOptions& options, const NamedFlags& named, const Architecture& architecture,
                       const Encoding& encoding);
/// A gate that was asked for must be new: its kind cannot change.
void check_gate(const GateSettings& asked, const GateOptions& gate);
/// The same, once it is known which terms the model has.
void check_terms(const TrainOptions& options, const NamedFlags& named, const ModelConfig& config);
/// With --from: what the options say of the architecture must be true of that run, whose architecture is kept.
void check_start(const TrainOptions& options, const NamedFlags& named, const ModelConfig& start);
/// Of the training. `start` is the configuration of the run that --from names, else null.
void check_training_flags(const TrainOptions& options, const NamedFlags& named, const LoadedData& data,
                          const ModelConfig* start);

/// False if one of the splits lacks a validation part.
bool has_validation(const LoadedData& data);

/// Where pairs' vectors enter, as --walk-terms says, and their columns, as --pair-relations does.
void set_walks(const ModelSettings& settings, EncoderOptions& encoder);
/// What names them; a gate that is not there is named too, so that one to come has the term.
void write_down_walks(const EncoderOptions& encoder, ModelSettings& settings);
/// The terms that --grpe-terms names.
void set_terms(const std::vector<GrpeTerm>& words, RelationTerms& terms);

}  // namespace molgraph
