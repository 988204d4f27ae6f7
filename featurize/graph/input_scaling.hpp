// Scaling of molecule-level inputs (descriptors, measured columns) for a model's head.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace molgraph {

/// Standardises each column with the statistics of the training rows: (value - center)/scale, clipped to [-clip, clip].
struct InputScaling {
  std::vector<double> center, scale;  ///< [D] mean, standard deviation; scale 0: a constant column, scaled to 0
  double clip = 6;

  std::size_t size() const { return center.size(); }
  /// `raw` [D] -> `scaled` [D]. Non-finite values count as missing and become NaN.
  void apply(const float* raw, float* scaled) const;
  bool operator==(const InputScaling&) const = default;
};

/// Statistics of the finite values of each column (population standard deviation). `rows`: pointers to [columns] values
/// each. A column without finite values counts as constant.
InputScaling input_scaling(std::span<const float* const> rows, std::size_t columns);

}  // namespace molgraph
