// Targets that a model learns as logarithms, because their labels are positive and skewed over more than a decade:
// half-lives, volumes of distribution, clearances, concentrations.
#pragma once

#include <string>
#include <vector>

#include "datasets/loaded_data.hpp"

namespace molgraph {

inline constexpr const char* kNoLogTargets = "none";
inline constexpr const char* kAllLogTargets = "all";

/// True if all labels are positive, their 95th percentile is at least 10 times their 5th percentile, and their median
/// is closer to the middle between the two percentiles on a logarithmic scale. False for fewer than 50 labels.
/// `labels`: NaN = missing.
bool are_skewed_over_a_decade(std::vector<double> labels);

/// The regression targets [T] without labels of 0 or less.
std::vector<bool> positive_targets(const MoleculeSet& set);

/// Those of the positive_targets() that are skewed over a decade, by the labels outside the test set. Adds a note for a
/// target that has a few labels of 0 or less but is otherwise skewed over a decade.
std::vector<bool> skewed_targets(LoadedData& data);

/// The regression targets [T] with these names; `all`: every regression target. Throws UsageError for an unknown name
/// and for a classification target. Names are compared as in find_column().
std::vector<bool> log_targets_of(const std::vector<std::string>& names, const Task& task);

/// Replaces the labels of these targets by their logarithms to base 10, and sets Task::logarithmic. Throws DataError
/// with row and value for a label that is not positive.
void take_logarithms(const std::vector<bool>& targets, MoleculeSet& set);

}  // namespace molgraph
