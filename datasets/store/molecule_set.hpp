// A data set in memory: ragged arrays as flat data with offsets, as in the HDF5 store. Atoms and bonds take less memory
// than there.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "datasets/store/compact_lists.hpp"
#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// A row of the source without a valid molecule.
struct RejectedRow {
  std::int64_t row = 0;  ///< 0-based data row of the source
  std::string text;      ///< the SMILES as in the source
  std::string status;    ///< a RowStatus word
  std::string reason;
};

/// Indices into the molecules of a set (not rows of the source). Each list may be empty.
struct Split {
  std::vector<std::int64_t> train, valid, test;
  std::vector<std::int64_t> calibration{};  ///< taken from train (LoadOptions::calibration_share); not stored
};

/// Origin of the molecules; stored for the model card.
struct SourceInfo {
  std::string name;    ///< data set name or file name without its folder
  std::string file;    ///< file name(s) without folder
  std::string sha256;  ///< of the source file, "" if read from a stream
  std::string rdkit_version;
  std::int64_t rows = 0;  ///< of all files; 0 = unknown (stores of version 0.1.0)
};

/// Texts in one block of memory. A std::vector<std::string> would need 32 bytes more per text.
class TextList {
 public:
  using value_type = std::string;
  class const_iterator {
   public:
    using value_type = std::string;
    using difference_type = std::ptrdiff_t;
    using reference = std::string;
    using pointer = void;
    using iterator_category = std::input_iterator_tag;
    const_iterator(const TextList* list, std::size_t at) : list_(list), at_(at) {}
    std::string operator*() const { return (*list_)[at_]; }
    const_iterator& operator++() { return ++at_, *this; }
    bool operator==(const const_iterator& other) const { return at_ == other.at_; }

   private:
    const TextList* list_;
    std::size_t at_;
  };
  using iterator = const_iterator;

  TextList() = default;
  explicit TextList(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) push_back(text);
  }
  std::size_t size() const { return end_.size(); }
  bool empty() const { return end_.empty(); }
  std::string operator[](std::size_t i) const { return bytes_.substr(begin_of(i), end_[i] - begin_of(i)); }
  void push_back(const std::string& text) {
    bytes_ += text;
    end_.push_back(bytes_.size());
  }
  void reserve(std::size_t texts, std::size_t bytes) {
    end_.reserve(texts);
    bytes_.reserve(bytes);
  }
  void shrink_to_fit() {
    end_.shrink_to_fit();
    bytes_.shrink_to_fit();
  }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }
  bool operator==(const TextList& other) const = default;

 private:
  std::size_t begin_of(std::size_t i) const { return i == 0 ? 0 : end_[i - 1]; }
  std::string bytes_;
  std::vector<std::size_t> end_;
};

/// One label of a molecule that has few of many targets.
struct SparseLabel {
  std::uint32_t target = 0;
  float value = 0;
  std::int8_t bound = 0;  ///< as MoleculeSet::bound
};

/// Labels of many targets if each molecule has few: the measured labels of a corpus.
struct SparseLabels {
  std::size_t targets = 0;              ///< 0 = none
  std::vector<std::int64_t> offset{0};  ///< [G + 1]
  std::vector<std::uint32_t> target;    ///< target of each label, from 0; ascending within a molecule
  std::vector<float> value;             ///< as in the cells; a class is 0 or 1
  std::vector<std::int8_t> bound;       ///< as MoleculeSet::bound; empty = all are 0
  std::vector<float> weight;  ///< [G] weight of a molecule's labels in the loss, from its table; empty = all are 1

  std::size_t molecules() const { return offset.size() - 1; }
  /// Appends a molecule.
  void add(const std::vector<SparseLabel>& labels, float weight_of_molecule = 1);
  /// Returns the index of molecule g's label of this target; -1 = none.
  std::int64_t find(std::size_t g, std::size_t target_wanted) const;
  /// Removes the labels for which stays(index) is false.
  template <class Stays>
  void keep(const Stays& stays) {
    std::size_t to = 0;
    for (std::size_t g = 0, i = 0; g < molecules(); ++g) {
      for (const auto end = static_cast<std::size_t>(offset[g + 1]); i < end; ++i) {
        if (!stays(i)) continue;
        target[to] = target[i];
        value[to] = value[i];
        if (!bound.empty()) bound[to] = bound[i];
        ++to;
      }
      offset[g + 1] = static_cast<std::int64_t>(to);
    }
    target.resize(to);
    value.resize(to);
    if (!bound.empty()) bound.resize(to);
  }
};

