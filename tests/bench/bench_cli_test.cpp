// molgraph-bench as people start it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/apps/shell.hpp"

namespace molgraph::test {
namespace {

// What measures whole programs finds none and fails, after all models were measured.
TEST(BenchCli, FiguresAreWrittenAfterEachCase) {
  const Scratch scratch;
  std::string table = "smiles,y\n";
  for (int k = 0; k < 200; ++k)
    table += std::string(1 + static_cast<std::size_t>(k % 20), 'C') + "[" + std::to_string(3 + k / 20) + "CH3]," +
             std::to_string(k % 5) + ".5\n";  // isotopes: no molecule is there twice
  scratch.write("t.csv", table);
  const ShellResult result =
      scratch.run(MOLGRAPH_BIN,
                  "molgraph-bench --data t.csv --json out.json --batch-size 8 --rounds 1 --no-reference "
                  "--no-train --programs /nowhere",
                  300);
  EXPECT_EQ(result.code, 1) << result.err;
  ASSERT_TRUE(scratch.exists("out.json")) << result.err;
  const nlohmann::json report = nlohmann::json::parse(scratch.read("out.json"));
  for (const char* name : {"graphormer", "grpe-standard"})  // the first and the last
    EXPECT_GT(report.at("cases").at(name).at("infer"), 0) << name;
  EXPECT_FALSE(report.contains("programs"));
}

}  // namespace
}  // namespace molgraph::test
