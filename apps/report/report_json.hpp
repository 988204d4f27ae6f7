// The numbers of the report as JSON, also used for the summary in the terminal.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// A JSON object: `judged` (the evaluation set, "test"), `folds` (their number, if any), `metric` (for comparing
/// methods), `measures` by set (`molecules`, then "mae" ... as {value, low, high}), `targets` (list of `name`,
/// `labels`, `positives` of binary targets, `logarithmic` if it is learned as a logarithm, and the metrics on the
/// evaluation set), `beside` (other methods) and `members` (lists of `name` and the metrics on the evaluation set),
/// `cautions` (sentences), `recipe`, `noise`, `by_similarity` (bins; for classification `classes_by_similarity`),
/// `coverage`, `worst` (ten labels) and `twins`. Labels of classes are their names, if they have any. Data that the run
/// did not record and undefined metrics are omitted; other undefined values are null.
std::string report_json(const ReportFacts& facts);

/// The list `targets` alone; "[]" if there are no metrics.
std::string targets_json(const ReportFacts& facts);

}  // namespace molgraph
