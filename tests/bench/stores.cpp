#include "tests/bench/stores.hpp"

#include <malloc.h>

#include <atomic>
#include <numeric>
#include <span>

#include "datasets/splits/splits.hpp"
#include "datasets/store/store.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/graph_batch.hpp"
#include "tests/bench/machine.hpp"

namespace molgraph::bench {
namespace {

double heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// Molecules per second of work(molecules of a batch), on all threads; stops after about three seconds.
template <class Work>
double batch_rate(const std::vector<std::int64_t>& order, int batch_size, int threads, const Work& work) {
  constexpr double kEnough = 3;
  const auto start = Clock::now();
  std::atomic<std::int64_t> done{0};
  parallel_for(static_cast<std::int64_t>(order.size()), batch_size, threads, [&](std::int64_t begin, std::int64_t end) {
    if (seconds_since(start) > kEnough) return;
    work(std::span(order).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    done += end - begin;
  });
  return static_cast<double>(done) / seconds_since(start);
}

}  // namespace

std::vector<Figure> measure_store(const std::string& path, int threads, int batch_size) {
  std::vector<Figure> figures;
  const auto add = [&](const std::string& name, double value, const std::string& unit) {
    figures.push_back({name, unit, value});
  };
  auto start = Clock::now();
  const Store store(path);
  const auto count = static_cast<double>(store.summary().molecules);
  add("store: bytes per molecule", static_cast<double>(store.summary().file_bytes) / count, "bytes");
  add("open and check", seconds_since(start), "s");
  const double before = heap_bytes();
  start = Clock::now();
  const MoleculeSet set = store.load();
  add("load everything but pairs", count / seconds_since(start), "molecules/s");
  add("resident", (heap_bytes() - before) / count, "bytes/molecule");

  std::vector<std::int64_t> order(static_cast<std::size_t>(set.size()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(order, 0, ShuffleStream::epoch);
  std::atomic<std::uint64_t> sink{0};  // keeps the compiler from removing the work
  const auto copy = [&](std::span<const std::int64_t> batch) {
    for (const std::int64_t g : batch) {
      const MolecularGraph graph = MolecularGraph::copy_of(set.graph(g));
      sink += graph.atoms.size() + graph.bonds.size() + graph.bond_atoms.size();
    }
  };
  add("shuffled batches: atoms and bonds", batch_rate(order, batch_size, threads, copy), "molecules/s");
  const auto packed = [&](bool paths) {
    return [&, paths](std::span<const std::int64_t> batch) {
      std::vector<GraphView> graphs;
      for (const std::int64_t g : batch) graphs.push_back(set.graph(g));
      sink += static_cast<std::uint64_t>(pack(graphs, batch, {.paths = paths}).num_pairs());
    };
  };
  add("shuffled batches, pairs computed (GRPE)", batch_rate(order, batch_size, threads, packed(false)), "molecules/s");
  add("shuffled batches, pairs and paths (Graphormer)", batch_rate(order, batch_size, threads, packed(true)),
      "molecules/s");
  if (!store.summary().has_pairs) return figures;
  const auto from_store = [&](std::span<const std::int64_t> batch) {
    for (const std::int64_t g : batch) sink += store.pairs(g).edge.size();
  };
  std::vector<std::int64_t> sorted(order.size());
  std::iota(sorted.begin(), sorted.end(), std::int64_t{0});
  add("pairs read from the store, in order", batch_rate(sorted, batch_size, 1, from_store), "molecules/s");
  add("pairs read from the store, shuffled", batch_rate(order, 16, 1, from_store), "molecules/s");
  return figures;
}

}  // namespace molgraph::bench
