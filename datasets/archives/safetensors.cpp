// Format: https://github.com/huggingface/safetensors (README, "Format").
#include "datasets/archives/safetensors.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, tensors are copied unchanged");

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // limit of the format
constexpr const char* kMetadata = "__metadata__";
constexpr const char* kChecksumKey = "molgraph.checksum";

struct DTypeName {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};
constexpr DTypeName kDTypes[] = {{DType::f64, "F64", 8},
                                 {DType::f32, "F32", 4},
                                 {DType::i64, "I64", 8},
                                 {DType::i32, "I32", 4},
                                 {DType::u8, "U8", 1}};

const DTypeName& entry_of(DType dtype) {
  return *std::find_if(std::begin(kDTypes), std::end(kDTypes), [&](const DTypeName& e) { return e.dtype == dtype; });
}

/// Computes the product of the shape and the element size; false if it exceeds 63 bits.
bool bytes_of(const std::vector<std::int64_t>& shape, DType dtype, std::uint64_t& bytes) {
  bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent < 0) return false;
    if (extent != 0 && bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) /
                                   static_cast<std::uint64_t>(extent)) {
      return false;
    }
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return true;
}

/// One tensor of a header. Its bytes are at [begin, end) of the data in the file.
struct TensorEntry {
  std::string name;
  StoredTensor tensor;
  std::uint64_t begin = 0, end = 0;
};

/// Reads a header; every error names the file.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::uint64_t data_bytes) : path_(path), data_bytes_(data_bytes) {}

  Json parse(const std::string& text) const {
    // nlohmann keeps the last of two equal keys; here a duplicate key is an error.
    std::vector<std::set<std::string>> keys;
    std::string duplicate;
    const auto check_keys = [&](int, Json::parse_event_t event, Json& value) {
      if (event == Json::parse_event_t::object_start) keys.emplace_back();
      if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
      if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(value.get<std::string>()).second) {
        duplicate = value.get<std::string>();
      }
      return true;
    };
    Json header = Json::parse(text, check_keys, /*allow_exceptions=*/false);
    if (header.is_discarded()) fail("the header is not JSON");
    if (!duplicate.empty()) fail("the header contains '" + duplicate.substr(0, 100) + "' twice");
    if (!header.is_object()) fail("the header is not a JSON object");
    return header;
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    if (!value.is_object()) fail("__metadata__ is not an object");
    std::map<std::string, std::string> result;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("__metadata__ '" + key.substr(0, 100) + "' is not text");
      result.emplace(key, text.get<std::string>());
    }
    return result;
  }

  TensorEntry entry(const std::string& name, const Json& value) const {
    const std::string shown = "tensor '" + name.substr(0, 100) + "'";
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
      fail(shown + " lacks dtype, shape or data_offsets");
    }
    TensorEntry result;
    result.name = name;
    result.tensor.dtype = dtype(shown, value["dtype"]);
    const Json &shape = value["shape"], &offsets = value["data_offsets"];
    if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
      fail(shown + " has a shape or data_offsets that is not a list");
    for (const Json& extent : shape) result.tensor.shape.push_back(static_cast<std::int64_t>(number(shown, extent)));
    result.begin = number(shown, offsets[0]);
    result.end = number(shown, offsets[1]);
    std::uint64_t expected = 0;
    if (!bytes_of(result.tensor.shape, result.tensor.dtype, expected)) fail(shown + " has an invalid shape");
    if (result.begin > result.end || result.end > data_bytes_) fail(shown + " is outside the file");
    if (result.end - result.begin != expected) {
      fail(shown + " has " + std::to_string(result.end - result.begin) + " bytes, but its shape needs " +
           std::to_string(expected));
    }
    return result;
  }

  /// Checks that the tensors cover the data without gaps and overlaps.
  void check_tiling(std::vector<TensorEntry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    for (const TensorEntry& entry : entries) {
      if (entry.begin != at)
        fail("tensor '" + entry.name.substr(0, 100) + (entry.begin < at ? "' overlaps another" : "' leaves a gap"));
      at = entry.end;
    }
    if (at != data_bytes_) fail("it has " + std::to_string(data_bytes_ - at) + " bytes that belong to no tensor");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(path_ + ": not a valid safetensors file: " + what);
  }

 private:
  DType dtype(const std::string& shown, const Json& value) const {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    for (const DTypeName& known : kDTypes) {
      if (known.name == text) return known.dtype;
    }
    fail(shown + " has element type " + text.substr(0, 20) + "; supported are F64, F32, I64, I32 and U8");
  }

  std::uint64_t number(const std::string& shown, const Json& value) const {
    const auto max_value = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max_value) {
      fail(shown + " has a shape or offset that is not a non-negative integer");
    }
    return value.get<std::uint64_t>();
  }

  const std::string& path_;
  std::uint64_t data_bytes_;
};

