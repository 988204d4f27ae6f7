#include "featurize/vocabulary.hpp"

#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr FeatureShape kOgbShape{9, 3, {119, 5, 12, 12, 10, 6, 6, 2, 2}, {5, 6, 2}, 60};
constexpr FeatureShape kZincShape{1, 1, {28}, {4}, 4};

}  // namespace

std::string_view to_string(Features features) { return features == Features::ogb ? "ogb" : "zinc"; }

Features features_from_string(std::string_view text) {
  if (text == "ogb") return Features::ogb;
  if (text == "zinc") return Features::zinc;
  throw UsageError("unknown features '" + std::string(text) + "': ogb or zinc");
}

const FeatureShape& feature_shape(Features features) { return features == Features::ogb ? kOgbShape : kZincShape; }

int bond_id(Features features, const std::uint8_t* bond_columns) {
  if (features == Features::ogb) return 12 * bond_columns[0] + 2 * bond_columns[1] + bond_columns[2];
  return bond_columns[0] <= 3 ? bond_columns[0] : 0;
}

}  // namespace molgraph
