#include "datasets/splits/stratify.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace molgraph {
namespace {

/// One part that is being filled.
struct Part {
  std::int64_t capacity = 0;
  std::vector<double> needed{};  ///< missing molecules by class, over all targets
  std::vector<std::int64_t> items{};
};

class Dealer {
 public:
  Dealer(const ClassLabels& labels, std::vector<std::int64_t> order, const std::vector<std::int64_t>& sizes)
      : labels_(labels), order_(std::move(order)) {
    for (const std::int32_t label : labels.classes) classes_ = std::max(classes_, static_cast<std::size_t>(label + 1));
    remaining_.resize(labels.targets * classes_);
    for (const std::int64_t item : order_) for_each_class(item, [&](std::size_t c) { ++remaining_[c]; });
    for (const std::int64_t size : sizes)
      parts_.push_back({.capacity = size, .needed = std::vector<double>(remaining_.size())});
    for (std::size_t c = 0; c < remaining_.size(); ++c) distribute(c, sizes);
  }

  std::vector<std::vector<std::int64_t>> deal() {
    for (std::size_t c = rarest(); c < remaining_.size(); c = rarest()) {
      std::erase_if(order_, [&](std::int64_t item) {
        if (!has_class(item, c)) return false;
        assign(item, *std::ranges::max_element(parts_, [c](const Part& a, const Part& b) {
                 if ((a.capacity > 0) != (b.capacity > 0)) return b.capacity > 0;
                 return a.needed[c] != b.needed[c] ? a.needed[c] < b.needed[c] : a.capacity < b.capacity;
               }));
        return true;
      });
    }
    for (const std::int64_t item : order_)  // items without any label
      assign(item, *std::ranges::find_if(parts_, [](const Part& part) { return part.capacity > 0; }));
    std::vector<std::vector<std::int64_t>> result;
    for (Part& part : parts_) result.push_back(std::move(part.items));
    return result;
  }

 private:
  template <class Action>
  void for_each_class(std::int64_t item, Action&& action) const {
    for (std::size_t t = 0; t < labels_.targets; ++t)
      if (const int label = label_of(item, t); label >= 0) action(t * classes_ + static_cast<std::size_t>(label));
  }
  int label_of(std::int64_t item, std::size_t target) const {
    return labels_.classes[static_cast<std::size_t>(item) * labels_.targets + target];
  }
  bool has_class(std::int64_t item, std::size_t c) const {
    return label_of(item, c / classes_) == static_cast<int>(c % classes_);
  }

  /// Shares of a class in proportion to the sizes, but at least one for each part if there are enough molecules.
  void distribute(std::size_t c, const std::vector<std::int64_t>& sizes) {
    const auto count = static_cast<double>(remaining_[c]), all = static_cast<double>(order_.size());
    const auto non_empty = std::ranges::count_if(sizes, [](std::int64_t size) { return size > 0; });
    for (std::size_t p = 0; p < sizes.size(); ++p) parts_[p].needed[c] = count * static_cast<double>(sizes[p]) / all;
    if (remaining_[c] < non_empty) return;
    Part& largest = parts_[static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin())];
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      double& needed = parts_[p].needed[c];
      if (sizes[p] == 0 || needed >= 1 || &parts_[p] == &largest) continue;
      largest.needed[c] -= 1 - needed;
      needed = 1;
    }
  }

  /// Class with the fewest remaining molecules, the first of ties; the number of classes if none remain.
  std::size_t rarest() const {
    std::size_t best = remaining_.size();
    for (std::size_t c = 0; c < remaining_.size(); ++c)
      if (remaining_[c] > 0 && (best == remaining_.size() || remaining_[c] < remaining_[best])) best = c;
    return best;
  }

  void assign(std::int64_t item, Part& part) {
    assert(part.capacity > 0);
    --part.capacity;
    part.items.push_back(item);
    for_each_class(item, [&](std::size_t c) {
      --remaining_[c];
      part.needed[c] -= 1;
    });
  }

  const ClassLabels& labels_;
  std::vector<std::int64_t> order_;  ///< items that are not assigned yet
  std::size_t classes_ = 0;
  std::vector<std::int64_t> remaining_;  ///< remaining molecules by class, over all targets
  std::vector<Part> parts_;
};

}  // namespace

ClassLabels ClassLabels::subset(const std::vector<std::int64_t>& chosen) const {
  ClassLabels result{targets};
  for (const std::int64_t g : chosen) {
    const auto first = classes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(g) * targets);
    result.classes.insert(result.classes.end(), first, first + static_cast<std::ptrdiff_t>(targets));
  }
  return result;
}

ClassLabels class_labels_of(const MoleculeSet& set) {
  ClassLabels labels;
  if (set.task.kind == TaskKind::regression || set.sparse.targets > 0) return labels;  // a corpus is not stratified
  labels.targets = static_cast<std::size_t>(set.task.num_targets());
  labels.classes.reserve(set.targets.size());
  if (set.task.kinds.empty()) {
    labels.add(set.targets);
    return labels;
  }
  for (std::size_t g = 0; g < static_cast<std::size_t>(set.size()); ++g) {
    const auto first = set.targets.begin() + static_cast<std::ptrdiff_t>(g * labels.targets);
    labels.add(classes_among(set.task, {first, first + static_cast<std::ptrdiff_t>(labels.targets)}));
  }
  return labels;
}

std::vector<double> classes_among(const Task& task, std::vector<double> targets) {
  for (std::size_t t = 0; t < targets.size(); ++t)
    if (task.kind_of(t) == TaskKind::regression) targets[t] = std::numeric_limits<double>::quiet_NaN();
  return targets;
}

std::vector<std::vector<std::int64_t>> deal_by_class(const ClassLabels& labels, std::vector<std::int64_t> order,
                                                     const std::vector<std::int64_t>& sizes) {
  assert(labels.classes.size() == order.size() * labels.targets);
  return Dealer(labels, std::move(order), sizes).deal();
}

}  // namespace molgraph
