// Molecules in the form that kernels read. The constant data of a molecule is computed once on the host and stays on
// the device, or on the host if the device's memory is too small. A batch is then a list of molecule numbers and their
// positions in the batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attention/cuda/memory.hpp"
#include "attention/cuda/places.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::cuda {

/// Resident arrays: distances [key, query] per molecule, and the bonds of every atom by increasing partner.
struct BondGraph {
  const std::uint16_t* distance = nullptr;
  const std::int32_t* first_bond = nullptr;  ///< [atoms + 1]
  const std::uint16_t* partner = nullptr;    ///< [2 bonds] token of the same molecule
  const std::uint8_t* bond = nullptr;        ///< [2 bonds] id
};

/// Molecules on the host.
struct MoleculeArrays {
  struct Entry {
    std::uint32_t row;
    std::int32_t tokens, relations, longest;
    std::int64_t atom_at, pair_at, relation_at, input_at;
  };
  std::vector<Entry> entries;
  std::vector<std::uint8_t> atoms;
  std::vector<std::int32_t> degree;
  std::vector<std::uint16_t> relation;  ///< per molecule [key, query]: number of the pair's relation
  std::vector<std::uint32_t> classes;   ///< of each relation: relation_word()
  std::vector<std::uint8_t> forbidden;  ///< as `relation`; empty: all pairs are allowed
  std::vector<std::uint16_t> distance;  ///< as `relation`; like the bonds, empty unless the model has a path term
  std::vector<std::int32_t> first_bond{0};
  std::vector<std::uint16_t> partner;
  std::vector<std::uint8_t> bond;
  std::vector<float> positions, walks;  ///< [atoms, dim]; empty unless the model has them
  std::vector<float> inputs;            ///< [molecules, D] inputs of the head, NaN = missing
  std::vector<float> resistance;        ///< as `relation`, -1 = none; empty unless the model has this term
  /// Per molecule [key, group, query, 4] of K columns (spec/pair_vector.hpp) in groups of four, 0 beyond K and for
  /// pairs with the virtual node: lanes with one query each load adjacent groups. 4 n^2 K bytes, with K rounded up to a
  /// multiple of 4; most of a molecule's data: 37 KB for 24 tokens and 16 columns. Empty unless the model has a walk
  /// term.
  std::vector<float> pair_walks;

  void append(const GraphBatch& batch, const ModelPlan& plan);
  /// Appends molecule `number` of other arrays made for the same plan.
  void append(const MoleculeArrays& from, std::int64_t number);
  void clear();               ///< keeps the memory
  std::size_t bytes() const;  ///< size of the arrays on a device
};

/// Molecules on the device.
class ResidentMolecules {
 public:
  void upload(const MoleculeArrays& from, const ModelPlan& plan, Stream stream);
  /// For molecules that stay on the host: stores what launches must know of all of them.
  void begin_stream(const MoleculeArrays& all, const ModelPlan& plan);
  /// Copies the molecules of the next batch asynchronously.
  void stream_in(const MoleculeArrays& all, std::span<const std::int64_t> numbers, Stream stream);

  const std::vector<MoleculeArrays::Entry>& entries() const { return entries_; }
  /// Returns molecule `number`, the k-th of the batch.
  const MoleculeArrays::Entry& entry(std::size_t k, std::int64_t number) const {
    return entries_[streams_ ? k : static_cast<std::size_t>(number)];
  }
  /// Largest numbers of tokens and relations in a size class (0 ..).
  struct Largest {
    std::int32_t tokens = 0, relations = 0;
  };
  const std::vector<Largest>& largest() const { return largest_; }
  std::size_t class_of(std::int32_t tokens) const;
  const std::uint8_t* atoms() const { return atoms_.data(); }
  const std::int32_t* degree() const { return degree_.data(); }
  const std::uint16_t* relation() const { return relation_.data(); }
  const std::uint32_t* classes() const { return classes_.data(); }
  const std::uint8_t* forbidden() const { return has_forbidden_ ? forbidden_.data() : nullptr; }
  BondGraph bonds() const { return {distance_.data(), first_bond_.data(), partner_.data(), bond_.data()}; }
  const float* positions() const { return positions_.data(); }
  const float* walks() const { return walks_.data(); }
  const float* inputs() const { return inputs_.data(); }
  const float* resistance() const { return resistance_.data(); }
  const float* pair_walks() const { return pair_walks_.data(); }

 private:
  /// Chooses the size classes.
  void classify(const std::vector<MoleculeArrays::Entry>& all);
  /// Calls visit(own array, array of `from`) for each array.
  template <class Visit>
  void visit_arrays(const MoleculeArrays& from, const Visit& visit);

  std::vector<MoleculeArrays::Entry> entries_;
  bool streams_ = false;
  MoleculeArrays batch_;  ///< the batch, if molecules stay on the host
  Upload ring_;
  std::vector<Largest> largest_;
  std::vector<std::int32_t> limits_;  ///< largest number of tokens of each size class
  Array<std::uint8_t> atoms_, forbidden_, bond_;
  Array<std::int32_t> degree_, first_bond_;
  Array<std::uint16_t> relation_, distance_, partner_;
  Array<std::uint32_t> classes_;
  Array<float> positions_, walks_, inputs_, resistance_, pair_walks_;
  bool has_forbidden_ = false;
};

/// Rounding of batch sizes. Batches of similar size then have equal sizes, and one recording serves them.
struct FillUp {
  int rows = 1, relations = 1, pairs = 1, molecules = 1;  ///< rounded up to multiples of these
};

/// A batch on the device. Filler belongs to no molecule: rows with TokenPlace::molecule -1, relations of class
/// kNoClass, chosen molecules -1.
struct BatchPlaces {
  int molecules = 0, rows = 0, last_rows = 0;  ///< rows of no molecule are among the last last_rows
  std::int64_t pairs = 0, relations = 0;
  struct Class {  ///< molecules of similar size: one launch of the attention
    int first = 0, count = 0, max_tokens = 0, max_relations = 0;
    bool operator==(const Class&) const = default;
    auto operator<=>(const Class&) const = default;
  };
  std::vector<Class> classes;
  // On the device.
  const Molecule* molecule = nullptr;    ///< [molecules]
  const TokenPlace* token = nullptr;     ///< [rows]
  const std::int32_t* chosen = nullptr;  ///< molecules by class
  const std::int32_t* number = nullptr;  ///< [molecules] numbers of the resident molecules
  const StepNumbers* step = nullptr;

  /// Returns before the copy is complete.
  void upload(const ResidentMolecules& set, std::span<const std::int64_t> numbers, const FillUp& fill,
              const StepNumbers& of_step, Stream stream);

 private:
  Upload upload_;
  Array<char> memory_;
};

}  // namespace molgraph::cuda
