// PyTorch's archives of tensors (torch.save), read as data and never executed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/archives/safetensors.hpp"

namespace molgraph {

/// The state dict of a torch.save zip archive, or the tensors of a .safetensors file; the first bytes tell which. An
/// archive may hold the state dict itself, or a dict that has it under "state_dict" or "model"; what stands beside it
/// (an optimiser's state) is not loaded.
///
/// Numbers: float32, float64, int64, int32 as they are; float16 and bfloat16 become float32, int16 and int8 int32, bool
/// u8. Strided and shared tensors are made whole.
///
/// Throws FileError for everything else, naming file and reason: other objects by their Python name, damaged or hostile
/// archives, TorchScript, PyTorch's format before 1.6, big-endian archives. Memory is bounded by a small multiple of
/// the file's size.
std::map<std::string, StoredTensor> read_state_dict(const std::string& path);

/// The lists of row numbers in an archive that holds a dict of one-dimensional tensors or NumPy arrays of integers,
/// such as OGB-LSC's split_dict.pt. Throws FileError as above, and for negative numbers.
std::map<std::string, std::vector<std::int64_t>> read_index_dict(const std::string& path);

/// Writes an OrderedDict of tensors that torch.load(FILE, weights_only=True) reads, in the order given. Equal bytes for
/// equal tensors; atomic.
void write_state_dict(const std::string& path, const std::vector<TensorView>& tensors);

}  // namespace molgraph
