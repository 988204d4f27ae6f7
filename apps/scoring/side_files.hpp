// Names of the files that a program writes next to an output OUT: OUT with a suffix.
#pragma once

#include <string>
#include <vector>

namespace molgraph {

/// OUT while it is unfinished. (Files that cannot be resumed are OUT.part.PROCESS.NUMBER until they are complete:
/// AtomicFile.)
inline std::string part_path(const std::string& output) { return output + ".part"; }
/// The ResumeRecord of `file`, OUT or OUT.part: the inputs that it is computed from.
inline std::string record_path(const std::string& file) { return file + ".json"; }
/// The names of the rows of a matrix OUT.npy, whose format cannot contain them.
inline std::string rows_path(const std::string& output) { return output + ".rows.csv"; }

/// All files that a program may write for a line-by-line output, including the output itself.
inline std::vector<std::string> files_of_lines(const std::string& output) {
  const std::string part = part_path(output), record = record_path(output), part_record = record_path(part);
  return {output, part, record, part_record, part_path(part_record)};
}

}  // namespace molgraph
