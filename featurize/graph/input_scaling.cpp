#include "featurize/graph/input_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace molgraph {
namespace {

/// A standard deviation below this fraction of the mean's absolute value is the rounding error of a constant column.
constexpr double kRounding = 1e-6;

}  // namespace

void InputScaling::apply(const float* raw, float* scaled) const {
  for (std::size_t d = 0; d < size(); ++d) {
    if (!std::isfinite(raw[d])) scaled[d] = std::numeric_limits<float>::quiet_NaN();
    else
      scaled[d] =
          scale[d] > 0
              ? static_cast<float>(std::clamp((static_cast<double>(raw[d]) - center[d]) / scale[d], -clip, clip))
              : 0.0f;
  }
}

InputScaling input_scaling(std::span<const float* const> rows, std::size_t columns) {
  InputScaling result{std::vector<double>(columns), std::vector<double>(columns)};
  for (std::size_t d = 0; d < columns; ++d) {
    double count = 0, mean = 0, squares = 0;  // Welford's recurrence
    for (const float* row : rows) {
      if (!std::isfinite(row[d])) continue;
      const double value = row[d], delta = value - mean;
      count += 1;
      mean += delta / count;
      squares += delta * (value - mean);
    }
    const double deviation = count > 1 ? std::sqrt(squares / count) : 0;
    result.center[d] = mean;
    result.scale[d] = deviation > kRounding * std::abs(mean) ? deviation : 0;
  }
  return result;
}

}  // namespace molgraph
