// Integrated gradients of one model with respect to its node input (Sundararajan et al. 2017, "Axiomatic attribution
// for deep networks", eq. 1), computed by an engine's backward pass.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/model_config.hpp"
#include "apps/scoring/node_rows.hpp"
#include "attention/engine.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Nodes and weights of a quadrature rule on [0, 1].
struct Quadrature {
  std::vector<double> node, weight;
};
/// Gauss-Legendre rule, exact for polynomials of degree 2 * count - 1. Nodes are in ascending order.
Quadrature gauss_legendre(int count);

inline constexpr int kPathNodes = 6;  ///< per part of a path

/// A few molecules and their rows.
struct MoleculeGroup {
  std::vector<GraphView> graphs;
  std::vector<std::vector<double>> rows;  ///< [atoms, C] of each, minus the mean: PathIntegral::differences()
};

/// A part of one molecule's path over which the gradient of `slope` . outputs is integrated.
struct PathTask {
  std::size_t molecule = 0;  ///< index in the group
  std::vector<float> slope;  ///< [outputs]
  double from = 0, to = 1;   ///< path parameter a at both ends
};

struct PathPart {
  std::vector<double> atoms;  ///< [atoms] sum over channels of (x - mean) * integral of the gradient, in raw units
  std::vector<float> end;     ///< [outputs] raw outputs at `to`
};

/// The path of one model: each atom's row moves from the mean over the training set to its own value, x(a) = mean +
/// a (x - mean). Relations and the virtual node's row are constant, and the head's numeric inputs are at their mean, 0.
/// Thread-safe; creates an engine per concurrent thread.
class PathIntegral {
 public:
  /// Throws FileError if the model file or its explanation_file_of() is damaged, UsageError if the latter does not
  /// exist.
  explicit PathIntegral(const std::string& weights);

  const std::string& file() const { return file_; }  ///< explanation.safetensors

  /// x - mean for each molecule.
  std::vector<std::vector<double>> differences(std::span<const GraphView> graphs) const;
  /// One per task, with kPathNodes Gauss-Legendre nodes. If from = to, only the outputs are computed.
  std::vector<PathPart> integrate(const MoleculeGroup& group, std::span<const PathTask> tasks) const;

 private:
  /// A molecule at one point of its path. Weight 0: the end of the part, whose outputs are returned.
  struct Copy {
    std::size_t task;
    double a, weight;
  };
  class BorrowedEngine;
  void run(const MoleculeGroup& group, std::span<const PathTask> tasks, std::span<const Copy> copies, Engine& engine,
           std::vector<PathPart>& parts) const;
  std::unique_ptr<Engine> new_engine() const;

  std::string file_;
  SafetensorsFile weights_;
  ModelPlan plan_;
  std::unique_ptr<const NodeRows> rows_;
  std::vector<double> mean_;  ///< [C]
  mutable std::mutex mutex_;  ///< guards `idle_`; Engine::gradients() is not thread-safe
  mutable std::vector<std::unique_ptr<Engine>> idle_;
};

}  // namespace molgraph
