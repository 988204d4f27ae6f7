// Settings and records of the stand-ins for the CUDA runtime and cublasLt.
#pragma once

#include <string>
#include <vector>

namespace molgraph::test {

struct StandIn {
  // settings
  std::string failing;        ///< a runtime function that fails
  bool no_algorithm = false;  ///< cublasLt's heuristic finds no algorithm
  int matmul_status = 0;
  // records
  int last_error = 0;  ///< returned by cudaGetLastError()
  int releases = 0, null_releases = 0;
  std::vector<const void*> looked_up;  ///< arguments of cudaFuncGetName()
  std::vector<unsigned> alignments;    ///< of A, B, C and D, for each plan
};
StandIn& stand_in();

}  // namespace molgraph::test
