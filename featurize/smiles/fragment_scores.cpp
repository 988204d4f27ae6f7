#include "featurize/smiles/fragment_scores.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr double kUnknownFragment = -4.0;
/// RDKit's file has 7 MB. A file that decompresses to more than this limit is not RDKit's.
constexpr std::size_t kMaxText = std::size_t{256} << 20;

std::string decompressed(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw FileError(path + ": cannot be opened (RDKit's fragment scores; install rdkit-data)");
  std::string text;
  std::vector<char> chunk(std::size_t{1} << 20);
  int bytes_read = 0;
  while ((bytes_read = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(bytes_read));
    if (text.size() > kMaxText) throw FileError(path + ": too large to be RDKit's fragment scores");
  }
  if (bytes_read < 0) throw FileError(path + ": damaged gzip data");
  return text;
}

/// Reads a list of lists of numbers. The stack contains the outer list, at most one inner list and one number, so the
/// state is the depth (0, 1 or 2) and whether a number is waiting to be appended.
class ListReader {
 public:
  ListReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<std::vector<double>> read() {
    while (at_ < text_.size()) {
      const char opcode = text_[at_++];
      switch (opcode) {
        case '(': open_mark(); break;
        case 'l': make_list(); break;
        case 'p': line(); break;  // PUT: files of this format never read the memo
        case 'F':
        case 'I':
        case 'L': number(line()); break;
        case 'a': append(); break;
        case '.': return finished();
        default: fail(std::string("opcode '") + (opcode >= 0x20 && opcode < 0x7F ? opcode : '?') + "' is not allowed");
      }
    }
    fail("unexpected end");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(name_ + ": not RDKit's fragment scores: " + what + " at byte " + std::to_string(at_));
  }
  std::string_view line() {
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) fail("incomplete last line");
    std::string_view argument = text_.substr(at_, end - at_);
    at_ = end + 1;
    if (!argument.empty() && argument.back() == '\r') argument.remove_suffix(1);
    return argument;
  }
  void open_mark() {
    if (has_mark_ || has_number_) fail("unexpected mark");
    has_mark_ = true;
  }
  void make_list() {
    if (!has_mark_ || depth_ == 2) fail("unexpected list");
    has_mark_ = false;
    if (++depth_ == 2) lists_.emplace_back();
  }
  void number(std::string_view digits) {
    if (!digits.empty() && digits.back() == 'L') digits.remove_suffix(1);
    if (has_mark_ || has_number_ || depth_ != 2) fail("unexpected number");
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value_);
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) fail("unreadable number");
    has_number_ = true;
  }
  void append() {
    if (has_number_) {
      lists_.back().push_back(value_);
      has_number_ = false;
    } else if (depth_ == 2 && !has_mark_) {
      depth_ = 1;  // the inner list is complete
    } else {
      fail("nothing to append");
    }
  }
  std::vector<std::vector<double>> finished() {
    if (depth_ != 1 || has_mark_ || has_number_) fail("unexpected stop");
    return std::move(lists_);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool has_mark_ = false, has_number_ = false;
  double value_ = 0;
  std::vector<std::vector<double>> lists_;
};

}  // namespace

FragmentScores FragmentScores::parse(const std::string& text, const std::string& name) {
  FragmentScores table;
  for (const std::vector<double>& list : ListReader(text, name).read()) {
    for (std::size_t k = 1; k < list.size(); ++k) {
      if (!(list[k] >= 0 && list[k] <= 4294967295.0)) throw FileError(name + ": a bit id does not fit 32 bits");
      table.scores_.emplace_back(static_cast<std::uint32_t>(list[k]), list[0]);
    }
  }
  if (table.scores_.empty()) throw FileError(name + ": contains no fragment scores");
  // A later entry for the same id replaces an earlier one, as in a dictionary that is filled in order.
  std::stable_sort(table.scores_.begin(), table.scores_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const auto& entry : table.scores_) {
    if (kept > 0 && table.scores_[kept - 1].first == entry.first) --kept;
    table.scores_[kept++] = entry;
  }
  table.scores_.resize(kept);
  return table;
}

FragmentScores FragmentScores::load(const std::string& path) { return parse(decompressed(path), path); }

double FragmentScores::of(std::uint32_t bit) const {
  const auto found = std::lower_bound(scores_.begin(), scores_.end(), bit,
                                      [](const auto& entry, std::uint32_t wanted) { return entry.first < wanted; });
  return found != scores_.end() && found->first == bit ? found->second : kUnknownFragment;
}

}  // namespace molgraph
