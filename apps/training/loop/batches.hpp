// Batches in training order: shuffled per epoch and packed by a separate thread while the model computes.
#pragma once

#include <torch/torch.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "apps/training/loop/label_weights.hpp"
#include "apps/training/loop/loss.hpp"
#include "apps/training/loop/processes.hpp"
#include "datasets/store/molecule_set.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

struct TrainBatch {
  GraphBatch graph;          ///< GraphBatch::row = index in the set; key of the molecule's random numbers
  torch::Tensor targets;     ///< [B, T] float64, missing = NaN
  LabelTerms terms{};        ///< bounds and weights of the targets
  std::int64_t present = 0;  ///< number of labels in the batch, summed over all processes
};

/// Packs the molecules `indices` of `set` into one batch.
TrainBatch make_batch(const MoleculeSet& set, std::span<const std::int64_t> indices, const PackOptions& options,
                      const LabelWeights& weights = {});

/// Returns the number of labels of these molecules.
std::int64_t count_present(const MoleculeSet& set, std::span<const std::int64_t> indices);

/// Determines the order of the training molecules.
struct EpochPlan {
  std::int64_t batch_size = 1;
  std::int64_t parts = 1;  ///< an epoch is 1/parts of a pass over the molecules, in whole batches
  std::uint64_t seed = 0;
};
/// Returns the training molecules of an epoch (from 0) in order. Each pass is shuffled again.
std::vector<std::int64_t> order_of_epoch(std::vector<std::int64_t> train, const EpochPlan& plan, std::int64_t epoch);

/// Packs `indices` in chunks of `batch_size`, starting with batch number `first` and working two batches ahead of the
/// consumer. Packs only this process's part of each chunk.
class BatchStream {
 public:
  BatchStream(const MoleculeSet& set, std::vector<std::int64_t> indices, std::int64_t batch_size, std::int64_t first,
              const PackOptions& options, const LabelWeights& weights, const Processes& processes);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// Returns false at the end. Rethrows exceptions of the packing thread.
  bool next(TrainBatch& batch);

 private:
  void produce(std::int64_t batch_size, std::int64_t first, const PackOptions& options);

  const MoleculeSet& set_;
  const LabelWeights& weights_;
  const Processes& processes_;
  std::vector<std::int64_t> indices_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TrainBatch> ready_;
  std::exception_ptr error_;
  bool done_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace molgraph
