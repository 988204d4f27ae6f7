// Rejects flags that would have no effect or that contradict each other, with a UsageError.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/training/options/train_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Long names of the flags on the command line. Values from a recipe or a config.toml, which contains every key, are
/// not included; they count as given if they differ from the default.
using NamedFlags = std::set<std::string>;

/// Checks a model that is built from the options alone, before it is built.
void check_model_flags(const TrainOptions& options, const NamedFlags& named, const Architecture& architecture,
                       const Encoding& encoding);
/// Checks that options of a gate are given for a new gate only. The kind of an existing gate cannot change.
void check_gate(const GateSettings& requested, const GateOptions& gate);
/// Checks the model flags again when the model's terms are known.
void check_terms(const TrainOptions& options, const NamedFlags& named, const ModelConfig& config);
/// With --from, checks that the architecture options agree with the architecture of that run, which is kept.
void check_start(const TrainOptions& options, const NamedFlags& named, const ModelConfig& start);
/// Checks the training options. `start` is the configuration of the run given with --from, or null.
void check_training_flags(const TrainOptions& options, const NamedFlags& named, const LoadedData& data,
                          const ModelConfig* start);

/// Whether the user gives the sets of the split, in a file or a column.
bool gives_split(const DataSettings& data);

/// True if the targets differ from those of the starting run. Head and target scaling are then new.
bool needs_new_head(const Task& start, const Task& task);

/// Returns false if one of the splits has no validation set.
bool has_validation(const LoadedData& data);

/// Sets the terms of the pair vectors (--walk-terms) and their columns (--pair-relations) in the encoder's options.
void set_walks(const ModelSettings& settings, EncoderOptions& encoder);
/// Sets these two options from the encoder. Includes the gate term if there is no gate, so that a gate added later has
/// it.
void set_walk_settings(const EncoderOptions& encoder, ModelSettings& settings);
/// Sets the terms given with --grpe-terms.
void set_terms(const std::vector<GrpeTerm>& words, RelationTerms& terms);

}  // namespace molgraph
