// Valid and malicious pickles of state dicts, made byte by byte, and archives of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/archives/zip_archive.hpp"

namespace molgraph::testing {

inline std::string text_pickle(const std::string& text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  return "X" + std::string(reinterpret_cast<const char*>(&length), 4) + text;
}

inline std::string number_pickle(std::int64_t value) {
  return "\x8a\x08" + std::string(reinterpret_cast<const char*>(&value), 8);
}

inline std::string tuple_pickle(const std::vector<std::int64_t>& values) {
  std::string out = "(";
  for (const std::int64_t value : values) out += number_pickle(value);
  return out + "t";
}

/// A tensor in storage `key`, which is declared to have `count` elements.
inline std::string tensor_pickle(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& strides,
                                 std::int64_t offset = 0, std::int64_t count = 6, const std::string& key = "0",
                                 const std::string& type = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text_pickle("storage") + "ctorch\n" + type + "\n" +
         text_pickle(key) + text_pickle("cpu") + number_pickle(count) + "tQ" + number_pickle(offset) +
         tuple_pickle(sizes) + tuple_pickle(strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

/// A state dict of these tensors, named t0, t1, ...
inline std::string state_dict_of(const std::vector<std::string>& tensors) {
  std::string out = "\x80\x02}(";
  for (std::size_t k = 0; k < tensors.size(); ++k) out += text_pickle("t" + std::to_string(k)) + tensors[k];
  return out + "u.";
}

/// Writes an archive of the pickle and of a storage "0" with `storage_bytes` bytes: 1, 2, 3 ...
inline void write_archive(const std::string& path, const std::string& pickle, std::size_t storage_bytes) {
  std::string storage(storage_bytes, '\0');
  for (std::size_t k = 0; k < storage_bytes; ++k) storage[k] = static_cast<char>(k % 64 + 1);
  write_zip(path,
            {{"archive/data.pkl", pickle.data(), pickle.size()}, {"archive/data/0", storage.data(), storage.size()}});
}

}  // namespace molgraph::testing
