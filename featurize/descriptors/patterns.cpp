#include "featurize/descriptors/patterns.hpp"

#include <RDGeneral/RDConfig.h>  // first of RDKit: the layout of its recursive queries depends on it

#include <GraphMol/GraphMol.h>
#include <GraphMol/QueryAtom.h>
#include <GraphMol/QueryBond.h>
#include <GraphMol/QueryOps.h>
#include <GraphMol/SmilesParse/SmilesParse.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string_view>
#include <typeinfo>

#include "featurize/descriptors/kinds.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph::descriptors {
namespace {

using AtomQuery = RDKit::Atom::QUERYATOM_QUERY;
using BondQuery = RDKit::Bond::QUERYBOND_QUERY;

/// Elementary queries that depend only on AtomKey, or on a bond's type, aromaticity and ring membership.
constexpr std::string_view kKnownAtomQueries[] = {
    "AtomNull",        "AtomAtomicNum",    "AtomType",          "AtomHCount",      "AtomFormalCharge",
    "AtomIsotope",     "AtomInRing",       "AtomInNRings",      "AtomIsAliphatic", "AtomIsAromatic",
    "AtomTotalDegree", "AtomTotalValence", "AtomExplicitDegree"};
constexpr std::string_view kKnownBondQueries[] = {"BondNull", "BondOrder", "BondInRing", "SingleOrAromaticBond"};

/// More kinds than any real data has. Limits the memory of a thread for artificial input.
constexpr std::size_t kMaxKinds = 4096;

template <typename Query>
bool is_leaf(const Query& query) {
  return query.beginChildren() == query.endChildren();
}

/// Returns a query as text: queries with equal texts have equal results.
template <typename Query, typename Equality>
std::string leaf_text(const Query& query) {
  std::string text = (query.getNegation() ? "!" : "") + query.getDescription() + " " + typeid(query).name();
  if (const auto* equality = dynamic_cast<const Equality*>(&query)) text += " " + std::to_string(equality->getVal());
  return text;
}

}  // namespace

AtomKey atom_key(const AtomFacts& atom) {
  AtomKey key = atom.number;                                        // 7 bits
  key = key << 1 | static_cast<AtomKey>(atom.aromatic);             // 1
  key = key << 8 | static_cast<std::uint8_t>(atom.charge);          // 8
  key = key << 8 | atom.all_hydrogens;                              // 8
  key = key << 8 | atom.degree;                                     // 8
  key = key << 8 | static_cast<std::uint8_t>(atom.total_degree());  // 8
  key = key << 6 | std::min<unsigned>(atom.valence, 63);            // 6
  key = key << 8 | std::min<unsigned>(atom.rings, 255);             // 8
  return key << 10 | std::min<unsigned>(atom.isotope, 1023);        // 10
}

/// Adds one query molecule and its nested patterns to a library.
class PatternLibrary::Compiler {
 public:
  Compiler(PatternLibrary& library, const std::string& name) : library_(library), name_(name) {}

  int pattern(const RDKit::ROMol& molecule, std::shared_ptr<const RDKit::ROMol> owner) {
    Pattern pattern;
    pattern.query = std::move(owner);
    CompactMolecule graph;
    graph.atoms.resize(molecule.getNumAtoms());
    graph.bonds.resize(molecule.getNumBonds());
    for (const RDKit::Bond* bond : molecule.bonds()) {
      graph.bonds[bond->getIdx()].begin = static_cast<std::uint16_t>(bond->getBeginAtomIdx());
      graph.bonds[bond->getIdx()].end = static_cast<std::uint16_t>(bond->getEndAtomIdx());
    }
    graph.connect();
    graph.find_cycles();
    pattern.cycles = graph.cycles;
    std::vector<std::uint8_t> bond_rules(molecule.getNumBonds());
    for (const RDKit::Atom* atom : molecule.atoms()) {
      if (!atom->hasQuery()) reject("an atom without a query");
      const std::uint16_t own = atom_rule(*atom->getQuery());
      if (atom->getIdx() == 0) pattern.root = own;
      pattern.rules.push_back(rule_in_place(own, graph.atoms[atom->getIdx()]));
    }
    for (const RDKit::Bond* bond : molecule.bonds()) {
      if (!bond->hasQuery()) reject("a bond without a query");
      const std::uint8_t own = bond_rule(*bond->getQuery());
      bond_rules[bond->getIdx()] = graph.bonds[bond->getIdx()].cyclic ? cyclic_rule(own) : own;
      pattern.needs_bonds |= std::uint64_t{1} << bond_rules[bond->getIdx()];
    }
    for (unsigned int first = 0; first < molecule.getNumAtoms(); ++first)
      pattern.orders.push_back(order(molecule, pattern.rules, bond_rules, first));
    pattern.symmetric = std::all_of(pattern.orders.begin(), pattern.orders.end(),
                                    [&](const auto& one) { return one == pattern.orders.front(); });
    library_.patterns_.push_back(std::move(pattern));
    return static_cast<int>(library_.patterns_.size()) - 1;
  }

