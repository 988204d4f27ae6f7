// One-pass mean and standard deviation.
#pragma once

#include <cmath>

namespace molgraph {

/// Mean and standard deviation of weighted numbers, without cancellation (Welford 1962; weights after West 1979).
struct Moments {
  double weight = 0;  ///< sum of the weights, by default the count
  double mean = 0;

  /// `weight_of_value` > 0.
  void add(double value, double weight_of_value = 1) {
    weight += weight_of_value;
    const double delta = value - mean;
    mean += delta * weight_of_value / weight;
    squares_ += weight_of_value * delta * (value - mean);
  }
  /// The population standard deviation; 0 without numbers.
  double deviation() const { return weight > 0 ? std::sqrt(squares_ / weight) : 0; }

 private:
  double squares_ = 0;  ///< sum of weighted squared distances from the mean
};

}  // namespace molgraph
