#include "datasets/archives/torch_archive.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "datasets/archives/pickle_subset.hpp"
#include "datasets/archives/zip_archive.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Limit on copies of shared storages, as a multiple of the size of all storages.
constexpr std::uint64_t kMaxCopies = 16;

/// Type of an element in a storage, and its conversion.
struct ElementType {
  const char* storage;
  std::size_t bytes;
  DType dtype;
  void (*convert)(const std::byte* from, std::byte* to);  ///< null: copied unchanged
};

void store(std::byte* to, float value) { std::memcpy(to, &value, sizeof value); }
void store(std::byte* to, std::int32_t value) { std::memcpy(to, &value, sizeof value); }

void from_bfloat16(const std::byte* from, std::byte* to) {
  std::uint16_t raw;
  std::memcpy(&raw, from, sizeof raw);
  store(to, std::bit_cast<float>(static_cast<std::uint32_t>(raw) << 16));
}

void from_float16(const std::byte* from, std::byte* to) {
  std::uint16_t raw;
  std::memcpy(&raw, from, sizeof raw);
  const int exponent = raw >> 10 & 31, fraction = raw & 1023;
  float value = 0;
  if (exponent == 31)
    value = fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0) value = static_cast<float>(fraction) / 16777216.0f;  // subnormal: multiples of 2^-24
  else
    value = std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 112) << 23 | static_cast<std::uint32_t>(fraction)
                                                                                        << 13);
  store(to, raw >> 15 ? -value : value);
}

void from_int16(const std::byte* from, std::byte* to) {
  std::int16_t value;
  std::memcpy(&value, from, sizeof value);
  store(to, std::int32_t{value});
}

void from_int8(const std::byte* from, std::byte* to) { store(to, std::int32_t{static_cast<std::int8_t>(*from)}); }

constexpr ElementType kTypes[] = {
    {"torch.FloatStorage", 4, DType::f32, nullptr},     {"torch.DoubleStorage", 8, DType::f64, nullptr},
    {"torch.LongStorage", 8, DType::i64, nullptr},      {"torch.IntStorage", 4, DType::i32, nullptr},
    {"torch.ByteStorage", 1, DType::u8, nullptr},       {"torch.BoolStorage", 1, DType::u8, nullptr},
    {"torch.HalfStorage", 2, DType::f32, from_float16}, {"torch.BFloat16Storage", 2, DType::f32, from_bfloat16},
    {"torch.ShortStorage", 2, DType::i32, from_int16},  {"torch.CharStorage", 1, DType::i32, from_int8}};

/// Reads one archive; every error names the file.
class StateDictReader {
 public:
  explicit StateDictReader(const std::string& path, std::uint64_t max_pickle_bytes = kMaxPickleBytes)
      : path_(path), archive_(path) {
    for (const std::string& name : archive_.names()) {
      if (!name.ends_with("/data.pkl")) continue;
      if (!root_.empty()) fail("it contains several data.pkl");
      root_ = name.substr(0, name.size() - std::strlen("data.pkl"));
    }
    if (root_.empty()) fail("it has no data.pkl");
    if (archive_.has(root_ + "constants.pkl"))
      fail("it is a TorchScript program; save its weights instead: torch.save(model.state_dict(), FILE)");
    if (archive_.has(root_ + "byteorder")) {
      const auto order = archive_.read(root_ + "byteorder");
      if (std::string_view(reinterpret_cast<const char*>(order.data()), order.size()) != "little")
        fail("the numbers are not little-endian");
    }
    if (archive_.size(root_ + "data.pkl") > max_pickle_bytes) fail("data.pkl is too large");
    values_ = read_pickle(archive_.read(root_ + "data.pkl"), path, max_pickle_bytes);
  }

  std::map<std::string, StoredTensor> read() {
    const std::vector<std::uint32_t>& items = find_state_dict().items;
    std::map<std::string, StoredTensor> tensors;
    for (std::size_t k = 0; k < items.size(); k += 2) {
      const std::string& name = at(items[k]).text;
      if (tensors.contains(name)) fail("tensor '" + shown(name) + "' occurs twice");
      tensors.emplace(name, tensor(name, at(items[k + 1])));
    }
    return tensors;
  }

