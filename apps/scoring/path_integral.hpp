// Integrated gradients of one model on its node input (Sundararajan et al. 2017, "Axiomatic attribution for deep
// networks", eq. 1), by an engine's own way back.
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

/// Nodes and weights of a rule that integrates over [0, 1].
struct Quadrature {
  std::vector<double> node, weight;
};
/// Gauss-Legendre: exact for polynomials of degree 2 * count - 1. Nodes ascend.
Quadrature gauss_legendre(int count);

inline constexpr int kPathNodes = 6;  ///< of one part of a path

/// A few molecules and their rows.
struct MoleculeGroup {
  std::vector<GraphView> graphs;
  std::vector<std::vector<double>> rows;  ///< [atoms, C] of each, minus the mean: as PathIntegral::differences()
};

/// A part of one molecule's path over which the gradient of `slope` . outputs is integrated.
struct PathTask {
  std::size_t molecule = 0;  ///< of a group
  std::vector<float> slope;  ///< [outputs]
  double from = 0, to = 1;   ///< a of both ends
};

struct PathPart {
  std::vector<double> atoms;  ///< [atoms] sum over channels of (x - mean) times the gradient's integral, in raw units
  std::vector<float> end;     ///< [outputs] raw outputs at `to`
};

/// The path of one model: every atom's row from its mean over the training part to its own, x(a) = mean + a (x - mean),
/// while relations and the virtual node's row stay and the numbers that the head reads are at their mean, 0.
/// Thread-safe; engines are made as threads need them.
class PathIntegral {
 public:
  /// Throws FileError as the model file and its explanation_file_of() are damaged, UsageError where there is no such
  /// file.
  explicit PathIntegral(const std::string& weights);

  const std::string& file() const { return file_; }  ///< explanation.safetensors

  /// x - mean of each molecule.
  std::vector<std::vector<double>> differences(std::span<const GraphView> graphs) const;
  /// One per task, by kPathNodes Gauss-Legendre nodes; with from = to the outputs alone.
  std::vector<PathPart> integrate(const MoleculeGroup& group, std::span<const PathTask> tasks) const;

 private:
  /// A molecule at one place of its path; weight 0: its outputs are the end's.
  struct Copy {
    std::size_t task;
    double a, weight;
  };
  class Borrowed;
  void run(const MoleculeGroup& group, std::span<const PathTask> tasks, std::span<const Copy> copies, Engine& engine,
           std::vector<PathPart>& parts) const;
  std::unique_ptr<Engine> make() const;

  std::string file_;
  SafetensorsFile weights_;
  ModelPlan plan_;
  std::unique_ptr<const NodeRows> rows_;
  std::vector<double> mean_;  ///< [C]
  mutable std::mutex mutex_;  ///< of `idle_`: gradients() is for one thread at a time
  mutable std::vector<std::unique_ptr<Engine>> idle_;
};

}  // namespace molgraph
