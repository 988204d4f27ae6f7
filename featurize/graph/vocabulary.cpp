#include "featurize/graph/vocabulary.hpp"

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr FeatureShape kOgbShape{9,
                                 3,
                                 {119, 5, 12, 12, 10, 6, 6, 2, 2},
                                 {5, 6, 2},
                                 60,
                                 "number chirality degree charge hydrogens radicals hybridisation aromatic in_ring",
                                 "type stereo conjugated",
                                 "12*type + 2*stereo + conjugated"};
constexpr FeatureShape kZincShape{1, 1, {28}, {4}, 4, "type", "type", "type"};
constexpr FeatureShape kMolgraphShape{
    10,
    4,
    {119, 12, 10, 12, 6, 6, 2, 2, 8, 6},
    {5, 4, 2, 2},
    32,
    "number degree hydrogens charge radicals hybridisation aromatic in_ring smallest_ring stereo",
    "type stereo conjugated in_ring",
    "4*kind + 2*conjugated + in_ring; kind = 4 + stereo if type = 1 and stereo > 0, else type"};

constexpr int kDouble = 1;  // a bond type of `molgraph`

}  // namespace

std::string_view to_string(Features features) {
  switch (features) {
    case Features::ogb: return "ogb";
    case Features::zinc: return "zinc";
    case Features::molgraph: return "molgraph";
  }
  return "ogb";
}

Features features_from_string(std::string_view text) {
  for (const Features known : kFeatureSets)
    if (text == to_string(known)) return known;
  throw UsageError("unknown features '" + std::string(text) + "': expected molgraph, ogb or zinc");
}

const FeatureShape& feature_shape(Features features) {
  switch (features) {
    case Features::ogb: return kOgbShape;
    case Features::zinc: return kZincShape;
    case Features::molgraph: return kMolgraphShape;
  }
  return kOgbShape;
}

int bond_id(Features features, const std::uint8_t* bond_columns) {
  switch (features) {
    case Features::ogb: return 12 * bond_columns[0] + 2 * bond_columns[1] + bond_columns[2];
    case Features::zinc: return bond_columns[0] <= 3 ? bond_columns[0] : 0;
    case Features::molgraph: break;
  }
  const bool marked = bond_columns[0] == kDouble && bond_columns[1] > 0;
  const int kind = marked ? 4 + bond_columns[1] : bond_columns[0];
  return 4 * kind + 2 * bond_columns[2] + bond_columns[3];
}

std::vector<std::vector<int>> rows_of_bond_ids(Features features) {
  const FeatureShape& shape = feature_shape(features);
  std::vector<std::vector<int>> rows(static_cast<std::size_t>(shape.bond_ids));
  std::array<std::uint8_t, kMaxBondColumns> value{};
  std::vector<int> of_value;
  const auto visit = [&](auto&& self, int column, int first) -> void {  // visits all combinations of values
    if (column == shape.bond_columns) {
      // Keep the first combination: in `molgraph`, stereo values of bonds that are not double have no separate ids.
      std::vector<int>& row = rows[static_cast<std::size_t>(bond_id(features, value.data()))];
      if (row.empty()) row = of_value;
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
