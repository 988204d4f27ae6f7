#include "attention/spec/plan_check.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention/spec/pair_states.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("invalid engine input: " + what); }

void require(bool valid, const char* what) {
  if (!valid) fail(std::string("the plan has ") + what);
}

std::string text(std::int64_t number) { return std::to_string(number); }

template <class Vector>
std::int64_t size_of(const Vector& values) {
  return static_cast<std::int64_t>(values.size());
}

template <class Vector>
void check_size(const Vector& values, std::int64_t wanted, const char* name) {
  if (size_of(values) != wanted)
    fail(std::string("the batch array '") + name + "' has " + text(size_of(values)) + " entries instead of " +
         text(wanted));
}

void check_map(const std::vector<std::int64_t>& map, int classes, const char* name) {
  if (map.empty()) return;
  if (size_of(map) != classes || *std::min_element(map.begin(), map.end()) < 0 ||
      *std::max_element(map.begin(), map.end()) >= classes)
    fail(std::string("the plan's map of ") + name + " classes has the wrong size or an invalid class");
}

/// Maximum number of atoms per molecule: token numbers fit 16 bits, and pair offsets 63 bits.
constexpr std::int64_t kMaxPackedAtoms = std::numeric_limits<std::uint16_t>::max() - 1;

void check_offsets(const GraphBatch& batch) {
  const std::int64_t count = batch.size();
  check_size(batch.atom_offset, count + 1, "atom_offset");
  check_size(batch.token_offset, count + 1, "token_offset");
  check_size(batch.pair_offset, count + 1, "pair_offset");
  if (batch.atom_offset[0] != 0 || batch.token_offset[0] != 0 || batch.pair_offset[0] != 0)
    fail("the offsets of the batch do not begin with 0");
  for (std::size_t b = 0; b < static_cast<std::size_t>(count); ++b) {
    const std::int64_t begin = batch.atom_offset[b], end = batch.atom_offset[b + 1];
    const bool possible = end >= begin && end - begin <= kMaxPackedAtoms;
    const std::int64_t tokens = possible ? end - begin + 1 : 0;
    if (!possible || batch.token_offset[b + 1] - batch.token_offset[b] != tokens ||
        batch.pair_offset[b + 1] - batch.pair_offset[b] != tokens * tokens)
      fail("the offsets of molecule " + text(static_cast<std::int64_t>(b)) + " in the batch are inconsistent");
  }
}

void check_atoms(const GraphBatch& batch, const FeatureShape& shape) {
  const auto columns = static_cast<std::size_t>(shape.atom_columns);
  const std::int64_t atoms = batch.atom_offset.back();
  check_size(batch.atoms, atoms * shape.atom_columns, "atoms");
  check_size(batch.degree, atoms, "degree");
  for (std::size_t at = 0; at < batch.atoms.size(); at += columns) {
    bool bad = false;
    for (std::size_t c = 0; c < columns; ++c) bad |= batch.atoms[at + c] >= shape.atom_dims[c];
    for (std::size_t c = 0; bad && c < columns; ++c)
      if (batch.atoms[at + c] >= shape.atom_dims[c])
        fail("atom " + text(static_cast<std::int64_t>(at / columns)) + " has the value " + text(batch.atoms[at + c]) +
             " in column " + text(static_cast<std::int64_t>(c)) + "; the number of values is " +
             text(shape.atom_dims[c]));
  }
  if (std::any_of(batch.degree.begin(), batch.degree.end(), [](std::int32_t degree) { return degree < 0; }))
    fail("an atom has a negative degree");
}

