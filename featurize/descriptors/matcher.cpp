#include "featurize/descriptors/matcher.hpp"

#include <algorithm>
#include <bit>

namespace molgraph::descriptors {
namespace {

constexpr std::uint64_t bit_of(std::size_t atom) { return std::uint64_t{1} << atom % 64; }
bool has(const std::uint64_t* words, std::size_t atom) { return (words[atom / 64] >> atom % 64 & 1) != 0; }

bool covers(const std::uint64_t* have, const std::vector<std::uint64_t>& need) {
  for (std::size_t w = 0; w < need.size(); ++w)
    if ((need[w] & ~have[w]) != 0) return false;
  return true;
}

}  // namespace

void Matcher::assign(const PatternLibrary& library, const CompactMolecule& molecule, const RdkitParts& parts) {
  library_ = &library;
  molecule_ = &molecule;
  kinds_ = &library.kinds();
  const std::size_t n = molecule.size(), bits = library.words();
  words_ = (n + 63) / 64;
  kind_.resize(n);
  for (std::size_t i = 0; i < n; ++i) kind_[i] = library.kind_of(*kinds_, atom_key(molecule.atoms[i]), *parts.atoms[i]);
  bond_bits_.resize(molecule.bonds.size());
  present_bonds_ = 0;
  for (std::size_t b = 0; b < molecule.bonds.size(); ++b) {
    bond_bits_[b] = library.bond_bits(*kinds_, molecule.bonds[b], *parts.bonds[b]);
    present_bonds_ |= bond_bits_[b];
  }
  masks_.assign(library.rules() * words_, 0);
  known_.assign(library.rules(), 0);
  first_atoms_.resize(library.patterns() * words_);
  first_atoms_known_.assign(library.patterns(), 0);
  present_.assign(bits, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t* own = kinds_->bits.data() + kind_[i] * bits;
    for (std::size_t w = 0; w < bits; ++w) {
      present_[w] |= own[w];
      for (std::uint64_t left = own[w]; left != 0; left &= left - 1) {
        const std::size_t rule = library.rule_of_bit(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
        masks_[rule * words_ + i / 64] |= bit_of(i);
      }
    }
  }
  used_.assign(words_, 0);
  near_.assign(library.bond_rules() * n * words_, 0);
  for (std::size_t b = 0; b < molecule.bonds.size(); ++b) {
    const std::size_t u = molecule.bonds[b].begin, v = molecule.bonds[b].end;
    for (std::uint64_t left = bond_bits_[b]; left != 0; left &= left - 1) {
      const std::size_t rule = static_cast<std::size_t>(std::countr_zero(left)) * n;
      near_[(rule + u) * words_ + v / 64] |= bit_of(v);
      near_[(rule + v) * words_ + u / 64] |= bit_of(u);
    }
  }
}

std::size_t Matcher::ones(const std::uint64_t* words) const {
  std::size_t sum = 0;
  for (std::size_t w = 0; w < words_; ++w) sum += static_cast<std::size_t>(std::popcount(words[w]));
  return sum;
}

Matcher::Words Matcher::mask(std::size_t rule) {
  const Words words = masks_.data() + rule * words_;
  if (known_[rule] == 0) {
    known_[rule] = 1;
    if (library_->rule(rule).kind != AtomRule::Kind::elementary) compute_mask(rule, words);
  }
  return words;
}

void Matcher::compute_mask(std::size_t rule, Words result) {
  const AtomRule& own = library_->rule(rule);
  const std::size_t n = molecule_->size();
  const auto every = [&](std::size_t w) { return w + 1 < words_ || n % 64 == 0 ? ~std::uint64_t{0} : bit_of(n) - 1; };
  const auto at_least = [&](std::uint8_t AtomFacts::*count) {
    for (std::size_t i = 0; i < n; ++i)
      if (molecule_->atoms[i].*count >= own.index) result[i / 64] |= bit_of(i);
  };
  if (own.kind == AtomRule::Kind::recursive) {
    compute_first_atoms(library_->pattern(own.index), result);
  } else if (own.kind == AtomRule::Kind::neighbours) {
    at_least(&AtomFacts::degree);
  } else if (own.kind == AtomRule::Kind::cyclic_bonds) {
    at_least(&AtomFacts::cyclic_bonds);
  } else {
    const bool all = own.kind == AtomRule::Kind::all;
    for (std::size_t w = 0; w < words_; ++w) result[w] = all ? every(w) : 0;
    for (const std::uint16_t child : own.children) {
      const std::uint64_t* other = mask(child);
      std::uint64_t any = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        if (all) {
          result[w] &= other[w];
        } else if (own.kind == AtomRule::Kind::any) {
          result[w] |= other[w];
        } else {
          result[w] ^= other[w];
        }
        any |= result[w];
      }
      if (all && any == 0) break;
    }
  }
  if (own.negated)
    for (std::size_t w = 0; w < words_; ++w) result[w] = ~result[w] & every(w);
}

/// Returns false if the pattern cannot occur; otherwise fills the masks of the pattern's rules. Cheap tests come first:
/// the number of cycles, and which elementary queries and kinds of bonds occur in the molecule.
bool Matcher::may_occur(const Pattern& pattern) {
  if (pattern.cycles > molecule_->cycles) return false;
  if (!covers(present_.data(), pattern.needs) || (pattern.needs_bonds & ~present_bonds_) != 0) return false;
  return std::all_of(pattern.rules.begin(), pattern.rules.end(), [&](std::uint16_t rule) {
    const std::uint64_t* words = mask(rule);
    return std::any_of(words, words + words_, [](std::uint64_t word) { return word != 0; });
  });
}

/// Finds the atoms that each step of a search may use: atoms that match the rule, whose mask is known, and have a
/// matching neighbour for every step that starts from there. Returns false if a step has none.
bool Matcher::find_candidates(const std::vector<PatternStep>& order) {
  candidates_.resize(order.size() * words_);
  return words_ == 1 ? find_candidates_in<1>(order) : find_candidates_in<0>(order);
}

/// `fixed`: words_ as a compile-time constant; 0 = any.
template <std::size_t fixed>
bool Matcher::find_candidates_in(const std::vector<PatternStep>& order) {
  const std::size_t words = fixed != 0 ? fixed : words_, n = molecule_->size();
  const std::uint64_t* masks = masks_.data();
  const Words candidates = candidates_.data();
  for (std::size_t s = 0; s < order.size(); ++s)
    for (std::size_t w = 0; w < words; ++w) candidates[s * words + w] = masks[order[s].rule * words + w];
  for (std::size_t s = order.size(); s-- > 0;) {
    const std::uint64_t* own = candidates + s * words;
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < words; ++w) any |= own[w];
    if (any == 0) return false;
    if (order[s].parent < 0) continue;
    const Words from = candidates + static_cast<std::size_t>(order[s].parent) * words;
    const std::uint64_t* near = near_.data() + order[s].bond_rule * n * words;
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t left = from[w]; left != 0; left &= left - 1) {
        const std::uint64_t* neighbours = near + (w * 64 + static_cast<std::size_t>(std::countr_zero(left))) * words;
        std::uint64_t common = 0;
        for (std::size_t v = 0; v < words; ++v) common |= neighbours[v] & own[v];
        from[w] ^= common == 0 ? left & ~(left - 1) : 0;
      }
  }
  return true;
}

