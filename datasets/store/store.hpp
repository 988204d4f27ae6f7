// The HDF5 store of featurised molecules (docs/reference/data.md section 2). Only the .cpp files of the store use HDF5.
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
  std::vector<std::string> input_names;  ///< [D] as in MoleculeSet
};

/// Writes one store as a stream. Writing is atomic: a temporary name in the folder of `path`, flush, rename in
/// finish(). If the object is destroyed without finish(), no file remains. Memory does not depend on the number of
/// molecules. Not thread-safe.
class StoreWriter {
 public:
  StoreWriter(const std::string& path, const FeaturizerOptions& featurizer, const Task& task, const SourceInfo& source,
              const StoreWriterOptions& options = {});
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  /// Appends a molecule; molecules come in their final order. Arguments as in MoleculeSet::add().
  void add(const MolecularGraph& graph, std::int64_t row, const std::string& id, const std::string& smiles,
           const std::vector<double>& values, const std::vector<float>& columns = {},
           const std::vector<std::int8_t>& bounds = {}, float weight = 1);
  void reject(const RejectedRow& row);
  void split(const std::string& name, const Split& split);
  /// Returns the number of molecules added so far.
  std::int64_t size() const;
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Contents of a store except its molecules.
struct StoreSummary {
  FeaturizerOptions featurizer;
  Task task;
  SourceInfo source;
  std::string created;                   ///< ISO 8601, UTC
  std::vector<std::string> input_names;  ///< [D] as in MoleculeSet
  std::int64_t molecules = 0, atoms = 0, bonds = 0, rejected = 0;
  std::int64_t pairs = 0;  ///< number of stored pairs of atoms i < j
  bool has_pairs = false;
  std::vector<std::string> splits;
  std::int64_t file_bytes = 0;
};

/// Opens a store read-only. The constructor checks magic, version, length, checksum, attributes, shapes and the offsets
/// of the molecules. load() and pairs() check the ranges of the values that they return. Thread-safe.
class Store {
 public:
  /// Throws FileError if the file is not a store, has another version, is truncated or damaged, has invalid offsets or
  /// an unknown featuriser.
  explicit Store(const std::string& path);
  ~Store();
  Store(Store&&) noexcept;

  const StoreSummary& summary() const;
  /// Loads everything except the pairs into memory. Throws FileError for values out of range and damaged chunks.
  MoleculeSet load() const;
  /// Returns the raw relations of molecule g, computed from its bonds. Stored distances are compared with them.
  /// Ascending g are fast (the last chunk is cached). Throws FileError, and UsageError if there is no molecule g.
  PairRelations pairs(std::int64_t g) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True if the file begins with the store's magic.
bool looks_like_store(const std::string& path);
/// True for such files and for names that end with .h5 or .hdf5. Such an input is opened as a Store, which reports
/// errors.
bool is_meant_as_store(const std::string& path);

}  // namespace molgraph
