// A run of folds: facts over all of them.
#pragma once

#include <string>
#include <vector>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// Fills what is over all folds from the folds' own run directories: means with deviations, the folds as members, and
/// the rows of their parts one after the other. Similarities are there if every fold has them; training molecules are
/// not named, as each of them is in the test part of some fold. Throws FileError where a fold's file is damaged.
void add_folds(const std::vector<std::string>& folders, int threads, ReportFacts& facts);

}  // namespace molgraph
