// The pre-trained weights that come with molgraph, and which trainings start from them by themselves.
#pragma once

#include <string>

#include "apps/scoring/model_config.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Words of --from that are no paths.
inline constexpr const char* kFromShipped = "pretrained";
inline constexpr const char* kFromNothing = "none";

/// True if --from is the path of a run or a model file.
bool is_path(const std::string& from);

/// The model file behind "pretrained": in $MOLGRAPH_PRETRAINED, else in share/molgraph/pretrained beside the folder of
/// this program, else in the source tree. "" if there is none.
std::string shipped_weights();

/// True if a table or store of one's own starts from the shipped weights where --from is left out: the model is the
/// default one but for how it trains, and no other features are asked for.
bool may_start_from_shipped(const TrainOptions& options);

/// What --from stands for where it is left out: "pretrained" where may_start_from_shipped() and the data have the
/// features `molgraph` and measured targets; else "".
std::string automatic_start(const TrainOptions& options, const LoadedData& data);

/// True of a model that molgraph-pretrain made: its targets are most of the descriptors. Of such a start only the
/// transformer matters, so descriptors and --standardize are as without it.
bool is_pretrained(const ModelConfig& config);

}  // namespace molgraph
