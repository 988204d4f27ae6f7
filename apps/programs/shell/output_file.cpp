#include "apps/programs/shell/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>

#include "apps/programs/shell/program.hpp"
#include "apps/programs/shell/progress_bar.hpp"
#include "apps/scoring/side_files.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// A complete gzip member. Concatenated members are a valid .gz file.
std::string gzip_member(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 16;  // added to the window bits: zlib then writes a gzip header
  if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out;
  char block[1 << 16];
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && !bytes.empty()) {  // zlib counts in 32 bits
      const auto piece = std::min<std::size_t>(bytes.size(), 1u << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(piece);
      bytes.remove_prefix(piece);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    state = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(block, sizeof block - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

}  // namespace

std::string without_gz(const std::string& path) {
  std::string name = path;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.size() > 3 && name.compare(name.size() - 3, 3, ".gz") == 0) name.resize(name.size() - 3);
  return name;
}

bool is_output_stream(const std::string& path) {
  if (path == "-") return true;
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

OutputFile::OutputFile(const std::string& path, std::uint64_t kept)
    : path_(path), gzip_(without_gz(path).size() != path.size()) {
  if (path == "-") {
    path_ = "standard output";
    descriptor_ = STDOUT_FILENO;
    terminal_ = isatty(descriptor_) != 0;
    return;
  }
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw FileError(path + ": is a folder");
  const bool stream = is_output_stream(path);
  if (!stream) path_ = replaced_file(path);
  const std::string opened = stream ? path : part_path(path_);
  descriptor_ = open(opened.c_str(), (stream ? O_WRONLY : O_WRONLY | O_CREAT) | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw FileError(path + ": cannot write: " + std::strerror(errno));
  terminal_ = isatty(descriptor_) != 0;
  if (stream) return;
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    throw FileError(opened + ": another process is writing it");
  }
  struct stat info {};
  if (fstat(descriptor_, &info) != 0 || static_cast<std::uint64_t>(info.st_size) < kept ||
      ftruncate(descriptor_, static_cast<off_t>(kept)) != 0 || lseek(descriptor_, 0, SEEK_END) < 0) {
    close(descriptor_);
    throw FileError(opened + ": cannot be continued after byte " + std::to_string(kept));
  }
  part_ = opened;
  bytes_ = kept;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
  if (!part_.empty() && !finished_) unlink(part_.c_str());
}

void OutputFile::write(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string zipped = gzip_ ? gzip_member(bytes) : std::string();
  const std::string_view written = gzip_ ? zipped : bytes;
  if (terminal_) clear_progress_bar();
  write_all(descriptor_, written, path_);
  bytes_ += written.size();
}

void OutputFile::flush_to_disk() {
  if (!part_.empty() && fdatasync(descriptor_) != 0) {
    throw FileError(part_ + ": cannot flush to disk: " + std::strerror(errno));
  }
}

void OutputFile::finish() {
  finished_ = true;
  if (descriptor_ == STDOUT_FILENO) return;
  const bool saved = part_.empty() || fsync(descriptor_) == 0;
  const bool closed = close(descriptor_) == 0;
  descriptor_ = -1;
  if (!saved || !closed || (!part_.empty() && std::rename(part_.c_str(), path_.c_str()) != 0)) {
    const std::string reason = std::strerror(errno);
    throw FileError(path_ + ": cannot be completed: " + reason);
  }
}

std::string OutputFile::keep_part() {
  finished_ = true;
  return part_;
}

void LineFile::add(std::string_view line) {
  constexpr std::size_t kBlock = 1 << 20;
  text_ += line;
  if (text_.size() < kBlock) return;
  file_.write(text_);
  text_.clear();
}

void LineFile::flush() {
  file_.write(text_);
  text_.clear();
  file_.flush_to_disk();
}

void LineFile::finish() {
  flush();
  file_.finish();
}

}  // namespace molgraph