/// Replaces each byte that is not part of valid UTF-8 by U+FFFD, because JSON requires UTF-8.
std::string with_valid_utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

/// Checksum of all bytes after the header: "xxh3-64:" and 16 hex digits.
class Checksum {
 public:
  Checksum() : state_(XXH3_createState(), XXH3_freeState) {
    if (!state_) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }
  void add(const void* data, std::size_t bytes) {
    if (bytes > 0) XXH3_64bits_update(state_.get(), data, bytes);
  }
  std::string text() const {
    std::string digits(16, '0');
    XXH64_hash_t value = XXH3_64bits_digest(state_.get());
    for (std::size_t place = digits.size(); place-- > 0; value >>= 4) digits[place] = "0123456789abcdef"[value & 15u];
    return "xxh3-64:" + digits;
  }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

}  // namespace

std::size_t size_of(DType dtype) { return entry_of(dtype).bytes; }

std::int64_t StoredTensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

void write_safetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                       const std::vector<TensorView>& tensors) {
  std::vector<const TensorView*> order;
  for (const TensorView& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) {
    return std::pair(size_of(b->dtype), std::string_view(a->name)) <
           std::pair(size_of(a->dtype), std::string_view(b->name));
  });

  Json header = Json::object();  // nlohmann sorts the keys of an object
  for (const auto& [key, text] : metadata) header[kMetadata][with_valid_utf8(key)] = with_valid_utf8(text);
  Checksum checksum;
  std::uint64_t at = 0;
  for (const TensorView* tensor : order) {
    std::uint64_t bytes = 0;
    const bool fits = bytes_of(tensor->shape, tensor->dtype, bytes);
    const std::string name = with_valid_utf8(tensor->name);
    assert(fits && name != kMetadata && !header.contains(name));
    (void)fits;
    header[name] = {
        {"dtype", entry_of(tensor->dtype).name}, {"shape", tensor->shape}, {"data_offsets", {at, at + bytes}}};
    checksum.add(tensor->data, bytes);
    at += bytes;
  }
  header[kMetadata][kChecksumKey] = checksum.text();
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile out(path);
  const std::uint64_t length = text.size();
  out.file().write(&length, sizeof length);
  out.file().write(text.data(), text.size());
  for (const TensorView* tensor : order) {
    std::uint64_t bytes = 0;
    bytes_of(tensor->shape, tensor->dtype, bytes);
    out.file().write(tensor->data, bytes);
  }
  out.commit();
}

SafetensorsFile read_safetensors(const std::string& path) {
  File file = File::open(path);
  const std::uint64_t file_bytes = file.size();
  std::uint64_t length = 0;
  if (file.read(&length, sizeof length) != sizeof length) {
    throw FileError(path + ": not a valid safetensors file: it has only " + std::to_string(file_bytes) + " bytes");
  }
  if (length > kMaxHeaderBytes || length > file_bytes - sizeof length) {
    throw FileError(path + ": not a valid safetensors file: a header of " + std::to_string(length) +
                    " bytes in a file of " + std::to_string(file_bytes));
  }
  const HeaderReader reader(path, file_bytes - sizeof length - length);
  std::string text(length, '\0');
  if (file.read(text.data(), length) != length) reader.fail("it ends within the header");
  if (text.empty() || text[0] != '{') reader.fail("the header does not begin with '{'");

  SafetensorsFile result;
  std::vector<TensorEntry> entries;
  const Json header = reader.parse(text);
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) result.metadata = reader.metadata(value);
    else entries.push_back(reader.entry(name, value));
  }
  reader.check_tiling(entries);
  Checksum checksum;
  for (TensorEntry& entry : entries) {  // in the order of the file, established by check_tiling()
    entry.tensor.bytes.resize(entry.end - entry.begin);
    if (file.read(entry.tensor.bytes.data(), entry.tensor.bytes.size()) != entry.tensor.bytes.size()) {
      reader.fail("it ends within tensor '" + entry.name + "'");
    }
    checksum.add(entry.tensor.bytes.data(), entry.tensor.bytes.size());
    result.tensors.emplace(std::move(entry.name), std::move(entry.tensor));
  }
  if (const auto stored = result.metadata.extract(kChecksumKey);
      !stored.empty() && stored.mapped() != checksum.text()) {
    throw FileError(path + ": its data are damaged: the checksum is " + checksum.text() + ", but the file contains " +
                    stored.mapped().substr(0, 40));
  }
  return result;
}

}  // namespace molgraph
