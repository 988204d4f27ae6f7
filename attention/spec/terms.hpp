// The relation terms of a model as data: its tables and other terms, how their rows are selected, and the part of the
// attention that they are added to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// The part of the attention that a term is added to (docs/models/formula.md section 2).
enum class TermFills : std::uint8_t {
  bias,        ///< b_ij, outside alpha
  gate,        ///< C_ij, before its ReLU
  query_rows,  ///< q_i . row
  key_rows,    ///< k_x . row
  value_rows,  ///< row added to v_j
};

/// A learned table with one row per class, or one per column of the pairs' vectors.
struct RelationTable {
  enum class Row : std::uint8_t {
    topology,  ///< selected by the pair's topology class
    edge,      ///< selected by the pair's edge class
    all,       ///< the same row for every pair
    walk,      ///< a row per column t, each weighted with the pair's r_ij[t] (spec/pair_vector.hpp)
  };
  std::string name;  ///< parameter name without the owner's prefix: "topology_query"
  TermFills fills = TermFills::bias;
  Row row = Row::topology;
};

/// The relation tables that EncoderOptions::terms selects, in the order in which their rows are added up.
std::vector<RelationTable> relation_tables(const EncoderOptions& options);
/// The tables of the gate; empty if the gate is off.
std::vector<RelationTable> gate_tables(const EncoderOptions& options);

/// A term that does not come from a table of classes: values per pair, computed from the molecule.
struct PairTerm {
  enum class Kind : std::uint8_t {
    path,        ///< bonds along shortest paths (Ying et al. 2021, eq. 7)
    absolute,    ///< products of absolute positions (Chen et al. 2021, eq. 1)
    resistance,  ///< Gaussians of the resistance distance (Zhang et al. 2023, section 4)
    walk,        ///< the pair's vector, by default of random walks (Ma et al. 2023, section 3.1)
  };
  Kind kind = Kind::path;
  TermFills fills = TermFills::bias;  ///< bias or gate
  std::string prefix;                 ///< of its parameters: "path.", "encoder.layers.3.gate_path."
  int layer = -1;                     ///< the layer whose attention it is added to; -1: all layers
  int size = 0;                       ///< number of hops, of columns of a pair's vector, or of Gaussians
  PairVector vector{};                ///< the vector that a `walk` term weights
};

/// The encoder's pair terms, with its prefix ("encoder."). Terms for all layers come first.
std::vector<PairTerm> encoder_pair_terms(const EncoderOptions& options, const std::string& prefix);
/// All pair terms of a model, in the order in which they are added up.
std::vector<PairTerm> pair_terms(const ModelPlan& plan);

/// True if the attention, not only the node input, uses the pairs' vectors.
bool has_walks(const RelationTerms& terms);
/// True if there is a table whose rows are weighted with the pairs' vectors.
bool has_walk_rows(const RelationTerms& terms);
/// True if the model uses EncoderOptions::pair_vector() of all pairs.
bool weights_pair_vectors(const EncoderOptions& options);
/// True if the model uses EncoderOptions::pair_vector() of all pairs or of the diagonal only.
bool uses_pair_vectors(const EncoderOptions& options);
/// True if the model uses EncoderOptions::position_dim.
bool uses_position_dim(const EncoderOptions& options);

/// "PREFIXlayers.K.", or PREFIX for parameters that all layers share (layer -1).
std::string owner_prefix(const std::string& prefix, int layer);

}  // namespace molgraph
