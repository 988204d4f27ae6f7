#include "featurize/syntax_reason.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

TEST(SyntaxReason, FindsOpenRings) {
  EXPECT_EQ(syntax_reason("C1CC", "unclosed ring"), "ring 1 not closed");
  EXPECT_EQ(syntax_reason("C12CC1", "unclosed ring"), "ring 2 not closed");
  EXPECT_EQ(syntax_reason("C%12CC1CC1", "unclosed ring"), "ring 12 not closed");
  EXPECT_EQ(syntax_reason("[13CH3]C%(123)", "unclosed ring"), "ring 123 not closed") << "digits in brackets are no rings";
}

TEST(SyntaxReason, FindsThePlaceOfAnError) {
  EXPECT_EQ(syntax_reason("CCx", "syntax error"), "syntax error: 'x' is no SMILES symbol (character 3)");
  EXPECT_EQ(syntax_reason("CC[CH", "syntax error"), "syntax error: '[' not closed (character 3)");
  EXPECT_EQ(syntax_reason("CC]", "syntax error"), "syntax error: ']' without '[' (character 3)");
  EXPECT_EQ(syntax_reason("C()C", "syntax error"), "syntax error: empty branch (character 3)");
  EXPECT_EQ(syntax_reason("CC=", "syntax error"), "syntax error: bond without a second atom at the end");
  EXPECT_EQ(syntax_reason("=CC", "syntax error"), "syntax error: '=' without an atom before it (character 1)");
  EXPECT_EQ(syntax_reason("C==C", "syntax error"), "syntax error: two bonds in a row (character 3)");
  EXPECT_EQ(syntax_reason("C\xC3\xA4", "syntax error"), "syntax error: a sign outside ASCII (character 2)");
}

TEST(SyntaxReason, LeavesTheRestAlone) {
  EXPECT_EQ(syntax_reason("[Xx]", "syntax error"), "syntax error");
  EXPECT_EQ(syntax_reason("C1CC1", "number too large"), "number too large");
}

TEST(NamedAtoms, AreALowerBound) {
  EXPECT_EQ(count_named_atoms("CCO"), 3);
  EXPECT_EQ(count_named_atoms("ClCBr"), 3);
  EXPECT_EQ(count_named_atoms("[H]C([2H])[H+]"), 1);
  EXPECT_EQ(count_named_atoms("[Hg]c1cc[nH]c1"), 6);
  EXPECT_EQ(count_named_atoms("C |C(0,0)|"), 1) << "only the part before a blank";
}

}  // namespace
}  // namespace molgraph
