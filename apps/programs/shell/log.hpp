// Log lines from files that also include LibTorch, whose bundled fmt does not go with spdlog's.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace molgraph {

void log_info(const std::string& line);
void log_warning(const std::string& line);
void log_warnings(const std::vector<std::string>& lines);

/// Copies all log lines into a file while it lives; appends. Throws FileError.
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
