// Targets that are learned beside the reported ones and never reported: a cheaper assay, logD beside a permeability.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

struct AuxiliaryTargets {
  Task task;                         ///< without names: there are none
  std::vector<double> values{};      ///< [G, T] as MoleculeSet::targets
  std::vector<std::int8_t> bound{};  ///< [G, T] as MoleculeSet::bound; empty = all are 0

  bool empty() const { return task.names.empty(); }
};

/// The targets `chosen` (indices) of a task, in that order.
Task some_targets(const Task& all, const std::vector<std::size_t>& chosen);
/// Keeps the targets `chosen` (indices) of the set, in that order.
void keep_targets(MoleculeSet& set, const std::vector<std::size_t>& chosen);
/// The targets of both, the auxiliary ones last. Throws UsageError where `own` has more than two classes.
Task joined(const Task& own, const Task& auxiliary);

/// Moves the last targets of the set out of it, which are those of `auxiliary`; those of `own` stay. Throws as
/// joined().
AuxiliaryTargets take_auxiliary(MoleculeSet& set, const Task& own, const Task& auxiliary);

/// A copy of the set with the auxiliary targets behind its own. Those of molecules outside of `training` are missing,
/// so that nothing is judged by them.
MoleculeSet with_auxiliary(const MoleculeSet& set, const AuxiliaryTargets& auxiliary,
                           const std::vector<std::int64_t>& training);

/// One warning for each auxiliary target that has fewer than two different labels among `training`.
std::vector<std::string> auxiliary_warnings(const AuxiliaryTargets& auxiliary,
                                            const std::vector<std::int64_t>& training);

}  // namespace molgraph
