// Numbers of a whole molecule (descriptors, measured columns) as a model's head reads them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace molgraph {

/// Standardises every column by what its training rows have: (value - center)/scale, clipped to [-clip, clip].
struct InputScaling {
  std::vector<double> center, scale;  ///< [D] mean and standard deviation; scale 0: a constant column, always 0
  double clip = 6;

  std::size_t size() const { return center.size(); }
  /// `raw` [D] -> `scaled` [D]. What is no finite number is missing: NaN.
  void apply(const float* raw, float* scaled) const;
  bool operator==(const InputScaling&) const = default;
};

/// By the finite numbers of each column (population's deviation). `rows`: pointers to [columns] numbers each. A column
/// without any number is constant.
InputScaling input_scaling(std::span<const float* const> rows, std::size_t columns);

}  // namespace molgraph
