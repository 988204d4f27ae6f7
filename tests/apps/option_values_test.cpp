// Ranges and choices of options: rejected values, messages, and the text in --help.
#include "apps/programs/shell/option_values.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "apps/programs/shell/program.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

TEST(OptionValues, ChecksWholeNumbers) {
  const WholeRange range{-1, 1000};
  for (const char* good : {"-1", "0", "1000"}) EXPECT_EQ(number_problem(good, range), "") << good;
  for (const char* bad : {"-2", "1001", "9223372036854775807", "99999999999999999999", "-99999999999999999999", "",
                          "many", "1.5", "1e2", "nan", "inf", "0x10", "+1", " 1", "1 ", "1,000"})
    EXPECT_NE(number_problem(bad, range), "") << bad;
  EXPECT_EQ(number_problem("1001", range), "'1001' is out of range; give -1 to 1,000");
  EXPECT_EQ(number_problem("many", range), "'many' is not a whole number; give -1 to 1,000");
}

TEST(OptionValues, ChecksRealNumbers) {
  const RealRange closed{0, 0.999}, open{0, 1, true, true};
  for (const char* good : {"0", "0.999", "1e-9", ".5"}) EXPECT_EQ(number_problem(good, closed), "") << good;
  for (const char* bad : {"-1e-9", "0.9990001", "1e999", "inf", "-inf", "nan", "-nan", "", "half", "0.5x", "0,5"})
    EXPECT_NE(number_problem(bad, closed), "") << bad;
  EXPECT_EQ(number_problem("0.5", open), "");
  for (const char* bound : {"0", "1"}) EXPECT_NE(number_problem(bound, open), "") << bound;
  EXPECT_EQ(range_text(open), "above 0, below 1");
  EXPECT_EQ(range_text(closed), "0 to 0.999");
}

TEST(OptionValues, ChecksWords) {
  EXPECT_EQ(word_problem("csv", {"", "csv", "tsv"}), "");
  EXPECT_EQ(word_problem("cvs", {"", "csv", "sdf"}), "'cvs' is not one of csv, sdf; did you mean csv?");
}

TEST(OptionValues, HelpAndChecksUseTheSameRange) {
  int layers = 0;
  std::string format;
  const auto parse = [&](const std::vector<std::string>& arguments) {
    CommandLine line("program", "Does things.", "program x");
    limit(line.app().add_option("--layers", layers, "blocks"), WholeRange{0, 1000})->capture_default_str();
    choose(line.app().add_option("--format", format, "of the table"), {"", "csv", "tsv"});
    line.parse(arguments);
  };
  testing::internal::CaptureStdout();
  EXPECT_THROW(parse({"--help"}), EndProgram);
  const std::string help = testing::internal::GetCapturedStdout();
  EXPECT_NE(help.find("--layers N"), std::string::npos) << help;
  EXPECT_NE(help.find("blocks [0 to 1,000] [default: 0]"), std::string::npos) << help;
  EXPECT_NE(help.find("of the table [csv, tsv]"), std::string::npos) << help;
  EXPECT_NO_THROW(parse({"--layers", "1000", "--format", "tsv"}));
  EXPECT_THROW(parse({"--layers", "1001"}), UsageError);
  EXPECT_THROW(parse({"--layers="}), UsageError);
  EXPECT_THROW(parse({"--format", "xml"}), UsageError);
}

TEST(Texts, FormatsNumbersWithAboutFourDigits) {
  EXPECT_EQ(sensible_number(0.123456), "0.1235");
  EXPECT_EQ(sensible_number(12.3), "12.30");
  EXPECT_EQ(sensible_number(-9.99999), "-10.00");
  EXPECT_EQ(sensible_number(12345.67), "12,346");
  EXPECT_EQ(sensible_number(0.00012345), "0.0001234");
  EXPECT_EQ(sensible_number(1.5e-7), "1.500e-07");
  EXPECT_EQ(sensible_number(-8.7e28), "-8.700e+28");
  EXPECT_EQ(sensible_number(0), "0.0000");
  EXPECT_EQ(sensible_number(NAN), "-");
  EXPECT_EQ(sensible_number(INFINITY), "inf");
}

TEST(Texts, FormatsAColumnWithTheSameNumberOfDecimals) {
  EXPECT_EQ(sensible_column({0.12345, 0.0123456, NAN}), (std::vector<std::string>{"0.1235", "0.0123", "-"}));
  EXPECT_EQ(sensible_column({123.456, 1.23456}), (std::vector<std::string>{"123.46", "1.23"}));
  EXPECT_EQ(sensible_column({51234.6, 50123.4}), (std::vector<std::string>{"51,235", "50,123"}));
  EXPECT_EQ(sensible_column({0.5, -8.7e28}), (std::vector<std::string>{"0.5000", "-8.700e+28"}));
  EXPECT_EQ(sensible_column({}), std::vector<std::string>{});
}

}  // namespace
}  // namespace molgraph