 private:
  [[noreturn]] void reject(const std::string& what) const {
    throw FileError("pattern '" + name_ + "' has " + what + ", which this version does not support");
  }

  static bool has_recursion(const AtomQuery& query) {
    if (query.getDescription() == "RecursiveStructure") return true;
    return std::any_of(query.beginChildren(), query.endChildren(),
                       [](const auto& child) { return has_recursion(*child); });
  }

  std::string text_of(const AtomQuery& query) const {
    if (query.getDescription() == "RecursiveStructure") {
      const RDKit::ROMol& inner = *static_cast<const RDKit::RecursiveStructureQuery&>(query).getQueryMol();
      std::string text = query.getNegation() ? "!$(" : "$(";
      for (const RDKit::Atom* atom : inner.atoms()) text += text_of(*atom->getQuery()) + ";";
      for (const RDKit::Bond* bond : inner.bonds()) {
        text += std::to_string(bond->getBeginAtomIdx()) + "-" + std::to_string(bond->getEndAtomIdx()) + " " +
                text_of(*bond->getQuery()) + ";";
      }
      return text + ")";
    }
    if (is_leaf(query)) return leaf_text<AtomQuery, RDKit::ATOM_EQUALS_QUERY>(query);
    return composite_text(query);
  }
  std::string text_of(const BondQuery& query) const {
    return is_leaf(query) ? leaf_text<BondQuery, RDKit::BOND_EQUALS_QUERY>(query) : composite_text(query);
  }
  template <typename Query>
  std::string composite_text(const Query& query) const {
    std::string text = (query.getNegation() ? "!" : "") + query.getDescription() + "(";
    for (auto child = query.beginChildren(); child != query.endChildren(); ++child) text += text_of(**child) + ",";
    return text + ")";
  }

  template <typename Query, std::size_t count>
  void check_leaves(const Query& query, const std::string_view (&known)[count]) const {
    for (auto child = query.beginChildren(); child != query.endChildren(); ++child) check_leaves(**child, known);
    if (is_leaf(query) && std::find(std::begin(known), std::end(known), query.getDescription()) == std::end(known))
      reject("a query " + query.getDescription());
  }

  std::uint16_t atom_rule(const AtomQuery& query) {
    const std::string text = text_of(query);
    if (const int known = known_rule(text); known >= 0) return static_cast<std::uint16_t>(known);
    AtomRule rule;
    rule.negated = query.getNegation();
    if (!has_recursion(query)) {
      check_leaves(query, kKnownAtomQueries);
      rule.index = static_cast<std::uint16_t>(library_.elementary_.size());
      library_.elementary_.push_back(&query);
      library_.rule_of_bit_.push_back(static_cast<std::uint16_t>(library_.rules_.size()));
    } else if (query.getDescription() == "RecursiveStructure") {
      rule.kind = AtomRule::Kind::recursive;
      // The query owns the inner molecule, and the outer pattern's molecule owns the query.
      const RDKit::ROMol& inner = *static_cast<const RDKit::RecursiveStructureQuery&>(query).getQueryMol();
      rule.index = static_cast<std::uint16_t>(pattern(inner, nullptr));
    } else {
      const std::map<std::string, AtomRule::Kind> kinds{
          {"AtomAnd", AtomRule::Kind::all}, {"AtomOr", AtomRule::Kind::any}, {"AtomXor", AtomRule::Kind::one}};
      const auto kind = kinds.find(query.getDescription());
      if (kind == kinds.end()) reject("a query " + query.getDescription());
      rule.kind = kind->second;
      for (auto child = query.beginChildren(); child != query.endChildren(); ++child)
        rule.children.push_back(atom_rule(**child));
      std::stable_partition(rule.children.begin(), rule.children.end(), [&](std::uint16_t child) {
        return library_.rules_[child].kind == AtomRule::Kind::elementary;
      });
    }
    return add_rule(std::move(rule), text);
  }

