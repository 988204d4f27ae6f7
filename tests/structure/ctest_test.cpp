// Checks the list of tests that ctest reports.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace molgraph::structure {
namespace {

constexpr double kMaxTimeout = 1200;  // seconds

TEST(Ctest, EntriesHaveTimeoutsAndUniqueNames) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(MOLGRAPH_CTEST " --show-only=json-v1", "r"), ::pclose);
  ASSERT_TRUE(pipe);
  std::string text;
  for (char buffer[4096]; const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    text.append(buffer, n);
  const auto tests = nlohmann::json::parse(text).at("tests");
  ASSERT_GT(tests.size(), 100u);
  std::set<std::string> names;
  for (const auto& test : tests) {
    const std::string name = test.at("name");
    EXPECT_TRUE(names.insert(name).second) << name << " is in two test programs";
    if (!test.contains("command")) continue;  // not built in this configuration
    double limit = 0;
    for (const auto& property : test.at("properties"))
      if (property.at("name") == "TIMEOUT") limit = property.at("value");
    EXPECT_TRUE(limit > 0 && limit <= kMaxTimeout) << name << ": " << limit << " s";
  }
}

}  // namespace
}  // namespace molgraph::structure
