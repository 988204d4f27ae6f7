#include "datasets/system/machine.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace molgraph {
namespace {

bool has_controller(const std::string& controllers, const std::string& expected) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');)
    if (name == expected) return true;
  return false;
}

}  // namespace

std::vector<std::string> control_groups(const std::string& controller) {
  std::vector<std::string> folders;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);  // "cpu,cpuacct"; empty in v2
    const bool v2 = controllers.empty();
    if (!v2 && !has_controller(controllers, controller)) continue;
    const std::string root = v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    std::string group = line.substr(second + 1);
    while (true) {  // up to the root, because the limits of all ancestors apply
      folders.push_back(root + group);
      if (group.empty() || group == "/") break;
      group.erase(group.rfind('/'));
    }
  }
  return folders;
}

double machine_memory() {
  double min_bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    min_bytes = std::min(min_bytes, static_cast<double>(space.rlim_cur));
  for (const std::string& folder : control_groups("memory")) {
    for (const char* file : {"/memory.max", "/memory.limit_in_bytes"}) {  // "max" is not a number
      std::ifstream in(folder + file);
      if (double bytes = 0; in >> bytes && bytes > 0) min_bytes = std::min(min_bytes, bytes);
    }
  }
  return min_bytes;
}

}  // namespace molgraph
