#include "apps/programs/batch/resume_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/programs/shell/program.hpp"
#include "apps/scoring/side_files.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr int kVersion = 1;

std::string printable(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::optional<ResumeRecord> read_resume_record(const std::string& file) {
  const std::string path = record_path(file);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path));
    if (json.at("version").get<int>() != kVersion) throw FileError(path + ": is from another version of molgraph");
    ResumeRecord record;
    record.made_from = json.at("made_from").get<std::map<std::string, std::string>>();
    record.rows = json.at("rows").get<std::int64_t>();
    record.bytes = json.at("bytes").get<std::uint64_t>();
    const nlohmann::json& input = json.at("input");
    record.input.table = input.at("table").get<std::size_t>();
    record.input.number = input.at("number").get<std::int64_t>();
    record.input.in_table = {input.at("row").get<std::int64_t>(), input.at("offset").get<std::int64_t>()};
    record.content = json.value("content", "");  // of a finished output
    const auto statuses = json.at("statuses").get<std::vector<std::int64_t>>();
    std::array<std::int64_t, StatusCounts::kStatuses> counts{};
    if (statuses.size() != counts.size()) throw FileError(path + ": has the wrong number of statuses");
    std::ranges::copy(statuses, counts.begin());
    record.counts.set(counts);
    return record;
  } catch (const nlohmann::json::exception& wrong) {
    throw FileError(path + ": is damaged or not a record of molgraph; delete it or move it away: " + wrong.what());
  }
}

void write_resume_record(const std::string& file, const ResumeRecord& record) {
  nlohmann::json json{{"version", kVersion},
                      {"made_from", record.made_from},
                      {"rows", record.rows},
                      {"bytes", record.bytes},
                      {"input",
                       {{"table", record.input.table},
                        {"number", record.input.number},
                        {"row", record.input.in_table.row},
                        {"offset", record.input.in_table.offset}}},
                      {"statuses", record.counts.by_status()}};
  if (!record.content.empty()) json["content"] = record.content;
  // Only one process writes OUT.part, so one temporary name suffices, and killed processes leave at most one file.
  const std::string path = record_path(file), temporary = part_path(path);
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) throw FileError(temporary + ": cannot write: " + std::strerror(errno));
  try {
    write_all(descriptor, printable(json) + "\n", temporary);
  } catch (...) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    throw;
  }
  const bool saved = ::fsync(descriptor) == 0;
  if (::close(descriptor) != 0 || !saved || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    throw FileError(path + ": cannot write: " + std::strerror(reason));
  }
}

void remove_resume_record(const std::string& file) {
  std::error_code error;
  std::filesystem::remove(record_path(file), error);
  std::filesystem::remove(part_path(record_path(file)), error);
}

void finish_resume_record(const std::string& output) {
  const std::string from = record_path(part_path(output)), to = record_path(output);
  if (std::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT)  // ENOENT: another process has already renamed it
    throw FileError(to + ": cannot write: " + std::strerror(errno));
}

std::string difference(const std::map<std::string, std::string>& before,
                       const std::map<std::string, std::string>& now) {
  for (const auto& [key, value] : now) {
    const auto found = before.find(key);
    const std::string old = found == before.end() ? "nothing" : found->second;
    if (old != value) return key + ": " + value + " instead of " + old;
  }
  for (const auto& [key, value] : before)
    if (!now.contains(key)) return key + ": nothing instead of " + value;
  return {};
}

}  // namespace molgraph
