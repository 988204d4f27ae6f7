// Formats: numpy.lib.format (NPY version 1.0) and PKWARE's APPNOTE 6.3 (zip with zip64 extra fields).
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <string_view>

#include "datasets/archives/npy_format.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/utf8.hpp"

namespace molgraph {

using namespace npy_format;

namespace {

static_assert(std::endian::native == std::endian::little,
              "both formats are little-endian, values are copied unchanged");

/// Decodes UTF-8 text to code points; each byte that is not part of a valid sequence becomes U+FFFD.
void decode_utf8(std::string_view text, std::vector<std::uint32_t>& points) {
  points.clear();
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    points.push_back(bytes > 0 ? code : 0xFFFD);
    at += std::max<std::size_t>(bytes, 1);
  }
}

void encode_utf8(const std::vector<std::uint32_t>& points, std::string& text) {
  text.clear();
  for (const std::uint32_t point : points) append_utf8(point, text);
}

std::uint32_t crc_of(std::uint32_t crc, const void* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(data), bytes));
}

/// Returns the CRC of A followed by B from their CRCs.
std::uint32_t crc_joined(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

// --- zip ---

/// Consecutive little-endian fields of a zip record.
class Record {
 public:
  Record& u16(std::uint64_t value) { return put(value, 2); }
  Record& u32(std::uint64_t value) { return put(value, 4); }
  Record& u64(std::uint64_t value) { return put(value, 8); }
  Record& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += static_cast<char>(value >> 8 * i & 0xFFu);
    return *this;
  }
  std::string bytes_;
};

/// One member of the archive; sizes are final once it is closed.
struct Member {
  std::string name;
  bool deflated = false;
  std::uint64_t header_at = 0, size = 0, packed = 0;
  std::uint32_t crc = 0;
};

constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // a 32-bit field whose value is in the zip64 extra field
constexpr std::uint64_t kVersion = 45;       // first version of the format with zip64
constexpr std::uint64_t kDate = 0x21;        // 1980-01-01, so that equal arrays give equal files

/// Writes the fields that local header and central directory share.
void put_common(Record& record, const Member& member, std::size_t extra) {
  record.u16(kVersion).u16(0).u16(member.deflated ? 8 : 0).u16(0).u16(kDate).u32(member.crc).u32(kIn64).u32(kIn64);
  record.u16(member.name.size()).u16(extra);
}

std::string local_header(const Member& member) {
  Record record;
  record.u32(0x04034b50);
  put_common(record, member, 20);
  record.text(member.name).u16(1).u16(16).u64(member.size).u64(member.packed);
  return record.bytes();
}

std::string central_header(const Member& member) {
  Record record;
  record.u32(0x02014b50).u16(kVersion);
  put_common(record, member, 28);
  record.u16(0).u16(0).u16(0).u32(0).u32(kIn64).text(member.name);
  record.u16(1).u16(24).u64(member.size).u64(member.packed).u64(member.header_at);
  return record.bytes();
}

std::string end_of_directory(std::uint64_t members, std::uint64_t at, std::uint64_t bytes) {
  Record record;
  record.u32(0x06064b50).u64(44).u16(kVersion).u16(kVersion).u32(0).u32(0);
  record.u64(members).u64(members).u64(bytes).u64(at);
  record.u32(0x07064b50).u32(0).u64(at + bytes).u32(1);
  record.u32(0x06054b50).u16(0).u16(0).u16(members).u16(members).u32(kIn64).u32(kIn64).u16(0);
  return record.bytes();
}

