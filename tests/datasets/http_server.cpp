#include "tests/datasets/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace molgraph::testing {

HttpServer::HttpServer(std::function<HttpAnswer(const HttpRequest&, int)> answer) : answer_(std::move(answer)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 8) != 0 || ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("cannot start a local server");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  ended_ = true;
  thread_.join();
  ::close(listener_);
}

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void HttpServer::serve() {
  while (!ended_) {
    pollfd one{listener_, POLLIN, 0};
    if (::poll(&one, 1, 20) <= 0) continue;
    const int connection = ::accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    handle(connection);
    ::close(connection);
  }
}

void HttpServer::handle(int connection) {
  std::string text;
  char block[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    const ssize_t received = ::recv(connection, block, sizeof block, 0);
    if (received <= 0) return;
    text.append(block, static_cast<std::size_t>(received));
  }
  HttpRequest request;
  std::istringstream lines(text);
  lines >> request.method >> request.target;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "\r") {
    const auto colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  int number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = static_cast<int>(requests_.size());
    requests_.push_back(request);
  }
  const HttpAnswer answer = answer_(request, number);
  std::string out = "HTTP/1.1 " + std::to_string(answer.status) +
                    " X\r\nConnection: close\r\nContent-Length: " + std::to_string(answer.body.size()) + "\r\n";
  for (const auto& [name, value] : answer.headers) out += name + ": " + value + "\r\n";
  out +=
      "\r\n" + (answer.cut_after < 0 ? answer.body : answer.body.substr(0, static_cast<std::size_t>(answer.cut_after)));
  for (std::size_t sent = 0; sent < out.size();) {
    const ssize_t count = ::send(connection, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

HttpAnswer serve_content(const HttpRequest& request, const std::string& content, const std::string& etag) {
  HttpAnswer answer;
  answer.headers["ETag"] = etag;
  answer.body = content;
  const auto range = request.headers.find("range");
  const auto condition = request.headers.find("if-range");
  if (range == request.headers.end() || (condition != request.headers.end() && condition->second != etag))
    return answer;
  const std::size_t from = std::stoul(range->second.substr(6));
  if (from >= content.size()) return {.status = 416, .headers = {}, .body = "no such range"};
  answer.status = 206;
  answer.headers["Content-Range"] =
      "bytes " + std::to_string(from) + "-" + std::to_string(content.size() - 1) + "/" + std::to_string(content.size());
  answer.body = content.substr(from);
  return answer;
}

}  // namespace molgraph::testing
