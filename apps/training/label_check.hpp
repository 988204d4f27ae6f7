// Labels that may be slips: told before training, and kept in the run's record.
#pragma once

#include <string>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/load.hpp"

namespace molgraph {

/// Labels beyond the label_limits() of training and validation part, of several splits those of any of them: in these
/// parts, in test and in calibration part. Each molecule once; the furthest from the median first, in deviations. Those
/// that are named by suspicious_text() have neighbours, by the similarity of their fingerprints (add_similarities())
/// among at most 50,000 molecules of training and validation part, drawn by the seed; none where a molecule's text
/// cannot be read any more. `rule`: how rows of one molecule became one.
std::vector<SuspiciousLabel> suspicious_labels(const LoadedData& data, Duplicates rule, std::uint64_t seed,
                                               int threads);

/// Warnings: what was found, a line each for at most 10 labels, then how many more there are; nothing without labels.
/// `clipped`: with --clip-labels.
std::vector<std::string> suspicious_text(const std::vector<SuspiciousLabel>& labels, bool clipped);

}  // namespace molgraph
