// The training molecules of a run that keeps them by name (--domain-labels): shown beside those it is judged by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/scoring/domain.hpp"
#include "featurize/graph/featurizer_options.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

class NearestTraining {
 public:
  /// `domain` has labels.
  NearestTraining(Domain domain, const FeaturizerOptions& featurizer);

  struct Found {
    double similarity = 0;  ///< Tanimoto's coefficient of the fingerprints' bits, 0 to 1
    std::string id, smiles;
    std::vector<double> values;  ///< [T] true ones, NaN = none
  };
  /// Nothing where the text is no molecule.
  std::optional<Found> find(const std::string& smiles) const;

 private:
  FingerprintIndex fingerprints_;
  DomainLabels labels_;
  Featurizer featurizer_;
};

}  // namespace molgraph
