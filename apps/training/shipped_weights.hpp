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

/// What --from stands for where it is left out: "pretrained" for measured classes in a table or store of one's own with
/// the features `molgraph`, and a model of which nothing else is said than how it trains; else "". Numbers were no
/// better for it (docs/accuracy.md).
std::string automatic_start(const TrainOptions& options, const LoadedData& data);

/// True of a model that molgraph-pretrain made: its targets are most of the descriptors. Of such a start only the
/// transformer matters, so descriptors and --standardize are as without it.
bool is_pretrained(const ModelConfig& config);

}  // namespace molgraph
