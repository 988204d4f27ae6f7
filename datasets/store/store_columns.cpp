#include "datasets/store/store_columns.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "datasets/store/chunk_codec.hpp"
#include "datasets/tables/encoding.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph::store_layout {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20u;  // of an attribute or one text of a list
constexpr std::uint64_t kMaxDeflateRatio = 1032;              // maximum compression of the deflate format
constexpr std::uint64_t kMaxLinks = 100'000;                  // maximum number of children of a group

/// Checks that a type is fixed-length text and returns its length.
std::size_t text_bytes(const FileContext& file, hid_t type, const std::string& name) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) throw_damaged(file, name + " is not text");
  const std::size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > kMaxTextBytes) throw_damaged(file, name + " has an invalid length");
  return bytes;
}

std::string until_zero(const char* text, std::size_t max_bytes) { return {text, strnlen(text, max_bytes)}; }

/// `rank` as in why_not_open().
Handle open_dataset(const FileContext& file, hid_t group, const std::string& name, int rank) {
  if (!has_child(group, name)) throw_damaged(file, name + " is missing");
  if (const std::string reason = why_not_open(file.plain, group, name, rank); !reason.empty()) {
    throw_damaged(file, name + " has " + reason);
  }
  Handle dataset(H5Dopen2(group, name.c_str(), H5P_DEFAULT));
  if (!dataset.valid()) throw_damaged(file, name + " cannot be opened");
  return dataset;
}

Handle open_attribute(const FileContext& file, hid_t where, const char* name) {
  if (H5Aexists(where, name) <= 0) throw_damaged(file, std::string("attribute ") + name + " is missing");
  Handle attribute(H5Aopen(where, name, H5P_DEFAULT));
  if (!attribute.valid()) throw_damaged(file, std::string("attribute ") + name + " cannot be opened");
  const Handle space(H5Aget_space(attribute.get()));
  if (!space.valid() || H5Sget_simple_extent_npoints(space.get()) != 1) {
    throw_damaged(file, std::string("attribute ") + name + " is not a single value");
  }
  return attribute;
}

}  // namespace

void throw_damaged(const FileContext& file, const std::string& what) {
  throw FileError(file.path + ": damaged store: " + what);
}

bool has_child(hid_t parent, const std::string& name) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) <= 0) return false;
  H5L_info_t info;
  return H5Lget_info(parent, name.c_str(), &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

Handle open_group(const FileContext& file, hid_t parent, const std::string& name) {
  if (!has_child(parent, name)) throw_damaged(file, "group " + name + " is missing");
  Handle group(H5Gopen2(parent, name.c_str(), H5P_DEFAULT));
  if (!group.valid()) throw_damaged(file, "group " + name + " cannot be opened");
  return group;
}

std::vector<std::string> children(const FileContext& file, hid_t group) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0 || info.nlinks > kMaxLinks) throw_damaged(file, "a group cannot be listed");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    if (length <= 0 || static_cast<std::size_t>(length) > kMaxTextBytes)
      throw_damaged(file, "a group cannot be listed");
    std::vector<char> name(static_cast<std::size_t>(length) + 1, '\0');
    if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT) < 0) {
      throw_damaged(file, "a group cannot be listed");
    }
    names.push_back(until_zero(name.data(), name.size()));
  }
  return names;
}

std::string read_text_attribute(const FileContext& file, hid_t where, const char* name) {
  const Handle attribute = open_attribute(file, where, name);
  const Handle stored(H5Aget_type(attribute.get()));
  std::vector<char> text(text_bytes(file, stored.get(), name));
  if (H5Aread(attribute.get(), stored.get(), text.data()) < 0)
    throw_damaged(file, std::string("attribute ") + name + " cannot be read");
  return as_utf8(until_zero(text.data(), text.size()));  // another writer may use Latin-1
}

std::int64_t read_number_attribute(const FileContext& file, hid_t where, const char* name) {
  const Handle attribute = open_attribute(file, where, name);
  const Handle stored(H5Aget_type(attribute.get()));
  std::int64_t value = 0;
  if (H5Tequal(stored.get(), H5T_STD_I64LE) <= 0 || H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) < 0) {
    throw_damaged(file, std::string("attribute ") + name + " is not a 64-bit integer");
  }
  return value;
}