/// Returns true if no search is needed: one atom, or two atoms with a bond.
bool Matcher::candidates_are_matches(const std::vector<PatternStep>& order) {
  return order.size() == 1 || (order.size() == 2 && order.back().parent == 0);
}

void Matcher::compute_first_atoms(const Pattern& pattern, Words result) {
  std::fill_n(result, words_, 0);
  const auto& order = pattern.orders.front();
  if (!may_occur(pattern) || !find_candidates(order)) return;
  if (candidates_are_matches(order)) {
    std::copy_n(candidates_.data(), words_, result);
    return;
  }
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t left = candidates_[w]; left != 0; left &= left - 1) {
      const auto atom = static_cast<std::uint16_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(left)));
      if (search_from(order, atom, StopAt::first_match)) result[w] |= left & ~(left - 1);
    }
}

std::span<const std::uint64_t> Matcher::first_atoms(int pattern) {
  const auto at = static_cast<std::size_t>(pattern);
  const std::span<std::uint64_t> atoms(first_atoms_.data() + at * words_, words_);
  if (first_atoms_known_[at] == 0) compute_first_atoms(library_->pattern(pattern), atoms.data());
  first_atoms_known_[at] = 1;
  return atoms;
}

/// Returns the order whose first pattern atom matches the fewest atoms of the molecule.
const std::vector<PatternStep>& Matcher::best_order(const Pattern& pattern) {
  std::size_t min_atoms = ~std::size_t{0}, first = 0;
  for (std::size_t k = 0; k < pattern.rules.size(); ++k) {
    const std::size_t atoms = ones(mask(pattern.rules[k]));
    if (atoms < min_atoms) {
      min_atoms = atoms;
      first = k;
    }
  }
  return pattern.orders[first];
}

