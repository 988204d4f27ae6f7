#include "apps/training/baselines/nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "apps/scoring/count_index.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kQueriesPerPiece = 16;

/// Training molecules in descending order of similarity to a query. Sorts lazily, because usually only the first few
/// are used.
class BySimilarity {
 public:
  BySimilarity(const std::vector<double>& similarity, const std::vector<std::int64_t>& train, std::int64_t query) {
    order_.reserve(train.size());
    for (std::size_t k = 0; k < train.size(); ++k)
      if (train[k] != query) order_.emplace_back(-similarity[k], k);
  }
  std::size_t size() const { return order_.size(); }
  /// Returns the index in `train` of neighbour `k`. `k` must be accessed in ascending order.
  std::size_t operator[](std::size_t k) {
    if (k == sorted_) {
      sorted_ = std::min(order_.size(), sorted_ == 0 ? std::size_t{8} : 4 * sorted_);
      std::partial_sort(order_.begin() + static_cast<std::ptrdiff_t>(k),
                        order_.begin() + static_cast<std::ptrdiff_t>(sorted_), order_.end());
    }
    return order_[k].second;
  }

 private:
  std::vector<std::pair<double, std::size_t>> order_;  ///< ties in the order of `train`
  std::size_t sorted_ = 0;
};

/// Writes the labels of the neighbours as predictions [outputs].
void take_labels(const MoleculeSet& set, const std::vector<std::int64_t>& train, BySimilarity& neighbours,
                 double* predictions) {
  const Task& task = set.task;
  const std::size_t targets = task.names.size(), classes = static_cast<std::size_t>(task.num_outputs()) / targets;
  std::vector<bool> found(targets);
  std::size_t remaining = targets;
  for (std::size_t k = 0; k < neighbours.size() && remaining > 0; ++k) {
    const std::size_t first = static_cast<std::size_t>(train[neighbours[k]]) * targets;
    const double* labels = set.targets.data() + first;
    for (std::size_t t = 0; t < targets; ++t) {
      const bool censored = !set.bound.empty() && set.bound[first + t] != 0;
      if (found[t] || censored || std::isnan(labels[t])) continue;
      found[t] = true;
      --remaining;
      double* to = predictions + t * classes;
      if (task.kind != TaskKind::multiclass) {
        *to = labels[t];
        continue;
      }
      std::fill_n(to, classes, 0);
      to[static_cast<std::size_t>(labels[t])] = 1;
    }
  }
}

}  // namespace

std::vector<double> nearest_predictions(const FeatureRows& rows, const MoleculeSet& set,
                                        const std::vector<std::int64_t>& train,
                                        const std::vector<std::int64_t>& queries, int threads,
                                        const std::function<void(std::int64_t)>& progress) {
  const auto outputs = static_cast<std::size_t>(set.task.num_outputs());
  std::vector<CountsView> known;
  for (const std::int64_t g : train) known.push_back(rows.counts(static_cast<std::size_t>(g)));
  const CountIndex index(known);
  std::vector<double> predictions(queries.size() * outputs, std::numeric_limits<double>::quiet_NaN());
  parallel_for(static_cast<std::int64_t>(queries.size()), kQueriesPerPiece, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<double> similarity(train.size());
                 for (auto q = static_cast<std::size_t>(begin); q < static_cast<std::size_t>(end); ++q) {
                   index.similarities(rows.counts(static_cast<std::size_t>(queries[q])), similarity);
                   BySimilarity neighbours(similarity, train, queries[q]);
                   take_labels(set, train, neighbours, predictions.data() + q * outputs);
                 }
                 if (progress) progress(end - begin);
               });
  return predictions;
}

std::vector<double> nearest_labels(const MoleculeSet& set, const std::vector<std::int64_t>& train,
                                   const std::vector<double>& similarity, std::int64_t query, std::size_t target,
                                   std::size_t limit) {
  std::vector<double> labels;
  BySimilarity neighbours(similarity, train, query);
  for (std::size_t k = 0; k < neighbours.size() && labels.size() < limit; ++k) {
    const auto g = static_cast<std::size_t>(train[neighbours[k]]);
    if (const double label = set.exact_target(g * set.task.names.size() + target); !std::isnan(label))
      labels.push_back(label);
  }
  return labels;
}

}  // namespace molgraph
