// The subset of Python's pickle format that torch.save uses for tensors, read as data. Nothing is executed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// Kind of a value. An `array` is a NumPy array; it has no sizes and no text until its content has been read.
enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  tuple,
  list,
  dict,
  global,
  storage,
  tensor,
  array
};

/// A value. It refers to other values by their index in PickleValues::all, so cycles and deep nesting are harmless.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t integer = 0;  ///< integer, boolean; storage: number of elements; tensor: offset
  double real = 0;
  std::string text;                  ///< text; global: "module.name"; storage: its key; array: its bytes
  std::vector<std::uint32_t> items;  ///< tuple, list; dict: key, value, key, value ...
  std::uint32_t other =
      0;  ///< storage: its type (a global); tensor: its storage; array: its element type (a text such as "i8")
  std::vector<std::int64_t> sizes, strides;  ///< tensor
};

struct PickleValues {
  std::vector<PickleValue> all;
  std::uint32_t root = 0;
};

/// A state dict needs about 100 bytes per tensor.
inline constexpr std::uint64_t kMaxPickleBytes = 16u << 20;
/// NumPy arrays are part of the pickle: eight bytes per index, up to twice as many in protocol 2.
inline constexpr std::uint64_t kMaxPickleBytesOfArrays = 128u << 20;

/// Reads protocols 2 to 5 as torch.save uses them. Allowed names: collections.OrderedDict, torch's storage and element
/// types, torch.Size, torch._utils._rebuild_tensor_v2, _rebuild_parameter, and the names that create NumPy arrays of
/// numbers, which older archives of indices contain. Throws a FileError that begins with `where` and names what is
/// rejected, including more than `max_bytes`. Time and memory are limited by `bytes`.
PickleValues read_pickle(std::span<const std::byte> bytes, const std::string& where,
                         std::uint64_t max_bytes = kMaxPickleBytes);

/// Writes the pickle of an OrderedDict of contiguous tensors in protocol 2.
class StateDictPickle {
 public:
  StateDictPickle();
  /// `storage_type` such as "FloatStorage"; the storage's record is data/<key>.
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
