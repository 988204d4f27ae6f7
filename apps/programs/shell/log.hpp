// Logging for files that also include LibTorch, whose bundled fmt is incompatible with spdlog's.
#pragma once

#include <memory>
#include <string>

namespace molgraph {

void log_info(const std::string& line);
void log_warning(const std::string& line);

/// Appends all log lines to a file during the object's lifetime. Throws FileError.
class LogFile {
 public:
  explicit LogFile(const std::string& path);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace molgraph
