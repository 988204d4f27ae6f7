// --quality: the computing time that a run may use, and the defaults of other options that depend on it.
#pragma once

#include "apps/training/options/train_settings.hpp"
#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Ensemble members with --quality best.
inline constexpr std::int64_t kBestMembers = 5;
/// --quality fast trains 1/kFastShare of the usual epochs.
inline constexpr std::int64_t kFastShare = 3;
/// Number of additional models that --out-of-fold trains.
inline constexpr int kInnerFolds = 5;
/// Limits for --out-of-fold by default. In larger tables, five more models take long, and few targets lack validation
/// labels.
inline constexpr std::int64_t kMaxOutOfFoldRows = 1'000, kMaxOutOfFoldLabels = 20'000;

/// True if the data are a user's table or store, not a named data set.
bool is_own_table(const TrainOptions& options);

/// LoadOptions::member_splits if each ensemble member has its own validation set, otherwise 0. The number of validation
/// sets follows from --split-sizes and is at least the number of members; the members use the first ones. Throws
/// UsageError for --member-splits without an ensemble or with --folds.
int member_splits_of(const TrainOptions& options);
/// Number of ensemble members.
std::int64_t members_of(const TrainOptions& options);

/// LoadOptions::inner_folds, and whether they are needed by default: for a table of at most kMaxOutOfFoldRows training
/// and validation molecules with at most kMaxOutOfFoldLabels labels, if a target has too few validation labels for
/// intervals but enough in both sets together. Not with --quality fast, --recipe, --no-calibrate, --calibration-size or
/// --folds, and not if the user specifies the validation rows.
int inner_folds_of(const TrainOptions& options);
bool needs_out_of_fold(const LoadedData& data);

/// Reason for the log if --out-of-fold is on by default; "" if `requested` sets it or if it is off.
std::string why_out_of_fold_by_default(const TrainOptions& requested, const LoadedData& data);

/// Sets the options for baselines, blend and ensemble. By default, baselines are on for a user's table of at most
/// kMaxBaselineRows training molecules, except with --quality fast. By default, a blend is on if there are baselines,
/// measured targets and a validation set, except with --recipe. Throws UsageError if a requested blend is impossible.
void resolve_quality(TrainOptions& options, const LoadedData& data);

/// Reason for the log if a user's table gets no blend although `requested` does not turn it off; "" otherwise.
std::string why_no_blend_by_default(const TrainOptions& requested, const LoadedData& data);

}  // namespace molgraph
