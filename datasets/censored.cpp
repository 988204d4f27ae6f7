#include "datasets/censored.hpp"

#include <limits>
#include <numeric>

#include "datasets/dataset_warnings.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kTargetsNamed = 5;  ///< targets listed in a note

const char* text_of(Censored mode) {
  switch (mode) {
    case Censored::bounded:
      return "the training loss for them is zero on the allowed side; metrics and target scaling leave them out "
             "(--censored)";
    case Censored::drop: return "treated as missing (--censored drop)";
    case Censored::value: return "treated as exact (--censored value)";
  }
  return "";
}

void treat(std::vector<double>& values, std::vector<std::int8_t>& bound, Censored mode) {
  if (mode == Censored::bounded) return;
  if (mode == Censored::drop)
    for (std::size_t i = 0; i < bound.size(); ++i)
      if (bound[i] != 0) values[i] = std::numeric_limits<double>::quiet_NaN();
  bound = {};
}

}  // namespace

CensoredTally::CensoredTally(const Task& task) : task_(task), above_(task.names.size()), below_(task.names.size()) {}

void CensoredTally::add(const std::vector<std::int8_t>& bounds) {
  for (std::size_t i = 0; i < bounds.size(); ++i) add(i % above_.size(), bounds[i]);
}

void CensoredTally::add(std::size_t target, std::int8_t bound) {
  above_[target] += bound > 0;
  below_[target] += bound < 0;
}

std::int64_t CensoredTally::total() const {
  return std::accumulate(above_.begin(), above_.end(), std::int64_t{0}) +
         std::accumulate(below_.begin(), below_.end(), std::int64_t{0});
}

std::string CensoredTally::text() const {
  std::vector<std::string> targets;
  for (std::size_t t = 0; t < above_.size(); ++t) {
    if (above_[t] + below_[t] == 0) continue;
    const std::string above = with_commas(above_[t]) + " with >", below = with_commas(below_[t]) + " with <";
    targets.push_back((below_[t] == 0   ? above
                       : above_[t] == 0 ? below
                                        : above + " and " + below) +
                      " in '" + task_.names[t] + "'");
  }
  return with_commas(total()) + (total() == 1 ? " censored label: " : " censored labels: ") +
         list_of(targets, kTargetsNamed);
}

void treat_censored(LoadedData& data, Censored mode) {
  MoleculeSet& set = data.set;
  CensoredTally tally(set.task);
  tally.add(set.bound);
  for (std::size_t i = 0; i < set.sparse.bound.size(); ++i) tally.add(set.sparse.target[i], set.sparse.bound[i]);
  data.censored = tally.total();
  if (data.censored > 0) data.notes.push_back(tally.text() + "; " + text_of(mode));
  treat(data.auxiliary.values, data.auxiliary.bound, mode);
  if (data.censored > 0 && mode == Censored::bounded) return;
  treat(set.targets, set.bound, mode);
  if (mode == Censored::drop && !set.sparse.bound.empty())
    set.sparse.keep([&](std::size_t i) { return set.sparse.bound[i] == 0; });
  set.bound = {};
  set.sparse.bound = {};
}

}  // namespace molgraph
