// The training molecules of a run that stores their names (--domain-labels), for comparison with evaluated molecules.
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
  /// `domain` must have labels.
  NearestTraining(Domain domain, const FeaturizerOptions& featurizer);

  struct Found {
    double similarity = 0;  ///< Tanimoto coefficient of the fingerprint bits, 0 to 1
    std::string id, smiles;
    std::vector<double> values;  ///< [T] true values, NaN = missing
  };
  /// Returns nullopt if the text is not a valid molecule.
  std::optional<Found> find(const std::string& smiles) const;

 private:
  FingerprintIndex fingerprints_;
  DomainLabels labels_;
  Featurizer featurizer_;
};

}  // namespace molgraph
