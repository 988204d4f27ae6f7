// The part of Python's pickle format that torch.save writes for tensors, read as data: nothing is ever executed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// What a value is. `opaque` values (storage types, element types) mean something only where a tensor uses them.
enum class PickleKind : std::uint8_t { none, boolean, integer, real, text, tuple, list, dict, global, storage, tensor };

/// A value; others are named by their index in PickleValues::all, so cycles and depth cost nothing.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;                  ///< integer, boolean; storage: number of elements; tensor: offset
  double real = 0;
  std::string text;                          ///< text; global: "module.name"; storage: its key
  std::vector<std::uint32_t> items;          ///< tuple, list; dict: key, value, key, value ...
  std::uint32_t other = 0;                   ///< storage: its type (a global); tensor: its storage
  std::vector<std::int64_t> sizes, strides;  ///< tensor
};

struct PickleValues {
  std::vector<PickleValue> all;
  std::uint32_t root = 0;
};

/// Reads protocols 2 to 5 as torch.save uses them. Allowed names: collections.OrderedDict, torch's storage and element
/// types, torch.Size, torch._utils._rebuild_tensor_v2, _rebuild_parameter. Throws FileError that begins with `where` and
/// names what is refused. Time and memory are bounded by `bytes`, which must be at most kMostPickleBytes.
PickleValues read_pickle(std::span<const std::byte> bytes, const std::string& where);

/// A state dict has about 100 bytes per tensor here.
inline constexpr std::uint64_t kMostPickleBytes = 16u << 20;

/// Writes the pickle of an OrderedDict of contiguous tensors, protocol 2.
class StateDictPickle {
 public:
  StateDictPickle();
  /// `storage_type` as "FloatStorage"; the storage's record is data/<key>.
  void add(const std::string& name, const std::string& storage_type, const std::string& key,
           const std::vector<std::int64_t>& shape);
  std::string finish();

 private:
  void text(const std::string& value);
  void number(std::int64_t value);
  void tuple(const std::vector<std::int64_t>& values);
  std::string out_;
};

}  // namespace molgraph
