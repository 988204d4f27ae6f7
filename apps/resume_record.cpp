#include "apps/resume_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/program.hpp"
#include "datasets/files.hpp"
#include "featurize/error.hpp"

namespace molgraph {
namespace {

constexpr int kVersion = 1;

std::string printable(const nlohmann::json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string resume_record_path(const std::string& output) { return output + ".part.json"; }

std::optional<ResumeRecord> read_resume_record(const std::string& output) {
  const std::string path = resume_record_path(output);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  try {
    const nlohmann::json json = nlohmann::json::parse(read_file(path));
    if (json.at("version").get<int>() != kVersion) throw FileError(path + ": is of another version of molgraph");
    ResumeRecord record;
    record.made_from = json.at("made_from").get<std::map<std::string, std::string>>();
    record.rows = json.at("rows").get<std::int64_t>();
    record.bytes = json.at("bytes").get<std::uint64_t>();
    const nlohmann::json& input = json.at("input");
    record.input.table = input.at("table").get<std::size_t>();
    record.input.number = input.at("number").get<std::int64_t>();
    record.input.in_table = {input.at("row").get<std::int64_t>(), input.at("offset").get<std::int64_t>()};
    const auto statuses = json.at("statuses").get<std::vector<std::int64_t>>();   // earlier versions had fewer
    std::array<std::int64_t, StatusCounts::kStatuses> counts{};
    if (statuses.size() > counts.size()) throw FileError(path + ": counts statuses that this version does not know");
    std::copy(statuses.begin(), statuses.end(), counts.begin());
    record.counts.set(counts);
    return record;
  } catch (const nlohmann::json::exception& wrong) {
    throw FileError(path + ": is damaged: " + wrong.what());
  }
}

void write_resume_record(const std::string& output, const ResumeRecord& record) {
  const nlohmann::json json{{"version", kVersion},
                            {"made_from", record.made_from},
                            {"rows", record.rows},
                            {"bytes", record.bytes},
                            {"input",
                             {{"table", record.input.table},
                              {"number", record.input.number},
                              {"row", record.input.in_table.row},
                              {"offset", record.input.in_table.offset}}},
                            {"statuses", record.counts.by_status()}};
  // Only one process writes OUT.part, so the temporary name is always the same: a killed one leaves no litter.
  const std::string path = resume_record_path(output), temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw FileError(temporary + ": cannot write: " + std::strerror(errno));
  write_all(file, printable(json) + "\n", temporary);
  const bool saved = ::fsync(file) == 0;
  if (::close(file) != 0 || !saved || std::rename(temporary.c_str(), path.c_str()) != 0) {
    throw FileError(path + ": cannot write: " + std::strerror(errno));
  }
}

void remove_resume_record(const std::string& output) {
  std::error_code error;
  std::filesystem::remove(resume_record_path(output), error);
  std::filesystem::remove(resume_record_path(output) + ".new", error);
}

std::string difference(const std::map<std::string, std::string>& before,
                       const std::map<std::string, std::string>& now) {
  for (const auto& [key, value] : now) {
    const auto found = before.find(key);
    const std::string old = found == before.end() ? "nothing" : found->second;
    if (old != value) return key + ": " + value + " instead of " + old;
  }
  return {};
}

}  // namespace molgraph
