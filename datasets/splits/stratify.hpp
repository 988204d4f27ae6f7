// Stratification of random splits by class.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Classes of G molecules for T targets, 4 bytes each.
struct ClassLabels {
  std::size_t targets = 0;              ///< T; 0 = no classes
  std::vector<std::int32_t> classes{};  ///< [G, T] class index, -1 = missing

  /// Classes of the molecules `chosen`, in that order.
  ClassLabels subset(const std::vector<std::int64_t>& chosen) const;
  /// Appends one molecule's targets [T].
  template <class Values>
  void add(const Values& values) {
    for (const auto value : values) {
      const bool known = value == value;  // NOLINT(misc-redundant-expression): false of NaN
      classes.push_back(known ? static_cast<std::int32_t>(value) : std::int32_t{-1});
    }
  }
};

/// Sets the regression targets of one molecule's targets [T] (mixed task) to NaN.
std::vector<double> classes_among(const Task& task, std::vector<double> targets);

/// Classes of a set; none for a regression task or a corpus.
ClassLabels class_labels_of(const MoleculeSet& set);

/// Divides the items of `order` (a shuffled 0..G-1) into parts of exactly these `sizes` (their sum is G), with every
/// class of every target in proportion as far as possible: iterative stratification (Sechidis, Tsoumakas and Vlahavas
/// 2011, "On the Stratification of Multi-Label Data"). The class with the fewest remaining molecules comes first; each
/// of its molecules goes to the part that lacks most of that class. A class with at least as many molecules as there
/// are parts has at least one in each part, so that no metric is undefined because of rounding. Deterministic.
std::vector<std::vector<std::int64_t>> deal_by_class(const ClassLabels& labels, std::vector<std::int64_t> order,
                                                     const std::vector<std::int64_t>& sizes);

}  // namespace molgraph
