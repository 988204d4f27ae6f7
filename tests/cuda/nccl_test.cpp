// Sums by NCCL on a real GPU. The emulated GPU has no NCCL.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "apps/training/loop/nccl.hpp"
#include "attention/cuda/memory.hpp"

namespace molgraph::test {
namespace {

TEST(CudaNccl, SumsOverOneProcess) {
  if (const std::string reason = cuda::why_unusable(0); !reason.empty()) GTEST_SKIP() << reason;
  Processes alone;
  std::unique_ptr<Nccl> nccl;
  try {
    nccl = std::make_unique<Nccl>(alone, Device::gpu(0));
  } catch (const DeviceError& error) {
    if (std::string(error.what()).find("needs NCCL") != std::string::npos) GTEST_SKIP() << error.what();
    throw;
  }
  const DeviceStream stream = cuda::make_stream();
  cuda::Array<float> values;
  const std::vector<float> expected{1, 2, 3};
  values.upload(expected, stream);
  nccl->sum(values.data(), expected.size(), stream);
  std::vector<float> got(expected.size());
  cuda::copy_to_host(got.data(), values.data(), got.size() * sizeof(float), stream);
  EXPECT_EQ(got, expected);
  cuda::destroy_stream(stream);
}

}  // namespace
}  // namespace molgraph::test
