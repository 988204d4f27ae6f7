// Data-parallel training of one model by several processes: each computes a part of every batch, and the gradients are
// summed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "featurize/graph/error.hpp"

namespace molgraph {

/// Rank of this process and address of the rendezvous.
struct ProcessInfo {
  int rank = 0, count = 1;              ///< RANK, WORLD_SIZE
  int local_rank = 0, local_count = 1;  ///< LOCAL_RANK, LOCAL_WORLD_SIZE: on this machine
  std::string address;                  ///< MASTER_ADDR
  int port = 0;                         ///< MASTER_PORT
  std::string attempt = "0";            ///< TORCHELASTIC_RESTART_COUNT: number of restarts of the same processes
  bool launcher_hosts = false;          ///< TORCHELASTIC_USE_AGENT_STORE: the launcher hosts the rendezvous, not rank 0
  int patience = 300;  ///< MOLGRAPH_MEETING_SECONDS: seconds to wait for the other processes at the start, 1 to 86,400
};

/// Reads the environment variables that torchrun sets; one process if WORLD_SIZE is not set. Throws UsageError for
/// invalid values.
ProcessInfo process_info_from_environment();

/// A process of the group has ended or cannot be reached.
class ProcessError : public RunError {
 public:
  using RunError::RunError;
};

/// A group of processes; by default a group of one. All processes call the same functions in the same order. Each
/// function returns when all processes have called it, and throws ProcessError if one of them has ended. Runs on the
/// CPU with Gloo over TCP, on the network interface GLOO_SOCKET_IFNAME, by default on that of the host name.
class Processes {
 public:
  Processes();
  /// Connects to the other processes. After ProcessInfo::patience seconds, throws ProcessError with the missing ranks.
  /// Throws ProcessError if this process cannot connect at all (no such network interface), UsageError if this build
  /// has no Gloo.
  explicit Processes(const ProcessInfo& info);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return info_.rank; }
  int count() const { return info_.count; }
  bool is_single() const { return info_.count == 1; }
  /// True for the process that writes the files and the log.
  bool first() const { return info_.rank == 0; }
  const ProcessInfo& info() const { return info_; }

  /// Replaces the values by their sums over all processes; bitwise identical in all of them.
  void sum(std::span<float> values);
  void sum(std::span<double> values);
  /// Returns when all have called it.
  void wait();
  /// Copies the text of the first process, of any length, to the others.
  void share(std::string& text);
  /// Copies memory of the same length in all processes.
  void share(void* memory, std::size_t bytes);

  /// This process's part of `items`: consecutive items; all parts have almost the same length.
  template <class T>
  std::span<T> part(std::span<T> items) const {
    const auto at = [&](int rank) {
      return items.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(info_.count);
    };
    return items.subspan(at(info_.rank), at(info_.rank + 1) - at(info_.rank));
  }

 private:
  struct Group;
  ProcessInfo info_;
  std::unique_ptr<Group> group_;  ///< null = one process
};

}  // namespace molgraph
