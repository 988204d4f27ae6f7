// The list of architectures.
#pragma once

#include <span>
#include <string_view>

#include "attention/spec/model_options.hpp"

namespace molgraph {

std::span<const Architecture* const> architectures();
/// Null if no architecture has this name ("graphormer", "grpe").
const Architecture* find_architecture(std::string_view name);
/// Throws UsageError with the list of names if no architecture has this name.
const Architecture& architecture_from_string(std::string_view name);

}  // namespace molgraph
