// The paths of this build. As macros, the paths would differ in every checkout, so that ccache would find nothing.
#pragma once

#include <string>

namespace molgraph::test {

/// The folder of the programs.
std::string bin_dir();
/// A folder of the tests in the sources: "golden", "data".
std::string tests_dir(const std::string& name);

}  // namespace molgraph::test
