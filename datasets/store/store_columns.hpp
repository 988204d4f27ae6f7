// Checked reading of the store's data sets. HDF5 reads the chunks; they are decoded here, outside its global lock.
// Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "datasets/store/store_layout.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph::store_layout {

/// Properties of the file that every reading function needs.
struct FileContext {
  File& plain;  ///< the same file without HDF5
  std::string path;
  std::uint64_t file_bytes = 0;
};

[[noreturn]] void throw_damaged(const FileContext& file, const std::string& what);

/// Opens a child of this file. Soft and external links are rejected.
Handle open_group(const FileContext& file, hid_t parent, const std::string& name);
/// Checks the description of a data set in the file's bytes before HDF5 opens it (store_guard.cpp). Returns why `name`
/// in `group` must not be opened, or "". Expects the format of our writer: an object header of version 1 in one block,
/// and chunks of `rank` dimensions (0: not chunked), none of them 0.
std::string why_not_open(File& file, hid_t group, const std::string& name, int rank);
bool has_child(hid_t parent, const std::string& name);
/// Returns the names of all children, sorted.
std::vector<std::string> children(const FileContext& file, hid_t group);

std::string read_text_attribute(const FileContext& file, hid_t where, const char* name);
std::int64_t read_number_attribute(const FileContext& file, hid_t where, const char* name);
/// Reads a one-dimensional data set of fixed-length strings without chunks.
std::vector<std::string> read_texts(const FileContext& file, hid_t group, const char* name);

/// One chunked data set [rows] or [rows, columns]. Type, shape, chunks and filters are checked when it is opened.
class ColumnReader {
 public:
  ColumnReader() = default;
  /// `columns` 0 = one-dimensional.
  ColumnReader(const FileContext& file, hid_t group, const std::string& name, Element element, int columns = 0);

  std::int64_t rows() const { return static_cast<std::int64_t>(rows_); }
  bool valid() const { return dataset_.valid(); }

  /// Returns all values, decoded in parallel.
  template <typename Number>
  std::vector<Number> all(int threads = 0) const {
    check_element(sizeof(Number));
    std::vector<Number> values(rows_ * values_per_row());
    read_all(reinterpret_cast<std::byte*>(values.data()), threads);
    return values;
  }

  /// Returns the values of rows [first, first + count). Caches the last chunk, so neighbouring rows are fast. Not
  /// thread-safe.
  template <typename Number>
  std::vector<Number> some(std::int64_t first, std::int64_t count) {
    check_element(sizeof(Number));
    std::vector<Number> values(static_cast<std::size_t>(count) * values_per_row());
    read_some(static_cast<std::size_t>(first), static_cast<std::size_t>(count),
              reinterpret_cast<std::byte*>(values.data()));
    return values;
  }

 private:
  std::size_t values_per_row() const { return row_bytes_ / bytes_of(element_); }
  void check_element(std::size_t bytes) const;
  void check_layout(int columns);
  void check_filters(hid_t properties) const;
  void read_all(std::byte* to, int threads) const;
  void read_some(std::size_t first, std::size_t count, std::byte* to);
  void decode(std::size_t chunk, std::span<std::byte> to) const;
  std::size_t chunk_bytes() const { return chunk_rows_ * row_bytes_; }

  const FileContext* file_ = nullptr;
  std::string name_;
  Element element_ = Element::u8;
  Handle dataset_;
  std::size_t rows_ = 0, row_bytes_ = 1, chunk_rows_ = 1;
  std::vector<std::byte> cached_;  ///< decoded chunk `cached_chunk_`
  std::size_t cached_chunk_ = SIZE_MAX;
};

/// One text per row: NAME contains the bytes, NAME_offset the start of each text.
struct TextColumnReader {
  ColumnReader bytes, offset;

  TextColumnReader() = default;
  TextColumnReader(const FileContext& file, hid_t group, const std::string& name);
  std::int64_t rows() const { return offset.rows() - 1; }
  TextList all(const FileContext& file, const std::string& name) const;
};

/// Checks that the offsets have `count` + 1 entries from 0 to `total` and never decrease.
void check_offsets(const FileContext& file, const std::string& name, const std::vector<std::int64_t>& offsets,
                   std::int64_t count, std::int64_t total);

}  // namespace molgraph::store_layout
