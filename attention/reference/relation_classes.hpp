// From raw relations to the classes that the tables are indexed by.
#pragma once

#include "attention/reference/layout.hpp"
#include "attention/spec/class_rule.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Classes of all packed pairs, and which are forbidden (undefined where the rule forbids none).
RelationClasses relation_classes(const GraphBatch& batch, const ClassRule& rule);

}  // namespace molgraph
