// Replaces booster.cpp in a build without XGBoost.
#include "apps/training/baselines/booster.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

struct Booster::State {};

std::string xgboost_version() { return {}; }

Booster::Booster(const FeatureRows&, const LabelledRows&, const LabelledRows&, const BoosterOptions&) {
  throw RunError("molgraph was built without XGBoost");
}
Booster::~Booster() = default;
void Booster::add_round() {}
std::vector<float> Booster::valid_margins() { return {}; }
std::vector<std::vector<std::vector<TreeNode>>> Booster::trees(int) { return {}; }

}  // namespace molgraph
