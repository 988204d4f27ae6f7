// The relation terms of a model as data: which tables and which other terms exist, what picks their rows, and what they
// fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/spec/model_plan.hpp"

namespace molgraph {

/// What of the attention a term is added to (docs/models/formula.md section 2).
enum class TermFills : std::uint8_t {
  bias,        ///< b_ij, outside alpha
  gate,        ///< C_ij, before its ReLU
  query_rows,  ///< q_i . row
  key_rows,    ///< k_x . row
  value_rows,  ///< row added to v_j
};

/// A learned table with one row per class, or per number of a pair's vector.
struct RelationTable {
  enum class Row : std::uint8_t {
    topology,  ///< by the pair's topology class
    edge,      ///< by its edge class
    all,       ///< one row for every pair
    walk,      ///< a row per column t, each weighted with the pair's r_ij[t] (spec/pair_vector.hpp)
  };
  std::string name;  ///< of the parameter behind the owner's prefix: "topology_query"
  TermFills fills = TermFills::bias;
  Row row = Row::topology;
};

/// Those that a set of relation tables consists of, in the order in which their rows are added up.
/// EncoderOptions::terms says which.
std::vector<RelationTable> relation_tables(const EncoderOptions& options);
/// Those of the gate; none where it is off.
std::vector<RelationTable> gate_tables(const EncoderOptions& options);

/// A term that no table of classes holds: numbers per pair, computed from the molecule.
struct PairTerm {
  enum class Kind : std::uint8_t {
    path,        ///< bonds along shortest paths (Ying et al. 2021, eq. 7)
    absolute,    ///< products of places (Chen et al. 2021, eq. 1)
    resistance,  ///< Gaussians of the resistance distance (Zhang et al. 2023, section 4)
    walk,        ///< the pair's vector, by default of random walks (Ma et al. 2023, section 3.1)
  };
  Kind kind = Kind::path;
  TermFills fills = TermFills::bias;  ///< bias or gate
  std::string prefix;                 ///< of its parameters: "path.", "encoder.layers.3.gate_path."
  int layer = -1;                     ///< whose attention it is added to; -1: every layer's
  int size = 0;                       ///< hops of a path, numbers of a pair's vector, of Gaussians
  PairVector vector{};                ///< what a `walk` weights
};

/// What the encoder owns, with its prefix ("encoder."), terms for all layers first.
std::vector<PairTerm> encoder_pair_terms(const EncoderOptions& options, const std::string& prefix);
/// All of a model; the order is that in which they are added up.
std::vector<PairTerm> pair_terms(const ModelPlan& plan);

/// True if probabilities of walks enter somewhere beside the node input.
bool has_walks(const RelationTerms& terms);
/// True if there is a table whose rows walks weight.
bool has_walk_rows(const RelationTerms& terms);
/// True if something reads EncoderOptions::pair_vector() of all pairs.
bool weights_pair_vectors(const EncoderOptions& options);
/// True if something reads it, or its diagonal alone.
bool uses_pair_vectors(const EncoderOptions& options);
/// True if EncoderOptions::position_dim means something.
bool uses_position_dim(const EncoderOptions& options);

/// "PREFIXlayers.K.", or PREFIX for what all layers share (layer -1).
std::string owner_prefix(const std::string& prefix, int layer);

}  // namespace molgraph
