// Exceptions for errors caused by input, files, options or the environment. A bug in the program fails an assertion
// instead.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace molgraph {

/// Invalid content: a row, a cell, a molecule. Programs end with exit code 3.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// "FILE, row ROW: MESSAGE (TEXT)". `row` counts data rows from 1, 0 = unknown. `text` is shortened to 80 characters.
  DataError(const std::string& file, std::int64_t row, const std::string& message, const std::string& text = {});
};

/// A missing, damaged or unsuitable file (tables, stores, models, run directories). Exit code 4.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Options that contradict each other or do not exist. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A run that failed although its input and options are valid, for example because of a GPU, another process of the run
/// or a diverging training. Exit code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace molgraph
