// Published GRPE weights: names, table sizes and row maps.
#pragma once

#include <optional>
#include <string>

#include "attention/reference/published_tensors.hpp"
#include "grpe/options.hpp"

namespace molgraph {

/// What shapes do not tell, or to overrule what they do.
struct GrpeImport {
  std::optional<Features> features;   ///< unset: ogb for a node table of 4609 rows, else zinc
  int heads = 0;                      ///< must be given
  int max_distance = 0;               ///< 0: by the hop tables
};

/// The options of the model that gives the numbers of the published code: its relation classes, key term by row.
/// Values and bonds beyond its tables are rejected (GrpeOptions::missing). Throws FileError (beginning with `where`) if
/// this is another layout, UsageError if a flag is missing or contradicts the shapes.
GrpeOptions published_grpe(const StateDict& state, const GrpeImport& import, const std::string& where);

/// The links of a model that published_grpe() made.
std::vector<PublishedLink> published_links(const GrpeOptions& options);

}  // namespace molgraph
