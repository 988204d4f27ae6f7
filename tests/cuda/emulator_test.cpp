// The emulated GPU detects missing barriers, deadlocks, writes outside an array and the use of memory that was never
// set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/cuda/gpu/library_product.hpp"
#include "attention/cuda/kernels/device.cuh"
#include "attention/spec/random.hpp"

namespace molgraph::cuda {

constexpr unsigned kThreads = 64;

// Outside the unnamed namespace, so that `memory` is the array that the emulated GPU defines.

// Every thread writes a number and reads that of a thread in another warp.
static void exchange(float* out, bool barrier) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* shared = reinterpret_cast<float*>(memory);
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (barrier) __syncthreads();
  out[blockIdx.x * kThreads + threadIdx.x] = shared[(threadIdx.x + 40) % kThreads];
}

static void write_at(int at) {
  extern __shared__ __align__(16) unsigned char memory[];
  memory[at] = 1;
}

namespace {

int wrong_after_exchange(bool barrier) {
  Array<float> out;
  launch(nullptr, exchange, 2u, kThreads, kThreads * sizeof(float), out.sized(2 * kThreads), barrier);
  int wrong = 0;
  for (unsigned t = 0; t < 2 * kThreads; ++t) wrong += out.data()[t] == static_cast<float>((t + 40) % kThreads) ? 0 : 1;
  return wrong;
}

TEST(Emulator, MissingBarriersGiveWrongResults) {
  EXPECT_EQ(wrong_after_exchange(true), 0);
  EXPECT_GT(wrong_after_exchange(false), 0);
}

TEST(Emulator, WarpsExchangeRegisters) {
  Array<float> out;
  launch(
      nullptr, +[](float* to) { to[threadIdx.x] = warp_sum(static_cast<float>(threadIdx.x)); }, 1u, kThreads, 0,
      out.sized(kThreads));
  EXPECT_EQ(out.data()[0], 31 * 16);
  EXPECT_EQ(out.data()[63], 31 * 16 + 32 * 32);
}

TEST(Emulator, DetectsDeadlocks) {
  EXPECT_THROW(launch(
                   nullptr,
                   +[](int limit) {
                     if (static_cast<int>(threadIdx.x) < limit) __syncthreads();
                     else __syncwarp();
                   },
                   1u, kThreads, 0, 40),
               std::logic_error);
}

TEST(Emulator, DetectsWritesOutsideSharedMemory) {
  EXPECT_NO_THROW(launch(nullptr, write_at, 1u, 1u, 100, 99));
  EXPECT_THROW(launch(nullptr, write_at, 1u, 1u, 100, 100), std::logic_error);
}

TEST(Emulator, DetectsWritesOutsideArrays) {
  auto* array = static_cast<float*>(emulator::allocate(4 * sizeof(float)));
  const float guard = array[4];
  array[4] = 1;
  EXPECT_THROW(emulator::check_guards(), std::logic_error);
  array[4] = guard;
  EXPECT_TRUE(std::isnan(array[0]));
  EXPECT_NO_THROW(emulator::release(array));
}

TEST(Emulator, RecordingsKeepTheirArguments) {
  Array<float> out;
  float value = 3;
  (void)out.sized(1);
  const Recording recording(nullptr, [&] {
    launch(
        nullptr, +[](float* to, float x) { *to = x; }, 1u, 1u, 0, out.data(), value);
  });
  EXPECT_TRUE(std::isnan(out.data()[0])) << "recorded work does not run yet";
  value = 4;
  recording.run();
  EXPECT_EQ(out.data()[0], 3);
  EXPECT_THROW(Recording(nullptr, [&] { (void)out.sized(100); }), std::logic_error);
  EXPECT_THROW(Recording(nullptr, [] { synchronize(nullptr); }), std::logic_error);
}

// A library function is not a kernel and must not be looked up as one. It is listed by its name.
TEST(Emulator, ProfilesCountKernelsAndNameLibraryCalls) {
  Array<float> a, b, y;
  for (Array<float>* array : {&a, &b, &y}) clear(array->sized(4), 4 * sizeof(float), nullptr);
  ProductLibrary library(Precision::fp32);
  const auto times = profile(nullptr, [&] {
    for (int k = 0; k < 2; ++k)
      library.multiply(nullptr, {.a = a.data(),
                                 .b = b.data(),
                                 .a_row = 2,
                                 .b_column = 2,
                                 .rows = 2,
                                 .columns = 2,
                                 .depth = 2,
                                 .y = y.data()});
    launch(
        nullptr, +[](float* to) { to[0] = 1; }, 1u, 1u, 0, y.data());
  });
  ASSERT_EQ(times.size(), 2u);
  const auto call =
      std::find_if(times.begin(), times.end(), [](const KernelTime& time) { return time.name == "cublasLtMatmul"; });
  ASSERT_NE(call, times.end());
  EXPECT_EQ(call->launches, 2);
  EXPECT_THROW(profile(nullptr, [] { throw std::runtime_error("in the middle"); }), std::runtime_error);
  launch(
      nullptr, +[](float* to) { to[0] = 1; }, 1u, 1u, 0, y.data());  // no clock remains active
}

TEST(Emulator, NotesAreSentOnce) {
  std::vector<std::string> notes;
  tell_notes([&](const std::string& text) { notes.push_back(text); });
  note("a slower way");
  note("a slower way");
  note("another");
  tell_notes({});
  EXPECT_EQ(notes, (std::vector<std::string>{"a slower way", "another"}));
}

TEST(Emulator, DrawsMatchTheHost) {
  const DrawKey key{{0x9abcdef0u, 0x12345678u}, 17, 2};
  std::uint32_t words[4];
  draw_block(key, 4096, 16 * 11 + 3, 5, words);
  std::uint16_t host[48];
  random_draws({0x123456789abcdef0u, 17, 4096, 11, RandomSite::ffn_activation, 2}, 48, host);
  for (std::uint32_t e = 40; e < 48; ++e) EXPECT_EQ(pick_draw(words, e), host[e]) << e;
}

}  // namespace
}  // namespace molgraph::cuda
