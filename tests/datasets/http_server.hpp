// A small local HTTP server that can fail in the ways that real servers fail.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace molgraph::testing {

struct HttpRequest {
  std::string method, target;
  std::map<std::string, std::string> headers;  ///< names in lower case
};

struct HttpAnswer {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
  /// Bytes of the body after which the connection is closed, -1 = all. Content-Length is that of the whole body.
  long cut_after = -1;
};

class HttpServer {
 public:
  /// `answer` is called for each request, one at a time; `number` counts them from 0.
  explicit HttpServer(std::function<HttpAnswer(const HttpRequest&, int number)> answer);
  ~HttpServer();

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }
  std::vector<HttpRequest> requests() const;

 private:
  void serve();
  void handle(int connection);

  std::function<HttpAnswer(const HttpRequest&, int)> answer_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
  std::thread thread_;
};

/// Correct answer of a server that supports ranges, If-Range and ETag.
HttpAnswer serve_content(const HttpRequest& request, const std::string& content, const std::string& etag);

}  // namespace molgraph::testing
