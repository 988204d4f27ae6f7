// The command-line parser that all programs share, tested without a program.
#include "apps/programs/shell/program.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

struct Parsed {
  std::vector<std::string> models, data;
  std::vector<double> sizes{0.8, 0.1, 0.1};
  std::vector<int> layers{-1};
  bool gate = false;
  CommonOptions common;
  bool given_gate = false;
};

Parsed parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  CommandLine line("program", "Does things.", "program x");
  line.app().add_option("-m,--model", parsed.models, "models");
  line.app().add_option("--data,data", parsed.data, "data");
  line.app().add_option("--split-sizes", parsed.sizes, "sizes")->expected(3);
  line.app().add_option("--layer", parsed.layers, "layers");
  line.app().add_flag("--gate,!--no-gate", parsed.gate, "gate");
  line.add_common(parsed.common, kThreads | kDevice | kAtomLimit);
  line.parse(arguments);
  parsed.given_gate = line.given("--gate");
  return parsed;
}

std::string usage_error(const std::vector<std::string>& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, HyphensEqualUnderscoresOnlyInNames) {
  const Parsed parsed = parse({"--model", "a_b", "--max_atoms=7", "--", "--c_d"});
  EXPECT_EQ(parsed.common.max_atoms, 7);
  EXPECT_EQ(parsed.models, std::vector<std::string>{"a_b"});
  EXPECT_EQ(parsed.data, std::vector<std::string>{"--c_d"});
}

TEST(CommandLine, NegativeNumbersAreValues) {
  EXPECT_EQ(parse({"--layer", "0", "-1", "2"}).layers, (std::vector<int>{0, -1, 2}));
}

TEST(CommandLine, UnknownOptionErrorSuggestsAnOption) {
  EXPECT_EQ(usage_error({"--thraeds", "2"}), "unknown option --thraeds; did you mean --threads?");
  EXPECT_EQ(usage_error({"--max-atom=2"}), "unknown option --max-atom; did you mean --max-atoms?");
  EXPECT_EQ(usage_error({"--colour"}), "unknown option --colour");
  EXPECT_NE(usage_error({"-z"}), "no error");
  EXPECT_NE(usage_error({"--threads", "many"}), "no error");
  EXPECT_NE(usage_error({"--threads", "-4"}), "no error");
  EXPECT_NE(usage_error({"-v", "-q"}), "no error");
}

TEST(CommandLine, CommandLineOverridesTheConfig) {
  const test::Scratch scratch;
  scratch.write("config.toml", "model = ['a', 'b']\ndata = ['of', 'config']\ngate = true\nmax-atoms = 7\n");
  const std::string config = scratch.path("config.toml");
  const Parsed positional = parse({"mine", "--config", config, "--no-gate"});
  EXPECT_EQ(positional.data, std::vector<std::string>{"mine"});
  EXPECT_EQ(positional.models, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(positional.common.max_atoms, 7);
  EXPECT_FALSE(positional.gate);
  EXPECT_EQ(parse({"--config", config, "-m", "c"}).data, (std::vector<std::string>{"of", "config"}));
  EXPECT_EQ(parse({"--config", config, "-m", "c"}).models, std::vector<std::string>{"c"});
}

TEST(CommandLine, FolderOrLongKeyIsNotAConfig) {
  const test::Scratch scratch;
  scratch.write("run/config.toml", "max-atoms = 7\n");
  scratch.write("other/notes.txt", "");
  const auto error_of = [&](const std::string& config) {
    try {
      parse({"--config", scratch.path(config)});
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_NE(error_of("run").find("is a folder; did you mean"), std::string::npos) << error_of("run");
  EXPECT_NE(error_of("other").find("is a folder, not a file"), std::string::npos) << error_of("other");
  scratch.write("long.toml", std::string(1 << 20, 'k') + " = 1\n");
  EXPECT_LT(error_of("long.toml").size(), 1000u);
  EXPECT_NE(error_of("long.toml").find("unknown key kkk"), std::string::npos);
}

TEST(CommandLine, GivenDistinguishesDefaultsFromChoices) {
  EXPECT_FALSE(parse({}).given_gate);
  EXPECT_TRUE(parse({"--no-gate"}).given_gate);
  EXPECT_FALSE(parse({"--gate", "--no-gate"}).gate);
}

TEST(CommandLine, ClosestWordFindsMisspellings) {
  const std::vector<std::string> words{"threads", "max-atoms", "model", "seed"};
  EXPECT_EQ(closest_word("modle", words), "model");
  EXPECT_EQ(closest_word("thr", words), "threads");
  EXPECT_EQ(closest_word("sede", words), "seed");
  EXPECT_EQ(closest_word("something-else", words), "");
  EXPECT_EQ(closest_word("threads" + std::string(100, 's'), words), "") << "not a misspelling";
}

TEST(Texts, NumbersAndDurations) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1000), "1,000");
  EXPECT_EQ(with_thousands(-1234567), "-1,234,567");
  EXPECT_EQ(duration_text(4.21), "4.2 s");
  EXPECT_EQ(duration_text(59.4), "59 s");
  EXPECT_EQ(duration_text(185), "3 min 05 s");
  EXPECT_EQ(duration_text(7800), "2 h 10 min");
  EXPECT_EQ(duration_text(INFINITY), "a long time");
}

}  // namespace
}  // namespace molgraph
