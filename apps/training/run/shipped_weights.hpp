// The pre-trained weights included in molgraph, and the runs that start from them by default.
#pragma once

#include <string>

#include "apps/scoring/model_config.hpp"
#include "apps/training/options/train_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Values of --from that are not paths.
inline constexpr const char* kFromShipped = "pretrained";
inline constexpr const char* kFromNothing = "none";

/// True if --from is the path of a run or a model file.
bool is_path(const std::string& from);

/// Model file for "pretrained", searched in this order: $MOLGRAPH_PRETRAINED, share/molgraph/pretrained next to the
/// folder of this program, the source tree. "" if there is none.
std::string shipped_weights();

/// True if, without --from, training on a user's table or store may start from the shipped weights: the model has the
/// default architecture and no other features are requested. Options that only affect training, such as dropout, may
/// differ.
bool may_start_from_shipped(const TrainOptions& options);

/// Default of --from: "pretrained" if may_start_from_shipped() and the data have the features `molgraph` and measured
/// targets, otherwise "".
std::string automatic_start(const TrainOptions& options, const LoadedData& data);

/// True for a model from molgraph-pretrain, whose targets include most of the descriptors. Only the transformer of such
/// a model is used, so it does not affect the defaults of --descriptors and --standardize.
bool is_pretrained(const ModelConfig& config);

}  // namespace molgraph
