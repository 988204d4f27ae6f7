// Checks of a device model's inputs other than batches (plan_check.hpp). Throw std::invalid_argument for invalid input.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "attention/cuda/parameters.hpp"
#include "attention/resident_training.hpp"

namespace molgraph::cuda {

inline void check_tensors(const Parameters& parameters, const TensorLookup& tensors) {
  for (const Parameters::Placed& t : parameters)
    if (tensors(t.spec->name) == nullptr)
      throw std::invalid_argument("invalid engine input: missing tensor " + t.spec->name);
}

inline void check_numbers(std::span<const std::int64_t> numbers, std::int64_t molecules) {
  for (const std::int64_t number : numbers)
    if (number < 0 || number >= molecules)
      throw std::invalid_argument("invalid engine input: molecule " + std::to_string(number) +
                                  " does not exist; the number of molecules is " + std::to_string(molecules));
}

/// `outputs` of the model, `molecules` on the device.
inline void check_training(const UpdateOptions& o, std::size_t outputs, std::int64_t molecules) {
  const auto fail = [](const std::string& what) { throw std::invalid_argument("invalid engine input: " + what); };
  const std::size_t targets = static_cast<std::size_t>(std::max(o.targets, 0)),
                    classes = targets > 0 ? outputs / targets : 0;
  if (targets == 0 || outputs % targets != 0 || ((o.loss != Loss::ce || !o.losses.empty()) && classes != 1))
    fail(std::to_string(o.targets) + " targets for " + std::to_string(outputs) + " outputs");
  if (o.target.size() != static_cast<std::size_t>(molecules) * targets)
    fail(std::to_string(o.target.size()) + " target values for " + std::to_string(molecules) + " molecules");
  if (!o.bound.empty() && o.bound.size() != o.target.size())
    fail(std::to_string(o.bound.size()) + " bounds for " + std::to_string(o.target.size()) + " target values");
  if (!o.weight.empty() && o.weight.size() != o.target.size())
    fail(std::to_string(o.weight.size()) + " weights for " + std::to_string(o.target.size()) + " target values");
  if (!o.losses.empty() && (o.losses.size() != targets || std::ranges::count(o.losses, Loss::ce) > 0))
    fail("invalid losses per target");
  const bool labels = o.losses.empty() && o.loss == Loss::ce;
  if (labels && std::any_of(o.target.begin(), o.target.end(),
                            [&](float of) { return of < 0 || of >= static_cast<float>(classes); }))
    fail("a label that is not a class");
  const bool scaled = !labels && (!o.losses.empty() || o.loss != Loss::bce);
  if (scaled && (o.shift.size() != outputs || o.scale.size() != outputs)) fail("the scaling has the wrong size");
}

}  // namespace molgraph::cuda
