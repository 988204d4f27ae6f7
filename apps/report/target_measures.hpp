// The metrics of one target with weights, the number of times that a resample contains each molecule. The values are
// sorted once, so a resample takes one pass over the labels.
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

  /// Buffers of evaluate(); one per thread, for all targets.
  struct Scratch {
    std::vector<double> rank_x, rank_y;
    std::vector<std::int64_t> tree, confusion;
  };
  /// `weight` [n]: of each molecule, 0 = absent.
  MeasureValues evaluate(const std::uint32_t* weight, Scratch& scratch) const;

 private:
  void evaluate_regression(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const;
  void evaluate_binary(const std::uint32_t* weight, MeasureValues& values) const;
  void evaluate_multiclass(const std::uint32_t* weight, Scratch& scratch, MeasureValues& values) const;
  double kendall(const std::uint32_t* weight, Scratch& scratch) const;

  TaskKind kind_;
  std::size_t classes_ = 0;
  bool finite_ = true;
  std::int64_t positives_ = 0;
  std::vector<std::uint32_t> molecule_;     ///< [labels]
  std::vector<double> x_, y_;               ///< [labels] prediction (multiclass: the most likely class) and label
  std::vector<double> brier_;               ///< [labels] for multiclass
  std::vector<std::uint32_t> by_x_, by_y_;  ///< [labels] ascending; for binary targets, by_x_ is descending
  std::vector<std::uint32_t> label_rank_;   ///< [labels] 1-based rank of the value among the distinct labels
  std::uint32_t num_ranks_ = 0;
};

}  // namespace molgraph
