// Outlier labels, which may be typing errors. They are logged before training and stored in the run's record.
#pragma once

#include <string>
#include <vector>

#include "apps/scoring/run_record.hpp"
#include "datasets/duplicates.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Returns the labels of all sets, test and calibration set included, that are beyond the label_limits() of the
/// training and validation sets (with several splits, of all splits together). Each molecule counts once. The label
/// with the most deviations from the median comes first. Labels that suspicious_text() lists have neighbours by
/// fingerprint similarity (add_similarities()) among at most 50,000 molecules of the training and validation sets,
/// drawn with the seed. They have none if the text of a molecule can no longer be read. `rule`: how duplicate molecules
/// were merged.
std::vector<SuspiciousLabel> suspicious_labels(const LoadedData& data, Duplicates rule, std::uint64_t seed,
                                               int threads);

/// Returns warnings: a summary, one line for each of at most 10 labels, and the number of other labels. Empty if there
/// are no labels. `clipped`: --clip-labels is given.
std::vector<std::string> suspicious_text(const std::vector<SuspiciousLabel>& labels, bool clipped);

}  // namespace molgraph
