// All named values of atoms, bonds, pairs and relation classes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Feature sets: the atom and bond columns of a molecule.
/// `ogb`: 9 atom and 3 bond columns of the Open Graph Benchmark (Hu et al. 2020).
/// `zinc`: 1 and 1 columns, the 28 atom and 3 bond types of benchmarking-gnns (Dwivedi et al. 2020).
/// `molgraph`: 10 and 4 columns of molgraph itself, which do not depend on how a molecule's SMILES is written.
enum class Features : std::uint8_t { ogb, zinc, molgraph };

/// All feature sets.
inline constexpr std::array<Features, 3> kFeatureSets{Features::ogb, Features::zinc, Features::molgraph};
/// Default for tables. Named data sets have their own defaults.
inline constexpr Features kDefaultFeatures = Features::molgraph;

std::string_view to_string(Features features);
/// Throws UsageError with the allowed names.
Features features_from_string(std::string_view text);

inline constexpr int kMaxAtomColumns = 10;
inline constexpr int kMaxBondColumns = 4;

/// Configuration of an atom, a column of `molgraph`: its CIP label (Hanson et al. 2018), in lower case for
/// pseudo-asymmetric atoms, or `undefined` if the atom could have a configuration but has no label.
enum class CentreLabel : std::uint8_t { none, R, S, r, s, undefined };
/// Configuration of a double bond.
enum class BondLabel : std::uint8_t { none, E, Z, either };

/// Sizes and names of the vocabulary of one feature set.
struct FeatureShape {
  int atom_columns;                            ///< 9, 1 or 10
  int bond_columns;                            ///< 3, 1 or 4
  std::array<int, kMaxAtomColumns> atom_dims;  ///< number of values per atom column, unused entries 0
  std::array<int, kMaxBondColumns> bond_dims;  ///< number of values per bond column, unused entries 0
  int bond_ids;                                ///< number of distinct bond ids: 60 (ogb), 4 (zinc) or 32 (molgraph)
  std::string_view atom_names;                 ///< names of the atom columns, separated by spaces
  std::string_view bond_names;                 ///< names of the bond columns
  std::string_view bond_id_rule;               ///< the bond id, as a formula over the names of the bond columns
};

const FeatureShape& feature_shape(Features features);

/// Returns the bond id, which differs for bonds that differ: `ogb` 12*type + 2*stereo + conjugated in [0, 60); `zinc`
/// the type 1..3 (0 = other) in [0, 4); `molgraph` 4*kind + 2*conjugated + in_ring in [0, 32), where the kind is 4 +
/// stereo for a double bond with a stereo value and the type for any other bond (only double bonds have stereo values).
int bond_id(Features features, const std::uint8_t* bond_columns);

/// Returns, for each bond id, its rows in a table that contains the values of all bond columns one after the other:
/// [bond ids][bond columns].
std::vector<std::vector<int>> rows_of_bond_ids(Features features);

// --- raw relations of a pair of tokens, as stored (16 bits in memory, 8 bits in a file) ---

/// topology[i][j] is the distance in bonds or one of these values.
inline constexpr std::uint16_t kUnreachable = 0xFFFE;  ///< other fragment
inline constexpr std::uint16_t kVirtual = 0xFFFF;      ///< i or j is token 0
/// kUnreachable in a store's bytes. Stores do not contain the pairs of molecules with 255 or more atoms.
inline constexpr std::uint8_t kUnreachable8 = 254;
inline constexpr int kMaxStoredPairAtoms = 254;

/// edge[i][j] is a bond id or one of these values.
inline constexpr std::uint8_t kNoEdge = 253;
inline constexpr std::uint8_t kSelfEdge = 254;
inline constexpr std::uint8_t kVirtualEdge = 255;

// --- classes: indices into the tables of a model (docs/models/formula.md section 1) ---

/// Topology classes for a cap L (`max_distance`): the distances 0..L, then five named classes; T = L + 6.
struct TopologyClasses {
  int max_distance;  ///< L >= 1
  constexpr int far() const { return max_distance + 1; }
  constexpr int unreachable() const { return max_distance + 2; }
  constexpr int atom_to_virtual() const { return max_distance + 3; }  ///< query atom, key token 0
  constexpr int virtual_to_atom() const { return max_distance + 4; }
  constexpr int virtual_self() const { return max_distance + 5; }  ///< (0, 0)
  constexpr int count() const { return max_distance + 6; }
  /// Class of query token i and key token j with raw topology `raw`.
  constexpr int of(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    if (i == 0) return j == 0 ? virtual_self() : virtual_to_atom();
    if (j == 0) return atom_to_virtual();
    if (raw == kUnreachable) return unreachable();
    return raw > max_distance ? far() : raw;
  }
};

/// Edge classes: the bond ids, then four named classes; E = bond ids + 4.
struct EdgeClasses {
  int bond_ids;
  constexpr int no_edge() const { return bond_ids; }
  constexpr int self() const { return bond_ids + 1; }
  constexpr int virtual_pair() const { return bond_ids + 2; }
  constexpr int virtual_self() const { return bond_ids + 3; }
  constexpr int count() const { return bond_ids + 4; }
  constexpr int of(std::int64_t i, std::int64_t j, std::uint8_t raw) const {
    if (i == 0 && j == 0) return virtual_self();
    if (i == 0 || j == 0) return virtual_pair();
    if (raw == kNoEdge) return no_edge();
    return raw == kSelfEdge ? self() : raw;
  }
};

}  // namespace molgraph
