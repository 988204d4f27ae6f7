// Random damage to archives of torch.save: whatever happens must be a FileError or tensors, in bounded memory.
//     torch_archive_fuzz [--minutes N] ARCHIVE ...      without --minutes 20,000 tries
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "datasets/files.hpp"
#include "datasets/torch_archive.hpp"
#include "datasets/zip_archive.hpp"
#include "featurize/error.hpp"

namespace molgraph::testing {
namespace {

constexpr long kMostGrowthKilobytes = 200'000;   // a million values of a pickle take about 140 MB

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random() % bound); }

/// Changes, inserts, removes or repeats a few bytes.
std::string damaged(std::string text, Random& random) {
  static const std::string kOpcodes = "(.012NJKMGXTUBC)t]lae}suqrhjcQRb\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x93\x94\x95";
  for (std::size_t n = 1 + below(random, 4); n > 0 && !text.empty(); --n) {
    const std::size_t at = below(random, text.size());
    switch (below(random, 7)) {
      case 0: text[at] = static_cast<char>(random()); break;
      case 1: text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8))); break;
      case 2: text[at] = kOpcodes[below(random, kOpcodes.size())]; break;
      case 3: text.insert(at, 1, kOpcodes[below(random, kOpcodes.size())]); break;
      case 4: text.erase(at, 1 + below(random, 8)); break;
      case 5: text.insert(at, text.substr(below(random, text.size()), below(random, 60))); break;
      default: {
        static constexpr std::int64_t kEdges[] = {-1, 0, 1, 255, 1LL << 31, 0x7fffffffffffffff};
        const std::int64_t value = kEdges[below(random, std::size(kEdges))];
        for (std::size_t k = 0; k < 8 && at + k < text.size(); ++k) text[at + k] = reinterpret_cast<const char*>(&value)[k];
      }
    }
  }
  return text;
}

/// The archive with its pickle damaged and its checksums right: this reaches far deeper than damage to the zip.
void write_with_damaged_pickle(const std::string& from, const std::string& to, Random& random) {
  const ZipArchive archive(from);
  std::vector<std::string> contents;
  std::vector<ZipMember> members;
  for (const std::string& name : archive.names()) {
    const auto bytes = archive.read(name);
    contents.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (name.ends_with("data.pkl")) contents.back() = damaged(contents.back(), random);
  }
  for (std::size_t k = 0; k < contents.size(); ++k)
    members.push_back({archive.names()[k], contents[k].data(), contents[k].size()});
  write_zip(to, members);
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

int fuzz(const std::vector<std::string>& archives, double minutes) {
  const std::string folder = (std::filesystem::temp_directory_path() / ("molgraph-fuzz-" + std::to_string(::getpid()))).string();
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/a.pt";
  Random random(20261121);
  const long before = peak_kilobytes();
  const auto start = std::chrono::steady_clock::now();
  const auto minutes_passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 60; };
  long tries = 0, read = 0, refused = 0;
  for (; minutes > 0 ? minutes_passed() < minutes : tries < 20'000; ++tries) {
    const std::string& source = archives[below(random, archives.size())];
    if (below(random, 4) == 0) std::ofstream(path, std::ios::binary) << damaged(read_file(source), random);
    else write_with_damaged_pickle(source, path, random);
    try {
      read_state_dict(path);
      ++read;
    } catch (const FileError&) {
      ++refused;
    }
  }
  std::filesystem::remove_all(folder);
  const long growth = peak_kilobytes() - before;
  std::printf("%ld tries: %ld read, %ld refused; peak memory grew by %ld MB\n", tries, read, refused, growth / 1024);
  return growth < kMostGrowthKilobytes && refused > 0 && read > 0 ? 0 : 1;
}

}  // namespace
}  // namespace molgraph::testing

int main(int argc, char** argv) {
  double minutes = 0;
  std::vector<std::string> archives;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--minutes" && k + 1 < argc) minutes = std::atof(argv[++k]);
    else archives.emplace_back(argv[k]);
  }
  if (archives.empty()) {
    std::fprintf(stderr, "usage: torch_archive_fuzz [--minutes N] ARCHIVE ...\n");
    return 2;
  }
  return molgraph::testing::fuzz(archives, minutes);
}