bool Matcher::exists(int pattern) {
  const Pattern& own = library_->pattern(pattern);
  if (!may_occur(own)) return false;
  const auto& order = best_order(own);
  if (!find_candidates(order)) return false;
  if (candidates_are_matches(order)) return true;
  for (std::size_t atom = 0; atom < molecule_->size(); ++atom)
    if (has(candidates_.data(), atom) && search_from(order, static_cast<std::uint16_t>(atom), StopAt::first_match))
      return true;
  return false;
}

int Matcher::count(int pattern) {
  const Pattern& own = library_->pattern(pattern);
  if (!may_occur(own)) return 0;
  if (own.rules.size() == 1) {
    const auto atoms = static_cast<int>(ones(mask(own.rules.front())));
    return atoms < kMaxMappings ? atoms : -1;
  }
  const auto& order = best_order(own);
  if (!find_candidates(order)) return 0;
  found_.clear();
  mappings_ = 0;
  // If all atoms of a pattern are equivalent, each mapping has an equivalent one that begins with any other of its
  // atoms. After the search from an atom, no new mapping contains this atom.
  per_mapping_ = own.symmetric ? static_cast<int>(own.rules.size()) : 1;
  for (std::size_t atom = 0; atom < molecule_->size(); ++atom) {
    if (!has(candidates_.data(), atom)) continue;
    if (search_from(order, static_cast<std::uint16_t>(atom), StopAt::limit)) return -1;
    for (std::size_t s = 0; own.symmetric && s < order.size(); ++s)
      candidates_[s * words_ + atom / 64] &= ~bit_of(atom);
  }
  return distinct_sets();
}

int Matcher::distinct_sets() {
  const std::size_t found = found_.size() / words_;
  if (found <= 1) return static_cast<int>(found);
  sorted_.resize(found);
  for (std::size_t i = 0; i < sorted_.size(); ++i) sorted_[i] = static_cast<std::uint32_t>(i * words_);
  const std::uint64_t* sets = found_.data();
  std::sort(sorted_.begin(), sorted_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::lexicographical_compare(sets + a, sets + a + words_, sets + b, sets + b + words_);
  });
  int distinct = 1;
  for (std::size_t i = 1; i < sorted_.size(); ++i)
    distinct += !std::equal(sets + sorted_[i], sets + sorted_[i] + words_, sets + sorted_[i - 1]);
  return distinct;
}

bool Matcher::search_from(const std::vector<PatternStep>& order, std::uint16_t atom, StopAt stop_at) {
  mapped_[0] = atom;
  used_[atom / 64u] |= bit_of(atom);
  const bool found = extend(order, 1, stop_at);
  used_[atom / 64u] &= ~bit_of(atom);
  return found;
}

bool Matcher::fits(const PatternStep& step, const std::uint64_t* candidates, std::uint16_t atom) const {
  if (has(used_.data(), atom) || !has(candidates, atom)) return false;
  return std::all_of(step.closures.begin(), step.closures.end(), [&](const PatternStep::Closure& closure) {
    const std::uint16_t other = mapped_[closure.step];
    return std::any_of(molecule_->begin(atom), molecule_->end(atom), [&](const Arc& arc) {
      return arc.atom == other && (bond_bits_[arc.bond] >> closure.bond_rule & 1) != 0;
    });
  });
}

/// Returns true if the search is over: one mapping is enough and was found, or there are too many.
bool Matcher::extend(const std::vector<PatternStep>& order, std::size_t step, StopAt stop_at) {
  if (step == order.size()) {
    if (stop_at == StopAt::first_match) return true;
    found_.insert(found_.end(), used_.begin(), used_.end());
    return (mappings_ += per_mapping_) >= kMaxMappings;
  }
  const PatternStep& own = order[step];
  const std::uint64_t* candidates = candidates_.data() + step * words_;
  const auto try_atom = [&](std::uint16_t atom) {
    mapped_[step] = atom;
    used_[atom / 64u] |= bit_of(atom);
    const bool stop = extend(order, step + 1, stop_at);
    used_[atom / 64u] &= ~bit_of(atom);
    return stop;
  };
  if (own.parent < 0) {
    for (std::size_t atom = 0; atom < molecule_->size(); ++atom) {
      const auto next = static_cast<std::uint16_t>(atom);
      if (fits(own, candidates, next) && try_atom(next)) return true;
    }
    return false;
  }
  const std::uint16_t from = mapped_[own.parent];
  for (const Arc* arc = molecule_->begin(from); arc != molecule_->end(from); ++arc) {
    if ((bond_bits_[arc->bond] >> own.bond_rule & 1) == 0 || !fits(own, candidates, arc->atom)) continue;
    if (try_atom(arc->atom)) return true;
  }
  return false;
}

}  // namespace molgraph::descriptors
