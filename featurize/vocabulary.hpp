// Every named value of atoms, bonds, pairs and relation classes, defined once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace molgraph {

/// Which atom and bond columns a molecule has.
/// `ogb`: 9 atom and 3 bond columns of the Open Graph Benchmark (Hu et al. 2020).
/// `zinc`: 1 and 1 columns, the 28 atom and 3 bond types of benchmarking-gnns (Dwivedi et al. 2020).
enum class Features : std::uint8_t { ogb, zinc };

std::string_view to_string(Features features);
/// Throws UsageError naming the two allowed words.
Features features_from_string(std::string_view text);

/// Sizes of the vocabulary of one feature set.
struct FeatureShape {
  int atom_columns;                    ///< 9 or 1
  int bond_columns;                    ///< 3 or 1
  std::array<int, 9> atom_dims;        ///< number of values per atom column, unused entries 0
  std::array<int, 3> bond_dims;        ///< number of values per bond column, unused entries 0
  int bond_ids;                        ///< number of distinct bond ids: 60 (ogb) or 4 (zinc)
};

const FeatureShape& feature_shape(Features features);

/// Injective bond id: `ogb` 12*type + 2*stereo + conjugated in [0, 60); `zinc` the type 1..3 (0 = other) in [0, 4).
int bond_id(Features features, const std::uint8_t* bond_columns);

/// Rows of each bond id in a table that holds the values of all bond columns one after the other: [bond ids][bond columns].
std::vector<std::vector<int>> rows_of_bond_ids(Features features);

// --- raw relations of a pair of tokens, as stored (16 bits in memory, 8 bits in a file) ---

/// topology[i][j] is the distance in bonds, or one of these two.
inline constexpr std::uint16_t kUnreachable = 0xFFFE;  ///< other fragment
inline constexpr std::uint16_t kVirtual = 0xFFFF;      ///< i or j is token 0
/// The same in a store's bytes; molecules of 255 or more atoms store no pairs.
inline constexpr std::uint8_t kUnreachable8 = 254;
inline constexpr std::uint8_t kVirtual8 = 255;
inline constexpr int kMaxStoredPairAtoms = 254;

/// edge[i][j] is a bond id, or one of these three.
inline constexpr std::uint8_t kNoEdge = 253;
inline constexpr std::uint8_t kSelfEdge = 254;
inline constexpr std::uint8_t kVirtualEdge = 255;

// --- classes: what the tables of a model are indexed by (models.md section 1) ---

/// Topology classes for a cap L (`max_distance`): 0..L distances, then the five named ones; T = L + 6.
struct TopologyClasses {
  int max_distance;  ///< L >= 1
  constexpr int far() const { return max_distance + 1; }
  constexpr int unreachable() const { return max_distance + 2; }
  constexpr int atom_to_virtual() const { return max_distance + 3; }  ///< query atom, key token 0
  constexpr int virtual_to_atom() const { return max_distance + 4; }
  constexpr int virtual_self() const { return max_distance + 5; }     ///< (0, 0)
  constexpr int count() const { return max_distance + 6; }
  /// Class of query token i and key token j with raw topology `raw`.
  constexpr int of(std::int64_t i, std::int64_t j, std::uint16_t raw) const {
    if (i == 0) return j == 0 ? virtual_self() : virtual_to_atom();
    if (j == 0) return atom_to_virtual();
    if (raw == kUnreachable) return unreachable();
    return raw > max_distance ? far() : raw;
  }
};

/// Edge classes: the bond ids, then four named ones; E = bond ids + 4.
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
