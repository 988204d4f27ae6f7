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

/// Moves the named targets (their case does not matter) out of the set, in that order. Throws DataError where the set
/// has no such target or would keep none, and UsageError for a task of more than two classes.
AuxiliaryTargets take_auxiliary(MoleculeSet& set, const std::vector<std::string>& names);

/// A copy of the set with the auxiliary targets behind its own. Molecules outside of `training` have none of them, so
/// that nothing is judged by them.
MoleculeSet with_auxiliary(const MoleculeSet& set, const AuxiliaryTargets& auxiliary,
                           const std::vector<std::int64_t>& training);

}  // namespace molgraph