/// G molecules, without pairs (these are computed when a batch is packed).
struct MoleculeSet {
  FeaturizerOptions featurizer;
  Task task;
  SourceInfo source;
  std::vector<std::int64_t> atom_offset{0};  ///< [G + 1]
  std::vector<std::int64_t> bond_offset{0};  ///< [G + 1]
  DistinctRows atoms;                        ///< [A, atom_columns]
  DistinctRows bond_atoms;                   ///< [M, 4 bytes] atom indices within the molecule, as two 16-bit numbers
  DistinctRows bonds;                        ///< [M, bond_columns]
  std::vector<std::int64_t> row;             ///< [G] 0-based data row in the source
  TextList id;                               ///< [G]
  TextList smiles;                           ///< [G]
  std::vector<double> targets;               ///< [G, T] as in the cells, missing = NaN, multiclass = class index
  std::vector<float> computed_targets;  ///< [G, T] used instead of `targets` if no table contains them; missing = NaN
  SparseLabels sparse;  ///< the last targets of a corpus; T above and in `bound` is then the number of the others
  std::vector<double> target_center, target_scale;  ///< [all targets] of a corpus: scaling in the model
  std::vector<double> target_weight;     ///< [all targets] of a corpus with `sparse`: weight of a label; else empty
  std::vector<std::string> input_names;  ///< [D] of the inputs that heads may use: descriptors, then columns
  std::vector<float> inputs;             ///< [G, D] raw, missing = NaN
  std::vector<float> weight;             ///< [G] weights of the rows in the loss; empty = all are 1
  std::vector<std::int8_t> bound;        ///< [G, T] -1: the true value is below the target ("<5"), +1: above it, 0:
                                         ///< equal to it; empty = all are 0
  std::map<std::string, Split> splits;   ///< e.g. "published", "scaffold"
  std::vector<RejectedRow> rejected;

  std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
  /// Number of targets that are not sparse.
  std::size_t dense_targets() const { return task.names.size() - sparse.targets; }
  /// Returns target t of molecule g; `at` is g times the number of all targets, plus t. labels_of() is faster for all
  /// labels of a molecule.
  double target(std::size_t at) const {
    if (sparse.targets > 0) return label_at(at).value;
    return computed_targets.empty() ? targets[at] : static_cast<double>(computed_targets[at]);
  }
  /// Returns the same value if it is exact, else NaN.
  double exact_target(std::size_t at) const {
    if (sparse.targets > 0) return label_at(at).bound == 0 ? target(at) : std::numeric_limits<double>::quiet_NaN();
    return bound.empty() || bound[at] == 0 ? target(at) : std::numeric_limits<double>::quiet_NaN();
  }
  bool has_bounds() const { return !bound.empty() || !sparse.bound.empty(); }
  /// Calls visit(target, value, bound) for every label of molecule g that is not missing, in ascending order of
  /// targets.
  template <class Visit>
  void labels_of(std::int64_t g, const Visit& visit) const {
    const std::size_t molecule = static_cast<std::size_t>(g), dense = dense_targets(), first = molecule * dense;
    const auto visit_dense = [&](const auto& values) {
      for (std::size_t t = 0; t < dense; ++t)
        if (!std::isnan(values[first + t]))
          visit(t, static_cast<double>(values[first + t]), bound.empty() ? std::int8_t{0} : bound[first + t]);
    };
    if (computed_targets.empty()) visit_dense(targets);
    else visit_dense(computed_targets);
    if (sparse.targets == 0) return;
    const auto begin = static_cast<std::size_t>(sparse.offset[molecule]),
               end = static_cast<std::size_t>(sparse.offset[molecule + 1]);
    for (std::size_t i = begin; i < end; ++i)
      visit(dense + sparse.target[i], static_cast<double>(sparse.value[i]),
            sparse.bound.empty() ? std::int8_t{0} : sparse.bound[i]);
  }
  /// Appends the rows of atoms and bonds of one or more molecules; the caller sets the offsets.
  void append_rows(std::span<const std::uint8_t> atom_rows, std::span<const std::uint16_t> atoms_of_bonds,
                   std::span<const std::uint8_t> bond_rows);
  /// Returns a view of molecule g, which is valid until the next molecule is added.
  GraphView graph(std::int64_t g) const;
  /// Appends one molecule. `values` [T] may be empty if the set has no targets; `bounds` is [T] or empty. The inputs
  /// are the graph's descriptors followed by `columns`.
  void add(const MolecularGraph& graph, std::int64_t source_row, const std::string& molecule_id,
           const std::string& molecule_smiles, const std::vector<double>& values,
           const std::vector<float>& columns = {}, const std::vector<std::int8_t>& bounds = {}, float row_weight = 1);
  /// Reserves memory for the inputs of this many molecules, because a growing list is temporarily stored twice.
  void reserve_inputs(std::int64_t molecules);
  /// Releases excess capacity.
  void shrink_to_fit();

 private:
  struct Found {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::int8_t bound = 0;
  };
  Found label_at(std::size_t at) const;
};

}  // namespace molgraph
