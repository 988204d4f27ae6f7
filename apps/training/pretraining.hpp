// Pre-training: a model learns to predict the descriptors of a corpus of molecules, so that a training on few
// measurements can start from it (--from). The targets are computed, standardised and clipped; see
// docs/reference/pretraining.md.
#pragma once

#include <cstdint>

#include "apps/training/corpus_labels.hpp"
#include "apps/training/option_conflicts.hpp"
#include "apps/training/train_options.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Molecules that a pre-training learns from, those of every pass counted, but at most so many passes.
inline constexpr std::int64_t kMoleculesSeen = 6'000'000;
inline constexpr std::int64_t kMostPasses = 100;
/// Peak learning rate. After 400 updates on 100,000 molecules without dropout, 2e-3 was better than 1e-3 and 5e-4.
inline constexpr double kPretrainingRate = 2e-3;
/// Validations in a whole run, about; an epoch is the part of a pass between two of them.
inline constexpr std::int64_t kPretrainingEpochs = 20;
/// One of so many steps warms up.
inline constexpr std::int64_t kPretrainingWarmup = 20;
/// The validation part: 1 % of the corpus, but that many molecules where this is less than a tenth.
inline constexpr std::int64_t kFewestValid = 500;

bool is_pretraining(const TrainOptions& options);

/// What molgraph-pretrain trains by where nobody says otherwise; the length is open.
TrainOptions pretraining_defaults();

/// Update steps for so many molecules in batches of that size.
std::int64_t steps_for(std::int64_t molecules_seen, std::int64_t batch_size);
/// The same where nobody says how long: for a corpus of so many training molecules.
std::int64_t default_steps(std::int64_t molecules, std::int64_t batch_size);

/// Shares of the parts of a corpus of so many molecules, where `asked` are the defaults; else `asked`.
SplitSizes corpus_split_sizes(const SplitSizes& asked, std::int64_t molecules);

/// Epochs into which one pass of so many batches is divided, if `steps` are made in all.
std::int64_t epoch_parts_of(std::int64_t batches_of_pass, std::int64_t steps);
/// Epochs that the steps then take, the last of them perhaps a shorter one.
std::int64_t epochs_of(std::int64_t batches_of_pass, std::int64_t parts, std::int64_t steps);

/// Throws UsageError for options that mean nothing beside computed targets, and for those of a corpus elsewhere.
void check_pretraining(const TrainOptions& options);

/// The molecules' descriptors become their targets (no number is held twice), those that are constant in the training
/// part left out with a note, and a store's columns of measured numbers too. A target is clipped to 6 deviations of the
/// training part around its mean, by which a model scales it (Burns et al. 2025, arXiv:2506.15792, "CheMeleon"). Throws
/// DataError where none is left. Measured labels (MoleculeSet::sparse) are targets behind them: append_labels().
void learn_inputs(LoadedData& data, const LabelOptions& labels = {});

}  // namespace molgraph
