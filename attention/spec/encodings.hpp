// The position encodings by name. Each is the same attention operation with some terms switched on.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attention/spec/options.hpp"

namespace molgraph {

/// A preset of `--encoding`. docs/models/encodings.md contains the same texts; a test compares them.
struct Encoding {
  std::string_view name;
  std::string_view formula;     ///< of the score s_ij and of all other terms
  std::string_view source;      ///< paper and equation, and how we differ
  std::string_view parameters;  ///< T topology classes, E edge classes, H heads, C width, L layers, k positions
  std::string_view cost;        ///< in addition to plain attention: n tokens, d = C/H
  std::string_view use;         ///< when to choose it
  RelationTerms terms;
  KeyTerm key_term = KeyTerm::column;
  int score_terms = 1;
  bool share = true;       ///< one set of tables for all layers; --share-encodings overrides
  bool path_bias = false;  ///< Graphormer's edge-path bias; requires the Graphormer architecture
  bool untie_virtual = true;
  NodePosition position = NodePosition::none;
  int position_dim = 0;  ///< default of --pe-dim; 0 = not used
};

/// True if the attention, not only the node input, uses the pairs' vectors.
bool has_walks(const Encoding& encoding);
std::span<const Encoding> encodings();
/// Throws UsageError with the list of names if there is no encoding `name`.
const Encoding& encoding_from_string(std::string_view name);
/// Sets the terms of `encoder` and GateOptions::walk. Sizes, the other gate options and the dropouts do not change.
void set_encoding(EncoderOptions& encoder, const Encoding& encoding);

}  // namespace molgraph
