#include "featurize/vocabulary.hpp"

#include <gtest/gtest.h>

#include <set>

#include "featurize/error.hpp"
#include "featurize/featurizer_options.hpp"

namespace molgraph {
namespace {

TEST(Vocabulary, NamesGoBothWays) {
  for (const Features features : {Features::ogb, Features::zinc}) {
    EXPECT_EQ(features_from_string(to_string(features)), features);
  }
  EXPECT_THROW(features_from_string("OGB"), UsageError);
}

TEST(Vocabulary, OgbBondIdsAreInjectiveAndFillTheirRange) {
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

TEST(Vocabulary, ZincBondIdsAreTheTypes) {
  for (std::uint8_t type = 0; type < 6; ++type) EXPECT_EQ(bond_id(Features::zinc, &type), type <= 3 ? type : 0);
}

TEST(Vocabulary, ShapesOfThePublishedFeatures) {
  const FeatureShape& ogb = feature_shape(Features::ogb);
  EXPECT_EQ(ogb.atom_dims, (std::array<int, 9>{119, 5, 12, 12, 10, 6, 6, 2, 2}));
  EXPECT_EQ(ogb.bond_dims, (std::array<int, 3>{5, 6, 2}));
  EXPECT_EQ(feature_shape(Features::zinc).atom_dims[0], 28);
}

TEST(FeaturizerOptions, TextAndHashAreStable) {
  // Stored in every store and every model: a change here orphans them.
  EXPECT_EQ(FeaturizerOptions{}.canonical_text(),
            "molgraph-featurizer v1; features=ogb; atoms=119,5,12,12,10,6,6,2,2; bonds=5,6,2; hydrogens=folded; "
            "fragments=kept; pairs=shortest-path");
  EXPECT_EQ(FeaturizerOptions{}.hash(), "ed978fa6d900d668");
  EXPECT_NE(FeaturizerOptions{Features::zinc}.hash(), FeaturizerOptions{}.hash());
}

TEST(FeaturizerOptions, TextComesBack) {
  for (const Features features : {Features::ogb, Features::zinc}) {
    const FeaturizerOptions options{features};
    EXPECT_EQ(FeaturizerOptions::from_canonical_text(options.canonical_text()), options);
  }
  EXPECT_THROW(FeaturizerOptions::from_canonical_text(""), FileError);
  EXPECT_THROW(FeaturizerOptions::from_canonical_text("molgraph-featurizer v2; features=ogb"), FileError);
}

TEST(DataErrorText, NamesFileRowAndText) {
  EXPECT_STREQ(DataError("a.csv", 3, "ring 1 not closed", "C1CC").what(), "a.csv, row 3: ring 1 not closed (C1CC)");
  EXPECT_STREQ(DataError("a.csv", 0, "no header").what(), "a.csv: no header");
  EXPECT_STREQ(DataError("", 0, "bad", "C\nC").what(), "bad (C C)");
}

TEST(DataErrorText, LongTextIsCutButNotInsideASign) {
  const std::string long_text = "x" + std::string(60, 'a') + [] {
    std::string umlauts;
    for (int k = 0; k < 30; ++k) umlauts += "\xC3\xA4";
    return umlauts;
  }();
  const std::string line = DataError("f", 1, "m", long_text).what();
  EXPECT_EQ(line.substr(0, 12), "f, row 1: m ");
  EXPECT_LE(line.size(), 12u + 2 + 80);
  const std::string shown = line.substr(13, line.size() - 13 - 4);
  EXPECT_EQ(static_cast<unsigned char>(shown.back()), 0xA4u) << "cut between the two bytes of an umlaut";
  EXPECT_EQ(line.substr(line.size() - 4), "...)");
}

}  // namespace
}  // namespace molgraph
