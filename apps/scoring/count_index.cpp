#include "apps/scoring/count_index.hpp"

#include <algorithm>

#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

CountIndex::CountIndex() : of_column_(kFingerprintBins) {}

void CountIndex::add(const CountsView& molecule) {
  double sum = 0;
  for (std::size_t k = 0; k < molecule.column.size(); ++k) {
    of_column_[molecule.column[k]].push_back({static_cast<std::uint32_t>(total_.size()), molecule.count[k]});
    sum += static_cast<double>(molecule.count[k]);
  }
  total_.push_back(sum);
}

void CountIndex::similarities(const CountsView& molecule, std::vector<double>& to) const {
  to.assign(total_.size(), 0);
  double own = 0;
  for (std::size_t k = 0; k < molecule.column.size(); ++k) {
    const float count = molecule.count[k];
    own += static_cast<double>(count);
    for (const Entry& entry : of_column_[molecule.column[k]])
      to[entry.molecule] += static_cast<double>(std::min(count, entry.count));
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    const double all = own + total_[k] - to[k];
    to[k] = all > 0 ? to[k] / all : 0;
  }
}

}  // namespace molgraph
