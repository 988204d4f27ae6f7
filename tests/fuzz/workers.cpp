#include "tests/fuzz/workers.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>
#include <typeinfo>

#include "featurize/graph/error.hpp"

namespace molgraph::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr rlim_t kAddressSpaceLimit = rlim_t{8} << 30;  // larger requests fail with std::bad_alloc
constexpr double kTimeFactor = kSanitized ? 10 : 1;     // sanitizers are slower; memory is not measured with them
constexpr double kSecondsToOpen = 60;                   // for RDKit's tables and the seeds

/// Results of a worker, in memory that outlives it.
struct Shared {
  std::atomic<std::int64_t> current, accepted, refused;
  std::atomic<bool> defect;
  char what[600];
};

Shared& make_shared_memory() {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot allocate shared memory");
  return *new (memory) Shared{};
}

long peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// Every case has its own random numbers, so that it can be run alone.
Random random_of(const FuzzOptions& options, std::int64_t number) {
  std::seed_seq seed{options.seed, options.seed >> 32u, static_cast<std::uint64_t>(number)};
  return Random(seed);
}

/// Why a case is a defect; "" if it is not.
std::string defect_of(const Kind& kind, Random random, const std::string& scratch, Shared& shared) {
  try {
    ++(kind.run(random, scratch) ? shared.accepted : shared.refused);
  } catch (const UsageError&) {
    ++shared.refused;
  } catch (const DataError&) {
    ++shared.refused;
  } catch (const FileError&) {
    ++shared.refused;
  } catch (const InvalidResult& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("exception ") + typeid(error).name() + ": " + error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
  return {};
}

[[noreturn]] void work(Kind& kind, const FuzzOptions& options, const std::string& folder, std::int64_t first,
                       std::int64_t end, Shared& shared) {
  if (!kSanitized) {
    const rlimit limit{kAddressSpaceLimit, kAddressSpaceLimit};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto fail = [&](const std::string& what) {
    std::strncpy(shared.what, what.c_str(), sizeof shared.what - 1);
    shared.defect = true;
    ::_exit(1);
  };
  try {
    kind.open(folder + "/seeds", options.seed_files);
  } catch (const std::exception& error) {
    fail(std::string("cannot read the seeds: ") + error.what());
  }
  const std::string scratch = folder + "/scratch";
  for (std::int64_t number = first; number < end; ++number) {
    shared.current = number;
    const long before = peak_megabytes();
    const std::string defect = defect_of(kind, random_of(options, number), scratch, shared);
    if (!defect.empty()) fail(defect);
    // The first case of a worker fills caches.
    const long grown = peak_megabytes() - before;
    if (!kSanitized && number > first && grown > kind.megabytes()) fail("took " + std::to_string(grown) + " MB");
  }
  ::_exit(0);
}

/// Waits for a worker and kills it if a case takes too long. Returns how the worker failed, "" if it succeeded.
std::string outcome_of(pid_t worker, const Shared& shared, double seconds) {
  std::int64_t seen = -2;
  auto since = Clock::now();
  for (int status = 0;;) {
    if (::waitpid(worker, &status, WNOHANG) == worker) {
      if (WIFSIGNALED(status)) return std::string("ended by signal ") + ::strsignal(WTERMSIG(status));
      if (WEXITSTATUS(status) == 0) return {};
      return shared.defect
                 ? shared.what
                 : "ended with code " + std::to_string(WEXITSTATUS(status)) + " (a sanitizer's report is above)";
    }
    if (shared.current != seen) {
      seen = shared.current;
      since = Clock::now();
    }
    if (std::chrono::duration<double>(Clock::now() - since).count() >
        (seen < 0 ? kSecondsToOpen * kTimeFactor : seconds)) {
      ::kill(worker, SIGKILL);
      ::waitpid(worker, &status, 0);
      return "took longer than " + std::to_string(static_cast<int>(seconds)) + " s";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void make_seeds(Kind& kind, const std::string& folder) {
  fs::create_directories(folder + "/seeds");
  const pid_t maker = ::fork();  // so that no library has threads or memory in the parent
  if (maker == 0) {
    try {
      kind.make_seeds(folder + "/seeds");
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cannot make the seeds: %s\n", error.what());
    }
    ::_exit(1);
  }
  int status = 0;
  if (::waitpid(maker, &status, 0) != maker || status != 0) throw std::runtime_error("cannot make the seeds");
}

}  // namespace

bool run_cases(Kind& kind, const FuzzOptions& options) {
  const std::string folder = (fs::temp_directory_path() / ("molgraph-fuzz-" + std::to_string(::getpid()))).string();
  make_seeds(kind, folder);
  Shared& shared = make_shared_memory();
  const std::int64_t end = options.only >= 0 ? options.only + 1 : options.count;
  std::int64_t defects = 0, next = std::max<std::int64_t>(options.only, 0);
  const auto start = Clock::now();
  while (next < end) {
    fs::remove_all(folder + "/scratch");
    fs::create_directories(folder + "/scratch");
    shared.current = -1;
    shared.defect = false;
    std::fflush(nullptr);
    const pid_t worker = ::fork();
    if (worker < 0) throw std::runtime_error("cannot start a process");
    if (worker == 0) work(kind, options, folder, next, end, shared);
    const std::string defect = outcome_of(worker, shared, kind.seconds() * kTimeFactor);
    if (defect.empty()) break;
    ++defects;
    const std::int64_t number = shared.current;
    std::printf("DEFECT %s\n  repeat: molgraph-fuzz %s --seed %llu --only %lld\n", defect.c_str(), options.kind.c_str(),
                static_cast<unsigned long long>(options.seed), static_cast<long long>(number));
    if (number < 0) break;  // the worker could not read the seeds
    next = number + 1;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::int64_t accepted = shared.accepted, refused = shared.refused;
  std::printf("%s: %lld cases in %.0f s: %lld accepted, %lld refused, %lld defects\n", options.kind.c_str(),
              static_cast<long long>(accepted + refused + defects), seconds, static_cast<long long>(accepted),
              static_cast<long long>(refused), static_cast<long long>(defects));
  if (options.only >= 0) {
    std::printf("its files are in %s/scratch\n", folder.c_str());
    return defects == 0;
  }
  fs::remove_all(folder);
  return defects == 0 && accepted > 0 && refused > 0;
}

}  // namespace molgraph::fuzz
