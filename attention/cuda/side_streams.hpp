// Independent launches at the same time, each on its own stream. In a recording, they become parallel branches.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"
#include "attention/cuda/profile.hpp"

namespace molgraph::cuda {

class SideStreams {
 public:
  explicit SideStreams(Stream main) : main_(main), begin_(make_event(false)) {}
  ~SideStreams() {
    for (const Side& side : sides_) {
      destroy_event(side.end);
      destroy_stream(side.stream);
    }
    destroy_event(begin_);
  }
  SideStreams(const SideStreams&) = delete;
  SideStreams& operator=(const SideStreams&) = delete;

  /// Calls work(k, stream) for k below `count`. The launches begin after all earlier work of the main stream; its later
  /// work waits for them. `work` uses only its stream, and no memory that another call writes. Within profile(), the
  /// launches follow each other on the main stream.
  template <class Work>
  void run(std::size_t count, const Work& work) {
    const std::size_t aside = count == 0 || profiling() ? 0 : count - 1;
    while (sides_.size() < aside) {
      sides_.push_back({make_stream(), nullptr});
      sides_.back().end = make_event(false);
    }
    if (aside > 0) mark(begin_, main_);
    try {
      for (std::size_t k = count; k-- > 0;) {
        if (k > 0 && aside > 0) wait_on(sides_[k - 1].stream, begin_);
        work(k, k > 0 && aside > 0 ? sides_[k - 1].stream : main_);
      }
    } catch (...) {
      join(aside);
      throw;
    }
    join(aside);
  }

 private:
  struct Side {
    Stream stream;
    Event end;
  };
  /// The main stream waits for the first `count` sides.
  void join(std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      mark(sides_[k].end, sides_[k].stream);
      wait_on(main_, sides_[k].end);
    }
  }

  Stream main_;
  Event begin_;
  std::vector<Side> sides_;
};

}  // namespace molgraph::cuda
