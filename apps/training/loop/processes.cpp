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

/// Value of an environment variable; `default_value` if it is not set, < 0: it must be set. Throws UsageError.
int number(const char* name, int default_value, int smallest, int largest) {
  const std::string text = variable(name);
  if (text.empty() && default_value >= 0) return default_value;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < smallest || value > largest) {
    throw UsageError("WORLD_SIZE requests several processes, but " + std::string(name) + "='" + text +
                     "' is not a number from " + std::to_string(smallest) + " to " + std::to_string(largest));
  }
  return value;
}

}  // namespace

ProcessInfo process_info_from_environment() {
  constexpr int kMax = 1 << 20;
  ProcessInfo info;
  info.count = number("WORLD_SIZE", 1, 1, kMax);
  if (info.count == 1) return {};
  info.rank = number("RANK", -1, 0, info.count - 1);
  info.local_count = number("LOCAL_WORLD_SIZE", 1, 1, info.count);
  info.local_rank = number("LOCAL_RANK", 0, 0, info.local_count - 1);
  info.port = number("MASTER_PORT", -1, 1, 65535);
  info.address = variable("MASTER_ADDR");
  if (info.address.empty()) throw UsageError("WORLD_SIZE requests several processes, but MASTER_ADDR is not set");
  if (const std::string attempt = variable("TORCHELASTIC_RESTART_COUNT"); !attempt.empty()) info.attempt = attempt;
  info.launcher_hosts = variable("TORCHELASTIC_USE_AGENT_STORE") == "True";
  info.patience = number("MOLGRAPH_MEETING_SECONDS", info.patience, 1, 86400);
  return info;
}

#ifdef MOLGRAPH_GLOO

