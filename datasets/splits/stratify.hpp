// Parts of a random split that are alike in their classes.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/store/molecule_set.hpp"

namespace molgraph {

/// Classes of G molecules in T targets: 4 bytes each.
struct ClassLabels {
  std::size_t targets = 0;         ///< T; 0 = there are no classes
  std::vector<std::int32_t> of{};  ///< [G, T] number of the class, -1 = missing

  /// Those of the molecules `chosen`, in that order.
  ClassLabels of_some(const std::vector<std::int64_t>& chosen) const;
  /// Appends one molecule's targets [T].
  template <class Values>
  void add(const Values& values) {
    for (const auto value : values) {
      const bool known = value == value;  // NOLINT(misc-redundant-expression): false of NaN
      of.push_back(known ? static_cast<std::int32_t>(value) : std::int32_t{-1});
    }
  }
};

/// One molecule's targets [T] without those that are no classes, which a mixed task has: they become NaN.
std::vector<double> classes_among(const Task& task, std::vector<double> targets);

/// The classes of a set; none if it is no classification.
ClassLabels class_labels_of(const MoleculeSet& set);

/// Deals the items of `order` (a shuffled 0..G-1) into parts of exactly these `sizes` (their sum is G), so that every
/// class of every target is shared out in proportion as far as that is possible: iterative stratification (Sechidis,
/// Tsoumakas and Vlahavas 2011, "On the Stratification of Multi-Label Data"). The class with the fewest molecules left
/// comes first, and each goes to the part that lacks most of that class. A class with as many molecules as there are
/// parts gets one in each of them, so that no metric is lost to rounding. Equal arguments give equal parts.
std::vector<std::vector<std::int64_t>> deal_by_class(const ClassLabels& labels, std::vector<std::int64_t> order,
                                                     const std::vector<std::int64_t>& sizes);

}  // namespace molgraph
