// Interleaved measurement of one model on all backends.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/training/loop/batches.hpp"
#include "datasets/load.hpp"
#include "tests/bench/machine.hpp"
#include "tests/bench/models.hpp"
#include "tests/bench/peer.hpp"

namespace molgraph::bench {

struct Options {
  std::string data = "zinc", programs, json_file, batches_file, instruction_set, store, precision, peer_python;
  std::vector<std::string> only;
  int rounds = 7, threads = 0, batch_size = 256, gpu = -1, compile_seconds = 300;
  double dropout = 0.1;
  bool reference = true, training = true, time_programs = true, best = false, peer = false, scaling = false;
  bool is_chosen(const std::string& part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
};

/// What the bench measures in each round: one runner's updates or predictions.
enum Timing : std::size_t {
  kReferenceTrain,
  kTrain,
  kTrainBf16,
  kReferenceInfer,
  kInfer,
  kInferBf16,
  kTrainAlone,  ///< on one thread
  kTrainBf16Alone,
  kInferAlone,
  kInferBf16Alone,
  kTimings,
};

/// Up to four packed batches of training molecules.
std::vector<TrainBatch> batches_of(const Case& c, const LoadedData& loaded, const Options& o);
/// Writes packed batches for peer.py, as safetensors.
void write_batches(const std::string& path, const std::vector<TrainBatch>& batches);

/// One model on all backends, and the seconds of its rounds.
class Measured {
 public:
  Measured(const Case& c, const LoadedData& loaded, const Machine& machine, const Options& o);

  /// Measures each backend once. Round -1 is a warm-up and is not kept.
  void measure(int round);

  const Case& model() const { return case_; }
  /// Molecules per second; 0 = not measured.
  double rate(Timing timing) const { return rate_of(times_[timing]); }
  /// The fp32 engine's share of the floor.
  double train_floor() const { return rate(kTrain) * 3 * floor_seconds_; }
  double infer_floor() const { return rate(kInfer) * floor_seconds_; }
  /// Training and inference, by variant.
  std::map<std::string, std::array<double, 2>> peers() const;
  /// The median over the rounds of the time of `timing` divided by that of `other` in the same round; 0 = not measured.
  double ratio(Timing timing, const Measured& other_model, Timing other) const;

 private:
  struct Backend {
    std::unique_ptr<Runner> runner;
    Timing train, infer;
  };
  double rate_of(const std::vector<double>& seconds) const;

  const Options& options_;
  Case case_;
  std::vector<TrainBatch> batches_;
  std::unique_ptr<Peer> peer_;
  std::vector<Backend> runners_;
  double floor_seconds_ = 0;  ///< of one molecule's forward pass
  std::array<std::vector<double>, kTimings> times_;
  std::map<std::string, std::array<std::vector<double>, 2>> peer_times_;
};

}  // namespace molgraph::bench
