// Published Graphormer weights: names, table sizes and row maps of v1, v2 (fairseq) and its copy in Hugging Face's format.
#pragma once

#include <optional>
#include <string>

#include "attention/reference/published_tensors.hpp"
#include "graphormer/options.hpp"

namespace molgraph {

/// What shapes do not tell, or to overrule what they do.
struct GraphormerImport {
  std::string origin = "graphormer-v1";    ///< or graphormer-v2, graphormer-hf
  std::optional<Features> features;        ///< unset: by the size of the tables
  int heads = 0;                           ///< 0: by the edge table
  int path_hops = 0;                       ///< 0: 5 for ogb, 20 for zinc
  int max_distance = 0;                    ///< 0: 509 for tables of 512 rows, 38 for 40 rows
  int spatial_pos_max = 0;                 ///< 0: off
};

/// The options of the model that gives the numbers of the published code: one path (`single`), one bias for the pairs of
/// the virtual node, FAR with the row of unreachable pairs; v2: LayerNorm on the input, post-LN unless the file has a
/// norm of its own for pre-LN (which its code never applies), Linear-GELU-LayerNorm before the head. Throws FileError
/// (beginning with `where`) if this is another layout, UsageError if a flag contradicts the shapes.
GraphormerOptions published_graphormer(const StateDict& state, const GraphormerImport& import, const std::string& where);

/// The links of a model that published_graphormer() made.
std::vector<PublishedLink> published_links(const GraphormerOptions& options);

}  // namespace molgraph
