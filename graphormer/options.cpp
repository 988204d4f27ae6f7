#include "graphormer/options.hpp"

#include "featurize/error.hpp"

namespace molgraph {

void set_graphormer_size(EncoderOptions& e, const std::string& name) {
  if (name == "slim") {
    e.layers = 12, e.width = 80, e.ffn = 80, e.heads = 8;
  } else if (name == "small") {
    e.layers = 6, e.width = 512, e.ffn = 512, e.heads = 32;
  } else if (name == "base") {
    e.layers = 12, e.width = 768, e.ffn = 768, e.heads = 32;
  } else if (name == "large") {
    e.layers = 18, e.width = 1024, e.ffn = 1024, e.heads = 32;
  } else {
    throw UsageError("there is no Graphormer size '" + name + "'; the sizes are slim, small, base, large");
  }
}

}  // namespace molgraph
