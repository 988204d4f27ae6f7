// Options of the attention and of the encoder stack: no torch here.
#pragma once

#include <cstdint>

namespace molgraph {

/// Which key the key-side relation terms multiply: k_j is the paper (GRPE eq. 6, 7), k_i the published GRPE code.
enum class KeyTerm : std::uint8_t { column, row };

/// Learned relation terms of s_ij and z_i (models.md section 2); each can be switched alone.
struct RelationTerms {
  bool bias = false;             ///< b[t], one scalar per head and topology class, outside alpha
  bool topology_query = false;   ///< q_i . PQ[t]
  bool topology_key = false;     ///< k_x . PK[t]
  bool topology_value = false;   ///< PV[t] added to v_j
  bool edge_query = false;       ///< q_i . EQ[e]
  bool edge_key = false;         ///< k_x . EK[e]
  bool edge_value = false;       ///< EV[e] added to v_j
};

/// URPE's gate C_ij on the softmax's output (Luo et al. 2022, eq. 8).
struct GateOptions {
  bool enabled = false;
  bool relu = false;        ///< the gate goes through ReLU
  bool per_layer = false;   ///< a table per layer instead of one shared by all
};

/// The encoder stack.
struct EncoderOptions {
  int layers = 12;
  int width = 80;                  ///< C, a multiple of `heads`
  int ffn = 80;                    ///< F
  int heads = 8;                   ///< H
  bool post_ln = false;            ///< LayerNorm after the residual sums (Graphormer v2) instead of before each part
  KeyTerm key_term = KeyTerm::column;
  RelationTerms terms;
  bool share_encodings = true;     ///< b, PQ ... EV shared by all layers (GRPE Table 10), else one set per layer
  GateOptions gate;
  double dropout = 0.1;            ///< on the residual branches
  double attention_dropout = 0.1;  ///< on the gated attention weights
  double activation_dropout = 0.0; ///< inside the FFN
  double input_dropout = 0.0;      ///< on the node input
  bool untie_virtual = true;       ///< false: the three VIRTUAL classes share one bias b per head (Graphormer)
};

}  // namespace molgraph
