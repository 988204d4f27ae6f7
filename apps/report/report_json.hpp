// The numbers of the report for machines and, in short, for terminals.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// A JSON object: `judged` ("test"), `folds` (if so), `metric` (the measure that methods are compared by), `measures`
/// by part (`molecules`, then "mae" ... as {value, low, high}), `beside` and `members` (a list: `name` and the judged
/// part's measures), `recipe`, `noise`, `by_similarity` (bins; of classes `classes_by_similarity`), `coverage`, `worst`
/// (ten labels) and `twins` of the judged molecules. What the run does not know is left out, a value that there is none
/// of is null.
std::string report_json(const ReportFacts& facts);

}  // namespace molgraph
