// What a record beside an output says: of an unfinished OUT.part (OUT.part.json) how far it is whole, of a finished OUT
// (OUT.json) that it is; of both what they are made from.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "apps/programs/shell/row_windows.hpp"

namespace molgraph {

struct ResumeRecord {
  std::map<std::string, std::string> made_from;  ///< everything the output depends on: inputs, weights, options
  std::int64_t rows = 0;                         ///< output rows, all of them whole
  std::uint64_t bytes = 0;                       ///< of OUT.part
  InputPosition input;                           ///< where the next row is
  StatusCounts counts;
  std::string content;  ///< content_mark() of the whole output; "" = it is unfinished
};

/// The record of `file`, OUT or OUT.part; nothing if there is none. Throws FileError if it is damaged or no record.
std::optional<ResumeRecord> read_resume_record(const std::string& file);
/// Atomic: a reader sees the old record or the new one.
void write_resume_record(const std::string& file, const ResumeRecord& record);
void remove_resume_record(const std::string& file);
/// The record of OUT.part becomes that of OUT, as OUT.part became OUT.
void finish_resume_record(const std::string& output);
/// The first thing in which two outputs differ, "weights: A instead of B"; "" if none.
std::string difference(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& now);

}  // namespace molgraph
