#include "featurize/graph/vocabulary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "featurize/graph/error.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {
namespace {

TEST(Vocabulary, NamesRoundTrip) {
  for (const Features features : kFeatureSets) {
    EXPECT_EQ(features_from_string(to_string(features)), features);
  }
  EXPECT_THROW(features_from_string("OGB"), UsageError);
}

TEST(Vocabulary, OgbBondIdsAreUniqueAndContiguous) {
  std::set<int> ids;
  for (std::uint8_t type = 0; type < 5; ++type) {
    for (std::uint8_t stereo = 0; stereo < 6; ++stereo) {
      for (std::uint8_t conjugated = 0; conjugated < 2; ++conjugated) {
        const std::uint8_t columns[3] = {type, stereo, conjugated};
        ids.insert(bond_id(Features::ogb, columns));
      }
    }
  }
  EXPECT_EQ(ids.size(), 60u);
  EXPECT_EQ(*ids.begin(), 0);
  EXPECT_EQ(*ids.rbegin(), feature_shape(Features::ogb).bond_ids - 1);
}

TEST(Vocabulary, MolgraphBondIdsOfPossibleBondsAreUnique) {
  std::set<int> ids;
  int bonds = 0;
  for (std::uint8_t type = 0; type < 5; ++type) {
    for (std::uint8_t stereo = 0; stereo < (type == 1 ? 4 : 1); ++stereo) {
      for (int rest = 0; rest < 4; ++rest, ++bonds) {
        const std::uint8_t columns[4] = {type, stereo, static_cast<std::uint8_t>(rest / 2),
                                         static_cast<std::uint8_t>(rest % 2)};
        ids.insert(bond_id(Features::molgraph, columns));
      }
    }
  }
  EXPECT_EQ(static_cast<int>(ids.size()), bonds);
  EXPECT_EQ(*ids.begin(), 0);
  EXPECT_EQ(*ids.rbegin(), feature_shape(Features::molgraph).bond_ids - 1);
  EXPECT_LT(feature_shape(Features::molgraph).bond_ids, kNoEdge);
}

TEST(Vocabulary, RowsOfBondIdsEncodeTheirColumns) {
  for (const Features features : kFeatureSets) {
    const FeatureShape& shape = feature_shape(features);
    const auto rows = rows_of_bond_ids(features);
    for (int id = 0; id < shape.bond_ids; ++id) {
      const auto& row = rows[static_cast<std::size_t>(id)];
      ASSERT_EQ(row.size(), static_cast<std::size_t>(shape.bond_columns)) << to_string(features) << " " << id;
      std::array<std::uint8_t, kMaxBondColumns> columns{};
      for (std::size_t c = 0, first = 0; c < row.size(); first += static_cast<std::size_t>(shape.bond_dims[c++]))
        columns[c] = static_cast<std::uint8_t>(static_cast<std::size_t>(row[c]) - first);
      EXPECT_EQ(bond_id(features, columns.data()), id) << to_string(features);
    }
  }
}

TEST(Vocabulary, EveryColumnHasAName) {
  for (const Features features : kFeatureSets) {
    const FeatureShape& shape = feature_shape(features);
    EXPECT_EQ(std::count(shape.atom_names.begin(), shape.atom_names.end(), ' ') + 1, shape.atom_columns);
    EXPECT_EQ(std::count(shape.bond_names.begin(), shape.bond_names.end(), ' ') + 1, shape.bond_columns);
  }
}

TEST(Vocabulary, ZincBondIdsAreBondTypes) {
  for (std::uint8_t type = 0; type < 6; ++type) EXPECT_EQ(bond_id(Features::zinc, &type), type <= 3 ? type : 0);
}

TEST(Vocabulary, ShapesMatchPublishedFeatures) {
  const FeatureShape& ogb = feature_shape(Features::ogb);
  EXPECT_EQ(ogb.atom_dims, (std::array<int, kMaxAtomColumns>{119, 5, 12, 12, 10, 6, 6, 2, 2}));
  EXPECT_EQ(ogb.bond_dims, (std::array<int, kMaxBondColumns>{5, 6, 2}));
  EXPECT_EQ(feature_shape(Features::zinc).atom_dims[0], 28);
}

TEST(FeaturizerOptions, TextAndHashAreStable) {
  // Every store and every model contains this text: a change makes existing ones unusable.
  EXPECT_EQ(FeaturizerOptions{}.canonical_text(),
            "molgraph-featurizer v1; features=ogb; atoms=119,5,12,12,10,6,6,2,2; bonds=5,6,2; hydrogens=folded; "
            "fragments=kept; pairs=shortest-path");
  EXPECT_EQ(FeaturizerOptions{}.hash(), "ed978fa6d900d668");
  EXPECT_NE(FeaturizerOptions{Features::zinc}.hash(), FeaturizerOptions{}.hash());
  EXPECT_EQ(FeaturizerOptions{Features::molgraph}.canonical_text(),
            "molgraph-featurizer v1; features=molgraph; version=1; stereo=cip; rings=exact; "
            "atoms=119,12,10,12,6,6,2,2,8,6; bonds=5,4,2,2; hydrogens=folded; fragments=kept; pairs=shortest-path");
}

TEST(FeaturizerOptions, TextRoundTrips) {
  for (const Features features : kFeatureSets) {
    const FeaturizerOptions options{features};
    EXPECT_EQ(FeaturizerOptions::from_canonical_text(options.canonical_text()), options);
  }
  EXPECT_EQ(to_string(standardize_from_string("parent")), "parent");
  EXPECT_EQ(to_string(standardize_from_string("none")), "none");
  EXPECT_THROW(standardize_from_string("salt"), UsageError);
  EXPECT_THROW(FeaturizerOptions::from_canonical_text(""), FileError);
  EXPECT_THROW(FeaturizerOptions::from_canonical_text("molgraph-featurizer v2; features=ogb"), FileError);
}

TEST(DataErrorText, NamesFileRowAndText) {
  EXPECT_STREQ(DataError("a.csv", 3, "ring 1 not closed", "C1CC").what(), "a.csv, row 3: ring 1 not closed (C1CC)");
  EXPECT_STREQ(DataError("a.csv", 0, "no header").what(), "a.csv: no header");
  EXPECT_STREQ(DataError("", 0, "bad", "C\nC").what(), "bad (C C)");
}

TEST(DataErrorText, LongTextIsTruncatedBetweenCharacters) {
  const std::string long_text = "x" + std::string(60, 'a') + [] {
    std::string umlauts;
    for (int k = 0; k < 30; ++k) umlauts += "\xC3\xA4";
    return umlauts;
  }();
  const std::string line = DataError("f", 1, "m", long_text).what();
  EXPECT_EQ(line.substr(0, 12), "f, row 1: m ");
  EXPECT_LE(line.size(), 12u + 2 + 80);
  const std::string shown = line.substr(13, line.size() - 13 - 4);
  EXPECT_EQ(static_cast<unsigned char>(shown.back()), 0xA4u) << "truncated between the two bytes of an umlaut";
  EXPECT_EQ(line.substr(line.size() - 4), "...)");
}

}  // namespace
}  // namespace molgraph