  int known_rule(const std::string& text) const {
    const auto& texts = library_.rule_texts_;
    const auto same = std::find(texts.begin(), texts.end(), text);
    return same == texts.end() ? -1 : static_cast<int>(same - texts.begin());
  }
  std::uint16_t add_rule(AtomRule rule, const std::string& text) {
    library_.rules_.push_back(std::move(rule));
    library_.rule_texts_.push_back(text);
    return static_cast<std::uint16_t>(library_.rules_.size() - 1);
  }

  /// Returns an atom's own rule combined with the requirements of its position in the pattern.
  std::uint16_t rule_in_place(std::uint16_t own, const AtomFacts& place) {
    std::vector<std::uint16_t> children{own};
    const auto require = [&](AtomRule::Kind kind, const std::string& what, std::uint16_t min_count) {
      const std::string text = "at least " + std::to_string(min_count) + " " + what;
      const int known = known_rule(text);
      AtomRule rule{.kind = kind, .negated = false, .index = min_count, .children = {}};
      children.push_back(known >= 0 ? static_cast<std::uint16_t>(known) : add_rule(std::move(rule), text));
    };
    if (place.cyclic_bonds > 0) require(AtomRule::Kind::cyclic_bonds, "cyclic bonds", place.cyclic_bonds);
    if (place.degree > std::max<std::uint8_t>(1, place.cyclic_bonds))
      require(AtomRule::Kind::neighbours, "neighbours", place.degree);
    if (children.size() == 1) return own;
    std::string text = "all of";
    for (const std::uint16_t child : children) text += " " + std::to_string(child);
    if (const int known = known_rule(text); known >= 0) return static_cast<std::uint16_t>(known);
    return add_rule({.kind = AtomRule::Kind::all, .negated = false, .index = 0, .children = children}, text);
  }

  std::uint8_t cyclic_rule(std::uint8_t own) {
    if (library_.cyclic_rule_of_[own] == own) {
      const std::uint8_t cyclic = add_bond_rule(nullptr, library_.bond_texts_[own] + " on a cycle");
      library_.cyclic_rule_of_[own] = cyclic;
    }
    return library_.cyclic_rule_of_[own];
  }

  std::uint8_t bond_rule(const BondQuery& query) {
    check_leaves(query, kKnownBondQueries);
    const std::string text = text_of(query);
    auto& texts = library_.bond_texts_;
    const auto same = std::find(texts.begin(), texts.end(), text);
    if (same != texts.end()) return static_cast<std::uint8_t>(same - texts.begin());
    return add_bond_rule(&query, text);
  }
  std::uint8_t add_bond_rule(const BondQuery* query, const std::string& text) {
    const std::size_t number = library_.bond_texts_.size();
    if (number == 64) reject("more kinds of bond than the 64 of a library");
    library_.bond_texts_.push_back(text);
    library_.bond_rules_.push_back(query);
    library_.cyclic_rule_of_.push_back(static_cast<std::uint8_t>(number));
    return static_cast<std::uint8_t>(number);
  }

  /// Depth-first search from `first`, then from atoms that are not connected to it.
  static std::vector<PatternStep> order(const RDKit::ROMol& molecule, const std::vector<std::uint16_t>& rules,
                                        const std::vector<std::uint8_t>& bond_rules, unsigned int first) {
    std::vector<PatternStep> steps;
    std::vector<int> step_of(molecule.getNumAtoms(), -1);
    const auto visit = [&](const auto& self, unsigned int atom, int parent, std::uint8_t bond_to_parent) -> void {
      const int own = static_cast<int>(steps.size());
      step_of[atom] = own;
      steps.push_back({rules[atom], static_cast<std::int16_t>(parent), bond_to_parent, {}});
      const RDKit::Atom* rdkit_atom = molecule.getAtomWithIdx(atom);
      std::vector<std::pair<unsigned int, std::uint8_t>> unvisited;
      for (const RDKit::Bond* bond : molecule.atomBonds(rdkit_atom)) {
        const unsigned int other = bond->getOtherAtomIdx(atom);
        const std::uint8_t rule = bond_rules[bond->getIdx()];
        if (step_of[other] < 0) {
          unvisited.emplace_back(other, rule);
        } else if (step_of[other] != parent) {
          steps[static_cast<std::size_t>(own)].closures.push_back({static_cast<std::uint8_t>(step_of[other]), rule});
        }
      }
      for (const auto& [other, rule] : unvisited)
        if (step_of[other] < 0) self(self, other, own, rule);
    };
    visit(visit, first, -1, 0);
    for (unsigned int atom = 0; atom < molecule.getNumAtoms(); ++atom)
      if (step_of[atom] < 0) visit(visit, atom, -1, 0);
    return steps;
  }

