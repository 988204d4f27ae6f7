// HTTP with libcurl. Resuming a partial file: RFC 9110, sections 13.1.5 (If-Range) and 14.2 (Range).
#include "datasets/catalogue/download.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

struct CleanUp {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Handle = std::unique_ptr<CURL, CleanUp>;
using Headers = std::unique_ptr<curl_slist, CleanUp>;

/// Result of one attempt.
enum class Attempt : std::uint8_t { complete, interrupted, busy };

class Download {
 public:
  Download(const std::string& url, const std::string& path, const DownloadOptions& options)
      : url_(url), path_(path), part_(path + ".part"), validator_file_(path + ".part.version"), options_(options) {
    std::error_code create_error;
    fs::create_directories(fs::path(path).parent_path(), create_error);
    if (create_error) throw FileError(path + ": cannot create its folder: " + create_error.message());
    file_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw FileError(part_ + ": cannot write: " + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(file_);
      throw FileError(part_ + ": another process is downloading it");
    }
    std::error_code error;
    if (fs::exists(validator_file_, error)) validator_ = read_file(validator_file_);
  }
  ~Download() {
    std::error_code error;
    if (!finished_ && size() == 0) fs::remove(part_, error);  // nothing to resume
    ::close(file_);
  }
  Download(const Download&) = delete;
  Download& operator=(const Download&) = delete;

  /// Bytes downloaded so far.
  std::uint64_t size() const {
    struct stat info {};
    return ::fstat(file_, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  }
  /// Discards the partial file.
  void discard() {
    validator_.clear();
    std::error_code error;
    fs::remove(validator_file_, error);
    if (::ftruncate(file_, 0) != 0) throw FileError(part_ + ": cannot write: " + std::strerror(errno));
  }

  Attempt attempt();
  const std::string& reason() const { return reason_; }

  void finish() {
    if (::fsync(file_) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0)
      throw FileError(path_ + ": cannot be completed: " + std::strerror(errno));
    finished_ = true;
    std::error_code error;
    fs::remove(validator_file_, error);
  }
  const std::string& part() const { return part_; }

 private:
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
    return static_cast<Download*>(self)->body(bytes, size * count);
  }
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
    static_cast<Download*>(self)->header({bytes, size * count});
    return size * count;
  }
  static int on_progress(void* self, curl_off_t total, curl_off_t now, curl_off_t, curl_off_t) {
    return static_cast<Download*>(self)->progress(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(total));
  }

  std::size_t body(const char* bytes, std::size_t count);
  void header(std::string_view line);
  int progress(std::uint64_t now, std::uint64_t total);
  Headers prepare(CURL* curl);

  const std::string url_, path_, part_, validator_file_;
  const DownloadOptions& options_;
  int file_ = -1;
  bool finished_ = false;
  std::string validator_;        // ETag or Last-Modified of the content of .part
  CURL* curl_ = nullptr;         // of the current attempt
  std::string etag_, modified_;  // of the response
  std::uint64_t offset_ = 0;     // where the attempt continues
  bool body_begun_ = false, stopped_ = false;
  std::string disk_error_, reason_;
};

void Download::header(std::string_view line) {
  const auto colon = line.find(':');
  if (line.starts_with("HTTP/")) etag_.clear(), modified_.clear();  // the response after a redirection
  if (colon == std::string_view::npos) return;
  const std::string name = lower(line.substr(0, colon));
  if (name == "etag") etag_ = trim(line.substr(colon + 1));
  if (name == "last-modified") modified_ = trim(line.substr(colon + 1));
}

