// Maps raw relations to the classes that index the tables.
#pragma once

#include "attention/reference/layout.hpp"
#include "attention/spec/class_rule.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Classes of all packed pairs, and the forbidden pairs (undefined if the rule forbids none).
RelationClasses relation_classes(const GraphBatch& batch, const ClassRule& rule);

}  // namespace molgraph
