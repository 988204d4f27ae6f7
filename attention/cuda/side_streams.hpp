// Independent launches at the same time, each on its own stream. In a recording, they become parallel branches.
#pragma once

#include <cstddef>
#include <vector>

#include "attention/cuda/gpu/runtime.hpp"

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
  /// work waits for them.
  template <class Work>
  void run(std::size_t count, const Work& work) {
    while (sides_.size() + 1 < count) sides_.push_back({make_stream(), make_event(false)});
    if (count > 1) mark(begin_, main_);
    for (std::size_t k = count; k-- > 1;) {
      const Side& side = sides_[k - 1];
      wait_on(side.stream, begin_);
      work(k, side.stream);
      mark(side.end, side.stream);
    }
    if (count > 0) work(0, main_);
    for (std::size_t k = 1; k < count; ++k) wait_on(main_, sides_[k - 1].end);
  }

 private:
  struct Side {
    Stream stream;
    Event end;
  };
  Stream main_;
  Event begin_;
  std::vector<Side> sides_;
};

}  // namespace molgraph::cuda
