#include "featurize/smiles/fragment_scores.hpp"

#include <gtest/gtest.h>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/chemistry.hpp"

namespace molgraph {
namespace {

/// [[-2.5, 7, 4294967295], [0.25, 9]] as Python pickles it with protocol 0.
const std::string kPickle = "(lp0\n(lp1\nF-2.5\naI7\naI4294967295\naa(lp2\nF0.25\naI9\naa.";

TEST(FragmentScores, ReadsListsOfNumbers) {
  const FragmentScores scores = FragmentScores::parse(kPickle, "test");
  EXPECT_EQ(scores.size(), 3u);
  EXPECT_EQ(scores.of(7), -2.5);
  EXPECT_EQ(scores.of(4294967295u), -2.5);
  EXPECT_EQ(scores.of(9), 0.25);
  EXPECT_EQ(scores.of(8), -4.0) << "default for a fragment that is not in the table";
}

TEST(FragmentScores, LaterEntryOverridesEarlierOne) {
  EXPECT_EQ(FragmentScores::parse("(lp0\n(lp1\nF1\naI7\naa(lp2\nF2\naI7\naa.", "test").of(7), 2.0);
}

TEST(FragmentScores, TruncatedFilesAreErrors) {
  for (std::size_t length = 0; length < kPickle.size(); ++length) {
    EXPECT_THROW(FragmentScores::parse(kPickle.substr(0, length), "test"), FileError) << length;
  }
}

TEST(FragmentScores, OtherOpcodesAreErrors) {
  // The beginning of a pickle that runs a command.
  try {
    FragmentScores::parse("cos\nsystem\n(S'true'\ntR.", "evil.pkl");
    FAIL() << "read a malicious pickle";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "evil.pkl: not RDKit's fragment scores: opcode 'c' is not allowed at byte 1");
  }
  EXPECT_THROW(FragmentScores::parse("(lp0\n(lp1\nF-2.5\naIseven\naa.", "test"), FileError);
  EXPECT_THROW(FragmentScores::parse("(lp0\n(lp1\nF-2.5\naI-7\naa.", "test"), FileError);
  EXPECT_THROW(FragmentScores::parse("(lp0\n(lp1\n(lp2\naaa.", "test"), FileError);
  EXPECT_THROW(FragmentScores::parse("aaaa.", "test"), FileError);
}

TEST(FragmentScores, ReadsRdkitTable) {
  const FragmentScores scores = FragmentScores::load(rdkit_data_dir() + "/Contrib/SA_Score/fpscores.pkl.gz");
  EXPECT_EQ(scores.size(), 705292u);
  EXPECT_EQ(scores.of(910163969u), -2.8254);
  EXPECT_THROW(FragmentScores::load("/nonexistent/fpscores.pkl.gz"), FileError);
}

}  // namespace
}  // namespace molgraph
