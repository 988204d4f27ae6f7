// Options of the attention and of the encoder stack. Does not use LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace molgraph {

inline constexpr double kLayerNormEpsilon = 1e-5;

/// The key that the key-side relation terms k_x.PK[t] multiply: `column` is k_j with the class of (i, j), as in the
/// paper (GRPE eq. 6, 7); `row` is k_i, as in the published GRPE code; `reverse` is k_j with the class of (j, i), as in
/// DeBERTa (He et al. 2021, eq. 4).
enum class KeyTerm : std::uint8_t { column, row, reverse };

/// Learned relation terms of s_ij and z_i (docs/models/formula.md section 2), each with its own switch.
struct RelationTerms {
  bool bias = false;            ///< b[t], one scalar per head and topology class, outside alpha
  bool topology_query = false;  ///< q_i . PQ[t]
  bool topology_key = false;    ///< k_x . PK[t]
  bool topology_value = false;  ///< PV[t] added to v_j
  bool edge_query = false;      ///< q_i . EQ[e]
  bool edge_key = false;        ///< k_x . EK[e]
  bool edge_value = false;      ///< EV[e] added to v_j
  /// alpha*(u.k_j + v.PQ[t]), u and v learned per head (Dai et al. 2019); requires topology_query
  bool global_bias = false;
  /// P_Q(i).P_K(j) added to b_ij, P from degree and random walks (Chen et al. 2021, eq. 1)
  bool absolute_bias = false;
  /// sum_k W[k].G_k(R_ij) added to b_ij, R the resistance distance (Zhang et al. 2023, section 4)
  bool resistance = false;
  /// sum_t W[t].r_ij[t] added to b_ij, r_ij the pair's vector (spec/pair_vector.hpp): by default r_ij[t] =
  /// ((D^-1 A)^t)_ij, the probability of walking from i to j in t steps (Ma et al. 2023, section 3.1)
  bool walk_bias = false;
  bool walk_query = false;  ///< q_i . sum_t WQ[t] r_ij[t]
  bool walk_key = false;    ///< k_j . sum_t WK[t] r_ij[t]; only with KeyTerm::column
  bool walk_value = false;  ///< sum_t WV[t] r_ij[t] added to v_j

  bool operator==(const RelationTerms&) const = default;
};

/// Encodings of an atom's position in its molecule that are added to the node input.
enum class NodePosition : std::uint8_t { none, laplacian, random_walk };

/// The columns of a pair's vector r_ij, in this order (spec/pair_vector.hpp).
struct PairVector {
  int steps = 0;       ///< probabilities of random walks of 1 .. `steps` steps
  bool paths = false;  ///< numbers of paths by length
  bool rings = false;  ///< same ring, same ring system

  int size() const;
  bool operator==(const PairVector&) const = default;
};

/// The input of the head from the last layer: the virtual node's row, or the sum or the mean of the atoms' rows. The
/// sum is divided by kReadoutAtoms (spec/scalar.hpp), so that the head's inputs have similar sizes with all three.
enum class Readout : std::uint8_t { virtual_node, sum, mean };

/// URPE's gate C_ij on the softmax's output (Luo et al. 2022, eq. 8).
struct GateOptions {
  bool enabled = false;
  bool relu = false;       ///< passes the gate through ReLU
  bool per_layer = false;  ///< a table per layer instead of one that all layers share
  int path_hops = 0;       ///< > 0: the gate has its own edge-path term over this many hops
  bool walk = false;       ///< the gate has a term sum_t W[t].r_ij[t] of the pair's vector
};

/// Rows that an imported model's tables lack. A molecule that needs one is rejected with the reason.
struct MissingRows {
  std::vector<int> atoms;     ///< rows of node.atom
  std::vector<int> bonds;     ///< bond ids
  std::vector<int> topology;  ///< topology classes
  bool empty() const { return atoms.empty() && bonds.empty() && topology.empty(); }
};

/// The tables of the published code that a model was imported from. All sizes are numbers of rows.
struct PublishedLayout {
  std::string origin;  ///< graphormer-v1, graphormer-v2, graphormer-hf, grpe; "": not imported
  std::string head;    ///< name of the last Linear, if the code has several names for it
  int atoms = 0;
  int bonds = 0;  ///< grpe: of the edge tables
  int degrees = 0;
  int distances = 0;              ///< grpe: of the hop tables
  int hops = 0;                   ///< of the edge-distance table
  bool fused_projection = false;  ///< query, key and value in one matrix
};

/// The encoder stack.
struct EncoderOptions {
  int layers = 12;
  int width = 80;           ///< C, a multiple of `heads`
  int ffn = 80;             ///< F
  int heads = 8;            ///< H
  bool post_ln = false;     ///< LayerNorm after the residual sums (Graphormer v2) instead of before attention and FFN
  bool input_norm = false;  ///< a LayerNorm on the node input (Graphormer v2)
  bool final_norm = true;   ///< a LayerNorm after the last block; ignored with post_ln, which has none
  KeyTerm key_term = KeyTerm::column;
  RelationTerms terms;
  int score_terms = 1;          ///< alpha = 1/sqrt(score_terms * d); 3 for DeBERTa
  bool share_encodings = true;  ///< b, PQ ... EV shared by all layers (GRPE Table 10), else one set per layer
  GateOptions gate;
  double dropout = 0.1;             ///< on the residual branches
  double attention_dropout = 0.1;   ///< on the gated attention weights
  double activation_dropout = 0.0;  ///< inside the FFN
  double input_dropout = 0.0;       ///< on the node input
  NodePosition position = NodePosition::none;
  int position_dim = 0;  ///< k: number of eigenvectors, of random-walk steps (also for absolute_bias and walk terms) or
                         ///< of Gaussians of the resistance; 0 = not used
  Readout readout = Readout::virtual_node;
  /// Multiplies z_i by a + b log(1 + degree), a and b [C] learned per layer (Ma et al. 2023, section 3.2, after Corso
  /// et al. 2020), because the average that the softmax takes loses the degree. The virtual node has degree 0.
  bool degree_scaler = false;
  /// S: width of the pairs' states (spec/pair_states.hpp), at most kMaxPairState; 0 = no states.
  int pair_state = 0;
  bool pair_paths = false, pair_rings = false;  ///< columns of the pairs' vectors after the `position_dim` steps
  bool untie_virtual = true;  ///< false: the three VIRTUAL classes share one bias b per head (Graphormer)

  /// The pairs' vector, which walk terms weight. NodePosition::random_walk uses its diagonal.
  PairVector pair_vector() const { return {position_dim, pair_paths, pair_rings}; }
};

}  // namespace molgraph
