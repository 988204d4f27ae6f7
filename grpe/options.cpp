#include "grpe/options.hpp"

#include "featurize/error.hpp"

namespace molgraph {

void set_grpe_size(EncoderOptions& e, const std::string& name) {
  if (name == "tiny") {
    e.layers = 4, e.width = 64, e.ffn = 64, e.heads = 8;
  } else if (name == "small") {
    e.layers = 12, e.width = 80, e.ffn = 80, e.heads = 8;
  } else if (name == "standard") {
    e.layers = 12, e.width = 768, e.ffn = 768, e.heads = 32;
  } else if (name == "large") {
    e.layers = 18, e.width = 1024, e.ffn = 1024, e.heads = 32;
  } else {
    throw UsageError("there is no GRPE size '" + name + "'; the sizes are tiny, small, standard, large");
  }
}

}  // namespace molgraph
