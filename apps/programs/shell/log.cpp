#include "apps/programs/shell/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "featurize/graph/error.hpp"

namespace molgraph {

void log_info(const std::string& line) { spdlog::info("{}", line); }
void log_warning(const std::string& line) { spdlog::warn("{}", line); }

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

}  // namespace molgraph
