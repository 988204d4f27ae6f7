// Errors that come from outside the program. A bug asserts; data from outside throws one of these.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace molgraph {

/// Bad content: a row, a cell, a molecule. Programs end with exit code 3.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// "FILE, row ROW: MESSAGE (TEXT)"; row is 1-based among data rows, 0 = unknown; text is shortened to 80 characters.
  DataError(const std::string& file, std::int64_t row, const std::string& message, const std::string& text = {});
};

/// A missing, damaged or unfit file (tables, stores, models, run directories). Exit code 4.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Options that contradict each other or do not exist. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Input and program are right, but the run failed: a GPU, another process of it, a training that diverged. Exit
/// code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace molgraph