/// A zlib stream without zlib's wrapper, as zip requires it.
class Deflater {
 public:
  Deflater() {
    if (deflateInit2(&stream_, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Compresses and writes; returns the number of bytes written.
  std::uint64_t write(File& file, const void* data, std::size_t bytes, bool last) {
    std::uint64_t written = 0;
    stream_.next_in = const_cast<Bytef*>(static_cast<const Bytef*>(data));  // zlib does not write to it
    stream_.avail_in = static_cast<uInt>(bytes);
    do {
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      const std::size_t got = out_.size() - stream_.avail_out;
      file.write(out_.data(), got);
      written += got;
    } while (stream_.avail_out == 0);
    return written;
  }

 private:
  z_stream stream_{};
  std::vector<Bytef> out_ = std::vector<Bytef>(kBuffer);
};

/// A deflated member that grows at the file's position; finish() updates its header.
class MemberWriter {
 public:
  MemberWriter(File& out, const std::string& name, std::uint64_t& at)
      : out_(out), at_(at), member_{name + ".npy", true, at, 0, 0, 0} {
    const std::string placeholder = local_header(member_);
    out_.write(placeholder.data(), placeholder.size());
  }
  void put(const void* data, std::size_t bytes, bool last = false) {
    member_.crc = crc_of(member_.crc, data, bytes);
    member_.size += bytes;
    member_.packed += deflater_.write(out_, data, bytes, last);
  }
  /// Moves `at` to the end of the member.
  Member finish() {
    put("", 0, true);
    const std::string header = local_header(member_);
    out_.write_at(at_, header.data(), header.size());
    at_ += header.size() + member_.packed;
    return member_;
  }

 private:
  File& out_;
  std::uint64_t& at_;
  Member member_;
  Deflater deflater_;
};

// numpy pads strings to the longest. Padding is limited to this many bytes in memory or this multiple of the text.
constexpr std::size_t kMaxPadding = std::size_t{16} << 20, kMaxMeanMultiple = 4;

/// Strings of one column, written to a temporary file as (length, bytes) until the longest is known.
class StringColumn {
 public:
  StringColumn(const std::string& member, const std::string& output_path)
      : member_(member), spill_(File::open_unnamed_near(output_path)) {}

  void add(const std::string& text) {
    decode_utf8(text, points_);
    longest_ = std::max(longest_, points_.size());
    all_points_ += points_.size();
    const auto length = static_cast<std::uint32_t>(text.size());
    buffer_.append(reinterpret_cast<const char*>(&length), sizeof length);
    buffer_ += text;
    if (buffer_.size() >= kBuffer) flush();
  }

  /// Writes the members at the file's position; `at` is that position and is advanced.
  std::vector<Member> write(File& out, std::int64_t rows, std::uint64_t& at) {
    flush();
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(rows, 1));
    const std::size_t bound =
        std::max(kMaxPadding / sizeof(std::uint32_t) / count, kMaxMeanMultiple * (all_points_ / count + 1));
    const std::size_t width =
        std::max<std::size_t>(std::min(longest_, bound), 1);  // numpy files have no strings of width 0
    std::vector<Member> members{write_padded(out, rows, width, at)};
    if (width >= longest_) return members;
    members.push_back(write_bytes(out, rows, at));
    members.push_back(write_offsets(out, rows, at));
    members.push_back(write_note(out, width, at));
    return members;
  }

 private:
  Member write_padded(File& out, std::int64_t rows, std::size_t width, std::uint64_t& at) {
    rewind();
    MemberWriter member(out, member_, at);
    const auto header = npy_header("<U" + std::to_string(width), rows, -1);
    member.put(header.data(), header.size());
    for (std::int64_t row = 0; row < rows; ++row) {
      read_text();
      decode_utf8(text_, points_);
      if (points_.size() > width) ++truncated_;
      points_.resize(width);  // the rest is U+0000, numpy's padding
      member.put(points_.data(), width * sizeof(std::uint32_t));
    }
    return member.finish();
  }

  /// Writes all texts consecutively as UTF-8.
  Member write_bytes(File& out, std::int64_t rows, std::uint64_t& at) {
    rewind();
    MemberWriter member(out, member_ + "_utf8", at);
    std::int64_t bytes = 0;
    for (std::int64_t row = 0; row < rows; ++row) bytes += read_valid_text();
    const auto header = npy_header("|u1", bytes, -1);
    member.put(header.data(), header.size());
    rewind();
    for (std::int64_t row = 0; row < rows; ++row) {
      read_valid_text();
      member.put(text_.data(), text_.size());
    }
    return member.finish();
  }

  /// Writes the start of each text and the end of the last.
  Member write_offsets(File& out, std::int64_t rows, std::uint64_t& at) {
    rewind();
    MemberWriter member(out, member_ + "_offsets", at);
    const auto header = npy_header("<i8", rows + 1, -1);
    member.put(header.data(), header.size());
    std::int64_t offset = 0;
    for (std::int64_t row = 0; row <= rows; ++row) {
      member.put(&offset, sizeof offset);
      if (row < rows) offset += read_valid_text();
    }
    return member.finish();
  }

  Member write_note(File& out, std::size_t width, std::uint64_t& at) {
    const std::string note = std::to_string(truncated_) + " of the " + member_ + " are longer than " +
                             std::to_string(width) + " characters and truncated; the complete text i is bytes(" +
                             member_ + "_utf8[" + member_ + "_offsets[i]:" + member_ + "_offsets[i + 1]]).decode()";
    MemberWriter member(out, member_ + "_note", at);
    decode_utf8(note, points_);
    const auto header = npy_header("<U" + std::to_string(points_.size()), 1, -1);
    member.put(header.data(), header.size());
    member.put(points_.data(), points_.size() * sizeof(std::uint32_t));
    return member.finish();
  }

  void flush() {
    spill_.write(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  /// Returns to the first text.
  void rewind() {
    spill_.rewind();
    buffer_.clear();
    read_at_ = 0;
  }

  void read_text() {
    std::uint32_t length = 0;
    read(&length, sizeof length);
    text_.resize(length);
    read(text_.data(), length);
  }

  /// Reads the next text as valid UTF-8, as in `write_padded`; returns its size in bytes.
  std::int64_t read_valid_text() {
    read_text();
    decode_utf8(text_, points_);
    encode_utf8(points_, text_);
    return static_cast<std::int64_t>(text_.size());
  }

  void read(void* to, std::size_t bytes) {
    auto* out = static_cast<char*>(to);
    while (bytes > 0) {
      if (read_at_ == buffer_.size()) {
        buffer_.resize(kBuffer);
        buffer_.resize(spill_.read(buffer_.data(), kBuffer));
        read_at_ = 0;
        if (buffer_.empty()) throw FileError(spill_.path() + ": the temporary file in its folder was truncated");
      }
      const std::size_t part = std::min(bytes, buffer_.size() - read_at_);
      std::memcpy(out, buffer_.data() + read_at_, part);
      read_at_ += part;
      out += part;
      bytes -= part;
    }
  }

  std::string member_;
  File spill_;
  std::string buffer_, text_;
  std::size_t read_at_ = 0, longest_ = 0, all_points_ = 0, truncated_ = 0;
  std::vector<std::uint32_t> points_;
};

}  // namespace

struct NpzWriter::State {
  State(const std::string& path, std::int64_t columns_, FloatKind kind_)
      : out(path), columns(columns_), kind(kind_), ids("ids", path), smiles("smiles", path), status("status", path) {}

  void flush() {
    crc = crc_of(crc, buffer.data(), buffer.size());
    data_bytes += buffer.size();
    out.file().write(buffer.data(), buffer.size());
    buffer.clear();
  }

  AtomicFile out;
  std::int64_t columns, rows = 0;
  FloatKind kind;
  StringColumn ids, smiles, status;
  std::vector<char> buffer;  ///< rows of the matrix not yet in the file
  std::uint32_t crc = 0;     ///< of the matrix without its .npy header, which is written at the end
  std::uint64_t data_bytes = 0;
};

NpzWriter::NpzWriter(const std::string& path, std::int64_t columns, FloatKind kind)
    : state_(std::make_unique<State>(path, columns, kind)) {
  // The matrix is the first member and grows in place; finish() updates both headers.
  const std::string placeholder(local_header({"embeddings.npy", false, 0, 0, 0, 0}).size() + kNpyHeader, '\0');
  state_->out.file().write(placeholder.data(), placeholder.size());
}

NpzWriter::~NpzWriter() = default;

void NpzWriter::add_row(std::span<const float> row, const std::string& id, const std::string& smiles,
                        const std::string& status) {
  assert(static_cast<std::int64_t>(row.size()) == state_->columns);
  append_row(state_->buffer, row, state_->kind);
  ++state_->rows;
  if (state_->buffer.size() >= kBuffer) state_->flush();
  state_->ids.add(id);
  state_->smiles.add(smiles);
  state_->status.add(status);
}

void NpzWriter::finish() {
  State& s = *state_;
  s.flush();
  const auto npy = npy_header(descr_of(s.kind), s.rows, s.columns);
  Member matrix{"embeddings.npy", false, 0, kNpyHeader + s.data_bytes, kNpyHeader + s.data_bytes, 0};
  matrix.crc = crc_joined(crc_of(0, npy.data(), npy.size()), s.crc, s.data_bytes);
  const std::string header = local_header(matrix);
  s.out.file().write_at(0, header.data(), header.size());
  s.out.file().write_at(header.size(), npy.data(), npy.size());

  std::uint64_t at = header.size() + matrix.packed;
  std::vector<Member> members{matrix};
  for (StringColumn* column : {&s.ids, &s.smiles, &s.status})
    for (const Member& member : column->write(s.out.file(), s.rows, at)) members.push_back(member);
  std::string directory;
  for (const Member& member : members) directory += central_header(member);
  directory += end_of_directory(members.size(), at, directory.size());
  s.out.file().write(directory.data(), directory.size());
  s.out.commit();
}

}  // namespace molgraph