  std::map<std::string, std::vector<std::int64_t>> read_indices() {
    const PickleValue& root = at(values_.root);
    if (root.kind != PickleKind::dict) fail("it is not a dict");
    std::map<std::string, std::vector<std::int64_t>> lists;
    for (std::size_t k = 0; k < root.items.size(); k += 2) {
      const PickleValue &name = at(root.items[k]), &value = at(root.items[k + 1]);
      const bool is_list = value.kind == PickleKind::tensor || value.kind == PickleKind::array;
      if (name.kind != PickleKind::text || !is_list || value.sizes.size() != 1)
        fail("it contains values other than lists of integers");
      lists[name.text] = value.kind == PickleKind::tensor ? integers(name.text, tensor(name.text, value))
                                                          : integers(name.text, array(name.text, value));
    }
    return lists;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw FileError(path_ + ": not a dict of tensors: " + what); }
  static std::string shown(const std::string& name) { return name.substr(0, 200); }
  const PickleValue& at(std::uint32_t index) const { return values_.all[index]; }

  bool is_state_dict(const PickleValue& value) const {
    if (value.kind != PickleKind::dict || value.items.empty()) return false;
    for (std::size_t k = 0; k < value.items.size(); k += 2) {
      if (at(value.items[k]).kind != PickleKind::text || at(value.items[k + 1]).kind != PickleKind::tensor)
        return false;
    }
    return true;
  }

  const PickleValue& find_state_dict() const {
    const PickleValue& root = at(values_.root);
    if (root.kind != PickleKind::dict) fail("it is not a dict");
    if (is_state_dict(root)) return root;
    for (const char* candidate : {"state_dict", "model"}) {
      for (std::size_t k = 0; k < root.items.size(); k += 2) {
        const PickleValue& key = at(root.items[k]);
        if (key.kind == PickleKind::text && key.text == candidate && is_state_dict(at(root.items[k + 1])))
          return at(root.items[k + 1]);
      }
    }
    std::string keys;
    for (std::size_t k = 0; k < root.items.size() && keys.size() < 500; k += 2) {
      const PickleValue& key = at(root.items[k]);
      keys += (k ? ", " : "") + (key.kind == PickleKind::text ? "'" + key.text.substr(0, 50) + "'"
                                                              : std::string("a key that is not text"));
    }
    fail("neither it nor its entries 'state_dict' and 'model' are dicts of named tensors; it has " +
         (keys.empty() ? "no keys" : "the keys " + keys));
  }

  StoredTensor array(const std::string& name, const PickleValue& value) const {
    const std::string type = at(value.other).text;
    if (type != "i8" && type != "i4") fail("'" + shown(name) + "' has elements of " + shown(type));
    StoredTensor result{type == "i8" ? DType::i64 : DType::i32, value.sizes, {}};
    if (value.text.size() / size_of(result.dtype) != static_cast<std::uint64_t>(value.sizes[0]) ||
        value.text.size() % size_of(result.dtype) != 0)
      fail("'" + shown(name) + "' has " + std::to_string(value.text.size()) + " bytes for " +
           std::to_string(value.sizes[0]) + " elements");
    result.bytes.resize(value.text.size());
    if (!value.text.empty()) std::memcpy(result.bytes.data(), value.text.data(), value.text.size());
    return result;
  }

