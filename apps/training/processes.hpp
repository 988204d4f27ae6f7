// The processes that train one model together (data parallel): each takes a part of every batch, and gradients are
// added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "featurize/graph/error.hpp"

namespace molgraph {

/// Which of the processes this is, and where they meet.
struct ProcessPlace {
  int rank = 0, count = 1;              ///< RANK, WORLD_SIZE
  int local_rank = 0, local_count = 1;  ///< LOCAL_RANK, LOCAL_WORLD_SIZE: among those on this machine
  std::string address;                  ///< MASTER_ADDR
  int port = 0;                         ///< MASTER_PORT
  std::string attempt = "0";            ///< TORCHELASTIC_RESTART_COUNT: of the same processes, started again
  bool hosted =
      false;  ///< TORCHELASTIC_USE_AGENT_STORE: who started the processes hosts the meeting, not the first of them
  int patience = 300;  ///< MOLGRAPH_MEETING_SECONDS: how long to wait for the others at the start, 1 to 86,400
};

/// From the environment variables that torchrun sets; one process where WORLD_SIZE is not set. Throws UsageError on
/// values that make no sense.
ProcessPlace place_from_environment();

/// A process of the group ended or cannot be reached.
class ProcessError : public RunError {
 public:
  using RunError::RunError;
};

/// Default-constructed: a group of one. All processes call the same functions in the same order; each returns when all
/// have called it, and throws ProcessError if one of them ended. Works on the CPU, by Gloo over TCP, on the network
/// interface that GLOO_SOCKET_IFNAME names, else on the host name's.
class Processes {
 public:
  Processes();
  /// Meets the others. Throws ProcessError naming the missing ones after ProcessPlace::patience seconds, or what keeps
  /// this process from meeting at all (no such network interface); UsageError if this build has no Gloo.
  explicit Processes(const ProcessPlace& place);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return place_.rank; }
  int count() const { return place_.count; }
  bool alone() const { return place_.count == 1; }
  /// Does this process write the files and the log?
  bool first() const { return place_.rank == 0; }
  const ProcessPlace& place() const { return place_; }

  /// Replaces the values by their sums over all processes: the same bits everywhere.
  void sum(std::span<float> values);
  void sum(std::span<double> values);
  /// Returns when all have called it.
  void wait();
  /// Replaces what the others have by what the first has, of any length.
  void share(std::string& text);
  /// The same for memory of equal length.
  void share(void* memory, std::size_t bytes);

  /// This process's part of `items`: consecutive, of almost equal length.
  template <class T>
  std::span<T> part(std::span<T> items) const {
    const auto at = [&](int rank) {
      return items.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(place_.count);
    };
    return items.subspan(at(place_.rank), at(place_.rank + 1) - at(place_.rank));
  }

 private:
  struct Group;
  ProcessPlace place_;
  std::unique_ptr<Group> group_;  ///< null = alone
};

}  // namespace molgraph