std::size_t Download::body(const char* bytes, std::size_t count) {
  long code = 0;
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &code);
  if (code != 200 && code != 206) return count;  // an error page
  if (!body_begun_) {
    body_begun_ = true;
    if (code == 200 && offset_ > 0) {  // the server does not support ranges, or the file has changed
      discard();
      offset_ = 0;
    }
    if (offset_ == 0) {
      validator_ = !etag_.empty() && !etag_.starts_with("W/") ? etag_ : modified_;
      if (!validator_.empty()) write_file_atomically(validator_file_, validator_);
    }
    if (::lseek(file_, 0, SEEK_END) < 0) return 0;
  }
  for (std::size_t done = 0; done < count;) {
    const ssize_t written = ::write(file_, bytes + done, count - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      disk_error_ = std::strerror(errno);
      return 0;
    }
    done += static_cast<std::size_t>(written);
  }
  return count;
}

int Download::progress(std::uint64_t now, std::uint64_t total) {
  if (!options_.progress) return 0;
  stopped_ = !options_.progress(offset_ + now, total > 0 ? offset_ + total : 0);
  return stopped_ ? 1 : 0;
}

Headers Download::prepare(CURL* curl) {
  curl_ = curl;
  if (validator_.empty()) discard();  // the server does not say whether the file has changed
  offset_ = size();
  body_begun_ = false;
  etag_.clear();
  modified_.clear();
  curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "molgraph");
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, static_cast<long>(options_.stall_seconds));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.stall_seconds));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Download::on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Download::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Download::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
  if (offset_ == 0) return nullptr;
  // Not CURLOPT_RESUME_FROM, which treats a complete file in response as an error.
  Headers headers(curl_slist_append(nullptr, ("Range: bytes=" + std::to_string(offset_) + "-").c_str()));
  curl_slist_append(headers.get(), ("If-Range: " + validator_).c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  return headers;
}

Attempt Download::attempt() {
  const Handle curl(curl_easy_init());
  if (!curl) throw FileError("libcurl cannot be initialised");
  char message[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, message);
  const Headers headers = prepare(curl.get());
  const CURLcode result = curl_easy_perform(curl.get());
  long code = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &code);
  if (stopped_) throw DownloadStopped{};
  if (!disk_error_.empty()) throw FileError(part_ + ": cannot write: " + disk_error_);
  reason_ = message[0] != '\0' ? message : curl_easy_strerror(result);
  switch (result) {
    case CURLE_OK: break;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return Attempt::interrupted;
    default: throw FileError(url_ + ": cannot be downloaded: " + reason_);
  }
  if (code == 200 || code == 206) return Attempt::complete;
  reason_ = "the server returned status " + std::to_string(code);
  if (code == 416) {  // .part is as long as the file, or longer: it is unknown which
    discard();
    return Attempt::interrupted;
  }
  if (code == 408 || code == 429 || code >= 500) return Attempt::busy;
  throw FileError(url_ + ": cannot be downloaded: " + reason_);
}

}  // namespace

void download(const std::string& url, const std::string& path, const std::string& sha256,
              const DownloadOptions& options) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw FileError("libcurl cannot be initialised");
  Download one(url, path, options);
  double pause = options.first_pause;
  bool other_content = false;
  for (int attempt = 1;; ++attempt) {
    const bool resumed = one.size() > 0;
    std::string reason;
    if (one.attempt() == Attempt::complete) {
      const std::string found = sha256.empty() ? sha256 : sha256_of_file(one.part());
      if (found == sha256) break;
      one.discard();
      reason = "unexpected content: the SHA-256 is " + found + " instead of " + sha256;
      // An older version of the file may have been continued, so one more attempt is useful. The same bytes again are
      // not.
      if (other_content || !resumed) throw FileError(url + ": " + reason);
      other_content = true;
    } else {
      reason = one.reason();
    }
    if (attempt >= options.attempts)
      throw FileError(url + ": cannot be downloaded after " + std::to_string(attempt) + " attempts: " + reason +
                      (one.size() > 0 ? "; the next attempt continues with " + one.part() : ""));
    if (options.log) options.log(url + ": " + reason + "; trying again");
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    pause *= 2;
  }
  one.finish();
}

}  // namespace molgraph
