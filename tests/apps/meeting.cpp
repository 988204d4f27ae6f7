#include "tests/apps/meeting.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace molgraph::test {

int free_port() {
  static std::atomic<unsigned> calls{0};
  constexpr unsigned kFirst = 10'000, kPorts = 20'000, kStep = 7'919;  // kStep: between calls in one process
  for (unsigned attempt = 0; attempt < kPorts; ++attempt) {
    const unsigned offset = (static_cast<unsigned>(::getpid()) + kStep * calls++) % kPorts;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(kFirst + offset));
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool bound = ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(descriptor);
    if (bound) return static_cast<int>(kFirst + offset);
  }
  throw std::runtime_error("no free TCP port");
}

void run_together(int count, const std::function<void(const std::shared_ptr<Processes>&)>& work) {
  // LibTorch 2.11 records the collectives of a process in one map, which it changes before it takes the map's lock.
  // Several groups in one process therefore race and crash. Each molgraph program has at most one group.
  ::setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
  const int port = free_port();
  std::mutex mutex;
  std::exception_ptr error;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ProcessInfo info{.rank = rank,
                           .count = count,
                           .local_rank = rank,
                           .local_count = count,
                           .address = "127.0.0.1",
                           .port = port,
                           .patience = 60};
          work(std::make_shared<Processes>(info));
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
      });
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace molgraph::test
