// Exceptions for errors caused by input, files, options or the environment. A bug in the program fails an assertion
// instead.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace molgraph {

/// Base of all exceptions of this library that are not bugs.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Invalid content: a row, a cell, a molecule. Programs end with exit code 3.
class DataError : public Error {
 public:
  using Error::Error;

  /// "FILE, row ROW: MESSAGE (TEXT)". `row` counts data rows from 1, 0 = unknown. `text` is shortened to 80 characters.
  DataError(const std::string& file, std::int64_t row, const std::string& message, const std::string& text = {});
};

/// A missing, damaged or unsuitable file (tables, stores, models, run directories). Exit code 4.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Options that contradict each other or do not exist. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A run that failed although its input and options are valid, for example because of a GPU, another process of the run
/// or a diverging training. Exit code 1.
class RunError : public Error {
 public:
  using Error::Error;
};

}  // namespace molgraph
