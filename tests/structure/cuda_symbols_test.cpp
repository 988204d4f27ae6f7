// A build with nvcc contains every CUDA symbol, so its linker cannot find symbols that a build without nvcc would lack.
// This test reads the object files: outside the CUDA targets, no file may use symbols of the CUDA engine that
// absent.cpp does not define.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace molgraph::structure {
namespace {

/// Symbols of the CUDA engine that `nm` prints with `flag` for the object files in the file `list`.
std::set<std::string> cuda_names(const std::string& flag, const std::string& list) {
  const std::string command = "xargs '" MOLGRAPH_NM "' -C " + flag + " < '" + list + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (char buffer[4096]; const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get());)
    text.append(buffer, n);
  std::set<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const char* of_engine : {" molgraph::cuda::", " molgraph::make_cuda_engine"})
      if (const std::size_t name = line.find(of_engine); name != std::string::npos) names.insert(line.substr(name + 1));
  }
  return names;
}

TEST(CudaSymbols, OtherTargetsLinkWithoutCuda) {
  std::set<std::string> defined = cuda_names("--defined-only", MOLGRAPH_ABSENT_OBJECTS);
  const std::set<std::string> needed = cuda_names("--undefined-only", MOLGRAPH_PLAIN_OBJECTS);
  ASSERT_TRUE(defined.contains("molgraph::cuda::why_unusable[abi:cxx11](int)"));
  ASSERT_TRUE(needed.contains("molgraph::cuda::why_unusable[abi:cxx11](int)"))
      << "the list of object files is empty, or the output of nm has a different format";
  defined.merge(
      cuda_names("--defined-only", MOLGRAPH_PLAIN_OBJECTS));  // the LibTorch part of the engine is always built
  for (const std::string& name : needed) {
    EXPECT_TRUE(defined.contains(name)) << name << ": molgraph does not link without nvcc";
  }
}

}  // namespace
}  // namespace molgraph::structure
