#include "featurize/smiles/syntax_reason.hpp"

#include <gtest/gtest.h>

namespace molgraph {
namespace {

TEST(SyntaxReason, NamesUnclosedRings) {
  EXPECT_EQ(syntax_reason("C1CC", "unclosed ring"), "ring 1 not closed");
  EXPECT_EQ(syntax_reason("C12CC1", "unclosed ring"), "ring 2 not closed");
  EXPECT_EQ(syntax_reason("C%12CC1CC1", "unclosed ring"), "ring 12 not closed");
  EXPECT_EQ(syntax_reason("[13CH3]C%(123)", "unclosed ring"), "ring 123 not closed")
      << "digits in brackets are not ring labels";
}

TEST(SyntaxReason, LocatesSyntaxErrors) {
  EXPECT_EQ(syntax_reason("CCx", "syntax error"), "syntax error: 'x' is not a SMILES symbol (character 3)");
  EXPECT_EQ(syntax_reason("CC[CH", "syntax error"), "syntax error: '[' not closed (character 3)");
  EXPECT_EQ(syntax_reason("CC]", "syntax error"), "syntax error: ']' without '[' (character 3)");
  EXPECT_EQ(syntax_reason("C()C", "syntax error"), "syntax error: empty branch (character 3)");
  EXPECT_EQ(syntax_reason("CC=", "syntax error"), "syntax error: bond without a second atom at the end");
  EXPECT_EQ(syntax_reason("=CC", "syntax error"), "syntax error: '=' without an atom before it (character 1)");
  EXPECT_EQ(syntax_reason("C==C", "syntax error"), "syntax error: two bonds in a row (character 3)");
}

TEST(SyntaxReason, OtherReasonsAreUnchanged) {
  EXPECT_EQ(syntax_reason("[Xx]", "syntax error"), "syntax error");
  EXPECT_EQ(syntax_reason("C1CC1", "number too large"), "number too large");
}

TEST(ForeignSign, IsReportedWithItsPosition) {
  EXPECT_EQ(invalid_symbol_reason("C\xE2\x80\x93"
                                  "C"),
            "'\xE2\x80\x93' (U+2013) is not a SMILES symbol (character 2)")
      << "en dash";
  EXPECT_EQ(invalid_symbol_reason("C\xD0\xA1O"), "'\xD0\xA1' (U+0421) is not a SMILES symbol (character 2)")
      << "Cyrillic";
  EXPECT_EQ(invalid_symbol_reason("[\xD0\xA1H4]"), "'\xD0\xA1' (U+0421) is not a SMILES symbol (character 2)")
      << "in brackets";
  EXPECT_EQ(invalid_symbol_reason("CC\xF0\x9F\x98\x80"),
            "'\xF0\x9F\x98\x80' (U+1F600) is not a SMILES symbol (character 3)");
}

TEST(ForeignSign, InvisibleCharactersAreNamedByCode) {
  EXPECT_EQ(invalid_symbol_reason("C\xE2\x80\x8B"
                                  "C"),
            "the invisible character U+200B is not a SMILES symbol (character 2)");
  EXPECT_EQ(invalid_symbol_reason("\xEF\xBB\xBF"
                                  "C"),
            "the invisible character U+FEFF is not a SMILES symbol (character 1)");
  EXPECT_EQ(invalid_symbol_reason("CC\xC2\xA0"), "the invisible character U+00A0 is not a SMILES symbol (character 3)");
  EXPECT_EQ(invalid_symbol_reason("CCO\x07"), "the control character U+0007 is not a SMILES symbol (character 4)");
  EXPECT_EQ(invalid_symbol_reason("C\x7F"
                                  "C"),
            "the control character U+007F is not a SMILES symbol (character 2)");
  EXPECT_EQ(invalid_symbol_reason(std::string("C\0C", 3)),
            "the control character U+0000 is not a SMILES symbol (character 2)");
}

TEST(ForeignSign, InvalidUtf8IsReported) {
  EXPECT_EQ(invalid_symbol_reason("CC\xFF"), "byte 0xFF is neither ASCII nor UTF-8 (character 3)");
  EXPECT_EQ(invalid_symbol_reason("C\xE9"
                                  "C"),
            "byte 0xE9 is neither ASCII nor UTF-8 (character 2)")
      << "Latin-1";
  EXPECT_EQ(invalid_symbol_reason("C\xE2\x80"), "byte 0xE2 is neither ASCII nor UTF-8 (character 2)") << "truncated";
  EXPECT_EQ(invalid_symbol_reason("C\xC0\x80"), "byte 0xC0 is neither ASCII nor UTF-8 (character 2)")
      << "overlong encoding of zero";
  EXPECT_EQ(invalid_symbol_reason("C\xED\xA0\x80"), "byte 0xED is neither ASCII nor UTF-8 (character 2)")
      << "lone surrogate";
}

TEST(ForeignSign, CxsmilesLabelsMayContainAnyLetters) {
  EXPECT_EQ(invalid_symbol_reason("CCO"), "");
  EXPECT_EQ(invalid_symbol_reason("CC |$\xCE\xB1;\xCE\xB2$|"), "");
  EXPECT_EQ(invalid_symbol_reason("C\tC"), "") << "blanks have a separate reason";
  EXPECT_EQ(invalid_symbol_reason("CC |$\xCE\xB1;\x01$|"),
            "the control character U+0001 is not a SMILES symbol (character 8)");
}

TEST(NamedAtoms, AreALowerBound) {
  EXPECT_EQ(count_named_atoms("CCO"), 3);
  EXPECT_EQ(count_named_atoms("ClCBr"), 3);
  EXPECT_EQ(count_named_atoms("[H]C([2H])[H+]"), 1);
  EXPECT_EQ(count_named_atoms("[Hg]c1cc[nH]c1"), 6);
  EXPECT_EQ(count_named_atoms("C |C(0,0)|"), 1) << "only the text before a blank counts";
}

}  // namespace
}  // namespace molgraph