/// Checks the raw relations of pairs of atoms. Those of pairs with the virtual node are never read.
void check_pairs(const GraphBatch& batch, const FeatureShape& shape) {
  check_size(batch.topology, batch.num_pairs(), "topology");
  check_size(batch.edge, batch.num_pairs(), "edge");
  const auto bond_ids = static_cast<std::uint8_t>(shape.bond_ids);
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const std::int64_t tokens = batch.token_offset[b + 1] - batch.token_offset[b];
    for (std::int64_t i = 1; i < tokens; ++i) {
      const std::uint8_t* edge = batch.edge.data() + batch.pair_offset[b] + i * tokens;
      const std::uint16_t* topology = batch.topology.data() + batch.pair_offset[b] + i * tokens;
      unsigned bad = 0;
      for (std::int64_t j = 1; j < tokens; ++j) {
        bad |= static_cast<unsigned>(edge[j] >= bond_ids) & static_cast<unsigned>(edge[j] != kNoEdge) &
               static_cast<unsigned>(edge[j] != kSelfEdge);
        bad |= static_cast<unsigned>(topology[j] == kVirtual);
      }
      if (bad != 0)
        fail("molecule " + text(static_cast<std::int64_t>(b)) + " has an invalid bond or distance at atom " +
             text(i - 1));
    }
  }
}

/// Checks the offsets of the levels: they begin with 0, never decrease and end with `end`.
void check_levels(const std::vector<std::int64_t>& offsets, std::int64_t end) {
  if (offsets.front() != 0 || offsets.back() != end || !std::is_sorted(offsets.begin(), offsets.end()))
    fail("the levels of the paths do not match their steps");
}

/// Number of pairs that a path connects, according to the distances.
std::int64_t count_connected(const GraphBatch& batch) {
  std::int64_t count = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batch.size()); ++b) {
    const std::int64_t tokens = batch.token_offset[b + 1] - batch.token_offset[b];
    for (std::int64_t i = 1; i < tokens; ++i) {
      const std::uint16_t* row = batch.topology.data() + batch.pair_offset[b] + i * tokens;
      int connected = 0;
      for (std::int64_t j = 1; j < tokens; ++j) connected += row[j] - 1u < kUnreachable - 1u;
      count += connected;
    }
  }
  return count;
}

/// Checks that every step of a level leads from a pair of the level below to a pair of this level, in one molecule.
class PathCheck {
 public:
  explicit PathCheck(const GraphBatch& batch)
      : batch_(batch), paths_(batch.paths), begin_(batch.pair_offset.size()), below_(begin_.size()) {}

  void level(std::size_t m) {
    std::swap(begin_, below_);
    find_molecules(paths_.level_pairs[m - 1], paths_.level_pairs[m]);
    const std::int64_t pairs = paths_.level_pairs[m] - paths_.level_pairs[m - 1];
    std::size_t molecule = 0;
    std::int64_t before = 0;
    for (auto s = static_cast<std::size_t>(paths_.level_steps[m - 1]);
         s < static_cast<std::size_t>(paths_.level_steps[m]); ++s) {
      const std::int64_t target = paths_.target[s];
      if (target < before || target >= pairs) fail("a step of a path leads to an invalid pair");
      before = target;
      while (target >= begin_[molecule + 1]) ++molecule;
      if (m > 1 && (paths_.source[s] < below_[molecule] || paths_.source[s] >= below_[molecule + 1]))
        fail("a step of a path comes from an invalid pair");
    }
  }

 private:
  /// Finds where each molecule's pairs begin in the level. Pairs are in the order of the batch.
  void find_molecules(std::int64_t first, std::int64_t last) {
    std::size_t molecule = 0;
    std::int64_t before = -1;
    begin_[0] = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t pair = paths_.pair[static_cast<std::size_t>(k)];
      if (pair <= before || pair >= batch_.num_pairs()) fail("a path has an invalid pair");
      before = pair;
      while (pair >= batch_.pair_offset[molecule + 1]) begin_[++molecule] = k - first;
    }
    while (molecule + 1 < begin_.size()) begin_[++molecule] = last - first;
  }

  const GraphBatch& batch_;
  const PathSteps& paths_;
  std::vector<std::int64_t> begin_, below_;  ///< [B + 1] of this level and of the level below
};

