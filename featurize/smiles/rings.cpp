#include "featurize/smiles/rings.hpp"

#include <algorithm>
#include <cassert>

namespace molgraph {

Rings::Rings(int atoms, std::span<const std::uint16_t> bond_atoms)
    : bond_atoms_(bond_atoms.begin(), bond_atoms.end()), first_(static_cast<std::size_t>(atoms) + 2, 0),
      steps_(bond_atoms.size()), ring_bond_(bond_atoms.size() / 2, 0), system_(static_cast<std::size_t>(atoms), -1),
      depth_(static_cast<std::size_t>(atoms), -1), branch_(static_cast<std::size_t>(atoms)) {
  for (const std::uint16_t atom : bond_atoms) ++first_[atom + 2u];
  for (std::size_t a = 2; a < first_.size(); ++a) first_[a] += first_[a - 1];
  // first_[a + 1] is now the fill position of atom a and ends as the start of atom a + 1.
  for (std::size_t k = 0; k < bond_atoms.size(); ++k)
    steps_[first_[bond_atoms[k] + 1u]++] = {bond_atoms[k ^ 1u], static_cast<int>(k / 2)};
  first_.pop_back();
  find_ring_bonds();
  find_systems();
}

/// A bond is in a ring unless it is a bridge (Tarjan 1974): no bond below it in a depth-first tree leads above it.
void Rings::find_ring_bonds() {
  const std::size_t atoms = system_.size();
  std::vector<int> low(atoms), entry_bond(atoms, -1);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  std::fill(ring_bond_.begin(), ring_bond_.end(), 1);
  int time = 0;
  for (std::size_t root = 0; root < atoms; ++root) {
    if (depth_[root] >= 0) continue;
    queue_.assign(1, static_cast<int>(root));  // used as a stack
    depth_[root] = low[root] = time++;
    while (!queue_.empty()) {
      const auto at = static_cast<std::size_t>(queue_.back());
      if (next[at] < first_[at + 1]) {
        const Step step = steps_[next[at]++];
        const auto other = static_cast<std::size_t>(step.atom);
        if (step.bond == entry_bond[at]) continue;
        if (depth_[other] >= 0) {
          low[at] = std::min(low[at], depth_[other]);
          continue;
        }
        depth_[other] = low[other] = time++;
        entry_bond[other] = step.bond;
        queue_.push_back(step.atom);
        continue;
      }
      queue_.pop_back();
      if (queue_.empty()) break;
      const auto above = static_cast<std::size_t>(queue_.back());
      low[above] = std::min(low[above], low[at]);
      if (low[at] > depth_[above]) ring_bond_[static_cast<std::size_t>(entry_bond[at])] = 0;
    }
  }
  std::fill(depth_.begin(), depth_.end(), -1);
}

/// Keeps only the steps over ring bonds and numbers the connected systems.
void Rings::find_systems() {
  std::size_t kept = 0;
  for (std::size_t a = 0; a < system_.size(); ++a) {
    const std::size_t begin = first_[a];
    first_[a] = kept;
    for (std::size_t k = begin; k < first_[a + 1]; ++k)
      if (bond(steps_[k].bond)) steps_[kept++] = steps_[k];
  }
  first_.back() = kept;
  int systems = 0;
  for (std::size_t a = 0; a < system_.size(); ++a) {
    if (system_[a] >= 0 || first_[a] == first_[a + 1]) continue;
    queue_.assign(1, static_cast<int>(a));
    system_[a] = systems;
    while (!queue_.empty()) {
      const int at = queue_.back();
      queue_.pop_back();
      for (const Step& step : steps(at)) {
        int& system = system_[static_cast<std::size_t>(step.atom)];
        if (system >= 0) continue;
        system = systems;
        queue_.push_back(step.atom);
      }
    }
    ++systems;
  }
}

int Rings::smallest_of_atom(int atom, int limit) const {
  assert(limit <= kLargestRing);
  if (!this->atom(atom)) return 0;
  // Breadth-first search. A bond between two branches of the tree closes a ring through the root, and the smallest such
  // ring contains one.
  int best = limit + 1;
  queue_.assign(1, atom);
  depth_[static_cast<std::size_t>(atom)] = 0;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const int at = queue_[head], depth = depth_[static_cast<std::size_t>(at)];
    if (2 * depth + 1 >= best) break;
    for (const Step& step : steps(at)) {
      const auto other = static_cast<std::size_t>(step.atom);
      const int branch = at == atom ? step.atom : branch_[static_cast<std::size_t>(at)];
      if (depth_[other] < 0) {
        depth_[other] = depth + 1;
        branch_[other] = branch;
        queue_.push_back(step.atom);
      } else if (step.atom != atom && branch_[other] != branch) {
        best = std::min(best, depth + depth_[other] + 1);
      }
    }
  }
  for (const int visited : queue_) depth_[static_cast<std::size_t>(visited)] = -1;
  return best <= limit ? best : 0;
}

int Rings::distance(int from, int to, int without_atom, int without_bond, int limit) const {
  int found = 0;
  queue_.assign(1, from);
  depth_[static_cast<std::size_t>(from)] = 0;
  for (std::size_t head = 0; head < queue_.size() && found == 0; ++head) {
    const int at = queue_[head], depth = depth_[static_cast<std::size_t>(at)];
    if (depth >= limit) break;
    for (const Step& step : steps(at)) {
      if (step.atom == without_atom || step.bond == without_bond || depth_[static_cast<std::size_t>(step.atom)] >= 0)
        continue;
      depth_[static_cast<std::size_t>(step.atom)] = depth + 1;
      queue_.push_back(step.atom);
      if (step.atom == to) found = depth + 1;
    }
  }
  for (const int visited : queue_) depth_[static_cast<std::size_t>(visited)] = -1;
  return found;
}

int Rings::smallest_of_bond(int bond, int limit) const {
  assert(limit <= kLargestRing);
  if (!this->bond(bond)) return 0;
  const auto b = static_cast<std::size_t>(bond);
  const int length = distance(bond_atoms_[2 * b], bond_atoms_[2 * b + 1], -1, bond, limit - 1);
  return length > 0 ? length + 1 : 0;
}

int Rings::smallest_through(int left, int atom, int right, int limit) const {
  assert(limit <= kLargestRing);
  if (!this->atom(atom)) return 0;
  const int length = distance(left, right, atom, -1, limit - 2);
  return length > 0 ? length + 2 : 0;
}

}  // namespace molgraph
