#include "apps/training/loop/processes.hpp"

#include <torch/torch.h>
#include <torch/version.h>

#if __has_include(<gloo/rendezvous/store.h>)  // LibTorch contains Gloo's code, but not its headers
#define MOLGRAPH_GLOO
#define USE_C10D_GLOO  // otherwise LibTorch's header is empty
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Value of an environment variable; `otherwise` if it is not set, < 0: it must be set. Throws UsageError.
int number(const char* name, int otherwise, int smallest, int largest) {
  const std::string text = variable(name);
  if (text.empty() && otherwise >= 0) return otherwise;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < smallest || value > largest) {
    throw UsageError("WORLD_SIZE requests several processes, but " + std::string(name) + "='" + text +
                     "' is not a number from " + std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return value;
}

}  // namespace

ProcessPlace place_from_environment() {
  constexpr int kMax = 1 << 20;
  ProcessPlace place;
  place.count = number("WORLD_SIZE", 1, 1, kMax);
  if (place.count == 1) return {};
  place.rank = number("RANK", -1, 0, place.count - 1);
  place.local_count = number("LOCAL_WORLD_SIZE", 1, 1, place.count);
  place.local_rank = number("LOCAL_RANK", 0, 0, place.local_count - 1);
  place.port = number("MASTER_PORT", -1, 1, 65535);
  place.address = variable("MASTER_ADDR");
  if (place.address.empty()) throw UsageError("WORLD_SIZE requests several processes, but MASTER_ADDR is not set");
  if (const std::string attempt = variable("TORCHELASTIC_RESTART_COUNT"); !attempt.empty()) place.attempt = attempt;
  place.hosted = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.patience = number("MOLGRAPH_MEETING_SECONDS", place.patience, 1, 86400);
  return place;
}

#ifdef MOLGRAPH_GLOO

namespace {

constexpr std::chrono::hours kWaiting{24};  // the other processes wait while the first one evaluates and writes
constexpr std::chrono::milliseconds kLook{20};
// The host waits longer by this time, so that the other processes can query it for missing ranks.
constexpr std::chrono::seconds kGrace{1};
constexpr int kNamed = 8;  // missing ranks in a message
// Earlier servers of LibTorch do not accept connections on a given socket.
constexpr bool kTakesASocket = TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 8;

std::string first_line(const std::exception& error) {
  const std::string what = error.what();
  return what.substr(0, what.find('\n'));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Addresses of the rendezvous, at least one. Throws std::runtime_error if there is none.
Addresses addresses_of(const ProcessPlace& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(place.address.c_str(), std::to_string(place.port).c_str(), &hints, &found);
      error != 0) {
    throw std::runtime_error("MASTER_ADDR=" + place.address + ": " + ::gai_strerror(error));
  }
  return {found, &::freeaddrinfo};
}

/// A socket that listens on the rendezvous port until it is passed to LibTorch.
class Listener {
 public:
  Listener() = default;
  ~Listener() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Listens on all IPv4 addresses of this machine if the rendezvous has an IPv4 address. Throws std::system_error.
  void listen(const ProcessPlace& place) {
    const Addresses addresses = addresses_of(place);
    const addrinfo* at = addresses.get();
    while (at != nullptr && at->ai_family != AF_INET) at = at->ai_next;
    if (at == nullptr) return;
    sockaddr_in every{};
    every.sin_family = AF_INET;
    every.sin_port = htons(static_cast<std::uint16_t>(place.port));
    every.sin_addr.s_addr = htonl(INADDR_ANY);
    const int yes = 1;
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor_ < 0 || ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&every), sizeof every) != 0 ||
        ::listen(descriptor_, SOMAXCONN) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot listen on port " + std::to_string(place.port));
  }
  /// The socket, which the caller must close; nothing if there is none.
  std::optional<int> release() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 ? std::nullopt : std::optional(descriptor);
  }

 private:
  int descriptor_ = -1;
};

/// True if a connection to the rendezvous succeeds before the deadline. (TCPStore would wait longer than its timeout
/// and print its call stack.) Throws std::runtime_error if there is no such address.
bool answers(const ProcessPlace& place, std::chrono::steady_clock::time_point deadline) {
  const Addresses addresses = addresses_of(place);
  for (;; std::this_thread::sleep_for(kLook)) {
    for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
      const int descriptor = ::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      if (descriptor < 0) continue;
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      bool connected = ::connect(descriptor, at->ai_addr, at->ai_addrlen) == 0;
      if (!connected && errno == EINPROGRESS) {
        pollfd wait{.fd = descriptor, .events = POLLOUT, .revents = 0};
        connected = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) == 1 &&
                    (wait.revents & (POLLERR | POLLHUP)) == 0;
      }
      ::close(descriptor);
      if (connected) return true;
    }
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
}

