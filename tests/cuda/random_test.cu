// The device draws the same random numbers as the host: dropout of every backend must drop the same elements.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "featurize/philox.hpp"
#include "graphormer/attention/random.hpp"

namespace molgraph {
namespace {

/// Draw e of the stream as random_draws() defines it, one thread per block of eight draws.
__global__ void draws_kernel(RandomStream stream, std::uint32_t blocks, std::uint16_t* out) {
  const std::uint32_t block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= blocks) return;
  const std::uint32_t key[2] = {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)};
  const std::uint32_t counter[4] = {stream.step, stream.row,
                                    16 * stream.layer + static_cast<std::uint32_t>(stream.site) + (stream.ascent << 20),
                                    block};
  std::uint32_t words[4];
  philox4x32_10(words, counter, key);
  for (int w = 0; w < 4; ++w) {
    out[8 * block + 2 * w] = static_cast<std::uint16_t>(words[w]);
    out[8 * block + 2 * w + 1] = static_cast<std::uint16_t>(words[w] >> 16);
  }
}

TEST(CudaRandom, DeviceDrawsAreTheHosts) {
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
  draws_kernel<<<(kBlocks + 127) / 128, 128>>>(stream, kBlocks, memory);
  ASSERT_EQ(cudaMemcpy(device.data(), memory, device.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost), cudaSuccess);
  cudaFree(memory);
  EXPECT_EQ(device, host);
}

}  // namespace
}  // namespace molgraph
