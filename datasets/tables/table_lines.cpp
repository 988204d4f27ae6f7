#include "datasets/tables/table_lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "datasets/tables/encoding.hpp"
#include "datasets/tables/table_format.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kRawBytes = std::size_t{1} << 18;
constexpr int kPause = 500;        // milliseconds
constexpr int kPollTimeout = 100;  // milliseconds
constexpr std::size_t kShownLine = 60;

}  // namespace

struct ByteStream::State {
  std::string name;
  ReadingHooks hooks;
  int file = -1;
  bool owned = false;
  bool gzip = false;
  bool member_open = false;  ///< inside a gzip member
  bool file_ended = false;
  std::vector<unsigned char> raw = std::vector<unsigned char>(kRawBytes);
  std::size_t raw_begin = 0, raw_end = 0;
  std::uint64_t returned = 0;  ///< bytes of text returned so far
  z_stream inflater{};

  ~State() {
    if (gzip) inflateEnd(&inflater);
    if (owned) ::close(file);
  }

  /// Appends raw bytes to those that remain. Returns false at the end of the file.
  bool fill() {
    if (file_ended) return false;
    if (raw_begin > 0) {
      std::memmove(raw.data(), raw.data() + raw_begin, raw_end - raw_begin);
      raw_end -= raw_begin;
      raw_begin = 0;
    }
    wait();
    ssize_t got = 0;
    do got = ::read(file, raw.data() + raw_end, raw.size() - raw_end);
    while (got < 0 && errno == EINTR);
    if (got < 0) throw FileError(name + ": cannot be read: " + std::strerror(errno));
    file_ended = got == 0;
    raw_end += static_cast<std::size_t>(got);
    return got > 0;
  }

  /// Waits for input and calls `check_stop` regularly meanwhile.
  void wait() const {
    if (!hooks.check_stop) return;
    pollfd one{file, POLLIN, 0};
    int ready = 0;
    do {
      hooks.check_stop();
      ready = ::poll(&one, 1, kPollTimeout);  // a regular file is always ready
    } while (ready == 0 || (ready < 0 && errno == EINTR));
  }

  bool at_gzip_magic() {
    while (raw_end - raw_begin < 2 && fill()) {
    }
    return raw_end - raw_begin >= 2 && raw[raw_begin] == 0x1f && raw[raw_begin + 1] == 0x8b;
  }

  /// Between members: returns true if another one begins. Zero padding is allowed, as in gzip; other bytes are damage.
  bool next_member() {
    while (true) {
      while (raw_begin < raw_end && raw[raw_begin] == 0) ++raw_begin;
      if (raw_begin < raw_end) break;
      if (!fill()) return false;
    }
    if (!at_gzip_magic()) throw FileError(name + ": damaged gzip file: other bytes follow the compressed data");
    inflateReset(&inflater);
    member_open = true;
    return true;
  }

  std::size_t read_gzip(char* buffer, std::size_t size) {
    inflater.next_out = reinterpret_cast<unsigned char*>(buffer);
    inflater.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
    const uInt requested = inflater.avail_out;
    while (inflater.avail_out == requested) {  // a member may be empty, and a piece of input may produce no output
      if (!member_open && !next_member()) return 0;
      if (raw_begin == raw_end && !fill())
        throw FileError(name + ": damaged gzip file: it ends in the middle of its compressed data (truncated?)");
      inflater.next_in = raw.data() + raw_begin;
      inflater.avail_in = static_cast<uInt>(raw_end - raw_begin);
      const int code = inflate(&inflater, Z_NO_FLUSH);
      raw_begin = raw_end - inflater.avail_in;
      if (code == Z_STREAM_END) {
        member_open = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        throw FileError(name + ": damaged gzip file: " + (inflater.msg ? inflater.msg : "cannot be unpacked"));
      }
    }
    return requested - inflater.avail_out;
  }
};

ByteStream::ByteStream(const std::string& path, const std::string& shown_name, ReadingHooks hooks)
    : state_(std::make_unique<State>()) {
  state_->hooks = std::move(hooks);
  state_->name = !shown_name.empty() ? shown_name : path == "-" ? "standard input" : path;
  if (path == "-") {
    state_->file = STDIN_FILENO;
  } else {
    // open() must not block on a pipe without a writer, because it cannot be interrupted. wait() waits instead.
    state_->file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (state_->hooks.check_stop ? O_NONBLOCK : 0));
    if (state_->file < 0) throw FileError(state_->name + ": cannot be opened: " + std::strerror(errno));
    state_->owned = true;
    ::fcntl(state_->file, F_SETFL, ::fcntl(state_->file, F_GETFL) & ~O_NONBLOCK);
  }
  if (state_->at_gzip_magic()) {
    if (inflateInit2(&state_->inflater, 15 + 16) != Z_OK)
      throw FileError(state_->name + ": zlib cannot be initialised");
    state_->gzip = state_->member_open = true;
  }
}

ByteStream::~ByteStream() = default;

