// The HDF5 store of featurised molecules (docs/reference/data.md section 2). HDF5 stays inside the store's .cpp files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph {

struct StoreWriterOptions {
  bool pairs = true;             ///< write /pairs (molecules of <= 254 atoms) for readers that cannot compute them
  int threads = 0;               ///< compression threads, 0 = all cores this process may use
  std::int64_t chunk = 1 << 16;  ///< elements per chunk of the flat arrays
  std::vector<std::string> input_names;  ///< [D] as MoleculeSet's
};

/// Writes one store, for one thread, streaming, atomically: a temporary name beside `path`, flush, rename in finish().
/// Destroyed without finish(), it leaves nothing. Memory does not grow with the number of molecules.
class StoreWriter {
 public:
  StoreWriter(const std::string& path, const FeaturizerOptions& featurizer, const Task& task, const SourceInfo& source,
              const StoreWriterOptions& options = {});
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Molecules in their final order; arguments as MoleculeSet::add()'s.
  void add(const MolecularGraph& graph, std::int64_t row, const std::string& id, const std::string& smiles,
           const std::vector<double>& values, const std::vector<float>& columns = {},
           const std::vector<std::int8_t>& bounds = {}, float weight = 1);
  void reject(const RejectedRow& row);
  void split(const std::string& name, const Split& split);
  /// Number of molecules added so far.
  std::int64_t size() const;
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What stands in a store without reading its molecules.
struct StoreSummary {
  FeaturizerOptions featurizer;
  Task task;
  SourceInfo source;
  std::string created;                   ///< ISO 8601, UTC
  std::vector<std::string> input_names;  ///< [D] as MoleculeSet's
  std::int64_t molecules = 0, atoms = 0, bonds = 0, rejected = 0;
  std::int64_t pairs = 0;  ///< stored ones: of atoms i < j; in stores before format version 4 all of tokens
  bool has_pairs = false;
  std::vector<std::string> splits;
  std::int64_t file_bytes = 0;
};

/// Opens a store read-only. The constructor checks magic, version, length, checksum, attributes, shapes and the offsets
/// of the molecules; load() and pairs() check the ranges of what they read before they hand it out. Thread-safe.
class Store {
 public:
  /// Throws FileError: not a store, other version, truncated, damaged, hostile offsets, unknown featuriser.
  explicit Store(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;

  const StoreSummary& summary() const;
  /// Everything but the pairs, resident. Throws FileError: values out of range, damaged chunks.
  MoleculeSet load() const;
  /// Raw relations of molecule g, from its bonds; pairs of a store of format 4 are compared with them, those of earlier
  /// formats are returned where they are possible. Ascending g are
  /// cheap (the last chunk is kept). Throws FileError; UsageError if there is no molecule g.
  PairRelations pairs(std::int64_t g) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if the file starts with the store's magic.
bool looks_like_store(const std::string& path);
/// True if it does, or if its name ends with .h5 or .hdf5: then a store is meant, and Store says what is wrong with it.
bool is_meant_as_store(const std::string& path);

}  // namespace molgraph
