// Writes the store's arrays row by row through the threads that compress chunks. Private to this folder.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/store/chunk_codec.hpp"
#include "datasets/store/chunk_pool.hpp"
#include "datasets/store/store_layout.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph::store_layout {

/// A data set [rows] or [rows, columns] that grows by rows. The pool compresses its chunks.
class ColumnWriter {
 public:
  /// `columns` 0 = one-dimensional. The data set is created with its first chunk, so that short data sets have short
  /// chunks.
  ColumnWriter(const std::string& file, hid_t group, std::string name, Element element, int columns,
               std::int64_t chunk_elements, ChunkPool& pool)
      : file_(file), group_(group), name_(std::move(name)), element_(element), columns_(columns),
        row_bytes_(bytes_of(element) * static_cast<std::size_t>(std::max(columns, 1))),
        chunk_rows_(static_cast<std::size_t>(std::max<std::int64_t>(1, chunk_elements / std::max(columns, 1)))),
        pool_(pool) {
    chunk_rows_ = std::min(chunk_rows_, kMaxChunkBytes / row_bytes_);
  }

  ColumnWriter(const ColumnWriter&) = delete;
  ColumnWriter& operator=(const ColumnWriter&) = delete;

  template <typename Number>
  void append(const Number* data, std::size_t rows) {
    assert(sizeof(Number) == bytes_of(element_));
    append_bytes(reinterpret_cast<const std::byte*>(data), rows * row_bytes_);
  }

  template <typename Number>
  void append(Number value) {
    append(&value, 1);
  }

  std::int64_t rows() const { return static_cast<std::int64_t>(submitted_ + buffer_.size() / row_bytes_); }

  void finish() {
    const std::size_t rest = buffer_.size() / row_bytes_;
    if (!dataset_.valid()) {
      chunk_rows_ = std::max<std::size_t>(1, rest);
      create();
    }
    if (rest > 0) submit();
  }

 private:
  void append_bytes(const std::byte* data, std::size_t bytes) {
    const std::size_t chunk_bytes = chunk_rows_ * row_bytes_;
    while (bytes > 0) {
      const std::size_t part = std::min(bytes, chunk_bytes - buffer_.size());
      buffer_.insert(buffer_.end(), data, data + part);
      data += part;
      bytes -= part;
      if (buffer_.size() == chunk_bytes) submit();
    }
  }

  void submit() {
    if (!dataset_.valid()) create();
    const std::size_t rows = buffer_.size() / row_bytes_, first = submitted_;
    buffer_.resize(chunk_rows_ * row_bytes_);  // HDF5's chunks are complete; values after the last row are zero
    pool_.submit(std::move(buffer_), bytes_of(element_),
                 [this, first, rows](const std::vector<std::byte>& packed) { write(first, rows, packed); });
    submitted_ += rows;
    buffer_ = {};
  }

  void create() {
    const Session session;
    const int rank = columns_ > 0 ? 2 : 1;
    const auto second = static_cast<hsize_t>(columns_);
    const hsize_t empty[] = {0, second}, max_extent[] = {H5S_UNLIMITED, second}, chunk[] = {chunk_rows_, second};
    const Handle space = checked(H5Screate_simple(rank, empty, max_extent), file_, "cannot create " + name_);
    const Handle properties = checked(H5Pcreate(H5P_DATASET_CREATE), file_, "cannot create " + name_);
    const bool shuffled = bytes_of(element_) > 1;
    const bool set = H5Pset_chunk(properties.get(), rank, chunk) >= 0 &&
                     (!shuffled || H5Pset_shuffle(properties.get()) >= 0) &&
                     H5Pset_deflate(properties.get(), kDeflateLevel) >= 0 && H5Pset_fletcher32(properties.get()) >= 0 &&
                     H5Pset_obj_track_times(properties.get(), false) >= 0;
    if (!set) throw FileError(file_ + ": this HDF5 library lacks the deflate filter");
    dataset_ = checked(
        H5Dcreate2(group_, name_.c_str(), type_of(element_), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
        file_, "cannot create " + name_);
  }

  void write(std::size_t first, std::size_t rows, const std::vector<std::byte>& packed) {
    const Session session;
    const hsize_t extent[] = {first + rows, static_cast<hsize_t>(columns_)};
    const hsize_t offset[] = {first, 0};
    const bool written = H5Dset_extent(dataset_.get(), extent) >= 0 &&
                         H5Dwrite_chunk(dataset_.get(), H5P_DEFAULT, 0, offset, packed.size(), packed.data()) >= 0;
    check_written(written ? 0 : -1, file_, "cannot write " + name_);
  }

  const std::string& file_;
  hid_t group_;
  std::string name_;
  Element element_;
  int columns_;
  std::size_t row_bytes_, chunk_rows_;
  ChunkPool& pool_;
  Handle dataset_;
  std::vector<std::byte> buffer_;
  std::size_t submitted_ = 0;  ///< rows
};

/// One text per row: the bytes and the start of each text.
struct TextColumnWriter {
  ColumnWriter *bytes = nullptr, *offset = nullptr;
  void append(const std::string& text) {
    bytes->append(text.data(), text.size());
    offset->append(bytes->rows());
  }
};

}  // namespace molgraph::store_layout
