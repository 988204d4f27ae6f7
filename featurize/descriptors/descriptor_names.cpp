#include "featurize/descriptors/descriptors.hpp"
#include "featurize/descriptors/slots.hpp"

namespace molgraph {

std::span<const std::string_view> descriptor_names() { return descriptors::kNames; }

}  // namespace molgraph
