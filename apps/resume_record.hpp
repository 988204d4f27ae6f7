// What OUT.part.json says of an unfinished OUT.part: how far it is whole, and what it is made from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "apps/row_windows.hpp"

namespace molgraph {

struct ResumeRecord {
  std::map<std::string, std::string> made_from;  ///< everything the output depends on: inputs, weights, options
  std::int64_t rows = 0;                         ///< output rows, all of them whole
  std::uint64_t bytes = 0;                       ///< of OUT.part
  InputPosition input;                           ///< where the next row is
  StatusCounts counts;
};

/// OUT.part.json
std::string resume_record_path(const std::string& output);
/// Nothing if there is no such file. Throws FileError if it is damaged.
std::optional<ResumeRecord> read_resume_record(const std::string& output);
/// Atomic: a reader sees the old record or the new one.
void write_resume_record(const std::string& output, const ResumeRecord& record);
void remove_resume_record(const std::string& output);
/// The first thing in which two outputs differ, "weights: A instead of B"; "" if none.
std::string difference(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

}  // namespace molgraph
