#include "tests/bench/machine.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "attention/cpu/kernels/aligned.hpp"
#include "attention/cpu/kernels/gemm_bf16.hpp"
#include "attention/cpu/kernels/kernels.hpp"

namespace molgraph::bench {
namespace {

/// Units per second of all threads. Each thread calls work() for `seconds`; work() returns its number of units.
template <class Make>
double rate(int threads, double seconds, Make make) {
  std::vector<double> done(static_cast<std::size_t>(threads));
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      auto work = make();
      work();
      double units = 0, elapsed = 0;
      for (const auto start = Clock::now(); elapsed < seconds; elapsed = seconds_since(start)) units += work();
      done[static_cast<std::size_t>(t)] = units / elapsed;
    });
  for (auto& thread : pool) thread.join();
  double total = 0;
  for (const double one : done) total += one;
  return total;
}

double gemm_rate(int threads, std::size_t rows, std::size_t depth, std::size_t columns) {
  return rate(threads, 0.5, [=] {
    return [=, a = cpu::AlignedVector<float>(rows * depth, 0.5f), b = cpu::AlignedVector<float>(depth * columns, 0.25f),
            y = cpu::AlignedVector<float>(rows * columns)]() mutable {
      for (int k = 0; k < 8; ++k)
        cpu::kernels().gemm({.a = a.data(),
                             .a_stride = depth,
                             .rows = rows,
                             .depth = depth,
                             .weights = b.data(),
                             .columns = columns,
                             .y = y.data(),
                             .y_stride = columns});
      return 8 * 2e-9 * static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(columns);
    };
  });
}

double bf16_rate(int threads, std::size_t rows, std::size_t depth, std::size_t columns) {
  if (!cpu::has_bf16()) return 0;
  return rate(threads, 0.5, [=] {
    const std::vector<float> weights(depth * columns, 0.25f);
    cpu::AlignedVector<std::uint16_t> panels(cpu::bf16_panels_size(depth, columns));
    cpu::pack_bf16(weights.data(), columns, depth, columns, panels.data());
    return [=, a = cpu::AlignedVector<float>(rows * depth, 0.5f), y = cpu::AlignedVector<float>(rows * columns),
            scratch = cpu::AlignedVector<std::uint16_t>(rows * (depth + 32))]() mutable {
      const cpu::TileScope tiles;
      for (int k = 0; k < 8; ++k)
        cpu::gemm_bf16({.a = a.data(),
                        .a_stride = depth,
                        .rows = rows,
                        .depth = depth,
                        .columns = columns,
                        .y = y.data(),
                        .y_stride = columns},
                       panels.data(), scratch.data());
      return 8 * 2e-9 * static_cast<double>(rows) * static_cast<double>(depth) * static_cast<double>(columns);
    };
  });
}

double copy_rate(int threads) {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  return rate(threads, 0.5, [] {
    return [from = std::vector<char>(kBytes, 1), to = std::vector<char>(kBytes)]() mutable {
      std::memcpy(to.data(), from.data(), kBytes);
      return 2e-9 * static_cast<double>(kBytes);
    };
  });
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

Machine measure_machine(int threads) {
  return {processor(),
          cpu::kernels().name,
          threads,
          gemm_rate(threads, 112, 80, 80),
          gemm_rate(threads, 512, 768, 768),
          bf16_rate(threads, 112, 80, 80),
          bf16_rate(threads, 512, 768, 768),
          copy_rate(threads)};
}

}  // namespace molgraph::bench