std::string arrival(int rank) { return "here/" + std::to_string(rank); }

/// Message with the ranks that have not connected; "" if all have.
std::string missing(c10d::Store& store, int count) {
  std::string names;
  int absent = 0;
  for (int rank = 0; rank < count; ++rank) {
    if (store.check({arrival(rank)})) continue;
    if (++absent <= kNamed) names += (absent == 1 ? " " : ", ") + std::to_string(rank);
  }
  if (absent == 0) return {};
  return (absent == 1 ? "process" : "processes") + names +
         (absent > kNamed ? " and " + std::to_string(absent - kNamed) + " more" : "") + " did not connect";
}

}  // namespace

struct Processes::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  explicit Group(const ProcessPlace& place) {
    const std::string within = " within " + std::to_string(place.patience) + " s (MOLGRAPH_MEETING_SECONDS)";
    const bool hosts = place.rank == 0 && !place.hosted;
    const std::chrono::seconds patience(place.patience);
    const auto deadline = std::chrono::steady_clock::now() + patience + (hosts ? kGrace : std::chrono::seconds(0));
    // Checked before the rendezvous, so that the other processes do not wait for a process that cannot communicate.
    const std::string interface = variable("GLOO_SOCKET_IFNAME");
    if (!interface.empty() && ::if_nametoindex(interface.c_str()) == 0)
      throw std::runtime_error("GLOO_SOCKET_IFNAME=" + interface + ": there is no such network interface");
    // The rendezvous port is opened before Gloo opens its sockets, which listen on any free port. LibTorch itself would
    // also listen on IPv6 and look up the names of mapped IPv4 addresses (::ffff:127.0.0.1). This takes more than a
    // minute if DNS does not answer.
    Listener listener;
    if (hosts) {
      if (kTakesASocket) listener.listen(place);
    } else if (!answers(place, deadline)) {
      throw std::runtime_error((place.hosted ? "the rendezvous host" : "process 0, which hosts the rendezvous,") +
                               std::string(" did not answer") + within);
    }
    const auto options = c10d::ProcessGroupGloo::Options::create(kWaiting);
    options->devices.push_back(interface.empty() ? c10d::ProcessGroupGloo::createDefaultDevice(false)
                                                 : c10d::ProcessGroupGloo::createDeviceForInterface(interface, false));
    c10d::TCPStoreOptions meeting;
    meeting.masterListenFd = listener.release();
    meeting.port = static_cast<std::uint16_t>(place.port);
    meeting.isServer = hosts;
    meeting.waitWorkers = false;
    meeting.timeout = patience;
    const auto store = c10::make_intrusive<c10d::PrefixStore>(
        "molgraph/" + place.attempt, c10::make_intrusive<c10d::TCPStore>(place.address, meeting));
    store->setTimeout(patience);
    store->set(arrival(place.rank), std::vector<std::uint8_t>{1});
    for (std::string absent = missing(*store, place.count); !absent.empty(); absent = missing(*store, place.count)) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(absent + within);
      std::this_thread::sleep_for(kLook);
    }
    gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, place.rank, place.count, options);
    float nothing = 0;
    sum(&nothing, 1, at::kFloat);  // returns when all are connected: no process may end while others connect to it
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

/// Calls `work` and converts errors of the library to ProcessError.
template <class Work>
void with_others(const ProcessPlace& place, const Work& work, const std::string& failure = "has lost contact with") {
  try {
    work();
  } catch (const std::exception& error) {
    throw ProcessError("process " + std::to_string(place.rank) + " of " + std::to_string(place.count) + " " + failure +
                       " the other processes (rendezvous at " + place.address + ":" + std::to_string(place.port) +
                       "): " + first_line(error));
  }
}

}  // namespace

Processes::Processes(const ProcessPlace& place) : place_(place) {
  if (!alone())
    with_others(
        place_, [&] { group_ = std::make_unique<Group>(place_); }, "could not connect to");
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
  if (!alone())
    throw UsageError("WORLD_SIZE requests several processes, but this molgraph was built without Gloo (libgloo-dev)");
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
