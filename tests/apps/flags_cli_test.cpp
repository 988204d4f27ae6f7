// All programs: --help shows the range of every number and lists every choice. The ranges apply on the command line and
// in --config files.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "apps/programs/train/train_call.hpp"
#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

struct NumberFlag {
  std::string name, type, range;
};

/// A flag's lines in --help, joined: "-b, --batch-size N   molecules per update ... [0 to 1,000,000] [default: 0]".
std::vector<std::string> flags_in(const std::string& help) {
  std::vector<std::string> flags;
  for (const std::string& line : lines_of(help)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == 2 && line[2] == '-') flags.push_back(line);
    else if (first != std::string::npos && first > 20 && !flags.empty()) flags.back() += " " + line.substr(first);
    else if (!line.empty() && line[0] != ' ') flags.emplace_back();  // another paragraph
  }
  return flags;
}

/// Flags with a numeric value, recognised by the type in --help. CLI11 derives it from the field unless it is set.
std::vector<NumberFlag> numbers_in(const std::string& help) {
  static const std::regex kNumber(R"((--[a-z0-9-]+) (N|X|INT|UINT|FLOAT)(:| |$)(.*))"), kRange(R"(\[([^\]]*)\])");
  std::vector<NumberFlag> numbers;
  for (const std::string& flag : flags_in(help)) {
    std::smatch found, range;
    if (!std::regex_search(flag, found, kNumber)) continue;
    const std::string rest = found[4];
    numbers.push_back({found[1], found[2], std::regex_search(rest, range, kRange) ? range[1].str() : ""});
  }
  return numbers;
}

