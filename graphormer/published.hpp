// Published Graphormer weights: names, table sizes and row maps of v1, v2 (fairseq) and its copy in Hugging Face's
// format.
#pragma once

#include <vector>

#include "attention/reference/published_tensors.hpp"

namespace molgraph {

/// graphormer-v1, graphormer-v2, graphormer-hf. The model has one path (`single`), one bias for the pairs of the
/// virtual node, FAR with the row of unreachable pairs; v2: LayerNorm on the input, post-LN unless the file has a norm
/// of its own for pre-LN (which its code never applies), Linear-GELU-LayerNorm before the head. Heads by the edge
/// table; L is 509 for tables of 512 rows, 38 for 40 rows.
const std::vector<PublishedCode>& graphormer_published();

}  // namespace molgraph
