// The architectures that programs know.
#pragma once

#include <span>
#include <string_view>

#include "attention/spec/model_options.hpp"

namespace molgraph {

std::span<const Architecture* const> architectures();
/// Null if there is none of this name ("graphormer", "grpe").
const Architecture* find_architecture(std::string_view name);
/// Throws UsageError with the list of names instead.
const Architecture& architecture_from_string(std::string_view name);

}  // namespace molgraph