  std::vector<std::int64_t> integers(const std::string& name, const StoredTensor& tensor) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(tensor.count()));
    if (tensor.dtype != DType::i64 && tensor.dtype != DType::i32)
      fail("'" + shown(name) + "' does not contain integers");
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (tensor.dtype == DType::i64) {
        std::memcpy(&result[i], tensor.bytes.data() + 8 * i, 8);
      } else {
        std::int32_t narrow = 0;
        std::memcpy(&narrow, tensor.bytes.data() + 4 * i, 4);
        result[i] = narrow;
      }
      if (result[i] < 0) fail("'" + shown(name) + "' contains the negative number " + std::to_string(result[i]));
    }
    return result;
  }

  const std::vector<std::byte>& storage(const std::string& key) {
    const auto found = storages_.find(key);
    if (found != storages_.end()) return found->second;
    const bool plain = !key.empty() && key.size() < 100 && std::all_of(key.begin(), key.end(), [](unsigned char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    });
    if (!plain) fail("the storage key '" + shown(key) + "' is not a plain name");
    std::vector<std::byte> bytes = archive_.read(root_ + "data/" + key);
    storage_bytes_ += bytes.size();
    return storages_.emplace(key, std::move(bytes)).first->second;
  }

  StoredTensor tensor(const std::string& name, const PickleValue& value) {
    const std::string what = "tensor '" + shown(name) + "' ";
    const PickleValue& source = at(value.other);
    const std::string& type_name = at(source.other).text;
    const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const ElementType& t) { return t.storage == type_name; });
    if (type == std::end(kTypes)) fail(what + "has elements of " + type_name + ", which are not supported");
    const auto count = static_cast<std::uint64_t>(source.integer);
    const std::vector<std::byte>& bytes = storage(source.text);
    if (count > bytes.size() / type->bytes)
      fail(what + "has a storage of " + std::to_string(count) + " elements in " + std::to_string(bytes.size()) +
           " bytes");

    // The last element must be inside, with no more elements than the storage has: views that repeat elements are
    // rejected.
    std::uint64_t last = static_cast<std::uint64_t>(value.integer), elements = 1;
    for (const std::int64_t size : value.sizes) {
      if (size > 0 && elements > count / static_cast<std::uint64_t>(size))
        fail(what + "has more elements than its storage");
      elements *= static_cast<std::uint64_t>(size);
    }
    for (std::size_t d = 0; d < value.sizes.size() && elements > 0; ++d) {
      const auto steps = static_cast<std::uint64_t>(value.sizes[d] - 1),
                 stride = static_cast<std::uint64_t>(value.strides[d]);
      const bool outside = steps > 0 && stride > count / steps;
      if (outside || last >= count) fail(what + "reaches beyond its storage");
      last += steps * stride;
    }
    if (elements > 0 && last >= count) fail(what + "reaches beyond its storage");

    StoredTensor result;
    result.dtype = type->dtype;
    result.shape = value.sizes;
    const std::uint64_t result_bytes = elements * size_of(type->dtype);
    written_ += result_bytes;
    if (written_ > kMaxCopies * 4 * (storage_bytes_ + 1024)) fail("the tensors are much larger than their storages");
    result.bytes.resize(result_bytes);
    if (elements > 0) gather(value, bytes.data(), *type, result.bytes.data());
    return result;
  }

  /// Copies the elements in row-major order.
  static void gather(const PickleValue& value, const std::byte* source, const ElementType& type, std::byte* to) {
    const std::size_t dimensions = value.sizes.size(), step = size_of(type.dtype);
    std::vector<std::int64_t> index(dimensions, 0);
    std::int64_t element = value.integer;
    for (;;) {
      const std::byte* from = source + static_cast<std::size_t>(element) * type.bytes;
      if (type.convert != nullptr) type.convert(from, to);
      else std::memcpy(to, from, step);
      to += step;
      std::size_t d = dimensions;
      for (; d > 0; --d) {
        element += value.strides[d - 1];
        if (++index[d - 1] < value.sizes[d - 1]) break;
        element -= value.strides[d - 1] * value.sizes[d - 1];
        index[d - 1] = 0;
      }
      if (d == 0) return;
    }
  }

  const std::string& path_;
  ZipArchive archive_;
  std::string root_;  ///< folder of data.pkl, with its slash
  PickleValues values_;
  std::map<std::string, std::vector<std::byte>> storages_;
  std::uint64_t storage_bytes_ = 0, written_ = 0;
};

const char* storage_type(DType dtype) {
  const auto found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const ElementType& t) { return t.dtype == dtype; });
  return found->storage + std::strlen("torch.");
}

}  // namespace

std::map<std::string, StoredTensor> read_state_dict(const std::string& path) {
  unsigned char head[9] = {};
  const std::size_t got = File::open(path).read(head, sizeof head);
  const auto starts = [&](std::string_view magic) {
    return got >= magic.size() && std::memcmp(head, magic.data(), magic.size()) == 0;
  };
  if (starts(std::string_view("PK\x03\x04", 4))) return StateDictReader(path).read();
  if (starts(std::string_view("\x80\x02\x8a\x0a", 4)))
    throw FileError(
        path + ": PyTorch's format before 1.6; load it in PyTorch and save it again: torch.save(state_dict, FILE)");
  if (got == sizeof head && head[8] == '{') return read_safetensors(path).tensors;
  throw FileError(path + ": neither an archive of torch.save nor a safetensors file");
}

std::map<std::string, std::vector<std::int64_t>> read_index_dict(const std::string& path) {
  return StateDictReader(path, kMaxPickleBytesOfArrays).read_indices();
}

void write_state_dict(const std::string& path, const std::vector<TensorView>& tensors) {
  StateDictPickle pickle;
  std::vector<ZipMember> storages;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const TensorView& tensor = tensors[k];
    const std::string key = std::to_string(k);
    pickle.add(tensor.name, storage_type(tensor.dtype), key, tensor.shape);
    std::size_t bytes = size_of(tensor.dtype);
    for (const std::int64_t extent : tensor.shape) bytes *= static_cast<std::size_t>(extent);
    storages.push_back({"archive/data/" + key, tensor.data, bytes});
  }
  const std::string text = pickle.finish();
  std::vector<ZipMember> members{{"archive/data.pkl", text.data(), text.size()}, {"archive/byteorder", "little", 6}};
  members.insert(members.end(), storages.begin(), storages.end());
  members.push_back({"archive/version", "3\n", 2});
  write_zip(path, members);
}

}  // namespace molgraph
