// What a run keeps of the molecules it has learned from (apps/scoring/domain.hpp), made at the end of training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/training/train_run.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// More molecules than these are not kept.
inline constexpr std::int64_t kMostDomainMolecules = 200'000;

/// Does a run that learns from so many molecules keep them? Not with --no-domain, and no pre-training does.
bool keeps_domain(const TrainRun& run, std::int64_t molecules);

/// Writes domain.safetensors into the run's folder, or takes one away that is none of this run (keeps_domain()).
/// `learned`: the molecules that any model or partner of the run has learned; distances are
/// those of its first model, whose weights must be there. Tells what is kept. Throws Stopped.
void write_run_domain(const TrainRun& run, const std::string& folder, const MoleculeSet& set,
                      const std::vector<std::int64_t>& learned);

/// What the run learns of a split: its training part, and its validation part too if the models are trained again with
/// it or have partners.
std::vector<std::int64_t> learned_molecules(const Split& split, bool with_valid);

}  // namespace molgraph
