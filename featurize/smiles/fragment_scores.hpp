// The fragment contributions of the synthetic accessibility score. Private to this room; no RDKit.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// Morgan bit id -> contribution, as RDKit ships it: a gzipped text pickle (protocol 0) of lists [score, id, id, ...].
class FragmentScores {
 public:
  /// Reads the pickle with a stack machine of its own that knows lists and numbers and nothing else; no pickle is ever
  /// executed. Throws FileError naming the file and what is wrong with it.
  static FragmentScores load(const std::string& path);
  /// The same of pickle text; `name` stands in errors.
  static FragmentScores parse(const std::string& text, const std::string& name);

  /// -4 for a fragment that is not in the table (Ertl & Schuffenhauer's code).
  double of(std::uint32_t bit) const;
  std::size_t size() const { return scores_.size(); }

 private:
  std::vector<std::pair<std::uint32_t, double>> scores_;  ///< sorted by bit id
};

}  // namespace molgraph
