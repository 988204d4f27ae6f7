// Resources of the machine that this process may use, including the limits of its container.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// Returns the folders with the limits of this process's control group and its ancestors for one controller ("cpu",
/// "memory"): version 2, where all controllers share a folder, and version 1.
std::vector<std::string> control_groups(const std::string& controller);

/// Returns the maximum memory of this process in bytes: the smallest of the machine's memory and the limits of its
/// control groups and its address space.
double machine_memory();

}  // namespace molgraph
