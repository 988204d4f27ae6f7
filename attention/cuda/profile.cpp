#include "attention/cuda/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>

namespace molgraph::cuda {
namespace {

struct Notes {
  std::mutex turn;
  std::set<std::string> told;
  std::function<void(const std::string&)> to;
};
Notes& notes() {
  static Notes all;
  return all;
}

/// One launch under profile(), by a kernel or by a library.
struct Launch {
  const void* kernel = nullptr;
  const char* library_call = nullptr;
  Event start = nullptr, end = nullptr;
};
thread_local std::vector<Launch>* launches = nullptr;

void start_clock(Stream stream, Launch launch) {
  if (launches == nullptr) return;
  launch.start = make_event(true);
  launch.end = make_event(true);
  mark(launch.start, stream);
  launches->push_back(launch);
}

std::vector<Launch> launches_of(const std::function<void()>& work) {
  std::vector<Launch> all;
  const struct Stop {
    ~Stop() { launches = nullptr; }
  } stop;
  launches = &all;
  work();
  return all;
}

}  // namespace

bool profiling() { return launches != nullptr; }

void note(const std::string& text) {
  Notes& all = notes();
  const std::lock_guard lock(all.turn);
  if (!all.told.insert(text).second) return;
  if (all.to) all.to(text);
  else std::fprintf(stderr, "%s\n", text.c_str());
}
void tell_notes(std::function<void(const std::string&)> to) {
  const std::lock_guard lock(notes().turn);
  notes().to = std::move(to);
}

std::vector<KernelTime> profile(Stream stream, const std::function<void()>& work) {
  const std::vector<Launch> all = launches_of(work);
  synchronize(stream);
  std::map<std::string, KernelTime> by_name;
  for (const Launch& one : all) {
    KernelTime& sum = by_name[one.library_call != nullptr ? one.library_call : name_of_kernel(one.kernel)];
    ++sum.launches;
    sum.milliseconds += milliseconds_between(one.start, one.end);
    destroy_event(one.start);
    destroy_event(one.end);
  }
  std::vector<KernelTime> times;
  for (auto& [name, sum] : by_name) times.push_back({name, sum.launches, sum.milliseconds});
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.milliseconds > b.milliseconds; });
  return times;
}

LaunchClock::LaunchClock(Stream stream, const void* kernel) : stream_(stream) {
  start_clock(stream, {.kernel = kernel});
}
LaunchClock::LaunchClock(Stream stream, const char* library_call) : stream_(stream) {
  start_clock(stream, {.library_call = library_call});
}
LaunchClock::~LaunchClock() {
  if (launches == nullptr) return;
  try {
    mark(launches->back().end, stream_);
  } catch (const DeviceError&) {  // waiting for the stream reports the error
  }
}

}  // namespace molgraph::cuda
