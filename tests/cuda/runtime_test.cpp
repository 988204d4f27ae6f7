// The engine's host side as compiled by nvcc, with stand-ins for the CUDA runtime and cublasLt (stand_in_runtime.cpp,
// stand_in_cublaslt.cpp) that record their calls. Tests behaviour that otherwise only a GPU, or a failing GPU, shows.
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
    cuda::tell_notes([this](const std::string& text) { notes.push_back(text); });
  }
  void TearDown() override { cuda::tell_notes({}); }

  /// [256, 256] x [256, 256]. a begins `a_offset` bytes after `memory`.
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

  std::vector<std::string> notes;
  alignas(256) char memory[1024] = {};  // never read: the stand-in computes nothing
};

TEST_F(CudaRuntime, ThrownErrorIsCleared) {
  stand_in().failing = "cudaStreamSynchronize";
  EXPECT_THROW(synchronize(nullptr), DeviceError);
  EXPECT_EQ(stand_in().last_error, 0) << "the next launch would report this error";
}

TEST_F(CudaRuntime, ReleasesOnlyAllocatedMemory) {
  {
    Upload upload;
    upload.begin();
    const std::vector<int> numbers{1, 2, 3};
    upload.add(numbers);
    const Array<float> unused;
  }
  EXPECT_EQ(stand_in().null_releases, 0);
  EXPECT_EQ(stand_in().releases, 1);  // the page-locked memory
}

TEST_F(CudaRuntime, ProfileNamesTheLibraryCall) {
  ProductLibrary library(Precision::bf16);
  const std::vector<KernelTime> times = profile(nullptr, [&] {
    EXPECT_TRUE(library.multiply(nullptr, product(memory, 0)));
    const LaunchClock clock(nullptr, static_cast<const void*>(memory));  // a kernel that the runtime does not know
  });
  ASSERT_EQ(times.size(), 2u);
  std::vector<std::string> names{times[0].name, times[1].name};
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"cublasLtMatmul", "unknown kernel"}));
  EXPECT_EQ(stand_in().looked_up, (std::vector<const void*>{memory})) << "a library function is not a kernel";
  EXPECT_EQ(stand_in().last_error, 0);
}

TEST_F(CudaRuntime, LibraryReceivesTheAlignmentOfAddresses) {
  ProductLibrary library(Precision::bf16);
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 128)));
  EXPECT_EQ(stand_in().alignments, (std::vector<unsigned>{256, 128, 256, 256}));  // cublasLt's A is b
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 256)));
  EXPECT_EQ(stand_in().alignments, (std::vector<unsigned>{256, 128, 256, 256, 256, 256, 256, 256}))
      << "a different alignment needs another plan";
  EXPECT_TRUE(library.multiply(nullptr, product(memory, 128)));
  EXPECT_EQ(stand_in().alignments.size(), 8u) << "the plan is reused";
  LibraryProduct other = product(memory, 128);
  other.a_row = 512;
  EXPECT_TRUE(library.multiply(nullptr, other));
  EXPECT_EQ(stand_in().alignments.size(), 12u) << "a different row stride needs another plan";
}

TEST_F(CudaRuntime, NotesFailuresOfTheLibrary) {
  {
    ProductLibrary library(Precision::fp32);
    stand_in().no_algorithm = true;
    EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
    EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
  }
  ProductLibrary library(Precision::fp32);
  stand_in().no_algorithm = false, stand_in().matmul_status = 13;
  EXPECT_FALSE(library.multiply(nullptr, product(memory, 0)));
  ASSERT_EQ(notes.size(), 2u);  // each failure once
  EXPECT_NE(notes[0].find("256 x 256 x 256"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("status 13"), std::string::npos) << notes[1];
}

}  // namespace
}  // namespace molgraph::test
