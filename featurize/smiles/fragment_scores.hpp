// Fragment contributions of the synthetic accessibility score. Private to this folder; does not use RDKit.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace molgraph {

/// Morgan bit id -> contribution, as distributed with RDKit: a gzipped text pickle (protocol 0) of lists [score, id,
/// id, ...].
class FragmentScores {
 public:
  /// Reads the pickle with a stack machine that supports only lists and numbers and executes no code. Throws FileError
  /// with the file and the reason.
  static FragmentScores load(const std::string& path);
  /// Parses the text of such a pickle; `name` appears in error messages.
  static FragmentScores parse(const std::string& text, const std::string& name);

  /// Returns the contribution of a fragment, or -4 if it is not in the table (as in Ertl & Schuffenhauer's code).
  double of(std::uint32_t bit) const;
  std::size_t size() const { return scores_.size(); }

 private:
  std::vector<std::pair<std::uint32_t, double>> scores_;  ///< sorted by bit id
};

}  // namespace molgraph
