// The molecules that a run has learned from, and how far another one lies from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/domain_place.hpp"
#include "apps/scoring/fingerprint_index.hpp"
#include "apps/scoring/nearest_rows.hpp"
#include "featurize/graph/molecular_graph.hpp"

namespace molgraph {

inline constexpr const char* kDomainFile = "domain.safetensors";

/// What of an embedding is kept of every molecule: numbers of 8 bits along so many axes at most. With the fingerprint's
/// 256 bytes that is 384 bytes.
inline constexpr std::size_t kMostDomainAxes = 128;
inline constexpr float kMostStored = 127;  ///< of a number of 8 bits

/// The space in which distances are measured: that of the first model's embeddings (what its head reads).
struct DomainSpace {
  std::size_t width = 0;          ///< C of the model
  std::vector<float> center;      ///< [C] subtracted before the projection; empty = no projection, the axes are the
                                  ///< channels
  std::vector<float> projection;  ///< [axes, C] orthonormal rows
  std::vector<float> step;        ///< [axes] what 1 of a stored number is; above 0

  std::size_t axes() const { return step.size(); }
  /// How far an embedding [C] lies along an axis.
  float along(const float* embedding, std::size_t axis) const;
  /// An embedding [C] as stored numbers [axes], -127 to 127. What lies outside of that is at the border.
  void stored(std::span<const float> embedding, std::int8_t* to) const;
  /// Stored numbers [axes] as a place in the space.
  void place(const std::int8_t* stored, float* to) const;
};

struct Domain {
  DomainSpace space;
  std::vector<std::int8_t> embeddings;   ///< [N, axes]
  std::vector<FingerprintBits> bits;     ///< [N]
  std::vector<float> own_distances;      ///< ascending: of up to kMostOwnDistances molecules to the nearest other one
  std::vector<std::uint8_t> atom_kinds;  ///< ascending: values of the first atom column (the element)
  std::vector<std::uint64_t> ring_systems;  ///< ascending: numbers of ring_systems()
  std::optional<DomainLabels> labels;

  std::size_t size() const { return bits.size(); }
};
inline constexpr std::size_t kMostOwnDistances = 4096;

/// Why it cannot be the domain of any model of `width` and `targets`; "" if it can: what a damaged file would hold.
std::string domain_problem(const Domain& domain, std::size_t width, std::size_t targets);

class DomainIndex {
 public:
  explicit DomainIndex(Domain domain);
  const Domain& domain() const { return domain_; }
  const NearestRows& rows() const { return rows_; }

  /// A molecule to be placed.
  struct Query {
    GraphView graph;
    std::span<const std::uint8_t> fingerprint;  ///< [kFingerprintBins] counts
    std::span<const float> embedding;           ///< [C]
  };
  /// Thread-safe. Of many at once it is faster than one by one, with the same results.
  std::vector<DomainPlace> places(std::span<const Query> queries) const;

 private:
  Domain domain_;
  NearestRows rows_;
  FingerprintIndex fingerprints_;
};

}  // namespace molgraph
