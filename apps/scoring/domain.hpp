// The applicability domain: the training molecules of a run, and the distance of other molecules to them.
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

/// Maximum number of axes of a stored embedding, with 8 bits per axis. With the fingerprint's 256 bytes, a molecule
/// takes at most 384 bytes.
inline constexpr std::size_t kMaxDomainAxes = 128;
inline constexpr float kMaxQuantised = 127;  ///< largest 8-bit value

/// The space in which distances are measured: the embeddings of the first model (its head's input).
struct DomainSpace {
  std::size_t width = 0;          ///< C of the model
  std::vector<float> center;      ///< [C] subtracted before the projection; empty = no projection, the axes are the
                                  ///< channels
  std::vector<float> projection;  ///< [axes, C] orthonormal rows
  std::vector<float> step;        ///< [axes] size of one quantisation step; positive

  std::size_t axes() const { return step.size(); }
  /// The coordinate of an embedding [C] on an axis.
  float coordinate(const float* embedding, std::size_t axis) const;
  /// Quantises an embedding [C] to [axes] values from -127 to 127, clamping coordinates outside this range.
  void quantise(std::span<const float> embedding, std::int8_t* to) const;
  /// Converts quantised values [axes] to coordinates.
  void dequantise(const std::int8_t* quantised, float* to) const;
};

struct Domain {
  DomainSpace space;
  std::vector<std::int8_t> embeddings;   ///< [N, axes]
  std::vector<FingerprintBits> bits;     ///< [N]
  std::vector<float> own_distances;      ///< ascending: from up to kMaxOwnDistances molecules to the nearest other one
  std::vector<std::uint8_t> atom_kinds;  ///< ascending: values of the first atom column (the element)
  std::vector<std::uint64_t> ring_systems;  ///< ascending: values of ring_systems()
  std::optional<DomainLabels> labels;

  std::size_t size() const { return bits.size(); }
};
inline constexpr std::size_t kMaxOwnDistances = 4096;

/// Why it is invalid as the domain of a model with `width` and `targets`, as in a damaged file; "" if it is valid.
std::string domain_problem(const Domain& domain, std::size_t width, std::size_t targets);

class DomainIndex {
 public:
  explicit DomainIndex(Domain domain);
  const Domain& domain() const { return domain_; }
  const NearestRows& rows() const { return rows_; }

  /// A molecule to look up.
  struct Query {
    GraphView graph;
    std::span<const std::uint8_t> fingerprint;  ///< [kFingerprintBins] counts
    std::span<const float> embedding;           ///< [C]
  };
  /// Thread-safe. Many queries in one call are faster than single calls and give the same results.
  std::vector<DomainPlace> places(std::span<const Query> queries) const;

 private:
  Domain domain_;
  NearestRows rows_;
  FingerprintIndex fingerprints_;
};

}  // namespace molgraph
