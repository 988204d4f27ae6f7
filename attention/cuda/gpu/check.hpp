// Error handling of CUDA's runtime; only for code that uses it.
#pragma once

namespace molgraph::cuda {

/// Throws DeviceError unless `code` (a cudaError_t) is success. Also clears CUDA's stored error, so that the next check
/// of a launch does not report it again.
void check(int code);

}  // namespace molgraph::cuda
