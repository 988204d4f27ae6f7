// The device draws the same random numbers as the host: dropout of every backend must drop the same elements.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/random.hpp"

namespace molgraph {
namespace {

/// The engine's draws of the stream, one thread per block of eight draws.
__global__ void draws_kernel(RandomStream stream, DrawKey key, std::uint32_t blocks, std::uint16_t* out) {
  const std::uint32_t block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= blocks) return;
  std::uint32_t words[4];
  cuda::draw_block(key, stream.row, draw_place(stream.layer, stream.site), block, words);
  for (std::uint32_t e = 8 * block; e < 8 * block + 8; ++e) out[e] = static_cast<std::uint16_t>(pick_draw(words, e));
}

TEST(CudaRandom, DeviceDrawsMatchTheHost) {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    GTEST_SKIP() << "no CUDA device on this machine: " << cudaGetErrorString(found);
  }
  const RandomStream stream{0x123456789abcdef0u, 17, 4096, 11, RandomSite::ffn_activation, 2};
  constexpr std::uint32_t kBlocks = 1000;
  std::vector<std::uint16_t> host(8 * kBlocks), device(8 * kBlocks);
  random_draws(stream, 8 * kBlocks, host.data());
  std::uint16_t* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, device.size() * sizeof(std::uint16_t)), cudaSuccess);
  draws_kernel<<<(kBlocks + 127) / 128, 128>>>(stream, draw_key(stream.seed, stream.step, stream.ascent), kBlocks,
                                               memory);
  ASSERT_EQ(cudaMemcpy(device.data(), memory, device.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost),
            cudaSuccess);
  cudaFree(memory);
  EXPECT_EQ(device, host);
}

}  // namespace
}  // namespace molgraph
