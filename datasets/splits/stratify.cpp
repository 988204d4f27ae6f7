#include "datasets/splits/stratify.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace molgraph {
namespace {

/// One part that is being filled.
struct Part {
  std::int64_t room = 0;
  std::vector<double> lacks{};  ///< missing molecules by class, over all targets
  std::vector<std::int64_t> items{};
};

class Dealer {
 public:
  Dealer(const ClassLabels& labels, std::vector<std::int64_t> order, const std::vector<std::int64_t>& sizes)
      : labels_(labels), order_(std::move(order)) {
    for (const std::int32_t label : labels.of) classes_ = std::max(classes_, static_cast<std::size_t>(label + 1));
    left_.resize(labels.targets * classes_);
    for (const std::int64_t item : order_) for_each_class(item, [&](std::size_t c) { ++left_[c]; });
    for (const std::int64_t size : sizes) parts_.push_back({.room = size, .lacks = std::vector<double>(left_.size())});
    for (std::size_t c = 0; c < left_.size(); ++c) share_out(c, sizes);
  }

  std::vector<std::vector<std::int64_t>> deal() {
    for (std::size_t c = rarest(); c < left_.size(); c = rarest()) {
      std::erase_if(order_, [&](std::int64_t item) {
        if (!has_class(item, c)) return false;
        give(item, *std::ranges::max_element(parts_, [c](const Part& a, const Part& b) {
               if ((a.room > 0) != (b.room > 0)) return b.room > 0;
               return a.lacks[c] != b.lacks[c] ? a.lacks[c] < b.lacks[c] : a.room < b.room;
             }));
        return true;
      });
    }
    for (const std::int64_t item : order_)  // items without any label
      give(item, *std::ranges::find_if(parts_, [](const Part& part) { return part.room > 0; }));
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
    return labels_.of[static_cast<std::size_t>(item) * labels_.targets + target];
  }
  bool has_class(std::int64_t item, std::size_t c) const {
    return label_of(item, c / classes_) == static_cast<int>(c % classes_);
  }

  /// Shares of a class in proportion to the sizes, but at least one for each part if there are enough molecules.
  void share_out(std::size_t c, const std::vector<std::int64_t>& sizes) {
    const auto count = static_cast<double>(left_[c]), all = static_cast<double>(order_.size());
    const auto asked = std::ranges::count_if(sizes, [](std::int64_t size) { return size > 0; });
    for (std::size_t p = 0; p < sizes.size(); ++p) parts_[p].lacks[c] = count * static_cast<double>(sizes[p]) / all;
    if (left_[c] < asked) return;
    Part& largest = parts_[static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin())];
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      double& lacks = parts_[p].lacks[c];
      if (sizes[p] == 0 || lacks >= 1 || &parts_[p] == &largest) continue;
      largest.lacks[c] -= 1 - lacks;
      lacks = 1;
    }
  }

  /// Class with the fewest remaining molecules, the first of ties; the number of classes if none remain.
  std::size_t rarest() const {
    std::size_t best = left_.size();
    for (std::size_t c = 0; c < left_.size(); ++c)
      if (left_[c] > 0 && (best == left_.size() || left_[c] < left_[best])) best = c;
    return best;
  }

  void give(std::int64_t item, Part& part) {
    assert(part.room > 0);
    --part.room;
    part.items.push_back(item);
    for_each_class(item, [&](std::size_t c) {
      --left_[c];
      part.lacks[c] -= 1;
    });
  }

  const ClassLabels& labels_;
  std::vector<std::int64_t> order_;  ///< items that are not assigned yet
  std::size_t classes_ = 0;
  std::vector<std::int64_t> left_;  ///< remaining molecules by class, over all targets
  std::vector<Part> parts_;
};

}  // namespace

ClassLabels ClassLabels::of_some(const std::vector<std::int64_t>& chosen) const {
  ClassLabels result{targets};
  for (const std::int64_t g : chosen) {
    const auto first = of.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(g) * targets);
    result.of.insert(result.of.end(), first, first + static_cast<std::ptrdiff_t>(targets));
  }
  return result;
}

ClassLabels class_labels_of(const MoleculeSet& set) {
  ClassLabels labels;
  if (set.task.kind == TaskKind::regression || set.sparse.targets > 0) return labels;  // a corpus is not stratified
  labels.targets = static_cast<std::size_t>(set.task.num_targets());
  labels.of.reserve(set.targets.size());
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
  assert(labels.of.size() == order.size() * labels.targets);
  return Dealer(labels, std::move(order), sizes).deal();
}

}  // namespace molgraph
