// One rule for names: whatever a program puts beside an output OUT is called OUT and a suffix.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// OUT while it is unfinished. (Files that nobody goes on with grow as OUT.part.PROCESS.NUMBER: AtomicFile.)
inline std::string part_path(const std::string& output) { return output + ".part"; }
/// What `file`, OUT or OUT.part, is made from: ResumeRecord.
inline std::string record_path(const std::string& file) { return file + ".json"; }
/// The rows' names beside a matrix OUT.npy, which has no room for them.
inline std::string rows_path(const std::string& output) { return output + ".rows.csv"; }

/// All that a program may write for an output that lines are written to, itself included.
inline std::vector<std::string> files_of_lines(const std::string& output) {
  const std::string part = part_path(output), record = record_path(output), part_record = record_path(part);
  return {output, part, record, part_record, part_path(part_record)};
}

}  // namespace molgraph
