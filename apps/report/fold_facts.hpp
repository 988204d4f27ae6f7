// Facts over all folds of a run.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// Fills the facts over all folds from the folds' own run directories: means with standard deviations, the folds as
/// members, and the concatenated rows of their sets. Similarities are NaN for folds that lack them. Training molecules
/// are not named, because each is in the test set of some fold. Throws FileError if a fold's file is damaged.
void add_folds(const std::vector<std::string>& folders, int threads, ReportFacts& facts);

}  // namespace molgraph