std::size_t ByteStream::read(char* buffer, std::size_t size) {
  State& state = *state_;
  std::size_t count = 0;
  if (state.gzip) {
    count = state.read_gzip(buffer, size);
  } else if (state.raw_begin != state.raw_end || state.fill()) {
    count = std::min(size, state.raw_end - state.raw_begin);
    std::memcpy(buffer, state.raw.data() + state.raw_begin, count);
    state.raw_begin += count;
  }
  state.returned += count;
  return count;
}

void ByteStream::seek(std::uint64_t offset) {
  State& state = *state_;
  if (!state.gzip && ::lseek(state.file, static_cast<off_t>(offset), SEEK_SET) >= 0) {
    state.raw_begin = state.raw_end = 0;
    state.file_ended = false;
    state.returned = offset;
    return;
  }
  std::vector<char> skipped(kRawBytes);
  while (state.returned < offset &&
         read(skipped.data(), std::min<std::uint64_t>(skipped.size(), offset - state.returned)) > 0) {
  }
  if (state.returned != offset)
    throw FileError(state.name + ": ends before byte " + std::to_string(offset) + ", where reading should continue");
}

bool ByteStream::would_wait(int milliseconds) const {
  if (state_->raw_begin != state_->raw_end || state_->file_ended) return false;
  pollfd one{state_->file, POLLIN, 0};
  return ::poll(&one, 1, milliseconds) == 0;  // a regular file is always ready
}

const std::string& ByteStream::name() const { return state_->name; }

LineReader::LineReader(const std::string& path, const std::string& shown_name, ReadingHooks hooks)
    : hooks_(std::move(hooks)), stream_(path, shown_name, hooks_), buffer_(kMaxPeek) {
  const std::string_view head = peek();
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"))
    throw FileError(name() + ": is UTF-16 text; save it as UTF-8 (in a spreadsheet: \"CSV UTF-8\")");
  if (const std::string reason = why_not_text(head, path); !reason.empty()) throw FileError(name() + ": " + reason);
  const std::size_t carriage_return = head.find('\r');
  if (head.find('\n') == std::string_view::npos && carriage_return != std::string_view::npos &&
      carriage_return + 1 < head.size())
    line_end_ = '\r';
  if (head.starts_with("\xEF\xBB\xBF")) begin_ += 3;
}

bool LineReader::fill() {
  if (at_end_) return false;
  if (hooks_.check_stop) hooks_.check_stop();
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t got = stream_.read(buffer_.data() + end_, buffer_.size() - end_);
  at_end_ = got == 0;
  end_ += got;
  read_ += got;
  return got > 0;
}

void LineReader::seek(std::uint64_t offset) {
  if (offset >= this->offset() && offset <= read_) {
    begin_ += static_cast<std::size_t>(offset - this->offset());
    return;
  }
  stream_.seek(offset);
  begin_ = end_ = 0;
  read_ = offset;
  at_end_ = false;
}

std::string_view LineReader::peek(std::size_t max_bytes) {
  assert(max_bytes <= kMaxPeek);
  const auto seen = [&] { return std::string_view{buffer_.data() + begin_, std::min(max_bytes, end_ - begin_)}; };
  const auto paused = [&] { return seen().find('\n') != std::string_view::npos && stream_.would_wait(kPause); };
  while (end_ - begin_ < max_bytes && !paused() && fill()) {
  }
  return seen();
}

void LineReader::make_utf8(std::string& line) {
  const std::size_t valid = valid_utf8_prefix(line);
  if (valid == line.size()) return;
  if (!reported_encoding_ && hooks_.log) {
    const std::size_t from = line.find_last_of(std::string("\t,;\"\0", 5), valid);
    const std::string cell = line.substr(from == std::string::npos ? 0 : from + 1);
    const std::size_t end = cell.find_first_of("\t,;\"\r", 1);
    hooks_.log(name() + ": is not UTF-8; read as Windows-1252 (Latin-1), for example '" +
                   shown_head(as_utf8(cell.substr(0, end)), kShownLine) + "'; if this is wrong, save the file as UTF-8",
               true);
  }
  reported_encoding_ = true;
  line = as_utf8(std::move(line));
}

bool LineReader::next(std::string& line, std::int64_t row, std::size_t max_bytes, Excess* excess) {
  line.clear();
  while (true) {
    if (begin_ == end_ && !fill()) {
      make_utf8(line);
      return !line.empty();
    }
    const char* start = buffer_.data() + begin_;
    const auto* stop = static_cast<const char*>(std::memchr(start, line_end_, end_ - begin_));
    const std::size_t length = stop ? static_cast<std::size_t>(stop - start) : end_ - begin_;
    const std::size_t kept = std::min(length, max_bytes - line.size());
    if (kept < length && excess == nullptr)
      throw DataError(name(), row + 1,
                      "a line exceeds the limit of " + std::to_string(max_bytes >> 20u) + " MiB; is this a table?",
                      as_utf8(line.substr(0, 80)));
    line.append(start, kept);
    if (kept < length) {
      excess->bytes += length - kept;
      excess->quotes += static_cast<std::uint64_t>(std::count(start + kept, start + length, '"'));
    }
    begin_ += length + (stop ? 1 : 0);
    if (!stop) continue;
    make_utf8(line);
    return true;
  }
}

void strip_carriage_return(std::string& line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
}

}  // namespace molgraph
