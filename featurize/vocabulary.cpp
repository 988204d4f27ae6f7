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

std::vector<std::vector<int>> rows_of_bond_ids(Features features) {
  const FeatureShape& shape = feature_shape(features);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(shape.bond_ids));
  std::array<std::uint8_t, 3> value{};
  std::vector<int> of_value;
  const auto visit = [&](auto&& self, int column, int first) -> void {   // all values of all columns
    if (column == shape.bond_columns) {
      rows[static_cast<std::size_t>(bond_id(features, value.data()))] = of_value;
      return;
    }
    const int values = shape.bond_dims[static_cast<std::size_t>(column)];
    for (int v = 0; v < values; ++v) {
      value[static_cast<std::size_t>(column)] = static_cast<std::uint8_t>(v);
      of_value.push_back(first + v);
      self(self, column + 1, first + values);
      of_value.pop_back();
    }
  };
  visit(visit, 0, 0);
  return rows;
}

}  // namespace molgraph
