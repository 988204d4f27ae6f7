// PyTorch models on the same batches, in a separate process (peer.py) that computes one round per request.
#pragma once

#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/models.hpp"

namespace molgraph::bench {

/// The Python of a virtual environment in `folder` whose PyTorch has the version of this program's LibTorch. Installs
/// it if it is missing (several gigabytes, minutes). Throws std::runtime_error.
std::string peer_python(const std::string& folder);

struct PeerOptions {
  std::string python, batches;  ///< batches: a file that --write-batches wrote
  int threads = 1, compile_seconds = 0;
  double dropout = 0.1;
};

/// Whether peer.py has a model of this kind.
bool has_peer(const Case& c);

class Peer {
 public:
  /// Returns when the model is ready. Throws std::runtime_error if the peer ends before that.
  Peer(const Case& c, const PeerOptions& options);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Seconds of an update and of inference on batch `k`, by variant ("eager", "bf16" ...).
  std::map<std::string, std::array<double, 2>> round(int k);

 private:
  std::string line();

  int child_ = -1, to_ = -1;
  std::FILE* from_ = nullptr;
};

}  // namespace molgraph::bench
