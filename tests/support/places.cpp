#include "tests/support/places.hpp"

namespace molgraph::test {

std::string bin_dir() { return MOLGRAPH_BIN; }
std::string tests_dir(const std::string& name) { return MOLGRAPH_TESTS "/" + name; }

}  // namespace molgraph::test
