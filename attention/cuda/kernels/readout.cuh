// The head's readout of the tokens, and its backward pass (EncoderOptions::readout).
#pragma once

#include "attention/cuda/kernels/rows.cuh"

namespace molgraph::cuda {

/// Computes `graph` [molecules, width] from `tokens` [rows, width] or, in the backward pass, the gradient of `tokens`
/// from that of `graph`.
struct TokenReadout {
  Readout kind = Readout::virtual_node;
  const Molecule* molecule = nullptr;
  const TokenPlace* token = nullptr;  ///< [rows]
  int molecules = 0, rows = 0, width = 0;
  float *tokens = nullptr, *graph = nullptr;
};
__device__ __forceinline__ float share_of(const TokenReadout& p, const Molecule& m) {
  return readout_share<float>(p.kind == Readout::mean, m.tokens - 1);
}

// One warp per molecule and 32 channels. Each lane sums its channel over the atoms in order.
__global__ void __launch_bounds__(kRowThreads) pool_atoms_kernel(TokenReadout p) {
  const int b = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  const int c = static_cast<int>(blockIdx.y) * 32 + static_cast<int>(threadIdx.x % 32);
  if (b >= p.molecules || c >= p.width) return;
  const Molecule& m = p.molecule[b];
  const float* from = p.tokens + m.token * p.width + c;
  float sum = 0;
  for (std::int64_t i = 1; i < m.tokens; ++i) sum += from[i * p.width];
  p.graph[static_cast<std::int64_t>(b) * p.width + c] = share_of(p, m) * sum;
}
// One warp per row. Rows of virtual nodes and of no molecule get zero.
__global__ void __launch_bounds__(kRowThreads) spread_to_atoms_kernel(TokenReadout p) {
  const int row = static_cast<int>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x / 32);
  if (row >= p.rows) return;
  const TokenPlace token = p.token[row];
  const bool atom = token.molecule >= 0 && token.index > 0;
  const float share = atom ? share_of(p, p.molecule[token.molecule]) : 0.0f;
  for (int c = static_cast<int>(threadIdx.x % 32); c < p.width; c += 32)
    p.tokens[static_cast<std::int64_t>(row) * p.width + c] =
        atom ? share * p.graph[static_cast<std::int64_t>(token.molecule) * p.width + c] : 0.0f;
}

inline void read_tokens(Stream stream, const TokenReadout& p) {
  const unsigned blocks = blocks_for(p.molecules, kRowsPerBlock);
  if (p.kind == Readout::virtual_node)
    launch(stream, virtual_rows_kernel, blocks, kRowThreads, 0, p.molecule, p.molecules, p.width, p.graph, p.tokens,
           false);
  else launch(stream, pool_atoms_kernel, dim3(blocks, blocks_for(p.width, 32)), kRowThreads, 0, p);
}
/// Overwrites all rows of `tokens`.
inline void read_tokens_back(Stream stream, const TokenReadout& p) {
  if (p.kind != Readout::virtual_node)
    return launch(stream, spread_to_atoms_kernel, blocks_for(p.rows, kRowsPerBlock), kRowThreads, 0, p);
  clear(p.tokens, static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.width) * sizeof(float), stream);
  launch(stream, virtual_rows_kernel, blocks_for(p.molecules, kRowsPerBlock), kRowThreads, 0, p.molecule, p.molecules,
         p.width, p.graph, p.tokens, true);
}

}  // namespace molgraph::cuda
