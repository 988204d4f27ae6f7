// docs/reference/options.md is the help of the programs.
#include <gtest/gtest.h>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

TEST(OptionsPage, IsTheHelpOfThePrograms) {
  const Scratch scratch;
  const ShellResult result =
      scratch.run(bin_dir(), tests_dir("../scripts/write-options") + " " + bin_dir() + " > options.md && diff " +
                                 tests_dir("../docs/reference/options.md") + " options.md");
  EXPECT_EQ(result.code, 0) << "run scripts/write-options > docs/reference/options.md:\n" << result.out << result.err;
}

}  // namespace
}  // namespace molgraph::test
