#include "attention/spec/encodings.hpp"

#include <algorithm>
#include <array>

#include "attention/spec/terms.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::array<Encoding, 15> kEncodings{{
    {.name = "none",
     .formula = "q_i.k_j / sqrt(d)",
     .source = "Vaswani et al. 2017; GRPE Table 9, row 1",
     .parameters = "0",
     .cost = "0",
     .use = "a lower bound: the molecule as a bag of atoms"},
    {.name = "t5",
     .formula = "q_i.k_j / sqrt(d) + b[t_ij]",
     .source = "Raffel et al. 2020, section 2.1; on graphs Schmitt et al. 2021 (Graformer); T5 itself does not divide "
               "by sqrt(d)",
     .parameters = "T H",
     .cost = "n^2 H",
     .use = "the cheapest encoding that uses the graph; ignores bond types",
     .terms = {.bias = true}},
    {.name = "diet-rel",
     .formula = "q_i.k_j / sqrt(d) + b_l[t_ij] in layer l",
     .source = "Chen et al. 2021, eq. 3",
     .parameters = "L T H",
     .cost = "n^2 H per layer",
     .use = "as t5, if layers should attend to different distances",
     .terms = {.bias = true},
     .share = false},
    {.name = "graphormer",
     .formula = "q_i.k_j / sqrt(d) + b[t_ij] + path_ij",
     .source = "Ying et al. 2021, eq. 6 and 7; mean over all shortest paths instead of one, unless --path single",
     .parameters = "(T - 2) H + bonds H + hops H^2",
     .cost = "n^2 H",
     .use = "bond types along paths; the reference model for ZINC and PCQM4M",
     .terms = {.bias = true},
     .path_bias = true,
     .untie_virtual = false},
    {.name = "shaw",
     .formula = "q_i.(k_j + PQ[t_ij]) / sqrt(d), values v_j + PV[t_ij]",
     .source = "Shaw et al. 2018, eq. 3 and 4 (their a^K is our PQ, a^V our PV); their tables are per layer and shared "
               "by the heads (section 3.3; not in their base model); ours are per head and shared by all layers unless "
               "--no-share-encodings",
     .parameters = "2 T C",
     .cost = "2 n T C per layer",
     .use = "distances whose effect depends on the query atom",
     .terms = {.topology_query = true, .topology_value = true}},
    {.name = "deberta",
     .formula = "(q_i.k_j + q_i.PQ[t_ij] + k_j.PK[t_ji]) / sqrt(3 d)",
     .source = "He et al. 2021, eq. 4; the tables are learned directly, and the absolute positions of the last layers "
               "are left out",
     .parameters = "2 T C",
     .cost = "2 n T C per layer",
     .use = "as shaw, and the effect also depends on the key atom",
     .terms = {.topology_query = true, .topology_key = true},
     .key_term = KeyTerm::reverse,
     .score_terms = 3},
    {.name = "transformer-xl",
     .formula = "(q_i.k_j + q_i.R[t_ij] + u.k_j + v.R[t_ij]) / sqrt(d)",
     .source = "Dai et al. 2019, section 3.3; R is learned per class instead of sinusoids",
     .parameters = "T C + 2 C",
     .cost = "2 n T C per layer",
     .use = "as shaw without values, plus biases that do not depend on the query atom",
     .terms = {.topology_query = true, .global_bias = true}},
    {.name = "grpe",
     .formula = "(q_i.k_j + q_i.(PQ[t_ij] + EQ[e_ij]) + k_j.(PK[t_ij] + EK[e_ij])) / sqrt(d), values v_j + PV[t_ij] + "
                "EV[e_ij]",
     .source = "Park et al. 2022, eq. 6 to 10",
     .parameters = "3 (T + E) C",
     .cost = "3 n (T + E) C per layer",
     .use = "the default for your own tables: distances and bonds act on query, key and value",
     .terms = {.topology_query = true,
               .topology_key = true,
               .topology_value = true,
               .edge_query = true,
               .edge_key = true,
               .edge_value = true}},
    {.name = "grpe-walk",
     .formula = "grpe with scores + sum_t ((q_i.WQ[t] + k_j.WK[t]) / sqrt(d) + W[t]) r_ij[t], values + sum_t WV[t] "
                "r_ij[t], input x_i + W p_i, p_i = r_ii; r_ij[t] = ((D^-1 A)^t)_ij, t = 1..k",
     .source = "Park et al. 2022 with the relations of Ma et al. 2023 (GRIT), section 3.1; unlike in GRIT, layers "
               "update a state per pair only with --pair-state; the gate of --urpe is C[t_ij] + sum_t W[t] r_ij[t]",
     .parameters = "3 (T + E) C + k (4 C + H), k H more with --urpe",
     .cost = "grpe's + 3 k n^2 H per layer, k n^2 per molecule and pass",
     .use = "as grpe, if rings and branches matter; small molecules, many epochs",
     .terms = {.topology_query = true,
               .topology_key = true,
               .topology_value = true,
               .edge_query = true,
               .edge_key = true,
               .edge_value = true,
               .walk_bias = true,
               .walk_query = true,
               .walk_key = true,
               .walk_value = true},
     .position = NodePosition::random_walk,
     .position_dim = 10},
    {.name = "graphormer-walk",
     .formula = "graphormer with the walk terms of grpe-walk",
     .source = "Ying et al. 2021 with the relations of Ma et al. 2023 (GRIT), section 3.1, as in grpe-walk",
     .parameters = "graphormer's + k (4 C + H), k H more with --urpe",
     .cost = "graphormer's + 3 k n^2 H per layer, k n^2 per molecule and pass",
     .use = "as graphormer, if rings and branches matter",
     .terms = {.bias = true, .walk_bias = true, .walk_query = true, .walk_key = true, .walk_value = true},
     .path_bias = true,
     .untie_virtual = false,
     .position = NodePosition::random_walk,
     .position_dim = 10},
    {.name = "diet-abs",
     .formula = "q_i.k_j / sqrt(d) + P_Q(i).P_K(j)",
     .source = "Chen et al. 2021, eq. 1; P from degree and random walk instead of the position in a sentence",
     .parameters = "2 (17 + k) 64 H",
     .cost = "64 n^2 H",
     .use = "absolute positions of atoms instead of distances",
     .terms = {.absolute_bias = true},
     .position_dim = 16},
    {.name = "tupe",
     .formula = "q_i.k_j / sqrt(d) + P_Q(i).P_K(j) + b[t_ij]",
     .source = "Ke et al. 2021, eq. 7 and section 3.2 (virtual node untied); diet-abs + t5, without their sqrt(2 d)",
     .parameters = "2 (17 + k) 64 H + T H",
     .cost = "64 n^2 H",
     .use = "positions and distances, independent of atom types",
     .terms = {.bias = true, .absolute_bias = true},
     .position_dim = 16},
    {.name = "resistance",
     .formula = "q_i.k_j / sqrt(d) + b[t_ij] + sum_k W[k] G_k(R_ij), R the resistance distance",
     .source = "Zhang et al. 2023 (Graphormer-GD), section 4; one matrix W after the Gaussians instead of two with a "
               "GELU, and no gate except --urpe",
     .parameters = "T H + k (2 + H)",
     .cost = "n^3 per molecule and pass, k n^2 H",
     .use = "distances that distinguish rings from chains",
     .terms = {.bias = true, .resistance = true},
     .position_dim = 16},
    {.name = "laplacian",
     .formula = "q_i.k_j / sqrt(d), input x_i + W p_i, p = k eigenvectors of I - D^-1/2 A D^-1/2",
     .source = "Dwivedi & Bresson 2020, section 2.1; computed per fragment; signs are canonical at scoring",
     .parameters = "k C",
     .cost = "n^3 per molecule",
     .use = "comparison with other graph transformers",
     .position = NodePosition::laplacian,
     .position_dim = 8},
    {.name = "random-walk",
     .formula = "q_i.k_j / sqrt(d), input x_i + W p_i, p = diag((D^-1 A)^t), t = 1..k",
     .source = "Dwivedi et al. 2022, eq. 9",
     .parameters = "k C",
     .cost = "k n^2 per molecule",
     .use = "rings and branches around an atom; no sign ambiguity",
     .position = NodePosition::random_walk,
     .position_dim = 16},
}};

}  // namespace

bool has_walks(const Encoding& encoding) { return has_walks(encoding.terms); }

std::span<const Encoding> encodings() { return kEncodings; }

const Encoding& encoding_from_string(std::string_view name) {
  const auto found =
      std::find_if(kEncodings.begin(), kEncodings.end(), [&](const Encoding& e) { return e.name == name; });
  if (found != kEncodings.end()) return *found;
  std::string names;
  for (const Encoding& e : kEncodings) names += (names.empty() ? "" : ", ") + std::string(e.name);
  throw UsageError("unknown encoding '" + std::string(name) + "'; choose one of " + names);
}

void set_encoding(EncoderOptions& encoder, const Encoding& encoding) {
  encoder.terms = encoding.terms;
  encoder.key_term = encoding.key_term;
  encoder.score_terms = encoding.score_terms;
  encoder.share_encodings = encoding.share;
  encoder.untie_virtual = encoding.untie_virtual;
  encoder.position = encoding.position;
  encoder.position_dim = encoding.position_dim;
  encoder.gate.walk = has_walks(encoding);
}

}  // namespace molgraph
