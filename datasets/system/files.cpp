#include "datasets/system/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;       // bytes per read when hashing
constexpr std::size_t kMaxPerCall = std::size_t{1} << 30;  // Linux transfers at most 2 GiB per call

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  const int error = errno;
  throw FileError(path + ": " + what + (error != 0 ? std::string(": ") + std::strerror(error) : ""));
}

constexpr std::string_view kTemporary = ".part.";

/// Creates a file called `prefix` + process id + number (returned in `name`) with the usual permissions of new files.
int make_temporary(const std::string& prefix, std::string& name, const std::string& output_path) {
  static std::atomic<unsigned> next{0};
  int descriptor = -1;
  do {
    name = prefix + std::to_string(::getpid()) + "." + std::to_string(next++);
    descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) fail(output_path, "cannot write");
  return descriptor;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Makes a rename durable. Some file systems cannot sync a folder, but the rename is atomic anyway.
void flush_folder(const std::string& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

std::string linked_file(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int kMaxLinks = 40;
  std::error_code error;
  fs::path target = path;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (links == kMaxLinks || error) throw FileError(path + ": cannot follow its symbolic links");
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

std::string replaced_file(const std::string& path) {
  if (path.empty()) throw FileError("the name of the file to write is empty");
  std::string target = linked_file(path);
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    errno = 0;
    fail(path, S_ISDIR(info.st_mode) ? "cannot write: it is a folder" : "cannot write: it is not a regular file");
  }
  return target;
}

File File::open(const std::string& path) {
  struct stat info {};
  // Checked before opening: open() of a named pipe would wait for its writer, or take data from its reader.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    throw FileError(path + (S_ISDIR(info.st_mode) ? ": is a folder, not a regular file" : ": not a regular file"));
  }
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(path, "cannot open");
  File file(descriptor, path);
  if (::fstat(descriptor, &info) != 0) fail(path, "cannot read");
  if (!S_ISREG(info.st_mode)) throw FileError(path + ": not a regular file");
  return file;
}

File File::open_unnamed_near(const std::string& path) {
  std::string name;
  const int descriptor = make_temporary(path + std::string(kTemporary), name, path);
  ::unlink(name.c_str());
  return File(descriptor, path);
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void File::write(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, from, std::min(bytes, kMaxPerCall));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot write");
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void File::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, from, std::min(bytes, kMaxPerCall), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path_, "cannot write");
    from += written;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::size_t>(written);
  }
}

std::size_t File::read(void* data, std::size_t bytes) {
  auto* to = static_cast<char*>(data);
  std::size_t total = 0;
  while (total < bytes) {
    const ssize_t got = ::read(descriptor_, to + total, std::min(bytes - total, kMaxPerCall));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "cannot read");
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

std::size_t File::read_at(std::uint64_t offset, void* data, std::size_t bytes) {
  auto* to = static_cast<char*>(data);
  std::size_t total = 0;
  while (total < bytes) {
    const ssize_t got =
        ::pread(descriptor_, to + total, std::min(bytes - total, kMaxPerCall), static_cast<off_t>(offset + total));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "cannot read");
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

void File::rewind() {
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) fail(path_, "cannot seek to the start");
}

std::uint64_t File::size() const {
  struct stat info {};
  if (::fstat(descriptor_, &info) != 0) fail(path_, "cannot read its size");
  return static_cast<std::uint64_t>(info.st_size);
}

void File::flush_to_disk() {
  if (::fsync(descriptor_) != 0) fail(path_, "cannot flush to disk");
}

void File::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "cannot write");
}

bool is_orphaned_temporary(std::string_view name) {
  const auto at = name.rfind(kTemporary);
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view numbers = name.substr(at + kTemporary.size());
  pid_t process = 0;
  unsigned number = 0;
  const char* const end = numbers.data() + numbers.size();
  const auto [point, error] = std::from_chars(numbers.data(), end, process);
  if (error != std::errc() || process <= 0 || point == end || *point != '.') return false;
  const auto [stop, other_error] = std::from_chars(point + 1, end, number);
  return other_error == std::errc() && stop == end && ::kill(process, 0) != 0 && errno == ESRCH;
}

AtomicFile::AtomicFile(const std::string& path)
    : target_(replaced_file(path)), file_(make_temporary(target_ + std::string(kTemporary), temporary_, path), path) {}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(temporary_.c_str());
}

void AtomicFile::commit() {
  file_.flush_to_disk();
  file_.close();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(target_, "cannot rename " + temporary_ + " to it");
  committed_ = true;
  flush_folder(target_);
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile out(path);
  out.file().write(content.data(), content.size());
  out.commit();
}

std::string read_file(const std::string& path) {
  File file = File::open(path);
  std::string content(file.size(), '\0');
  content.resize(file.read(content.data(), content.size()));
  return content;
}

std::string sha256_of_file(const std::string& path) {
  File file = File::open(path);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  errno = 0;
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
    fail(path, "OpenSSL does not provide SHA-256");
  std::vector<unsigned char> block(kBlock);
  while (const std::size_t got = file.read(block.data(), block.size())) {
    if (EVP_DigestUpdate(context.get(), block.data(), got) != 1) fail(path, "cannot hash");
  }
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(context.get(), digest, &length) != 1) fail(path, "cannot hash");
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4u];
    hex += "0123456789abcdef"[digest[i] & 15u];
  }
  return hex;
}

}  // namespace molgraph
