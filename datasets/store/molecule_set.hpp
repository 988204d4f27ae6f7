// A data set in memory: ragged arrays as flat data + offsets, the same layout as in the HDF5 store.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "datasets/tables/task.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

/// A row of the source that has no molecule here.
struct RejectedRow {
  std::int64_t row = 0;  ///< 0-based data row of the source
  std::string text;      ///< the SMILES as it stood there
  std::string status;    ///< a RowStatus word
  std::string reason;
};

/// Indices into the molecules of a set (not rows of the source). May be empty.
struct Split {
  std::vector<std::int64_t> train, valid, test;
  std::vector<std::int64_t>
      calibration{};  ///< set apart from train (LoadOptions::calibration_share); no store keeps it
};

/// Where the molecules came from; kept in stores for the model card.
struct SourceInfo {
  std::string name;    ///< data set name or file name without its folder
  std::string file;    ///< file name(s) without folder
  std::string sha256;  ///< of the source file, "" when read from a stream
  std::string rdkit_version;
};

/// Many texts in one piece of memory: a std::vector<std::string> would take 32 bytes more for each.
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

/// A label of a molecule that has few of many.
struct SparseLabel {
  std::uint32_t target = 0;
  float value = 0;
  std::int8_t bound = 0;  ///< as MoleculeSet::bound
};

/// Labels of many targets, of which each molecule has few: the measured ones of a corpus.
struct SparseLabels {
  std::size_t targets = 0;              ///< 0 = there are none
  std::vector<std::int64_t> offset{0};  ///< [G + 1]
  std::vector<std::uint32_t> target;    ///< of each label, from 0; rising in a molecule
  std::vector<float> value;             ///< as the cells say, a class is 0 or 1
  std::vector<std::int8_t> bound;       ///< as MoleculeSet::bound; empty = all are 0
  std::vector<float> weight;            ///< [G] of a molecule's labels in the loss, by its table; empty = all are 1

  std::size_t molecules() const { return offset.size() - 1; }
  /// Appends a molecule.
  void add(const std::vector<SparseLabel>& labels, float weight_of_molecule = 1);
  /// Where molecule g has a label of this target; -1 = it has none.
  std::int64_t find(std::size_t g, std::size_t target_wanted) const;
  /// Leaves out the labels for which stays(place) is false.
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

/// G molecules; pairs are not held (recomputed when a batch is packed).
struct MoleculeSet {
  FeaturizerOptions featurizer;
  Task task;
  SourceInfo source;
  std::vector<std::int64_t> atom_offset{0};  ///< [G + 1]
  std::vector<std::int64_t> bond_offset{0};  ///< [G + 1]
  std::vector<std::uint8_t> atoms;           ///< [A, atom_columns]
  std::vector<std::uint16_t> bond_atoms;     ///< [M, 2] atom indices within the molecule
  std::vector<std::uint8_t> bonds;           ///< [M, bond_columns]
  std::vector<std::int64_t> row;             ///< [G] 0-based data row in the source
  TextList id;                               ///< [G]
  TextList smiles;                           ///< [G]
  std::vector<double> targets;               ///< [G, T] as the cells say, missing = NaN, multiclass = class number
  std::vector<float> computed_targets;       ///< [G, T] in place of `targets` where no table has them; missing = NaN
  SparseLabels sparse;  ///< the last targets of a corpus; T above and in `bound` is then the number of the others
  std::vector<double> target_center, target_scale;  ///< [all targets] of a corpus: what a model scales them by
  std::vector<double> target_weight;     ///< [all targets] of a corpus with `sparse`: what a label counts; else empty
  std::vector<std::string> input_names;  ///< [D] of the numbers that heads may read: descriptors, then columns
  std::vector<float> inputs;             ///< [G, D] raw, missing = NaN
  std::vector<float> weight;             ///< [G] of the rows in the loss; empty = all are 1
  std::vector<std::int8_t> bound;        ///< [G, T] -1: the true value is below the target ("<5"), +1: above it, 0:
                                         ///< it is the target; empty = all are 0
  std::map<std::string, Split> splits;   ///< e.g. "published", "scaffold"
  std::vector<RejectedRow> rejected;

  std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
  /// Targets that are not sparse.
  std::size_t dense_targets() const { return task.names.size() - sparse.targets; }
  /// Target t of molecule g, `at` being g times the number of all targets, plus t. labels_of() is faster where a
  /// molecule's are wanted.
  double target(std::size_t at) const {
    if (sparse.targets > 0) return label_at(at).value;
    return computed_targets.empty() ? targets[at] : static_cast<double>(computed_targets[at]);
  }
  /// The same if it is exact, else NaN.
  double exact_target(std::size_t at) const {
    if (sparse.targets > 0) return label_at(at).bound == 0 ? target(at) : std::numeric_limits<double>::quiet_NaN();
    return bound.empty() || bound[at] == 0 ? target(at) : std::numeric_limits<double>::quiet_NaN();
  }
  bool has_bounds() const { return !bound.empty() || !sparse.bound.empty(); }
  /// Calls visit(target, value, bound) for every label of molecule g that is not missing, by rising target.
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
  GraphView graph(std::int64_t g) const;
  /// Appends one molecule; `values` [T] (may be empty when the set has no targets), `bounds` [T] or empty. Its
  /// descriptors and `columns` are its inputs.
  void add(const MolecularGraph& graph, std::int64_t source_row, const std::string& molecule_id,
           const std::string& molecule_smiles, const std::vector<double>& values,
           const std::vector<float>& columns = {}, const std::vector<std::int8_t>& bounds = {}, float row_weight = 1);
  /// Makes room for the inputs of so many molecules at once: a list that grows is held twice.
  void reserve_inputs(std::int64_t molecules);
  /// Gives back what grew too large while molecules were added.
  void shrink_to_fit();

 private:
  struct Found {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::int8_t bound = 0;
  };
  Found label_at(std::size_t at) const;
};

}  // namespace molgraph
