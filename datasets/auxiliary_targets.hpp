// Auxiliary targets: learned together with the reported targets but never reported, such as a cheaper assay or logD for
// a permeability.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/store/molecule_set.hpp"
#include "datasets/tables/task.hpp"

namespace molgraph {

struct AuxiliaryTargets {
  Task task;                         ///< without names = no auxiliary targets
  std::vector<double> values{};      ///< [G, T] like MoleculeSet::targets
  std::vector<std::int8_t> bound{};  ///< [G, T] like MoleculeSet::bound; empty = all are 0

  bool empty() const { return task.names.empty(); }
};

/// The targets `chosen` (indices) of a task, in that order.
Task some_targets(const Task& all, const std::vector<std::size_t>& chosen);
/// Keeps the targets `chosen` (indices) of the set, in that order.
void keep_targets(MoleculeSet& set, const std::vector<std::size_t>& chosen);
/// The targets of both tasks, auxiliary ones last. Throws UsageError if a target has more than two classes.
Task joined_task(const Task& primary, const Task& auxiliary);

/// Moves the last targets, those of `auxiliary`, out of the set; those of `primary` stay. Throws as joined_task() does.
AuxiliaryTargets take_auxiliary(MoleculeSet& set, const Task& primary, const Task& auxiliary);

/// Copy of the set with the auxiliary targets after its own. They are missing for molecules that are not in `training`,
/// so they do not affect any validation.
MoleculeSet with_auxiliary(const MoleculeSet& set, const AuxiliaryTargets& auxiliary,
                           const std::vector<std::int64_t>& training);

/// One warning for each auxiliary target that has fewer than two distinct labels among `training`.
std::vector<std::string> auxiliary_warnings(const AuxiliaryTargets& auxiliary,
                                            const std::vector<std::int64_t>& training);

}  // namespace molgraph
