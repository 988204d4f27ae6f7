// Labels that are limits, such as ">50": how many there are, and what training makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/load.hpp"

namespace molgraph {

/// Counts them by target. Keeps a reference to the task.
class CensoredTally {
 public:
  explicit CensoredTally(const Task& task);
  /// One molecule's bounds [T], or of several molecules one after the other; empty = all are exact.
  void add(const std::vector<std::int8_t>& bounds);
  void add(std::size_t target, std::int8_t bound);
  std::int64_t total() const;
  /// "13 censored labels: 12 above and 1 below in 'ic50'".
  std::string text() const;

 private:
  const Task& task_;
  std::vector<std::int64_t> above_, below_;  ///< [T]
};

/// Counts the censored labels of the set into LoadedData::censored, says what they are, and leaves them as the limits
/// that they are, makes them missing, or exact.
void treat_censored(LoadedData& data, Censored how);

}  // namespace molgraph
