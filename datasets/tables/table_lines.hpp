// Plain, gzipped and standard input as a stream of bytes, and that stream as lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tables/reading_hooks.hpp"

namespace molgraph {

/// Bytes of a file or of standard input ("-"). Gzip is recognised by its first bytes, whatever the name says, and
/// unpacked on the fly; several members one after the other are one text. Constant memory.
class ByteStream {
 public:
  /// `shown` names the input in messages; "" = the path, or "standard input". Throws FileError.
  explicit ByteStream(const std::string& path, const std::string& shown = {}, ReadingHooks hooks = {});
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// 0 at the end. Throws FileError on read errors and on damaged or truncated gzip data.
  std::size_t read(char* buffer, std::size_t size);
  /// Goes on at this byte of the text; one before the current place only in a plain file. Throws FileError.
  void seek(std::uint64_t offset);
  /// True if a read would wait, for longer than this, for whoever writes into the pipe.
  bool would_wait(int milliseconds = 0) const;
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Lines of a ByteStream, as UTF-8: a line that is none is read as Windows-1252 (Latin-1), which is said once. A UTF-8
/// byte order mark is skipped; UTF-16, workbooks and other files that are no text are refused with advice (FileError).
/// A file that has carriage returns and no line feed in its first 64 KiB is read as one of those line ends.
class LineReader {
 public:
  /// Of a line that is too long: what is not in the text.
  struct PassedOver {
    std::uint64_t bytes = 0, quotes = 0;
  };
  static constexpr std::size_t kMostLine = std::size_t{256} << 20, kMostPeek = std::size_t{1} << 20;

  explicit LineReader(const std::string& path, const std::string& shown = {}, ReadingHooks hooks = {});

  /// The next line without its end; a carriage return before the line feed is left in place, because inside quotation
  /// marks it belongs to the cell. False at the end. A line above `most` bytes is a DataError naming `row` (0-based);
  /// with `beyond`, what lies above is passed over and described there instead.
  bool next(std::string& line, std::int64_t row, std::size_t most = kMostLine, PassedOver* beyond = nullptr);
  /// Up to `most` bytes (at most kMostPeek) from the current position, without consuming them; fewer if a pipe has
  /// given a line and then pauses.
  std::string_view peek(std::size_t most = std::size_t{64} << 10);
  /// Byte of the (unpacked) text where the next line begins; and going on there, as ByteStream::seek().
  std::uint64_t offset() const { return read_ - (end_ - begin_); }
  void seek(std::uint64_t offset);
  /// True if nothing is left to read until the other side of the pipe writes.
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
  bool said_encoding_ = false;
};

/// Removes one carriage return from the end.
void strip_carriage_return(std::string& line);

}  // namespace molgraph
