// The search for a library's patterns in one molecule. Private to this room.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "featurize/descriptors/compact_molecule.hpp"
#include "featurize/descriptors/kinds.hpp"
#include "featurize/descriptors/patterns.hpp"

namespace molgraph::descriptors {

/// What a search needs of a molecule's atoms and bonds beside their facts: RDKit's own, whom new kinds are asked of.
struct RdkitParts {
  std::vector<const RDKit::Atom*> atoms;  ///< [n]
  std::vector<const RDKit::Bond*> bonds;  ///< [m]
};

/// One molecule and one library; kept by a thread and assigned again for the next molecule. What RDKit's
/// SubstructMatch() finds it finds too, except that RDKit gives up after 1,000 mappings inside $(...).
class Matcher {
 public:
  /// Mappings of one pattern after which RDKit's searches end.
  static constexpr int kMostMappings = 1000;

  /// Everything given must outlive the searches.
  void assign(const PatternLibrary& library, const CompactMolecule& molecule, const RdkitParts& parts);

  bool exists(int pattern);
  /// Different sets of atoms that the pattern covers, as len(GetSubstructMatches()) counts them; -1 if there are
  /// kMostMappings mappings or more, of which RDKit would count a part.
  int count(int pattern);
  /// Atoms that the pattern's first atom may be, as bits.
  std::span<const std::uint64_t> first_atoms(int pattern);
  /// Patterns whose first atom, taken alone, this atom could be.
  std::span<const std::uint16_t> candidates(std::size_t atom) const { return kinds_->rooted[kind_[atom]]; }

 private:
  enum class Aim : std::uint8_t { one, all };
  using Words = std::uint64_t*;

  bool may_occur(const Pattern& pattern);
  Words mask(std::size_t rule);
  void compute_mask(std::size_t rule, Words result);
  void compute_first_atoms(const Pattern& pattern, Words result);
  bool search_from(const std::vector<PatternStep>& order, std::uint16_t atom, Aim aim);
  bool extend(const std::vector<PatternStep>& order, std::size_t step, Aim aim);
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
  std::size_t words_ = 0;                 ///< of a set of atoms
  std::vector<std::uint32_t> kind_;       ///< [n]
  std::vector<std::uint64_t> bond_bits_;  ///< [m]
  std::vector<std::uint64_t> present_;    ///< elementary bits of some atom
  std::uint64_t present_bonds_ = 0;
  std::vector<std::uint64_t> masks_;             ///< [rules, words_] atoms that follow a rule
  std::vector<std::uint8_t> known_;              ///< [rules] whether masks_ has it
  std::vector<std::uint64_t> first_atoms_;       ///< [patterns, words_] of first_atoms()
  std::vector<std::uint8_t> first_atoms_known_;  ///< [patterns] whether first_atoms_ has it
  std::vector<std::uint64_t> candidates_;        ///< [steps, words_] of find_candidates()
  std::vector<std::uint64_t> near_;              ///< [bond rules, n, words_] neighbours by such a bond
  std::vector<std::uint64_t> used_;              ///< [words_] atoms of the mapping
  std::vector<std::uint64_t> found_;             ///< [mappings, words_]
  std::vector<std::uint32_t> sorted_;
  int mappings_ = 0, per_mapping_ = 1;  ///< found so far; how many each one found stands for
  std::uint16_t mapped_[256] = {};      ///< [steps]
};

}  // namespace molgraph::descriptors
