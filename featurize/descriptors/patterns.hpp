// SMARTS patterns, compiled for fast searches of many patterns in one molecule. Private to this folder.
//
// Each atom of a pattern is a rule: an expression of RDKit's elementary queries ("is a nitrogen", "has two hydrogens")
// and of nested patterns, $(...). RDKit itself evaluates each distinct elementary query of a library once for every
// kind of atom that a thread meets (AtomKey), so the meaning of the queries is RDKit's. Only the search is molgraph's
// own. For the search, a rule requires more than its query: an atom must have at least as many neighbours, and at least
// as many bonds on cycles, as the pattern's atom, and a bond on a cycle of the pattern must be on a cycle of the
// molecule.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "featurize/descriptors/compact_molecule.hpp"

namespace molgraph::descriptors {

/// All properties that elementary atom queries may use, packed. Atoms with equal keys match the same queries.
using AtomKey = std::uint64_t;
AtomKey atom_key(const AtomFacts& atom);

/// Requirements of a pattern's atom.
struct AtomRule {
  enum class Kind : std::uint8_t { elementary, all, any, one, recursive, neighbours, cyclic_bonds };
  Kind kind = Kind::elementary;
  bool negated = false;                 ///< for all kinds but elementary, whose queries contain the negation
  std::uint16_t index = 0;              ///< elementary: bit; recursive: pattern; otherwise: minimum number
  std::vector<std::uint16_t> children;  ///< rules; of a query, the elementary ones first
};

/// One atom of a pattern in the order of the search.
struct PatternStep {
  struct Closure {
    std::uint8_t step, bond_rule;
    bool operator==(const Closure&) const = default;
  };
  std::uint16_t rule = 0;
  std::int16_t parent = -1;       ///< earlier step whose neighbour this is; -1: any atom
  std::uint8_t bond_rule = 0;     ///< of the bond to the parent
  std::vector<Closure> closures;  ///< bonds to other earlier steps
  bool operator==(const PatternStep&) const = default;
};

struct Pattern {
  std::vector<std::vector<PatternStep>> orders;  ///< [k] search that begins with the pattern's atom k
  std::vector<std::uint16_t> rules;              ///< [k] including what follows from the pattern's bonds
  std::uint16_t root = 0;                        ///< requirements of atom 0 alone
  bool symmetric = false;                        ///< all atoms are equivalent: all orders are equal
  int cycles = 0;                                ///< independent cycles: minimum in the molecule
  std::vector<std::uint64_t> needs;              ///< elementary bits required of some atom of the molecule
  std::uint64_t needs_bonds = 0;                 ///< bond rules that some bond must match
  std::shared_ptr<const RDKit::ROMol> query;     ///< RDKit's form, which keeps the elementary queries alive
};

/// Patterns that are searched together. Filled first, then shared by threads without changes.
class PatternLibrary {
 public:
  PatternLibrary();
  /// Returns the pattern's number. Throws FileError if RDKit cannot read the pattern or if it uses properties that
  /// AtomKey does not contain. `name` appears in the message.
  int add(const std::string& smarts, const std::string& name);
  int add(std::shared_ptr<const RDKit::ROMol> query, const std::string& name);

  const Pattern& pattern(int number) const { return patterns_[static_cast<std::size_t>(number)]; }
  const AtomRule& rule(std::size_t number) const { return rules_[number]; }
  std::size_t patterns() const { return patterns_.size(); }  ///< including nested ones
  std::size_t rules() const { return rules_.size(); }
  std::size_t bond_rules() const { return bond_rules_.size(); }
  /// Number of 64-bit words of one atom's elementary bits.
  std::size_t words() const { return (elementary_.size() + 63) / 64; }
  std::size_t elementary() const { return elementary_.size(); }
  /// Returns the rule of the elementary query `bit`.
  std::uint16_t rule_of_bit(std::size_t bit) const { return rule_of_bit_[bit]; }

  /// The calling thread's numbering of kinds of atoms, extended for every new kind.
  struct Kinds;
  Kinds& kinds() const;
  /// Returns the number of the kind of `atom`, whose key is `key`. Numbers are valid until the next molecule.
  std::uint32_t kind_of(Kinds& kinds, AtomKey key, const RDKit::Atom& atom) const;
  /// Returns the bond rules that a bond matches, as bits.
  std::uint64_t bond_bits(Kinds& kinds, const BondFacts& facts, const RDKit::Bond& bond) const;

 private:
  class Compiler;
  std::uint64_t id_;  ///< unique among all libraries of the process
  std::vector<Pattern> patterns_;
  std::vector<AtomRule> rules_;
  std::vector<std::string> rule_texts_;  ///< [rules] content of a rule as text, to find equal rules
  std::vector<const RDKit::Atom::QUERYATOM_QUERY*> elementary_;
  std::vector<std::uint16_t> rule_of_bit_;
  std::vector<const RDKit::Bond::QUERYBOND_QUERY*> bond_rules_;  ///< at most 64; null: another rule, on cycles
  std::vector<std::string> bond_texts_;
  std::vector<std::uint8_t> cyclic_rule_of_;  ///< [bond rules] the same rule on cycles; itself if there is none
};

}  // namespace molgraph::descriptors
