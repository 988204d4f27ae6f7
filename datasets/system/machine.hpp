// What this process may use of the machine, within the limits of its container.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// The folders in which the limits of this process's control group and its ancestors stand, for one controller ("cpu",
/// "memory"); of version 2, where all controllers share a folder, and version 1.
std::vector<std::string> control_groups(const std::string& controller);

/// Bytes of memory that this process may have at most: the machine's, its control groups' or its address space,
/// whichever is least.
double machine_memory();

}  // namespace molgraph
