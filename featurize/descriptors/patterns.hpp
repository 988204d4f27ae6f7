// SMARTS patterns compiled for fast searches of many patterns in one molecule. Private to this room.
//
// A pattern's atom is a rule: an expression of RDKit's elementary queries ("is a nitrogen", "has two hydrogens") and of
// patterns inside patterns, $(...). The elementary queries, each distinct one once in a library, are asked of RDKit
// itself, once for every kind of atom that a thread meets (AtomKey), so what they mean stays RDKit's; only the search
// is our own. To it a rule says more than its query: an atom must have as many neighbours, and as many bonds on cycles,
// as the pattern's atom; and a bond on a cycle of the pattern is one on a cycle of the molecule.
#pragma once

#include <GraphMol/ROMol.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "featurize/descriptors/compact_molecule.hpp"

namespace molgraph::descriptors {

/// All that elementary atom queries may look at, packed: atoms of equal keys answer alike.
using AtomKey = std::uint64_t;
AtomKey atom_key(const AtomFacts& atom);

/// What an atom of a pattern demands.
struct AtomRule {
  enum class Kind : std::uint8_t { elementary, all, any, one, recursive, neighbours, cyclic_bonds };
  Kind kind = Kind::elementary;
  bool negated = false;                 ///< of all kinds but elementary, whose queries know it themselves
  std::uint16_t index = 0;              ///< elementary: its bit; recursive: its pattern; else: at least so many
  std::vector<std::uint16_t> children;  ///< rules; of a query the elementary ones first
};

/// One atom of a pattern in the order of the search.
struct PatternStep {
  struct Closure {
    std::uint8_t step, bond_rule;
    bool operator==(const Closure&) const = default;
  };
  std::uint16_t rule = 0;
  std::int16_t parent = -1;       ///< the earlier step whose neighbour it is; -1: anywhere
  std::uint8_t bond_rule = 0;     ///< of the bond to the parent
  std::vector<Closure> closures;  ///< bonds to other earlier steps
  bool operator==(const PatternStep&) const = default;
};

struct Pattern {
  std::vector<std::vector<PatternStep>> orders;  ///< [k]: the search that begins with the pattern's atom k
  std::vector<std::uint16_t> rules;              ///< [k] with what follows from the pattern's bonds
  std::uint16_t root = 0;                        ///< what atom 0 demands of itself
  bool symmetric = false;                        ///< all atoms are alike: every order says the same
  int cycles = 0;                                ///< independent ones: the molecule must have as many
  std::vector<std::uint64_t> needs;              ///< elementary bits that some atom of the molecule must have
  std::uint64_t needs_bonds = 0;                 ///< bond rules that some bond must follow
  std::shared_ptr<const RDKit::ROMol> query;     ///< RDKit's form, which keeps the elementary queries alive
};

/// Patterns that are searched together. Filled first, then shared by threads without change.
class PatternLibrary {
 public:
  PatternLibrary();
  /// Returns the pattern's number. Throws FileError if RDKit cannot read it or if it asks what AtomKey leaves out;
  /// `name` stands in the message.
  int add(const std::string& smarts, const std::string& name);
  int add(std::shared_ptr<const RDKit::ROMol> query, const std::string& name);

  const Pattern& pattern(int number) const { return patterns_[static_cast<std::size_t>(number)]; }
  const AtomRule& rule(std::size_t number) const { return rules_[number]; }
  std::size_t patterns() const { return patterns_.size(); }  ///< with those inside others
  std::size_t rules() const { return rules_.size(); }
  std::size_t bond_rules() const { return bond_rules_.size(); }
  /// 64-bit words of one atom's elementary bits.
  std::size_t words() const { return (elementary_.size() + 63) / 64; }
  std::size_t elementary() const { return elementary_.size(); }
  /// The rule that is the elementary query `bit`.
  std::uint16_t rule_of_bit(std::size_t bit) const { return rule_of_bit_[bit]; }

  /// The calling thread's numbers of kinds of atoms, grown as it meets them.
  struct Kinds;
  Kinds& kinds() const;
  /// The number of the kind of `atom`, whose key is `key`. Numbers stay valid until the next molecule is begun.
  std::uint32_t kind_of(Kinds& kinds, AtomKey key, const RDKit::Atom& atom) const;
  /// The rules that a bond follows, as bits.
  std::uint64_t bond_bits(Kinds& kinds, const BondFacts& facts, const RDKit::Bond& bond) const;

 private:
  class Compiler;
  std::uint64_t id_;  ///< of this library among all that the program ever made
  std::vector<Pattern> patterns_;
  std::vector<AtomRule> rules_;
  std::vector<std::string> rule_texts_;  ///< [rules] what a rule says, to find equal ones
  std::vector<const RDKit::Atom::QUERYATOM_QUERY*> elementary_;
  std::vector<std::uint16_t> rule_of_bit_;
  std::vector<const RDKit::Bond::QUERYBOND_QUERY*> bond_rules_;  ///< at most 64; null: another's on cycles
  std::vector<std::string> bond_texts_;
  std::vector<std::uint8_t> cyclic_rule_of_;  ///< [bond rules] the rule for such bonds on cycles; itself where none is
};

}  // namespace molgraph::descriptors
