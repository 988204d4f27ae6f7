// Batches in training order: shuffled per epoch, packed by a thread of their own while the model works.
#pragma once

#include <torch/torch.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "apps/training/label_weights.hpp"
#include "apps/training/loss.hpp"
#include "apps/training/processes.hpp"
#include "datasets/store/molecule_set.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

struct TrainBatch {
  GraphBatch graph;          ///< GraphBatch::row = index in the set, the key of the molecule's random numbers
  torch::Tensor targets;     ///< [B, T] float64, missing = NaN
  LabelTerms terms{};        ///< of the targets
  std::int64_t present = 0;  ///< targets that are not missing, in the parts of all processes together
};

/// Packs the molecules `indices` of `set`.
TrainBatch make_batch(const MoleculeSet& set, std::span<const std::int64_t> indices, const PackOptions& options,
                      const LabelWeights& weights = {});

/// Targets of these molecules that are not missing.
std::int64_t count_present(const MoleculeSet& set, std::span<const std::int64_t> indices);

/// How the training molecules come.
struct EpochPlan {
  std::int64_t batch_size = 1;
  std::int64_t parts = 1;  ///< an epoch is a share of so many of a pass over them, in whole batches
  std::uint64_t seed = 0;
};
/// Those of epoch 0, 1, ... in their order: shuffled for every pass.
std::vector<std::int64_t> order_of_epoch(std::vector<std::int64_t> train, const EpochPlan& plan, std::int64_t epoch);

/// Packs `indices` in chunks of `batch_size`, starting with batch number `first`, two batches ahead of the consumer; of
/// every chunk, this process's part.
class BatchStream {
 public:
  BatchStream(const MoleculeSet& set, std::vector<std::int64_t> indices, std::int64_t batch_size, std::int64_t first,
              const PackOptions& options, const LabelWeights& weights, const Processes& processes);
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// False at the end. An exception of the packing thread is thrown here.
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
