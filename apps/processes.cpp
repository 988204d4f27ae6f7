#include "apps/processes.hpp"

#include <torch/torch.h>

#if __has_include(<gloo/rendezvous/store.h>)   // Gloo's code is part of LibTorch, its headers are not
#define MOLGRAPH_GLOO
#define USE_C10D_GLOO   // else LibTorch's header is empty
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "featurize/error.hpp"

namespace molgraph {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// `otherwise` < 0: the variable must be set.
int number(const char* name, int otherwise, int smallest, int largest) {
  const std::string text = variable(name);
  if (text.empty() && otherwise >= 0) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < smallest || value > largest) {
    throw UsageError("WORLD_SIZE asks for several processes, but " + std::string(name) + "='" + text + "' is no number from " +
                     std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return value;
}

}  // namespace

ProcessPlace place_from_environment() {
  constexpr int kMost = 1 << 20;
  ProcessPlace place;
  place.count = number("WORLD_SIZE", 1, 1, kMost);
  if (place.count == 1) return {};
  place.rank = number("RANK", -1, 0, place.count - 1);
  place.local_count = number("LOCAL_WORLD_SIZE", 1, 1, place.count);
  place.local_rank = number("LOCAL_RANK", 0, 0, place.local_count - 1);
  place.port = number("MASTER_PORT", -1, 1, 65535);
  place.address = variable("MASTER_ADDR");
  if (place.address.empty()) throw UsageError("WORLD_SIZE asks for several processes, but MASTER_ADDR is not set");
  if (const std::string attempt = variable("TORCHELASTIC_RESTART_COUNT"); !attempt.empty()) place.attempt = attempt;
  place.hosted = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return place;
}

#ifdef MOLGRAPH_GLOO

namespace {

constexpr std::chrono::minutes kMeeting{5};
constexpr std::chrono::hours kWaiting{24};   // for the first process, which evaluates and writes while the others wait

}  // namespace

struct Processes::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  explicit Group(const ProcessPlace& place) {
    c10d::TCPStoreOptions meeting;
    meeting.port = static_cast<std::uint16_t>(place.port);
    meeting.isServer = place.rank == 0 && !place.hosted;
    meeting.waitWorkers = false;
    meeting.timeout = kMeeting;
    const auto store = c10::make_intrusive<c10d::PrefixStore>("molgraph/" + place.attempt,
                                                              c10::make_intrusive<c10d::TCPStore>(place.address, meeting));
    store->setTimeout(kMeeting);
    const auto options = c10d::ProcessGroupGloo::Options::create(kWaiting);
    const std::string interface = variable("GLOO_SOCKET_IFNAME");
    options->devices.push_back(interface.empty() ? c10d::ProcessGroupGloo::createDefaultDevice(false)
                                                 : c10d::ProcessGroupGloo::createDeviceForInterface(interface, false));
    gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.count, options);
  }

  void sum(void* values, std::size_t count, at::ScalarType type) {
    std::vector<at::Tensor> tensors{torch::from_blob(values, {static_cast<std::int64_t>(count)}, type)};
    gloo->allreduce(tensors, c10d::AllreduceOptions())->wait();
  }
  void share(void* memory, std::size_t bytes) {
    std::vector<at::Tensor> tensors{torch::from_blob(memory, {static_cast<std::int64_t>(bytes)}, at::kByte)};
    gloo->broadcast(tensors, c10d::BroadcastOptions())->wait();
  }
};

namespace {

/// Calls `work` and makes an error of the library one of ours.
template <class Work>
void with_others(const ProcessPlace& place, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    throw ProcessError("process " + std::to_string(place.rank) + " of " + std::to_string(place.count) + " has lost the others (meeting at " +
                       place.address + ":" + std::to_string(place.port) + "): " + what.substr(0, what.find('\n')));
  }
}

}  // namespace

Processes::Processes(const ProcessPlace& place) : place_(place) {
  if (!alone()) with_others(place_, [&] { group_ = std::make_unique<Group>(place_); });
}
void Processes::sum(std::span<float> values) {
  if (group_) with_others(place_, [&] { group_->sum(values.data(), values.size(), at::kFloat); });
}
void Processes::sum(std::span<double> values) {
  if (group_) with_others(place_, [&] { group_->sum(values.data(), values.size(), at::kDouble); });
}
void Processes::share(void* memory, std::size_t bytes) {
  if (group_ && bytes > 0) with_others(place_, [&] { group_->share(memory, bytes); });
}

#else

struct Processes::Group {};

Processes::Processes(const ProcessPlace& place) : place_(place) {
  if (!alone()) throw UsageError("WORLD_SIZE asks for several processes, but this molgraph was built without Gloo (libgloo-dev)");
}
void Processes::sum(std::span<float>) {}
void Processes::sum(std::span<double>) {}
void Processes::share(void*, std::size_t) {}

#endif

Processes::Processes() = default;
Processes::~Processes() = default;

void Processes::wait() {
  double nothing = 0;
  sum(std::span(&nothing, 1));
}

void Processes::share(std::string& text) {
  std::uint64_t size = text.size();
  share(&size, sizeof size);
  text.resize(size);
  share(text.data(), size);
}

}  // namespace molgraph