namespace {

// The other processes wait while the first one evaluates and writes.
constexpr std::chrono::hours kCollectiveTimeout{24};
constexpr std::chrono::milliseconds kPollInterval{20};
// The host waits longer by this time, so that the other processes can query it for missing ranks.
constexpr std::chrono::seconds kGrace{1};
constexpr int kMaxListedRanks = 8;  // missing ranks in a message
// Earlier servers of LibTorch do not accept connections on a given socket.
constexpr bool kAcceptsSocket = TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 8;

std::string first_line(const std::exception& error) {
  const std::string what = error.what();
  return what.substr(0, what.find('\n'));
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Addresses of the rendezvous, at least one. Throws std::runtime_error if there is none.
Addresses addresses_of(const ProcessInfo& info) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(info.address.c_str(), std::to_string(info.port).c_str(), &hints, &found);
      error != 0) {
    throw std::runtime_error("MASTER_ADDR=" + info.address + ": " + ::gai_strerror(error));
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
  void listen(const ProcessInfo& info) {
    const Addresses addresses = addresses_of(info);
    const addrinfo* at = addresses.get();
    while (at != nullptr && at->ai_family != AF_INET) at = at->ai_next;
    if (at == nullptr) return;
    sockaddr_in any_address{};
    any_address.sin_family = AF_INET;
    any_address.sin_port = htons(static_cast<std::uint16_t>(info.port));
    any_address.sin_addr.s_addr = htonl(INADDR_ANY);
    const int enabled = 1;
    descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor_ < 0 || ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled) != 0 ||
        ::bind(descriptor_, reinterpret_cast<const sockaddr*>(&any_address), sizeof any_address) != 0 ||
        ::listen(descriptor_, SOMAXCONN) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot listen on port " + std::to_string(info.port));
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
bool can_connect(const ProcessInfo& info, std::chrono::steady_clock::time_point deadline) {
  const Addresses addresses = addresses_of(info);
  for (;; std::this_thread::sleep_for(kPollInterval)) {
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

std::string arrival_key(int rank) { return "here/" + std::to_string(rank); }

/// Message with the ranks that have not connected; "" if all have.
std::string missing_ranks(c10d::Store& store, int count) {
  std::string names;
  int absent = 0;
  for (int rank = 0; rank < count; ++rank) {
    if (store.check({arrival_key(rank)})) continue;
    if (++absent <= kMaxListedRanks) names += (absent == 1 ? " " : ", ") + std::to_string(rank);
  }
  if (absent == 0) return {};
  return (absent == 1 ? "process" : "processes") + names +
         (absent > kMaxListedRanks ? " and " + std::to_string(absent - kMaxListedRanks) + " more" : "") +
         " did not connect";
}

}  // namespace

struct Processes::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

  explicit Group(const ProcessInfo& info) {
    const std::string within = " within " + std::to_string(info.patience) + " s (MOLGRAPH_MEETING_SECONDS)";
    const bool is_host = info.rank == 0 && !info.launcher_hosts;
    const std::chrono::seconds patience(info.patience);
    const auto deadline = std::chrono::steady_clock::now() + patience + (is_host ? kGrace : std::chrono::seconds(0));
    // Checked before the rendezvous, so that the other processes do not wait for a process that cannot communicate.
    const std::string interface = variable("GLOO_SOCKET_IFNAME");
    if (!interface.empty() && ::if_nametoindex(interface.c_str()) == 0)
      throw std::runtime_error("GLOO_SOCKET_IFNAME=" + interface + ": there is no such network interface");
    // The rendezvous port is opened before Gloo opens its sockets, which listen on any free port. LibTorch itself would
    // also listen on IPv6 and look up the names of mapped IPv4 addresses (::ffff:127.0.0.1). This takes more than a
    // minute if DNS does not answer.
    Listener listener;
    if (is_host) {
      if (kAcceptsSocket) listener.listen(info);
    } else if (!can_connect(info, deadline)) {
      throw std::runtime_error(
          (info.launcher_hosts ? "the rendezvous host" : "process 0, which hosts the rendezvous,") +
          std::string(" did not answer") + within);
    }
    const auto options = c10d::ProcessGroupGloo::Options::create(kCollectiveTimeout);
    options->devices.push_back(interface.empty() ? c10d::ProcessGroupGloo::createDefaultDevice(false)
                                                 : c10d::ProcessGroupGloo::createDeviceForInterface(interface, false));
    c10d::TCPStoreOptions store_options;
    store_options.masterListenFd = listener.release();
    store_options.port = static_cast<std::uint16_t>(info.port);
    store_options.isServer = is_host;
    store_options.waitWorkers = false;
    store_options.timeout = patience;
    const auto store = c10::make_intrusive<c10d::PrefixStore>(
        "molgraph/" + info.attempt, c10::make_intrusive<c10d::TCPStore>(info.address, store_options));
    store->setTimeout(patience);
    store->set(arrival_key(info.rank), std::vector<std::uint8_t>{1});
    for (std::string absent = missing_ranks(*store, info.count); !absent.empty();
         absent = missing_ranks(*store, info.count)) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(absent + within);
      std::this_thread::sleep_for(kPollInterval);
    }
    gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, info.rank, info.count, options);
    float zero = 0;
    sum(&zero, 1, at::kFloat);  // returns when all are connected: no process may end while others connect to it
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
void communicate(const ProcessInfo& info, const Work& work, const std::string& failure = "has lost contact with") {
  try {
    work();
  } catch (const std::exception& error) {
    throw ProcessError("process " + std::to_string(info.rank) + " of " + std::to_string(info.count) + " " + failure +
                       " the other processes (rendezvous at " + info.address + ":" + std::to_string(info.port) +
                       "): " + first_line(error));
  }
}

}  // namespace

Processes::Processes(const ProcessInfo& info) : info_(info) {
  if (!is_single())
    communicate(
        info_, [&] { group_ = std::make_unique<Group>(info_); }, "could not connect to");
}
void Processes::sum(std::span<float> values) {
  if (group_) communicate(info_, [&] { group_->sum(values.data(), values.size(), at::kFloat); });
}
void Processes::sum(std::span<double> values) {
  if (group_) communicate(info_, [&] { group_->sum(values.data(), values.size(), at::kDouble); });
}
void Processes::share(void* memory, std::size_t bytes) {
  if (group_ && bytes > 0) communicate(info_, [&] { group_->share(memory, bytes); });
}

#else

struct Processes::Group {};

Processes::Processes(const ProcessInfo& info) : info_(info) {
  if (!is_single())
    throw UsageError("WORLD_SIZE requests several processes, but this molgraph was built without Gloo (libgloo-dev)");
}
void Processes::sum(std::span<float>) {}
void Processes::sum(std::span<double>) {}
void Processes::share(void*, std::size_t) {}

#endif

Processes::Processes() = default;
Processes::~Processes() = default;

void Processes::wait() {
  double zero = 0;
  sum(std::span(&zero, 1));
}

void Processes::share(std::string& text) {
  std::uint64_t size = text.size();
  share(&size, sizeof size);
  text.resize(size);
  share(text.data(), size);
}

}  // namespace molgraph
