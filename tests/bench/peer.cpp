#include "tests/bench/peer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

extern char** environ;  // NOLINT(readability-redundant-declaration): unistd.h has it with _GNU_SOURCE only

namespace molgraph::bench {
namespace {

constexpr const char* kScript = MOLGRAPH_PEER_SCRIPT;

std::string quoted(const std::string& text) { return "'" + text + "'"; }

}  // namespace

std::string peer_python(const std::string& folder) {
  const std::string python = folder + "/bin/python", version = TORCH_VERSION;
  const std::string release = version.substr(0, version.find('+'));
  if (std::system((quoted(python) + " -c 'import torch, numpy' 2>/dev/null").c_str()) == 0) return python;
  std::fprintf(stderr, "molgraph-bench: installing PyTorch %s into %s\n", release.c_str(), folder.c_str());
  if (std::system(("python3 -m venv " + quoted(folder) + " && " + quoted(python) +
                   " -m pip install --quiet --disable-pip-version-check numpy torch==" + release)
                      .c_str()) != 0)
    throw std::runtime_error("PyTorch could not be installed into " + folder);
  return python;
}

bool has_peer(const Case& c) { return !c.walks && c.pair_state == 0; }

Peer::Peer(const Case& c, const PeerOptions& options) {
  const std::string model = std::string(c.grpe ? "grpe" : "graphormer") + (c.gate ? "+urpe" : "");
  std::vector<std::string> arguments{options.python,
                                     kScript,
                                     options.batches,
                                     "--serve",
                                     "--only",
                                     model,
                                     "--threads",
                                     std::to_string(options.threads),
                                     "--width",
                                     std::to_string(c.width),
                                     "--heads",
                                     std::to_string(c.heads),
                                     "--dropout",
                                     std::to_string(options.dropout),
                                     "--compile-seconds",
                                     std::to_string(options.compile_seconds)};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for peer.py");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int code = ::posix_spawnp(&child_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = ::fdopen(out[0], "r");
  if (code != 0) child_ = -1;
  std::signal(SIGPIPE, SIG_IGN);  // line() reports a peer that has ended
  (void)line();
}

Peer::~Peer() {
  ::close(to_);  // the peer ends with its input
  std::fclose(from_);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
}

std::string Peer::line() {
  std::string text;
  for (int c = 0; (c = std::fgetc(from_)) != '\n';) {
    if (c == EOF) throw std::runtime_error("peer.py ended early: " + text);
    text += static_cast<char>(c);
  }
  return text;
}

std::map<std::string, std::array<double, 2>> Peer::round(int k) {
  const std::string request = std::to_string(k) + "\n";
  if (::write(to_, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
    throw std::runtime_error("peer.py ended early");
  return nlohmann::json::parse(line()).get<std::map<std::string, std::array<double, 2>>>();
}

}  // namespace molgraph::bench
