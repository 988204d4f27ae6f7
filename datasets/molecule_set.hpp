// A data set in memory: ragged arrays as flat data + offsets, the same layout as in the HDF5 store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/task.hpp"
#include "featurize/featurizer_options.hpp"
#include "featurize/molecular_graph.hpp"

namespace molgraph {

/// A row of the source that has no molecule here.
struct RejectedRow {
  std::int64_t row = 0;   ///< 0-based data row of the source
  std::string text;       ///< the SMILES as it stood there
  std::string status;     ///< a RowStatus word
  std::string reason;
};

/// Indices into the molecules of a set (not rows of the source). May be empty.
struct Split {
  std::vector<std::int64_t> train, valid, test;
};

/// Where the molecules came from; kept in stores for the model card.
struct SourceInfo {
  std::string name;            ///< data set name or file name without its folder
  std::string file;            ///< file name(s) without folder
  std::string sha256;          ///< of the source file, "" when read from a stream
  std::string rdkit_version;
};

/// G molecules; pairs are not held (recomputed when a batch is packed).
struct MoleculeSet {
  FeaturizerOptions featurizer;
  Task task;
  SourceInfo source;
  std::vector<std::int64_t> atom_offset{0};   ///< [G + 1]
  std::vector<std::int64_t> bond_offset{0};   ///< [G + 1]
  std::vector<std::uint8_t> atoms;            ///< [A, atom_columns]
  std::vector<std::int32_t> bond_atoms;       ///< [M, 2] atom indices within the molecule
  std::vector<std::uint8_t> bonds;            ///< [M, bond_columns]
  std::vector<std::int64_t> row;              ///< [G] 0-based data row in the source
  std::vector<std::string> id;                ///< [G]
  std::vector<std::string> smiles;            ///< [G]
  std::vector<float> targets;                 ///< [G, T], missing = NaN, multiclass = class number
  std::map<std::string, Split> splits;        ///< e.g. "published", "scaffold"
  std::vector<RejectedRow> rejected;

  std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
  GraphView graph(std::int64_t g) const;
  /// Appends one molecule; `values` [T] (may be empty when the set has no targets).
  void add(const MolecularGraph& graph, std::int64_t source_row, std::string molecule_id, std::string molecule_smiles,
           const std::vector<float>& values);
};

}  // namespace molgraph