  PatternLibrary& library_;
  const std::string& name_;
};

PatternLibrary::PatternLibrary() {
  static std::atomic<std::uint64_t> next_id{0};
  id_ = next_id++;
}

int PatternLibrary::add(const std::string& smarts, const std::string& name) {
  std::shared_ptr<const RDKit::ROMol> query(RDKit::SmartsToMol(smarts));
  if (!query || query->getNumAtoms() == 0)
    throw FileError("pattern '" + name + "' is not valid SMARTS: '" + smarts + "'");
  return add(std::move(query), name);
}

int PatternLibrary::add(std::shared_ptr<const RDKit::ROMol> query, const std::string& name) {
  const RDKit::ROMol& molecule = *query;
  const int number = Compiler(*this, name).pattern(molecule, std::move(query));
  // The number of elementary bits is known only after this pattern and its nested patterns have been added.
  for (Pattern& pattern : patterns_) {
    pattern.needs.assign(words(), 0);
    const auto need = [&](const AtomRule& rule) {
      pattern.needs[rule.index / 64u] |= std::uint64_t{1} << rule.index % 64u;
    };
    const auto need_all = [&](const auto& self, const AtomRule& rule) -> void {
      if (rule.kind == AtomRule::Kind::elementary) need(rule);
      if (rule.kind != AtomRule::Kind::all || rule.negated) return;
      for (const std::uint16_t child : rule.children) self(self, rules_[child]);
    };
    for (const std::uint16_t rule : pattern.rules) need_all(need_all, rules_[rule]);
  }
  return number;
}

PatternLibrary::Kinds& PatternLibrary::kinds() const {
  thread_local std::map<std::uint64_t, Kinds> kinds_by_library;
  Kinds& own = kinds_by_library[id_];
  if (own.number.size() > kMaxKinds) own = {};
  return own;
}

std::uint32_t PatternLibrary::kind_of(Kinds& kinds, AtomKey key, const RDKit::Atom& atom) const {
  const auto [entry, is_new] = kinds.number.try_emplace(key, static_cast<std::uint32_t>(kinds.rooted.size()));
  if (!is_new) return entry->second;
  const std::size_t start = kinds.bits.size();
  kinds.bits.resize(start + words(), 0);
  for (std::size_t bit = 0; bit < elementary_.size(); ++bit)
    if (elementary_[bit]->Match(&atom)) kinds.bits[start + bit / 64] |= std::uint64_t{1} << bit % 64;
  std::vector<std::uint16_t>& rooted = kinds.rooted.emplace_back();
  for (std::size_t p = 0; p < patterns_.size(); ++p) {
    const AtomRule& rule = rules_[patterns_[p].root];
    if (rule.kind == AtomRule::Kind::elementary && (kinds.bits[start + rule.index / 64u] >> rule.index % 64u & 1))
      rooted.push_back(static_cast<std::uint16_t>(p));
  }
  return entry->second;
}

std::uint64_t PatternLibrary::bond_bits(Kinds& kinds, const BondFacts& facts, const RDKit::Bond& bond) const {
  const std::size_t kind = facts.type % 32u * 8u + static_cast<std::size_t>(facts.aromatic) * 4u +
                           static_cast<std::size_t>(facts.ring) * 2u + facts.cyclic;
  if (!kinds.bond_known[kind]) {
    for (std::size_t rule = 0; rule < bond_rules_.size(); ++rule) {
      if (bond_rules_[rule] == nullptr || !bond_rules_[rule]->Match(&bond)) continue;
      kinds.bond_bits[kind] |= std::uint64_t{1} << rule;
      if (facts.cyclic) kinds.bond_bits[kind] |= std::uint64_t{1} << cyclic_rule_of_[rule];
    }
    kinds.bond_known[kind] = true;
  }
  return kinds.bond_bits[kind];
}

}  // namespace molgraph::descriptors
