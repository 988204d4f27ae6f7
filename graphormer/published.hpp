// Published Graphormer weights: names, table sizes and row maps of v1, v2 (fairseq) and v2 in Hugging Face's format.
#pragma once

#include <vector>

#include "attention/reference/published_tensors.hpp"

namespace molgraph {

/// graphormer-v1, graphormer-v2, graphormer-hf. The model uses one path (`single`), one bias for the pairs of the
/// virtual node, and the row of unreachable pairs for FAR. v2 also has a LayerNorm on the input, post-LN unless the
/// file contains a final norm for pre-LN (which its code never applies), and Linear-GELU-LayerNorm before the head. The
/// edge table determines the number of heads. L is 509 for tables of 512 rows and 38 for 40 rows.
const std::vector<PublishedCode>& graphormer_published();

}  // namespace molgraph
