#include "apps/scoring/count_index.hpp"

#include <algorithm>

#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {

CountIndex::CountIndex() : entries_(kFingerprintBins) {}

void CountIndex::add(const CountsView& molecule) {
  double sum = 0;
  for (std::size_t k = 0; k < molecule.column.size(); ++k) {
    entries_[molecule.column[k]].push_back({static_cast<std::uint32_t>(total_.size()), molecule.count[k]});
    sum += static_cast<double>(molecule.count[k]);
  }
  total_.push_back(sum);
}

void CountIndex::similarities(const CountsView& molecule, std::vector<double>& to) const {
  to.assign(total_.size(), 0);
  double molecule_total = 0;
  for (std::size_t k = 0; k < molecule.column.size(); ++k) {
    const float count = molecule.count[k];
    molecule_total += static_cast<double>(count);
    for (const Entry& entry : entries_[molecule.column[k]])
      to[entry.molecule] += static_cast<double>(std::min(count, entry.count));
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    const double sum_of_maxima = molecule_total + total_[k] - to[k];
    to[k] = sum_of_maxima > 0 ? to[k] / sum_of_maxima : 0;
  }
}

}  // namespace molgraph
