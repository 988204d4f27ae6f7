// Input of the encoder: sums of rows of the tokens' tables, noise, positions.
#pragma once

#include "attention/cuda/kernels/tables.cuh"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph::cuda {

struct NodeInputTask {
  int rows = 0, width = 0, columns = 0, position_dim = 0;
  const TokenPlace* token = nullptr;
  const std::int32_t* ids = nullptr;         ///< [columns, rows] of the atom table; -1: none
  const std::int32_t* degree_ids = nullptr;  ///< [rows]; -1: none
  const float *atom = nullptr, *virtual_node = nullptr, *in_degree = nullptr, *out_degree = nullptr;
  const float *positions = nullptr, *position_weight = nullptr;  ///< [rows, dim], [C, dim]
  const DrawKey* key = nullptr;                                  ///< null: not in training
  double noise = 0;
  const float* perturbation = nullptr;  ///< [tokens, C]
  float* x = nullptr;
};
__global__ void __launch_bounds__(kTableThreads) node_input_kernel(NodeInputTask p) {
  const int row = static_cast<int>(blockIdx.x);
  const TokenPlace token = p.token[row];
  for (int c = static_cast<int>(threadIdx.x); c < p.width; c += kTableThreads) {
    const std::int64_t at = static_cast<std::int64_t>(row) * p.width + c;
    float value = 0;
    if (token.molecule >= 0) {
      if (token.index == 0) value = p.virtual_node[c];
      for (int k = 0; k < p.columns && token.index > 0; ++k)
        value += p.atom[static_cast<std::int64_t>(p.ids[static_cast<std::int64_t>(k) * p.rows + row]) * p.width + c];
      if (p.in_degree != nullptr && token.index > 0) {
        const std::int64_t degree = static_cast<std::int64_t>(p.degree_ids[row]) * p.width + c;
        value += p.in_degree[degree] + p.out_degree[degree];
      }
      if (p.key != nullptr && p.noise > 0 && token.index > 0) {
        const std::uint32_t element = token.index * static_cast<std::uint32_t>(p.width) + static_cast<std::uint32_t>(c);
        std::uint32_t words[4];
        draw_block(*p.key, token.row, draw_place(0, RandomSite::input_noise), element / 8, words);
        value += static_cast<float>(noise_from_draw(p.noise, pick_draw(words, element)));
      }
      for (int k = 0; k < p.position_dim; ++k)
        value += p.positions[static_cast<std::int64_t>(row) * p.position_dim + k] *
                 p.position_weight[c * p.position_dim + k];
      if (p.perturbation != nullptr) value += p.perturbation[at];
    }
    p.x[at] = value;
  }
}

/// Ids of a batch's tokens in the tables and their positions, from the resident atoms. Null = not computed.
struct TokenTables {
  int rows = 0, columns = 0, last_degree = 0, last_absolute = 0, position_dim = 0;
  const Molecule* molecules = nullptr;
  const TokenPlace* token = nullptr;
  const std::uint8_t* atoms = nullptr;              ///< resident [atoms, columns]
  const std::int32_t* degree = nullptr;             ///< resident [atoms]
  const float* atom_positions = nullptr;            ///< resident [atoms, dim]
  std::int32_t column_start[kMaxAtomColumns] = {};  ///< first row of each column
  std::int32_t *ids = nullptr, *degree_ids = nullptr, *absolute_ids = nullptr;
  float *positions = nullptr, *log_degree = nullptr;  ///< log_degree: [rows], 0 for rows that are not atoms
  const DrawKey* signs = nullptr;  ///< random signs of the positions (Dwivedi & Bresson 2020); null = none
};
__global__ void __launch_bounds__(kTableThreads) token_tables_kernel(TokenTables p) {
  const int row = static_cast<int>(blockIdx.x) * kTableThreads + static_cast<int>(threadIdx.x);
  if (row >= p.rows) return;
  const TokenPlace token = p.token[row];
  const bool atom = token.molecule >= 0 && token.index > 0;
  const std::int64_t at = atom ? p.molecules[token.molecule].atom_at + token.index - 1 : 0;
  for (int k = 0; k < p.columns; ++k)
    p.ids[static_cast<std::int64_t>(k) * p.rows + row] = atom ? p.column_start[k] + p.atoms[at * p.columns + k] : -1;
  const int degree = atom ? p.degree[at] : -1;
  if (p.degree_ids != nullptr) p.degree_ids[row] = degree < p.last_degree ? degree : p.last_degree;
  if (p.log_degree != nullptr) p.log_degree[row] = atom ? static_cast<float>(log_degree(degree)) : 0.0f;
  if (p.absolute_ids != nullptr)  // the virtual node has the last row
    p.absolute_ids[row] = atom                  ? (degree < p.last_absolute ? degree : p.last_absolute)
                          : token.molecule >= 0 ? p.last_absolute + 1
                                                : -1;
  for (int k = 0; k < p.position_dim; ++k) {
    float value = atom ? p.atom_positions[at * p.position_dim + k] : 0.0f;
    if (p.signs != nullptr && atom) {
      std::uint32_t words[4];
      draw_block(*p.signs, token.row, draw_place(0, RandomSite::laplacian_sign), static_cast<std::uint32_t>(k) / 8,
                 words);
      if (flips_sign(pick_draw(words, static_cast<std::uint32_t>(k)))) value = -value;
    }
    p.positions[static_cast<std::int64_t>(row) * p.position_dim + k] = value;
  }
}

}  // namespace molgraph::cuda
