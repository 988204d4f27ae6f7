// Records of outputs. OUT.part.json states how much of an unfinished OUT.part is complete. OUT.json belongs to a
// finished OUT. Both list everything that the output was made from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "apps/programs/shell/row_windows.hpp"

namespace molgraph {

struct ResumeRecord {
  std::map<std::string, std::string> made_from;  ///< everything the output depends on: inputs, weights, options
  std::int64_t rows = 0;                         ///< complete output rows
  std::uint64_t bytes = 0;                       ///< size of OUT.part
  InputPosition input;                           ///< position of the next row
  StatusCounts counts;
  std::string content;  ///< content_fingerprint() of the complete output; "" = unfinished
};

/// The record of `file` (OUT or OUT.part), or nothing if there is none. Throws FileError if the file is damaged or not
/// a record.
std::optional<ResumeRecord> read_resume_record(const std::string& file);
/// Writes atomically: a reader sees either the old or the new record.
void write_resume_record(const std::string& file, const ResumeRecord& record);
void remove_resume_record(const std::string& file);
/// Renames the record of OUT.part to that of OUT, after OUT.part was renamed to OUT.
void finish_resume_record(const std::string& output);
/// The first difference, such as "weights: A instead of B"; "" = none.
std::string difference(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

}  // namespace molgraph
