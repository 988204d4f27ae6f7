// A build with nvcc has every CUDA symbol at hand, so its linker cannot see what a build without nvcc would miss. Here
// its object files are asked: outside the CUDA targets nothing may need more of the CUDA engine than what absent.cpp
// offers in its place.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

namespace molgraph::structure {
namespace {

/// Names of the CUDA engine that `nm` lists with `flag` for the files named in the list file.
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

TEST(CudaSymbols, NobodyElseNeedsMoreThanABuildWithoutCudaHas) {
  std::set<std::string> offered = cuda_names("--defined-only", MOLGRAPH_ABSENT_OBJECTS);
  const std::set<std::string> needed = cuda_names("--undefined-only", MOLGRAPH_PLAIN_OBJECTS);
  ASSERT_TRUE(offered.contains("molgraph::cuda::why_unusable[abi:cxx11](int)"));
  ASSERT_TRUE(needed.contains("molgraph::cuda::why_unusable[abi:cxx11](int)"))
      << "the list of object files is empty, or nm says it in other words";
  offered.merge(
      cuda_names("--defined-only", MOLGRAPH_PLAIN_OBJECTS));  // the LibTorch side of the engine, built everywhere
  for (const std::string& name : needed) {
    EXPECT_TRUE(offered.contains(name)) << name << ": molgraph would not link where there is no nvcc";
  }
}

}  // namespace
}  // namespace molgraph::structure