double value_of(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

class FlagsTest : public testing::Test {
 protected:
  std::string help(const std::string& program) {
    const bool trains = program == "molgraph-train" || program == "molgraph-pretrain";
    return scratch.run(bin_dir(), program + (trains ? " --help-all" : " --help")).out;
  }

  /// Values just outside the range, and values that are not numbers.
  static std::vector<std::string> bad_values(const NumberFlag& flag) {
    std::vector<std::string> bad{"nan", "", "text",
                                 "99999999999999999999999999e999"};  // option_values_test.cpp has more of them
    static const std::regex kBounds(R"(^(above )?(-?[\d.,e+-]*\d),?(?: to| at most|)( below)? ([\d.,e+-]*\d)$)");
    std::smatch bounds;
    if (!std::regex_match(flag.range, bounds, kBounds)) {
      EXPECT_NE(flag.range.find("2^63"), std::string::npos) << flag.name << ": " << flag.range;  // seeds
      bad.insert(bad.end(), {"-1", "9223372036854775808"});
      return bad;
    }
    const double least = value_of(bounds[2]), most = value_of(bounds[4]);
    const auto text = [](double value) {
      std::string digits(64, '\0');
      digits.resize(static_cast<std::size_t>(std::snprintf(digits.data(), digits.size(), "%.17g", value)));
      return digits;
    };
    if (flag.type == "N") {
      bad.insert(bad.end(), {text(least - 1), text(most + 1)});
    } else {
      bad.push_back(bounds[1].matched ? text(least) : text(least - 1e-9));
      bad.push_back(bounds[3].matched ? text(most) : text(most * 1.000001));
    }
    return bad;
  }

  Scratch scratch;
};

const std::map<std::string, std::size_t> kPrograms{
    {"molgraph-train", 29}, {"molgraph-score", 3}, {"molgraph-embed", 4},    {"molgraph-featurize", 5},
    {"molgraph-import", 4}, {"molgraph-info", 0},  {"molgraph-pretrain", 28}};

/// The error for an argument. The training programs take half a second to start, so the test reads it in-process.
std::string error_of(const TrainProgram& program, const std::string& argument) {
  try {
    read_call(program, {argument});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST_F(FlagsTest, EveryNumberIsCheckedAgainstItsRangeInHelp) {
  const std::map<std::string, TrainProgram> trainers{{"molgraph-train", train_program()},
                                                     {"molgraph-pretrain", pretrain_program()}};
  for (const auto& [program, least] : kPrograms) {
    const std::vector<NumberFlag> flags = numbers_in(help(program));
    EXPECT_GE(flags.size(), least) << program;
    const auto trainer = trainers.find(program);
    std::string command;
    for (const NumberFlag& flag : flags) {
      ASSERT_NE(flag.range, "") << program << " " << flag.name << ": a number without a range";
      EXPECT_TRUE(flag.type == "N" || flag.type == "X") << flag.name << ": not made by limit()";
      for (const std::string& value : bad_values(flag)) {
        if (trainer != trainers.end()) {
          const std::string error_text = error_of(trainer->second, flag.name + "=" + value);
          EXPECT_NE(error_text.find(flag.name), std::string::npos) << program << " " << value << ": " << error_text;
          if (!command.empty()) continue;  // one process is enough to check the exit code
        }
        const std::string call = program + " " + flag.name + "='" + value + "'";
        command += call + " >out 2>err; code=$?; grep -q -e '" + flag.name + "' err && [ $code = 2 ] || { echo \"" +
                   call + ": $code\"; cat err; }\n";
      }
    }
    const ShellResult result = scratch.run(bin_dir(), command);
    EXPECT_EQ(result.out, "") << program;
    EXPECT_EQ(result.code, 0) << program;
    EXPECT_EQ(command.empty(), flags.empty());
  }
}

TEST_F(FlagsTest, HelpShowsBasicFlagsAndHelpAllShowsAll) {
  const auto flags_of = [&](const std::string& call) {
    std::set<std::string> flags;
    for (const std::string& flag : flags_in(scratch.run(bin_dir(), call).out))
      if (!flag.empty()) flags.insert(flag.substr(0, flag.find("  ", 2)));
    return flags;
  };
  const auto basic = flags_of("molgraph-train --help"), all = flags_of("molgraph-train --help-all");
  EXPECT_LE(basic.size(), 45u);
  EXPECT_GT(all.size(), 90u);
  EXPECT_TRUE(std::ranges::includes(all, basic));
  const auto shows = [](const std::set<std::string>& flags, const std::string& name) {
    return std::ranges::any_of(flags, [&](const std::string& flag) { return flag.starts_with("  " + name); });
  };
  EXPECT_TRUE(shows(basic, "--split-type"));
  EXPECT_FALSE(shows(basic, "--gate-relu"));
  EXPECT_TRUE(shows(all, "--gate-relu"));
  EXPECT_TRUE(shows(flags_of("molgraph-pretrain --help"), "--label-weight"));
  EXPECT_FALSE(shows(all, "--label-weight"));
}

TEST_F(FlagsTest, RangesApplyInConfigFiles) {
  const std::vector<std::pair<std::string, std::string>> calls{
      {"molgraph-train t.csv", "batch-size = 9223372036854775807"},
      {"molgraph-train t.csv", "layers = 65536"},
      {"molgraph-train t.csv", "lr = nan"},
      {"molgraph-train t.csv", "dropout = inf"},
      {"molgraph-train t.csv", "split-sizes = [0.8, -0.1, 0.1]"},
      {"molgraph-train t.csv", "urpe = \"maybe\""},
      {"molgraph-train t.csv", "encoding = \"rope\""},
      {"molgraph-score -m R -i t.csv -o o.csv", "batch-size = 0"},
      {"molgraph-embed -m R -i t.csv -o o.csv", "layer = [0, -2]"},
      {"molgraph-featurize t.csv -o o.h5", "limit = -1"},
      {"molgraph-import w.pt -o R", "heads = 4097"}};
  for (const auto& [call, line] : calls) {
    scratch.write("c.toml", line + "\n");
    const ShellResult result = scratch.run(bin_dir(), call + " --config c.toml");
    EXPECT_EQ(result.code, 2) << call << " " << line << "\n" << result.err;
    EXPECT_NE(result.err.find("--" + line.substr(0, line.find(' '))), std::string::npos) << result.err;
  }
}

TEST_F(FlagsTest, HelpListsEveryChoice) {
  const std::map<std::string, std::vector<std::string>> choices{
      {"molgraph-train",
       {"--format NAME|auto, csv, tsv, smi, sdf",
        "--task-type NAME|regression, classification",
        "--features NAME|molgraph, ogb, zinc",
        "--split-type NAME|published, random, scaffold, scaffold-balanced, group, time, order, predefined",
        "--model NAME|graphormer, grpe",
        "--encoding NAME|none, t5, diet-rel, graphormer",
        "--path NAME|mean, single",
        "--key-term NAME|column, row",
        "--freeze NAME|encoder",
        "--backend NAME|cpu, reference",
        "--precision NAME|fp32, tf32, bf16",
        "--loss NAME|l1, mse, huber, bce, ce",
        "--metric NAME|mae, rmse, r2, roc-auc",
        "--decay NAME|weights, all",
        "--size NAME|slim, small, base, large, tiny, standard",
        "--grpe-terms NAME|topology, edge, query, key, value",
        "--recipe NAME|zinc, zinc-best, graphormer-zinc",
        "--readout NAME|virtual-node, sum, mean",
        "--schedule NAME|linear, cosine",
        "--pair-relations NAME|walks, paths, rings",
        "--device NAME|auto, cpu, cuda"}},
      {"molgraph-score",
       {"--format NAME|auto, csv, tsv, smi, sdf", "--precision NAME|fp32, tf32, bf16",
        "--device NAME|auto, cpu, cuda"}},
      {"molgraph-embed",
       {"--pooling NAME|token, mean, sum, max", "--dtype NAME|float32, float16", "--precision NAME|fp32, tf32, bf16"}},
      {"molgraph-featurize",
       {"--features NAME|molgraph, ogb, zinc", "--task-type NAME|regression, classification",
        "--split-type NAME|published, random"}},
      {"molgraph-import",
       {"--origin NAME|graphormer-v1, graphormer-v2, graphormer-hf, grpe", "--features NAME|ogb, zinc"}}};
  for (const auto& [program, expected] : choices) {
    const std::vector<std::string> flags = flags_in(help(program));
    for (const std::string& item : expected) {
      const std::string flag = item.substr(0, item.find('|')), list = "[" + item.substr(item.find('|') + 1);
      const bool listed = std::any_of(flags.begin(), flags.end(), [&](const std::string& line) {
        return line.find(flag) != std::string::npos && line.find(list) != std::string::npos;
      });
      EXPECT_TRUE(listed) << program << " " << item;
    }
  }
}

TEST_F(FlagsTest, NumbersInsideTextValuesAreLimited) {
  scratch.write("t.csv", "smiles,y\nC,1\nCC,2\n");
  const ShellResult shard =
      scratch.run(bin_dir(), "molgraph-score -m R -i t.csv -o o.csv --shard 1/9223372036854775807");
  EXPECT_NE(shard.code, 0);
  for (const char* value : {"101,0.2,0", "2,1e300,0", "2,nan,0", "2,0.2,inf", "2,0.2,1e300", "0,0.2,0"}) {
    const ShellResult flag = scratch.run(
        bin_dir(), std::string("molgraph-train t.csv -o R --split-sizes 0.5 0 0.5 --epochs 1 --flag ") + value);
    EXPECT_EQ(flag.code, 2) << value << flag.err;
    EXPECT_FALSE(scratch.exists("R"));
  }
  for (const char* value : {"cuda:1000", "cuda:-1", "cuda:x"}) {
    const ShellResult device = scratch.run(bin_dir(), std::string("molgraph-train t.csv -o R --device ") + value);
    EXPECT_EQ(device.code, 2) << value << device.err;
  }
}

TEST_F(FlagsTest, PathOf5000CharactersIsAFileError) {
  scratch.write("t.csv", "smiles,y\nC,1\nCC,2\n");
  scratch.write("long.sh", "L=$(printf 'x%.0s' $(seq 5000))\n");
  for (const char* call :
       {"molgraph-train t.csv -o $L", "molgraph-train $L -o R", "molgraph-train t.csv -o R --from $L",
        "molgraph-score -m $L -i t.csv -o o.csv", "molgraph-embed -m $L -i t.csv -o o.csv",
        "molgraph-featurize t.csv -o $L.h5", "molgraph-featurize $L -o o.h5", "molgraph-import $L --origin grpe -o R",
        "molgraph-import t.csv --origin grpe -o $L", "molgraph-info $L"}) {
    const ShellResult result = scratch.run(bin_dir(), std::string(". ./long.sh; ") + call);
    EXPECT_EQ(result.code, 4) << call << "\n" << result.err;
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << call << "\n" << result.err.substr(0, 300);
    EXPECT_FALSE(scratch.exists("R"));
  }
}

}  // namespace
}  // namespace molgraph::test
