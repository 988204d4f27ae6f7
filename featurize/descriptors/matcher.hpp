// Search for a library's patterns in one molecule. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "featurize/descriptors/compact_molecule.hpp"
#include "featurize/descriptors/kinds.hpp"
#include "featurize/descriptors/patterns.hpp"

namespace molgraph::descriptors {

/// RDKit's atoms and bonds, needed to evaluate queries for new kinds.
struct RdkitParts {
  std::vector<const RDKit::Atom*> atoms;  ///< [n]
  std::vector<const RDKit::Bond*> bonds;  ///< [m]
};

/// One molecule and one library. A thread keeps the object and assigns the next molecule to it. Finds the same matches
/// as RDKit's SubstructMatch(), except that RDKit stops after 1,000 mappings inside $(...).
class Matcher {
 public:
  /// Number of mappings of one pattern after which RDKit's searches stop.
  static constexpr int kMaxMappings = 1000;

  /// All arguments must outlive the searches.
  void assign(const PatternLibrary& library, const CompactMolecule& molecule, const RdkitParts& parts);

  bool exists(int pattern);
  /// Returns the number of different sets of atoms that the pattern covers, as len(GetSubstructMatches()) counts them;
  /// -1 if there are kMaxMappings mappings or more, of which RDKit would count only some.
  int count(int pattern);
  /// Returns the atoms that can be the pattern's first atom, as bits.
  std::span<const std::uint64_t> first_atoms(int pattern);
  /// Patterns whose first atom, considered alone, matches this atom.
  std::span<const std::uint16_t> candidates(std::size_t atom) const { return kinds_->rooted[kind_[atom]]; }

 private:
  enum class StopAt : std::uint8_t { first_match, limit };
  using Words = std::uint64_t*;

  bool may_occur(const Pattern& pattern);
  Words mask(std::size_t rule);
  void compute_mask(std::size_t rule, Words result);
  void compute_first_atoms(const Pattern& pattern, Words result);
  bool search_from(const std::vector<PatternStep>& order, std::uint16_t atom, StopAt stop_at);
  bool extend(const std::vector<PatternStep>& order, std::size_t step, StopAt stop_at);
  bool fits(const PatternStep& step, const std::uint64_t* candidates, std::uint16_t atom) const;
  bool find_candidates(const std::vector<PatternStep>& order);
  template <std::size_t fixed>
  bool find_candidates_in(const std::vector<PatternStep>& order);
  static bool candidates_are_matches(const std::vector<PatternStep>& order);
  const std::vector<PatternStep>& best_order(const Pattern& pattern);
  int distinct_sets();
  std::size_t ones(const std::uint64_t* words) const;

  const PatternLibrary* library_ = nullptr;
  const CompactMolecule* molecule_ = nullptr;
  PatternLibrary::Kinds* kinds_ = nullptr;
  std::size_t words_ = 0;                 ///< words of a set of atoms
  std::vector<std::uint32_t> kind_;       ///< [n]
  std::vector<std::uint64_t> bond_bits_;  ///< [m]
  std::vector<std::uint64_t> present_;    ///< elementary bits of any atom
  std::uint64_t present_bonds_ = 0;
  std::vector<std::uint64_t> masks_;             ///< [rules, words_] atoms that match a rule
  std::vector<std::uint8_t> known_;              ///< [rules] whether masks_ contains it
  std::vector<std::uint64_t> first_atoms_;       ///< [patterns, words_] of first_atoms()
  std::vector<std::uint8_t> first_atoms_known_;  ///< [patterns] whether first_atoms_ contains it
  std::vector<std::uint64_t> candidates_;        ///< [steps, words_] of find_candidates()
  std::vector<std::uint64_t> near_;              ///< [bond rules, n, words_] neighbours over matching bonds
  std::vector<std::uint64_t> used_;              ///< [words_] atoms of the mapping
  std::vector<std::uint64_t> found_;             ///< [mappings, words_]
  std::vector<std::uint32_t> sorted_;
  int mappings_ = 0, per_mapping_ = 1;  ///< found so far; number that each found one represents
  std::uint16_t mapped_[256] = {};      ///< [steps]
};

}  // namespace molgraph::descriptors
