#include "datasets/system/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include "datasets/system/machine.hpp"
#include "featurize/graph/helper_threads.hpp"

namespace molgraph {
namespace {

int cores_by_affinity() {
  // cpu_set_t is limited to 1,024 cores. On larger machines, the system's number is used.
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Reads "QUOTA PERIOD" in microseconds from cgroup v2's cpu.max; 0 = no limit.
double quota_v2(const std::string& file) {
  std::ifstream in(file);
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::atof(quota.c_str()) / period;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

/// Returns the smallest CPU quota of this process's cgroup and its ancestors, in cores; 0 = none.
double cgroup_quota() {
  double tightest = 0;
  const auto consider = [&](double cores) {
    if (cores > 0 && (tightest == 0 || cores < tightest)) tightest = cores;
  };
  for (const std::string& folder : control_groups("cpu")) {
    consider(quota_v2(folder + "/cpu.max"));
    consider(quota_v1(folder));
  }
  return tightest;
}

}  // namespace

int usable_cores() {
  static const int cores = [] {
    const int allowed = cores_by_affinity();
    const double quota = cgroup_quota();
    return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, allowed) : allowed;
  }();
  return cores;
}

int thread_count(int requested) { return requested > 0 ? requested : usable_cores(); }

void parallel_for(std::int64_t count, std::int64_t piece, int threads,
                  const std::function<void(std::int64_t, std::int64_t)>& work) {
  const std::int64_t pieces = (count + piece - 1) / piece;
  const auto workers = static_cast<int>(std::min<std::int64_t>(thread_count(threads), pieces));
  std::atomic<std::int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto loop = [&] {
    try {
      for (std::int64_t p = next++; p < pieces; p = next++) work(p * piece, std::min(count, (p + 1) * piece));
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      next = pieces;
    }
  };
  run_on_threads(workers, loop);
  if (error) std::rethrow_exception(error);
}

}  // namespace molgraph
