// Sums by NCCL, on a real GPU: the emulated one has none.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/training/nccl.hpp"
#include "attention/cuda/memory.hpp"

namespace molgraph::test {
namespace {

TEST(CudaNccl, AddsUpOverOneProcess) {
  if (const std::string reason = cuda::why_unusable(0); !reason.empty()) GTEST_SKIP() << reason;
  Processes alone;
  std::unique_ptr<Nccl> nccl;
  try {
    nccl = std::make_unique<Nccl>(alone, 0);
  } catch (const DeviceError& error) {
    if (std::string(error.what()).find("needs NCCL") != std::string::npos) GTEST_SKIP() << error.what();
    throw;
  }
  const DeviceStream stream = cuda::make_stream();
  cuda::Array<float> values;
  const std::vector<float> wanted{1, 2, 3};
  values.upload(wanted, stream);
  nccl->sum(values.data(), wanted.size(), stream);
  std::vector<float> got(wanted.size());
  cuda::copy_to_host(got.data(), values.data(), got.size() * sizeof(float), stream);
  EXPECT_EQ(got, wanted);
  cuda::destroy_stream(stream);
}

}  // namespace
}  // namespace molgraph::test
