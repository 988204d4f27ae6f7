// The measures of one target under weights: how often a resample has each molecule. Sorted once, so that a resample
// costs a pass over the labels.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "apps/report/statistics.hpp"

namespace molgraph {

using MeasureValues = std::array<double, kMeasures>;  ///< by Measure, NaN = none

class TargetMeasures {
 public:
  /// Target `target` of the task; `predictions` and `labels` of n molecules, as for measure().
  TargetMeasures(const Task& task, std::size_t target, const std::vector<double>& predictions,
                 const std::vector<double>& labels);

  std::int64_t labels() const { return static_cast<std::int64_t>(molecule_.size()); }
  std::int64_t positives() const { return positives_; }

  /// What evaluate() needs besides; one per thread, for all targets.
  struct Scratch {
    std::vector<double> rank_x, rank_y;
    std::vector<std::int64_t> tree, confusion;
  };
  /// `weight` [n]: of each molecule, 0 = it is not there.
  MeasureValues evaluate(const std::uint32_t* weight, Scratch& scratch) const;

 private:
  void of_numbers(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const;
  void of_two_classes(const std::uint32_t* weight, MeasureValues& values) const;
  void of_classes(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const;
  double kendall(const std::uint32_t* weight, Scratch& scratch) const;

  TaskKind kind_;
  std::size_t classes_ = 0;
  bool finite_ = true;
  std::int64_t positives_ = 0;
  std::vector<std::uint32_t> molecule_;     ///< [labels]
  std::vector<double> x_, y_;               ///< [labels] prediction (of classes: the likeliest) and label
  std::vector<double> brier_;               ///< [labels] of more than two classes
  std::vector<std::uint32_t> by_x_, by_y_;  ///< [labels] ascending, of two classes by_x_ descending
  std::vector<std::uint32_t> place_y_;      ///< [labels] 1-based number of its value among the different labels
  std::uint32_t places_ = 0;
};

}  // namespace molgraph
