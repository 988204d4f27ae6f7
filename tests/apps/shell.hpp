// Running programs from a test: a scratch folder, a shell command, and what came of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace molgraph::test {

struct ShellResult {
  int code = 0;  ///< exit code; 128 + signal if a signal ended the shell
  std::string out, err;
};

/// A folder that is removed at the end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  /// Runs the command with bash in this folder; `bin` is put in front of PATH. Killed after `seconds`: many times what
  /// it needs, because machines stand still for minutes when they are shared or their disk is busy.
  ShellResult run(const std::string& bin, const std::string& command, int seconds = 900) const;

 private:
  std::filesystem::path folder_;
};

/// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);
/// Cells of a line without quotes.
std::vector<std::string> cells_of(const std::string& line, char delimiter = ',');

}  // namespace molgraph::test