std::vector<std::string> read_texts(const FileContext& file, hid_t group, const char* name) {
  const Handle dataset = open_dataset(file, group, name, 0);
  const Handle type(H5Dget_type(dataset.get())), space(H5Dget_space(dataset.get()));
  const Handle properties(H5Dget_create_plist(dataset.get()));
  const std::size_t width = text_bytes(file, type.get(), name);
  if (H5Sget_simple_extent_ndims(space.get()) != 1) throw_damaged(file, std::string(name) + " is not a list");
  const auto count = static_cast<std::uint64_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space.get())));
  const bool plain = H5Pget_layout(properties.get()) == H5D_CONTIGUOUS && H5Pget_external_count(properties.get()) == 0;
  if (!plain || count > file.file_bytes / width || (count > 0 && H5Dget_storage_size(dataset.get()) != count * width)) {
    throw_damaged(file, std::string(name) + " does not match the size of the file");
  }
  std::vector<char> flat(count * width);
  if (count > 0 && H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()) < 0) {
    throw_damaged(file, std::string(name) + " cannot be read");
  }
  std::vector<std::string> texts;
  for (std::uint64_t t = 0; t < count; ++t) texts.push_back(as_utf8(until_zero(flat.data() + t * width, width)));
  return texts;
}

ColumnReader::ColumnReader(const FileContext& file, hid_t group, const std::string& name, Element element, int columns)
    : file_(&file), name_(name), element_(element), dataset_(open_dataset(file, group, name, columns > 0 ? 2 : 1)),
      row_bytes_(bytes_of(element) * static_cast<std::size_t>(std::max(columns, 1))) {
  check_layout(columns);
}

void ColumnReader::check_element(std::size_t bytes) const {
  assert(bytes == bytes_of(element_));
  (void)bytes;
}

void ColumnReader::check_layout(int columns) {
  const Handle type(H5Dget_type(dataset_.get())), space(H5Dget_space(dataset_.get()));
  const Handle properties(H5Dget_create_plist(dataset_.get()));
  if (!type.valid() || H5Tequal(type.get(), type_of(element_)) <= 0)
    throw_damaged(*file_, name_ + " has the wrong element type");
  const int rank = columns > 0 ? 2 : 1;
  hsize_t extent[2] = {0, 0}, chunk[2] = {0, 0};
  if (!space.valid() || H5Sget_simple_extent_ndims(space.get()) != rank ||
      H5Sget_simple_extent_dims(space.get(), extent, nullptr) != rank ||
      (columns > 0 && extent[1] != static_cast<hsize_t>(columns))) {
    throw_damaged(*file_, name_ + " has the wrong shape");
  }
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED || H5Pget_chunk(properties.get(), rank, chunk) != rank ||
      chunk[0] == 0 || chunk[0] > kMaxChunkBytes / row_bytes_ || (columns > 0 && chunk[1] != extent[1])) {
    throw_damaged(*file_, name_ + " has invalid chunks");
  }
  check_filters(properties.get());
  chunk_rows_ = chunk[0];
  // Prevents allocations for data that the file cannot contain.
  const std::uint64_t stored = H5Dget_storage_size(dataset_.get());
  if (stored > file_->file_bytes || extent[0] > stored * kMaxDeflateRatio / row_bytes_) {
    throw_damaged(*file_, name_ + " has more rows than its data can contain");
  }
  rows_ = extent[0];
}

void ColumnReader::check_filters(hid_t properties) const {
  std::vector<H5Z_filter_t> expected;
  if (bytes_of(element_) > 1) expected.push_back(H5Z_FILTER_SHUFFLE);
  expected.push_back(H5Z_FILTER_DEFLATE);
  expected.push_back(H5Z_FILTER_FLETCHER32);
  bool same = H5Pget_nfilters(properties) == static_cast<int>(expected.size());
  for (std::size_t f = 0; same && f < expected.size(); ++f) {
    unsigned int flags = 0, config = 0;
    std::size_t values = 0;
    same = H5Pget_filter2(properties, static_cast<unsigned>(f), &flags, &values, nullptr, 0, nullptr, &config) ==
           expected[f];
  }
  if (!same) throw_damaged(*file_, name_ + " has unexpected filters");
}

