// Pre-training: a model is trained to predict molecular descriptors of a corpus. Training on few measurements can then
// start from its weights (--from). The targets are computed, standardised and clipped; see
// docs/reference/pretraining.md.
#pragma once

#include <cstdint>

#include "apps/training/options/option_conflicts.hpp"
#include "apps/training/options/train_options.hpp"
#include "apps/training/run/corpus_labels.hpp"
#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Default number of training molecules, counted in every pass, and the limit on the number of passes.
inline constexpr std::int64_t kMoleculesSeen = 6'000'000;
inline constexpr std::int64_t kMaxPasses = 100;
/// Peak learning rate. After 400 updates on 100,000 molecules without dropout, 2e-3 was better than 1e-3 and 5e-4.
inline constexpr double kPretrainingRate = 2e-3;
/// Approximate number of validations in a run. An epoch is the part of a pass between two validations.
inline constexpr std::int64_t kPretrainingEpochs = 20;
/// The warm-up is 1/kPretrainingWarmup of all steps.
inline constexpr std::int64_t kPretrainingWarmup = 20;
/// The default validation set has kMinValid molecules, but at least 1 % and at most 10 % of the corpus.
inline constexpr std::int64_t kMinValid = 500;

bool is_pretraining(const TrainOptions& options);

/// Default options of molgraph-pretrain, without the number of steps.
TrainOptions pretraining_defaults();

/// Number of update steps for `molecules_seen` molecules in batches of `batch_size`.
std::int64_t steps_for(std::int64_t molecules_seen, std::int64_t batch_size);
/// Default number of update steps for a corpus of `molecules` training molecules.
std::int64_t default_steps(std::int64_t molecules, std::int64_t batch_size);

/// Sets how a corpus is split: as the user gives it (gives_split()), which replaces the default split and sizes, else
/// by corpus_split_sizes().
void choose_corpus_split(const DataSettings& data, LoadOptions& load);
/// Split sizes for a corpus of `molecules` molecules if `requested` is the default; otherwise `requested`.
SplitSizes corpus_split_sizes(const SplitSizes& requested, std::int64_t molecules);

/// Number of epochs into which one pass of `batches_of_pass` batches is divided, for `steps` steps in total.
std::int64_t epoch_parts_of(std::int64_t batches_of_pass, std::int64_t steps);
/// Number of epochs for `steps` steps; the last epoch may be shorter.
std::int64_t epochs_of(std::int64_t batches_of_pass, std::int64_t parts, std::int64_t steps);

/// Throws UsageError for options that cannot be combined with computed targets, and for corpus options without a
/// corpus.
void check_pretraining(const TrainOptions& options);

/// Moves the descriptors of the molecules to the targets (without a copy). Leaves out descriptors that are constant in
/// the training set, with a note, and the columns of measured numbers of a store. Each target is clipped to 6 standard
/// deviations around its mean in the training set; the model scales it by the same values (Burns et al. 2025,
/// arXiv:2506.15792, "CheMeleon"). Appends measured labels (MoleculeSet::sparse) as further targets: append_labels().
/// Throws DataError if no descriptor is left.
void learn_inputs(LoadedData& data, const LabelOptions& labels = {});

}  // namespace molgraph
