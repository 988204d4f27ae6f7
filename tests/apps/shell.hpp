// Runs programs from a test: a scratch folder, a shell command and its result.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace molgraph::test {

struct ShellResult {
  int code = 0;  ///< exit code; 128 + signal if a signal ended the shell
  std::string out, err;
};

/// A temporary folder. The destructor removes it.
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
  /// Runs the command with bash in this folder. `bin` is prepended to PATH. The command is killed after `seconds`: many
  /// times what it needs, because a shared machine, or one with a busy disk, can stall for minutes.
  ShellResult run(const std::string& bin, const std::string& command, int seconds = 900) const;

 private:
  std::filesystem::path folder_;
};

/// Lines without line ends.
std::vector<std::string> lines_of(const std::string& text);
/// Cells of a line. Quotes have no special meaning.
std::vector<std::string> cells_of(const std::string& line, char delimiter = ',');

}  // namespace molgraph::test