void ColumnReader::decode(std::size_t chunk, std::span<std::byte> to) const {
  std::vector<std::byte> packed;
  {
    const Session session;
    const hsize_t at[] = {chunk * chunk_rows_, 0};
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(dataset_.get(), at, &bytes) < 0 || bytes == 0 ||
        bytes > max_encoded_bytes(to.size())) {
      throw_damaged(*file_, name_ + " has a missing chunk");
    }
    packed.resize(bytes);
    std::uint32_t skipped_filters = 0;
    if (H5Dread_chunk(dataset_.get(), H5P_DEFAULT, at, &skipped_filters, packed.data()) < 0 || skipped_filters != 0) {
      throw_damaged(*file_, name_ + " has a chunk that cannot be read");
    }
  }
  if (!decode_chunk(packed, bytes_of(element_), to))
    throw_damaged(*file_, name_ + " has a chunk with a wrong checksum or size");
}

void ColumnReader::read_all(std::byte* to, int threads) const {
  const std::size_t chunks = (rows_ + chunk_rows_ - 1) / chunk_rows_;
  parallel_for(static_cast<std::int64_t>(chunks), 1, threads, [&](std::int64_t begin, std::int64_t) {
    const auto chunk = static_cast<std::size_t>(begin);
    const std::size_t first = chunk * chunk_rows_, rows = std::min(chunk_rows_, rows_ - first);
    std::byte* out = to + first * row_bytes_;
    if (rows == chunk_rows_) {
      decode(chunk, {out, chunk_bytes()});
    } else {
      std::vector<std::byte> complete(chunk_bytes());
      decode(chunk, complete);
      std::memcpy(out, complete.data(), rows * row_bytes_);
    }
  });
}

void ColumnReader::read_some(std::size_t first, std::size_t count, std::byte* to) {
  assert(first + count <= rows_);
  while (count > 0) {
    const std::size_t chunk = first / chunk_rows_, within = first % chunk_rows_;
    const std::size_t rows = std::min(count, chunk_rows_ - within);
    if (chunk != cached_chunk_) {
      cached_chunk_ = SIZE_MAX;
      cached_.resize(chunk_bytes());
      decode(chunk, cached_);
      cached_chunk_ = chunk;
    }
    std::memcpy(to, cached_.data() + within * row_bytes_, rows * row_bytes_);
    to += rows * row_bytes_;
    first += rows;
    count -= rows;
  }
}

TextColumnReader::TextColumnReader(const FileContext& file, hid_t group, const std::string& name)
    : bytes(file, group, name, Element::u8), offset(file, group, name + kOffsetSuffix, Element::i64) {
  if (offset.rows() < 1) throw_damaged(file, name + kOffsetSuffix + " is empty");
}

TextList TextColumnReader::all(const FileContext& file, const std::string& name) const {
  const auto flat = bytes.all<char>();
  const auto offsets = offset.all<std::int64_t>();
  check_offsets(file, name + kOffsetSuffix, offsets, rows(), bytes.rows());
  TextList texts;
  texts.reserve(offsets.size() - 1, flat.size());
  for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
    texts.push_back({flat.data() + offsets[t], static_cast<std::size_t>(offsets[t + 1] - offsets[t])});
  }
  return texts;
}

void check_offsets(const FileContext& file, const std::string& name, const std::vector<std::int64_t>& offsets,
                   std::int64_t count, std::int64_t total) {
  if (offsets.size() != static_cast<std::size_t>(count) + 1)
    throw_damaged(file, name + " has the wrong number of entries");
  if (offsets.front() != 0) throw_damaged(file, name + " does not begin at 0");
  const auto decrease =
      std::adjacent_find(offsets.begin(), offsets.end(), [](std::int64_t a, std::int64_t b) { return b < a; });
  if (decrease != offsets.end())
    throw_damaged(file, name + " decreases at entry " + std::to_string(decrease - offsets.begin()));
  if (offsets.back() != total) {
    throw_damaged(file, name + " ends at " + std::to_string(offsets.back()) + " instead of " + std::to_string(total));
  }
}

}  // namespace molgraph::store_layout
