#include "tests/apps/meeting.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace molgraph::test {

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no free TCP port");
  return ntohs(address.sin_port);
}

void run_together(int count, const std::function<void(const std::shared_ptr<Processes>&)>& work) {
  const int port = free_port();
  std::mutex mutex;
  std::exception_ptr error;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ProcessPlace place{.rank = rank,
                             .count = count,
                             .local_rank = rank,
                             .local_count = count,
                             .address = "127.0.0.1",
                             .port = port,
                             .patience = 60};
          work(std::make_shared<Processes>(place));
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
