// Errors of CUDA's runtime; only for what is built on it.
#pragma once

namespace molgraph::cuda {

/// Throws DeviceError unless `code` (a cudaError_t) is success; CUDA's own note of the error is taken back then, so
/// that the next check of a launch does not find it again.
void check(int code);

}  // namespace molgraph::cuda
