// Censored labels such as ">50": counts them and prepares them for training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/load_options.hpp"
#include "datasets/loaded_data.hpp"

namespace molgraph {

/// Counts censored labels by target. Keeps a reference to the task.
class CensoredTally {
 public:
  explicit CensoredTally(const Task& task);
  /// Adds the bounds [T] of one molecule, or of several, concatenated; empty = all are exact.
  void add(const std::vector<std::int8_t>& bounds);
  void add(std::size_t target, std::int8_t bound);
  std::int64_t total() const;
  /// "13 censored labels: 12 with > and 1 with < in 'ic50'".
  std::string text() const;

 private:
  const Task& task_;
  std::vector<std::int64_t> above_, below_;  ///< [T]
};

/// Counts the censored labels of the set in LoadedData::censored, adds a note, and keeps them as limits or makes them
/// missing or exact, as `mode` requires.
void treat_censored(LoadedData& data, Censored mode);

}  // namespace molgraph
