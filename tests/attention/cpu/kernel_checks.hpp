// Runs the tests of single kernels with every instruction set.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string>

#include "attention/cpu/kernels/kernels.hpp"
#include "tests/support/errors.hpp"

namespace molgraph::cpu {

inline void PrintTo(const Kernels* kernels, std::ostream* out) { *out << kernels->name; }

}  // namespace molgraph::cpu

namespace molgraph::test {

/// Base of tests that run once for every instruction set of this processor.
class PerInstructionSet : public testing::TestWithParam<const cpu::Kernels*> {
 protected:
  const cpu::Kernels& kernels() const { return *GetParam(); }
};

inline std::string name_of_set(const testing::TestParamInfo<const cpu::Kernels*>& of) {
  std::string name = of.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

#define MOLGRAPH_ON_EVERY_INSTRUCTION_SET(suite)                                                                    \
  INSTANTIATE_TEST_SUITE_P(Kernels, suite, testing::ValuesIn(cpu::all_kernels().begin(), cpu::all_kernels().end()), \
                           name_of_set)

}  // namespace molgraph::test
