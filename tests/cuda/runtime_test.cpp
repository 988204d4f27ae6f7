// The engine's host side as nvcc compiles it, on a CUDA runtime and a cublasLt that stand in for the real ones
// (stand_in_runtime.cpp, stand_in_cublaslt.cpp) and keep what they were asked: what only a card, or a card that fails,
// would show.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attention/cuda/gpu/library_product.hpp"
#include "attention/cuda/memory.hpp"
#include "attention/cuda/profile.hpp"
#include "tests/cuda/stand_in.hpp"

namespace molgraph::test {
namespace {

using namespace molgraph::cuda;

class CudaRuntime : public testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    cuda::tell_notes([this](const std::string& text) { told.push_back(text); });
  }
  void TearDown() override { cuda::tell_notes({}); }

  /// [256, 256] x [256, 256]; `offset` bytes from where an array begins.
  static LibraryProduct product(char* memory, std::ptrdiff_t a_offset) {
    return {.a = memory + a_offset,
            .b = memory,
            .a_row = 256,
            .b_column = 256,
            .rows = 256,
            .columns = 256,
            .depth = 256,
            .y = reinterpret_cast<float*>(memory + 512)};
  }

  std::vector<std::string> told;
  alignas(256) char memory[1024] = {};  // never read: products are the stand-in's
};

TEST_F(CudaRuntime, AnErrorThatWasThrownIsNotFoundAgain) {
  stand_in().failing = "cudaStreamSynchronize";
  EXPECT_THROW(synchronize(nullptr), DeviceError);
  EXPECT_EQ(stand_in().last_error, 0) << "the next launch would be blamed for it";
}

TEST_F(CudaRuntime, NothingIsReleasedThatNeverWas) {
  {
    Upload upload;
    upload.begin();
    const std::vector<int> numbers{1, 2, 3};
    upload.add(numbers);
    const Array<float> unused;
  }
  EXPECT_EQ(stand_in().null_releases, 0);
  EXPECT_EQ(stand_in().releases, 1);  // the page-locked memory that was
}

TEST_F(CudaRuntime, AProfileNamesTheLibrarysCall) {
  ProductLibrary library(Precision::bf16);
  const std::vector<KernelTime> times = profile(nullptr, [&] {
    EXPECT_TRUE(library.multiply(nullptr, product(memory, 0)));
    const LaunchClock clock(nullptr, static_cast<const void*>(memory));  // a kernel that the runtime does not know
  });
  ASSERT_EQ(times.size(), 2u);
  std::vector<std::string> names{times[0].name, times[1].name};
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"cublasLtMatmul", "unknown kernel"}));
  EXPECT_EQ(stand_in().looked_up, (std::vector<const void*>{memory})) << "a library's function is no kernel";
  EXPECT_EQ(stand_in().last_error, 0);
}

TEST_F(CudaRuntime, TheLibraryIsToldWhatAddressesAreMultiplesOf) {
  ProductLibrary library(Precision::bf16);
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 128)));
  EXPECT_EQ(stand_in().alignments, (std::vector<unsigned>{256, 128, 256, 256}));  // its a is our b
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 256)));
  EXPECT_EQ(stand_in().alignments, (std::vector<unsigned>{256, 128, 256, 256, 256, 256, 256, 256}))
      << "not the same plan";
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 128)));
  EXPECT_EQ(stand_in().alignments.size(), 8u) << "planned before";
  LibraryProduct other = product(memory, 128);
  other.a_row = 512;
  EXPECT_TRUE(library.multiply(nullptr, other));
  EXPECT_EQ(stand_in().alignments.size(), 12u) << "rows that stand further apart are another plan";
}

TEST_F(CudaRuntime, SaysWhenTheLibraryDoesNotServe) {
  {
    ProductLibrary library(Precision::fp32);
    stand_in().knows_no_way = true;
    EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
    EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
  }
  ProductLibrary library(Precision::fp32);
  stand_in().knows_no_way = false, stand_in().matmul_status = 13;
  EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
  ASSERT_EQ(told.size(), 2u);  // each once
  EXPECT_NE(told[0].find("256 x 256 x 256"), std::string::npos) << told[0];
  EXPECT_NE(told[1].find("status 13"), std::string::npos) << told[1];
}

}  // namespace
}  // namespace molgraph::test
