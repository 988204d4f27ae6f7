// docs/models/encodings.md contains the code's table of presets.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "attention/spec/encodings.hpp"

namespace molgraph::test {
namespace {

TEST(EncodingsPage, ContainsTheTableOfPresets) {
  std::ifstream file(MOLGRAPH_SOURCE_DIR "/docs/models/encodings.md");
  ASSERT_TRUE(file.good());
  std::vector<std::string> shown;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| encoding |")) inside = true;
    else if (inside && !line.starts_with("|")) break;
    else if (inside && !line.starts_with("|---")) shown.push_back(line);
  }
  std::vector<std::string> expected;
  for (const Encoding& e : encodings()) {
    std::ostringstream row;
    row << "| `" << e.name << "` | `" << e.formula << "` | " << e.parameters << " | " << e.cost << " | " << e.source
        << " | " << e.use << " |";
    expected.push_back(row.str());
  }
  EXPECT_EQ(shown, expected);
}

}  // namespace
}  // namespace molgraph::test
