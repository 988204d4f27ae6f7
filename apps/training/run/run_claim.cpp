#include "apps/training/run/run_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "apps/scoring/run_record.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

/// Files that training writes before its first checkpoint, and the files of that checkpoint.
constexpr std::array kStartFiles{"config.toml",    "log.txt",     "run.json",         "splits.csv",      "rejected.csv",
                                 "duplicates.csv", "metrics.csv", "last.safetensors", "best.safetensors"};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.insert(at->path().filename().string());
  return names;
}

bool contains_weights(const std::string& folder) {
  const RunDirectory directory{folder};
  std::error_code error;
  return fs::exists(directory.model(), error) || fs::exists(directory.last(), error);
}

/// Removes only the files of a start, including temporary files, and folders that are then empty.
void remove_start(const fs::path& folder, const std::set<std::string>& kept) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder)) {
    if (kept.contains(name)) continue;
    const fs::path path = folder / name;
    const std::string plain = name.substr(0, name.find(".part."));
    if (fs::is_directory(fs::symlink_status(path, ignored))) {
      if (name != "checkpoints" && !is_member(name)) continue;
      remove_start(path, {});
      fs::remove(path, ignored);  // fails if it contains other files
    } else if (std::find(kStartFiles.begin(), kStartFiles.end(), plain) != kStartFiles.end()) {
      fs::remove(path, ignored);
    }
  }
}

/// Removes temporary files of killed processes, not those of running processes.
void remove_temporaries(const fs::path& folder) {
  std::error_code ignored;
  for (const std::string& name : names_in(folder)) {
    const fs::path path = folder / name;
    if (fs::is_directory(fs::symlink_status(path, ignored))) {
      if (name == "checkpoints" || name == "refit" || is_member(name)) remove_temporaries(path);
    } else if (is_orphaned_temporary(name)) {
      fs::remove(path, ignored);
    }
  }
}

/// Creates the folder. Returns the topmost folder that was created; "" = none.
std::string make_folder(const std::string& folder) {
  std::error_code error;
  fs::path created;
  for (fs::path at = fs::path(folder); !at.empty() && !fs::exists(at, error) && !error; at = at.parent_path())
    created = at;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    const std::string reason = error.message();
    for (fs::path at = folder; !created.empty() && at.string().size() >= created.string().size(); at = at.parent_path())
      fs::remove(at, error);
    throw FileError(shortened(folder) + ": cannot be created: " + reason);
  }
  return created.string();
}

std::string process_description() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command((std::istreambuf_iterator<char>(file)), {});
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return "process " + std::to_string(::getpid()) + " on " + host.data() + " (" + command + ")";
}

/// File descriptor of the lock file, which is locked and contains a description of this process.
int lock(const std::string& folder, const RunControl& control) {
  const std::string path = RunDirectory{folder}.lock();
  while (true) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0) throw FileError(shortened(path) + ": cannot write: " + std::strerror(errno));
    const bool locked = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) {  // some shared file systems do not support locks
      control.warn(path + ": cannot be locked (" + std::strerror(errno) + "): a second process could write to the run");
    } else if (!locked) {
      std::string holder;
      std::getline(std::ifstream(path), holder);
      ::close(file);
      throw RunInUse(folder + " is being written by " + (holder.empty() ? "another process" : holder));
    }
    struct stat opened {
    }, named{};
    if (::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
        opened.st_ino == named.st_ino) {
      const std::string text = process_description() + "\n";
      if (::ftruncate(file, 0) != 0 || ::write(file, text.data(), text.size()) < 0) {
        const std::string reason = std::strerror(errno);
        ::unlink(path.c_str());
        ::close(file);
        throw FileError(path + ": cannot write: " + reason);
      }
      return file;
    }
    ::close(file);  // the previous holder has removed the file in the meantime
  }
}

/// True for a killed start of molgraph, which writes log.txt and then config.toml.
bool is_killed_start(const std::string& folder) {
  const RunDirectory directory{folder};
  std::string first;
  std::getline(std::ifstream(directory.config()), first);
  return first == kConfigHeading && fs::exists(directory.log()) && !fs::exists(directory.results());
}

}  // namespace

bool contains_run(const std::string& folder) {
  if (contains_weights(folder)) return true;
  const std::set<std::string> names = names_in(folder);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return is_member(name) && contains_weights(folder + "/" + name); });
}

RunClaim::RunClaim(const std::string& folder, bool resume, const RunControl& control)
    : folder_(folder), created_(make_folder(folder)) {
  initial_names_ = names_in(folder);
  try {
    lock_ = lock(folder, control);
    if (resume) {
      resumes_ = fs::exists(RunDirectory{folder}.config());
      if (!resumes_ && contains_run(folder)) {
        throw UsageError(folder +
                         " contains weights but no config.toml, so there is no training to resume; choose another " +
                         "--output-dir, for example with --from " + folder);
      }
      if (resumes_) remove_temporaries(folder);
    } else if (contains_run(folder)) {
      throw UsageError(folder +
                       " already contains a run; choose another --output-dir, or resume with molgraph-train --resume");
    } else if (is_killed_start(folder)) {
      control.note(folder + ": removing the files of an earlier start that wrote no checkpoint");
      remove_start(folder, {});
      initial_names_ = names_in(folder);
    } else if (fs::exists(RunDirectory{folder}.config())) {
      throw UsageError(folder + " has a config.toml that belongs to no run; choose another --output-dir");
    }
  } catch (...) {
    if (lock_ >= 0) {
      ::unlink(RunDirectory{folder}.lock().c_str());
      ::close(lock_);
    }
    std::error_code ignored;
    if (!created_.empty()) fs::remove(folder, ignored);
    throw;
  }
  initial_names_.erase("training.lock");
}

RunClaim::~RunClaim() {
  std::error_code ignored;
  const bool failed = !resumes_ && !contains_run(folder_);
  if (failed) remove_start(folder_, initial_names_);
  ::unlink(RunDirectory{folder_}.lock().c_str());
  ::close(lock_);
  if (!failed || created_.empty()) return;
  for (fs::path at = folder_; at.string().size() >= created_.size() && fs::remove(at, ignored); at = at.parent_path()) {
  }
}

std::unique_ptr<RunClaim> claim_free_folder(const std::string& data, const RunControl& control) {
  const std::string stem = fs::path(data).filename().string(), base = "runs/" + stem.substr(0, stem.find('.'));
  for (int i = 1;; ++i) {
    const std::string folder = i == 1 ? base : base + "-" + std::to_string(i);
    if (fs::exists(folder)) continue;
    try {
      return std::make_unique<RunClaim>(folder, false, control);
    } catch (const RunInUse&) {  // started at the same time
    }
  }
}

}  // namespace molgraph
