// --quality: how much is spent on a result, and what that means for the options that it leaves open.
#pragma once

#include "apps/training/train_settings.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Members of the ensemble of --quality best.
inline constexpr std::int64_t kBestMembers = 5;
/// One of so many of the usual epochs is what --quality fast trains.
inline constexpr std::int64_t kFastShare = 3;
/// Models that --out-of-fold trains beside the run's own.
inline constexpr int kInnerFolds = 5;
/// By default it does so up to here: with more, five more models take long, and few targets lack validation labels.
inline constexpr std::int64_t kMostOutOfFoldRows = 1'000, kMostOutOfFoldLabels = 20'000;

/// Is the data a table or store of one's own, no data set with a name?
bool is_own_table(const TrainOptions& options);

/// LoadOptions::rounds if each member of an ensemble validates on a part of its own, else 0: parts of the size that
/// --split-sizes asks for, of which the first are the members', or as many as there are members where that is more.
/// Throws UsageError for --member-splits without an ensemble, and with --folds.
int rounds_of(const TrainOptions& options);
/// The members of the ensemble.
std::int64_t members_of(const TrainOptions& options);

/// LoadOptions::inner_folds, and whether they are needed where nobody says so: in a table of at most
/// kMostOutOfFoldRows training and validation molecules, with at most kMostOutOfFoldLabels labels, where a target has
/// too few validation labels for intervals and enough in both parts together. Not for --quality fast, a --recipe,
/// --no-calibrate, --calibration-size, --folds, and where people say which rows validate.
int inner_folds_of(const TrainOptions& options);
bool needs_out_of_fold(const LoadedData& data);

/// Why --out-of-fold is on although nobody said so in `asked`; "" otherwise.
std::string why_out_of_fold_by_default(const TrainOptions& asked, const LoadedData& data);

/// Decides about baselines, blend and ensemble. Baselines are made by themselves for people's own tables of at most
/// kMostBaselineRows training molecules, and not for --quality fast; a blend, where there are baselines, measured
/// targets and a validation part, and no --recipe. Throws UsageError for a blend that is asked for and cannot be made.
void resolve_quality(TrainOptions& options, const LoadedData& data);

/// Why a table of one's own got no blend although nobody said so in `asked`; "" otherwise.
std::string why_no_blend_by_default(const TrainOptions& asked, const LoadedData& data);

}  // namespace molgraph
