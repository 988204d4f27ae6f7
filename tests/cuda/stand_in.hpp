// What the stand-ins of the CUDA runtime and of cublasLt do and keep.
#pragma once

#include <string>
#include <vector>

namespace molgraph::test {

struct StandIn {
  // what they do
  std::string failing;        ///< a runtime function that fails
  bool knows_no_way = false;  ///< of cublasLt's heuristic
  int matmul_status = 0;
  // what they saw
  int last_error = 0;  ///< as cudaGetLastError() would return
  int releases = 0, null_releases = 0;
  std::vector<const void*> looked_up;  ///< by cudaFuncGetName()
  std::vector<unsigned> alignments;    ///< of A, B, C, D, plan after plan
};
StandIn& stand_in();

}  // namespace molgraph::test
