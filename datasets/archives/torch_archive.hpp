// PyTorch's archives of tensors (torch.save), read as data and never executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/archives/safetensors.hpp"

namespace molgraph {

/// Reads the state dict of a torch.save zip archive, or the tensors of a .safetensors file; the first bytes determine
/// the format. An archive may contain the state dict itself, or a dict with it under "state_dict" or "model"; other
/// entries (such as an optimiser's state) are not loaded.
///
/// Number formats: float32, float64, int64, int32 are unchanged; float16 and bfloat16 become float32, int16 and int8
/// int32, bool u8. Strided and shared tensors are copied to contiguous ones.
///
/// Throws FileError with file and reason for everything else: other objects (with their Python name), damaged or
/// malicious archives, TorchScript, PyTorch's format before 1.6, big-endian archives. Memory is limited to a small
/// multiple of the file's size.
std::map<std::string, StoredTensor> read_state_dict(const std::string& path);

/// Reads the lists of row numbers from an archive with a dict of one-dimensional tensors or NumPy arrays of integers,
/// such as OGB-LSC's split_dict.pt. Throws FileError as above, and for negative numbers.
std::map<std::string, std::vector<std::int64_t>> read_index_dict(const std::string& path);

/// Writes an OrderedDict of tensors in the given order, readable with torch.load(FILE, weights_only=True). Equal
/// tensors give equal bytes. Writing is atomic.
void write_state_dict(const std::string& path, const std::vector<TensorView>& tensors);

}  // namespace molgraph
