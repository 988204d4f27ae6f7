#include "apps/programs/shell/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstdarg>
#include <cstdio>

#include "featurize/graph/error.hpp"

namespace molgraph {

void log_info(const std::string& line) { spdlog::info("{}", line); }
void log_warning(const std::string& line) { spdlog::warn("{}", line); }
void log_warnings(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) log_warning(line);
}

struct LogFile::State {
  std::shared_ptr<spdlog::sinks::basic_file_sink_mt> sink;
};

LogFile::LogFile(const std::string& path) : state_(new State) {
  try {
    state_->sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
  } catch (const spdlog::spdlog_ex& error) {
    throw FileError(path + ": cannot be written: " + error.what());
  }
  spdlog::default_logger()->sinks().push_back(state_->sink);
  spdlog::default_logger()->flush_on(spdlog::level::info);
}

LogFile::~LogFile() { std::erase(spdlog::default_logger()->sinks(), state_->sink); }

std::string text(const char* format, ...) {
  std::va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string result(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  return result;
}

}  // namespace molgraph
