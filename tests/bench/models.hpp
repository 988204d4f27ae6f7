// The measured models, and a runner for one model on one backend.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/training/loop/batches.hpp"
#include "apps/training/loop/optimizer.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "attention/reference/graph_model.hpp"

namespace molgraph::bench {

struct Case {
  std::string name;
  bool grpe = false, gate = false;
  int layers = 12, width = 80, heads = 8;
  bool walks = false;  ///< encoding grpe-walk
  int pair_state = 0;  ///< N of EncoderOptions::pair_state
  bool paths = false;  ///< EncoderOptions::pair_paths
};
/// The small models for ZINC and the wide models of the papers.
std::vector<Case> cases();

std::unique_ptr<GraphModel> make_model(const Case& c, Features features, double dropout);

/// FLOPs of one molecule's forward pass (products, attention, GRPE's tables, walks, pair states), counted as
/// for the floors of docs/development/results.md. Columns of paths are not counted.
double forward_flops(const Case& c, const GraphBatch& batch);

/// One model on one backend; both calls return seconds.
class Runner {
 public:
  /// Uses the engine if `engine`, else LibTorch's operations.
  Runner(const Case& c, Features features, double dropout, bool engine, int threads,
         Precision precision = Precision::fp32);

  double train(const TrainBatch& batch);  ///< a whole update
  double predict(const TrainBatch& batch);

 private:
  std::unique_ptr<GraphModel> model_;
  Optimizer optimizer_;
  std::unique_ptr<EngineBoundary> engine_;
  int threads_;
  std::uint32_t step_ = 0;
};

}  // namespace molgraph::bench
