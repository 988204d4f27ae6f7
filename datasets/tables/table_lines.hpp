// Plain files, gzipped files and standard input as a stream of bytes and as lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

/// Bytes of a file or of standard input ("-"). Gzip is recognised by its first bytes, whatever the file name, and
/// decompressed while reading; consecutive gzip members form one text. Uses constant memory.
class ByteStream {
 public:
  /// `shown_name` is the name of the input in messages; "" = the path, or "standard input". Throws FileError.
  explicit ByteStream(const std::string& path, const std::string& shown_name = {}, ReadingHooks hooks = {});
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Returns 0 at the end. Throws FileError on read errors and on damaged or truncated gzip data.
  std::size_t read(char* buffer, std::size_t size);
  /// Continues at this byte of the text. Only a plain file can be moved backwards. Throws FileError.
  void seek(std::uint64_t offset);
  /// True if a read would block for longer than this because the other end of the pipe does not write.
  bool would_wait(int milliseconds = 0) const;
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lines of a ByteStream, as UTF-8. A line that is not valid UTF-8 is read as Windows-1252 (Latin-1); the first one is
/// reported. A UTF-8 byte order mark is skipped. UTF-16, workbooks and other files that are not text throw FileError
/// with advice. If the first 64 KiB contain carriage returns but no line feed, lines end with carriage returns.
class LineReader {
 public:
  /// The part of a line above the limit that was not kept.
  struct Excess {
    std::uint64_t bytes = 0, quotes = 0;
  };
  static constexpr std::size_t kMaxLine = std::size_t{256} << 20, kMaxPeek = std::size_t{1} << 20;

  explicit LineReader(const std::string& path, const std::string& shown_name = {}, ReadingHooks hooks = {});

  /// Reads the next line without its line end. A carriage return before the line feed is kept, because inside quotation
  /// marks it belongs to the cell. Returns false at the end. A line above `max_bytes` bytes throws a DataError that
  /// names `row` (0-based); with `excess`, the excess is skipped and described there instead.
  bool next(std::string& line, std::int64_t row, std::size_t max_bytes = kMaxLine, Excess* excess = nullptr);
  /// Returns up to `max_bytes` bytes (at most kMaxPeek) from the current position without consuming them; fewer if a
  /// pipe pauses after a complete line.
  std::string_view peek(std::size_t max_bytes = std::size_t{64} << 10);
  /// Byte of the (decompressed) text where the next line begins. seek() continues there, like ByteStream::seek().
  std::uint64_t offset() const { return read_ - (end_ - begin_); }
  void seek(std::uint64_t offset);
  /// True if the buffer is empty and the other end of the pipe has not written yet.
  bool would_wait() const { return begin_ == end_ && !at_end_ && stream_.would_wait(); }
  char line_end() const { return line_end_; }
  const std::string& name() const { return stream_.name(); }

 private:
  bool fill();
  void make_utf8(std::string& line);

  ReadingHooks hooks_;
  ByteStream stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t read_ = 0;  ///< bytes taken from the stream
  bool at_end_ = false;
  char line_end_ = '\n';
  bool reported_encoding_ = false;
};

/// Removes one carriage return from the end.
void strip_carriage_return(std::string& line);

}  // namespace molgraph
