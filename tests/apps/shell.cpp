#include "tests/apps/shell.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace molgraph::test {

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "molgraph-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create a scratch folder");
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Scratch::write(const std::string& name, const std::string& content) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream out(folder_ / name, std::ios::binary);
  out << content;
  if (!out.flush()) throw std::runtime_error("cannot write " + name);
}

std::string Scratch::read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + name);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

ShellResult Scratch::run(const std::string& bin, const std::string& command, int seconds) const {
  write(".command", "cd " + folder_.string() + "\nexport PATH=" + bin + ":$PATH\n" + command + "\n");
  const std::string call = "timeout " + std::to_string(seconds) + " bash " + path(".command") + " > " + path(".out") +
                           " 2> " + path(".err") + " < /dev/null";
  const int status = std::system(call.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, read(".out"), read(".err")};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> cells_of(const std::string& line, char delimiter) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == delimiter) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

}  // namespace molgraph::test