void check_paths(const GraphBatch& batch, const FeatureShape& shape) {
  const PathSteps& paths = batch.paths;
  const std::int64_t steps = size_of(paths.target);
  if (size_of(paths.pair) != count_connected(batch))
    fail("the paths of the batch are missing or do not match its distances");
  if (paths.levels() == 0) return;
  check_size(paths.source, steps, "source");
  check_size(paths.bond, steps, "bond");
  check_size(paths.weight, steps, "weight");
  check_size(paths.level_steps, size_of(paths.level_pairs), "level_steps");
  check_levels(paths.level_pairs, size_of(paths.pair));
  check_levels(paths.level_steps, steps);
  bool bad = false;
  for (const std::int64_t bond : paths.bond)
    bad |= static_cast<std::uint64_t>(bond) >= static_cast<std::uint64_t>(shape.bond_ids);
  if (bad) fail("a path has an invalid bond id");
  PathCheck check(batch);
  for (std::size_t m = 1; m <= static_cast<std::size_t>(paths.levels()); ++m) check.level(m);
}

}  // namespace

bool needs_paths(const ModelPlan& plan) {
  const std::vector<PairTerm> terms = pair_terms(plan);
  return std::any_of(terms.begin(), terms.end(), [](const PairTerm& t) { return t.kind == PairTerm::Kind::path; });
}

void check_plan(const ModelPlan& plan) {
  const EncoderOptions& e = plan.encoder;
  require(e.layers >= 1 && e.width >= 1 && e.ffn >= 1 && e.heads >= 1, "layers, width, ffn or heads below 1");
  require(e.width % e.heads == 0, "a width that is not a multiple of heads");
  require(e.score_terms >= 1, "score_terms below 1");
  require(plan.outputs >= 1, "no outputs");
  require(plan.head.last_mlp >= 0, "a negative number of layers in the head");
  require(plan.head.inputs >= 0 && plan.head.inputs == plan.pack.inputs, "head inputs that are not packed");
  require(plan.head.inputs == 0 || plan.head.mixed >= 1, "a head width below 1");
  require(plan.max_degree >= -1, "a maximum degree below -1");
  require(plan.path_hops >= 0 && e.gate.path_hops >= 0, "a negative number of hops");
  require(e.position_dim >= 0 && (e.pair_vector().size() >= 1 || !uses_position_dim(e)),
          "positions with a dimension of 0");
  require(!(e.pair_paths || e.pair_rings) || uses_pair_vectors(e), "columns of pair vectors that no term uses");
  require(e.pair_state >= 0 && e.pair_state <= kMaxPairState, "a pair_state that is out of range");
  require(!e.terms.walk_key || e.key_term == KeyTerm::column, "walk_key with a key term other than column");
  require(!e.terms.global_bias || e.terms.topology_query, "global_bias without topology_query");
  for (const double p : {e.dropout, e.attention_dropout, e.activation_dropout, e.input_dropout})
    require(p >= 0 && p < 1, "a dropout outside [0, 1)");
  const ClassRule& rule = plan.classes;
  require(rule.topology.max_distance >= 1 && rule.topology.count() <= std::numeric_limits<std::uint16_t>::max(),
          "a max_distance that is out of range");
  require(rule.edge.bond_ids == feature_shape(plan.features).bond_ids, "the edge classes of another feature set");
  check_map(rule.maps.topology, rule.topology.count(), "topology");
  check_map(rule.maps.edge, rule.edge.count(), "edge");
}

void check_batch(const GraphBatch& batch, const ModelPlan& plan, bool paths) {
  if (batch.size() > 0 && batch.features != plan.features)
    fail("the features of the batch are " + std::string(to_string(batch.features)) + "; the plan is for " +
         std::string(to_string(plan.features)));
  const FeatureShape& shape = feature_shape(plan.features);
  check_offsets(batch);
  check_atoms(batch, shape);
  check_pairs(batch, shape);
  check_size(batch.inputs, batch.size() * plan.head.inputs, "inputs");
  if (paths) check_paths(batch, shape);
}

void check_layer(int layer, const ModelPlan& plan) {
  if (layer < -1 || layer > plan.encoder.layers)
    fail("layer " + text(layer) + " does not exist; the number of layers is " + text(plan.encoder.layers));
}

}  // namespace molgraph
