// Fixtures of the file format tests: a temporary folder, molecules made from a seed, and a small store.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph::testing_store {

/// An empty folder that the destructor removes.
class Folder {
 public:
  Folder() {
    static int next = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("molgraph_test_" + std::to_string(::getpid()) + "_" + std::to_string(next++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

/// A random tree of n atoms, with one ring bond if n > 3. Every column is in its range.
inline MolecularGraph make_graph(Features features, int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  const FeatureShape& shape = feature_shape(features);
  MolecularGraph graph;
  graph.features = features;
  const auto join = [&](int a, int b) {
    for (const int end : {a, b}) graph.bond_atoms.push_back(static_cast<std::uint16_t>(end));
  };
  for (int a = 0; a < n; ++a) {
    for (int c = 0; c < shape.atom_columns; ++c) {
      graph.atoms.push_back(static_cast<std::uint8_t>(below(shape.atom_dims[static_cast<std::size_t>(c)])));
    }
    if (a > 0) join(below(a), a);
  }
  if (n > 3) {
    const auto joined = [&](int x, int y) {
      for (int b = 0; b < graph.num_bonds(); ++b) {
        const int from = graph.bond_atoms[static_cast<std::size_t>(2 * b)],
                  to = graph.bond_atoms[static_cast<std::size_t>(2 * b) + 1];
        if ((from == x && to == y) || (from == y && to == x)) return true;
      }
      return false;
    };
    for (int other = 0; other < n - 1; ++other) {
      if (!joined(other, n - 1)) {
        join(n - 1, other);
        break;
      }
    }
  }
  for (int b = 0; b < graph.num_bonds(); ++b) {
    for (int c = 0; c < shape.bond_columns; ++c) {
      graph.bonds.push_back(static_cast<std::uint8_t>(below(shape.bond_dims[static_cast<std::size_t>(c)])));
    }
  }
  return graph;
}

inline Task two_targets() {
  Task task;
  task.names = {"logP", "Löslichkeit"};
  task.units = {"", "log mol/L"};
  return task;
}

/// Molecules of the given sizes with all kinds of text, numbers and missing values.
inline MoleculeSet make_set(const std::vector<int>& sizes, Features features = Features::ogb) {
  MoleculeSet set;
  set.featurizer.features = features;
  set.task = two_targets();
  set.source = {"made", "made.csv", std::string(64, 'a'), ""};
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    const double missing = std::numeric_limits<double>::quiet_NaN();
    set.add(make_graph(features, sizes[g], g), static_cast<std::int64_t>(3 * g + 1),
            g % 3 == 0 ? "" : "id " + std::to_string(g), g % 5 == 0 ? "Cé\xFF" : std::string(g % 40, 'C'),
            {g % 4 == 0 ? missing : static_cast<double>(g) / 7, -500000.05 - static_cast<double>(g)});
  }
  const auto count = set.size();
  for (std::int64_t g = 0; g < count; ++g) set.splits["published"].train.push_back(count - 1 - g);
  set.splits["empty"] = {};
  set.rejected = {{0, "C(", "invalid_smiles", "ring 1 not closed"}, {2, "", "empty", "no text"}};
  return set;
}

inline MolecularGraph graph_of(const MoleculeSet& set, std::int64_t g) { return MolecularGraph::copy_of(set.graph(g)); }

inline void fill(StoreWriter& writer, const MoleculeSet& set) {
  const auto targets = static_cast<std::size_t>(set.task.num_targets());
  for (std::int64_t g = 0; g < set.size(); ++g) {
    const auto i = static_cast<std::size_t>(g);
    const auto first = set.targets.begin() + static_cast<std::ptrdiff_t>(i * targets);
    writer.add(graph_of(set, g), set.row[i], set.id[i], set.smiles[i],
               {first, first + static_cast<std::ptrdiff_t>(targets)});
  }
  for (const RejectedRow& row : set.rejected) writer.reject(row);
  for (const auto& [name, split] : set.splits) writer.split(name, split);
}

inline void write_store(const std::string& path, const MoleculeSet& set, const StoreWriterOptions& options = {}) {
  StoreWriter writer(path, set.featurizer, set.task, set.source, options);
  fill(writer, set);
  writer.finish();
}

/// Opens a store and reads everything in it.
inline void use_store(const std::string& path) {
  const Store store(path);
  (void)store.load();
  for (std::int64_t g = 0; g < store.summary().molecules; ++g) (void)store.pairs(g);
}

/// Message of the FileError that `action` must throw. The test fails if it throws nothing or another type.
inline std::string file_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const FileError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not a FileError: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Writes a file without a flush to disk, which would take most of the time of these tests.
inline void put_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Updates the header of changed bytes. A second implementation of the layout in store_layout.hpp.
inline void update_header(std::string& bytes) {
  const std::uint64_t length = bytes.size(), checksum = XXH3_64bits(bytes.data() + 512, bytes.size() - 512);
  std::memcpy(bytes.data() + 24, &length, 8);
  std::memcpy(bytes.data() + 32, &checksum, 8);
  const std::uint64_t own = XXH3_64bits(bytes.data(), 504);
  std::memcpy(bytes.data() + 504, &own, 8);
}

}  // namespace molgraph::testing_store
