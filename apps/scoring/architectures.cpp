#include "apps/scoring/architectures.hpp"

#include <array>
#include <string>

#include "featurize/graph/error.hpp"
#include "graphormer/architecture.hpp"
#include "grpe/architecture.hpp"

namespace molgraph {

std::span<const Architecture* const> architectures() {
  static const std::array all{&graphormer_architecture(), &grpe_architecture()};
  return all;
}

const Architecture* find_architecture(std::string_view name) {
  for (const Architecture* one : architectures())
    if (one->name == name) return one;
  return nullptr;
}

const Architecture& architecture_from_string(std::string_view name) {
  if (const Architecture* found = find_architecture(name)) return *found;
  std::string names;
  for (const Architecture* one : architectures()) names += (names.empty() ? "" : ", ") + std::string(one->name);
  throw UsageError("unknown model '" + std::string(name) + "'; use one of " + names);
}

}  // namespace molgraph
