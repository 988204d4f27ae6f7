#include "apps/training/model_size.hpp"

#include <numeric>

#include "datasets/system/machine.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kAbsoluteRank = 64, kAbsoluteRows = 17;   // per head; the degrees' rows (docs/encodings.md)

std::int64_t sum(const auto& dims) { return std::accumulate(dims.begin(), dims.end(), std::int64_t{0}); }

std::int64_t linear(std::int64_t in, std::int64_t out) { return (in + 1) * out; }

/// The tables of relations, once.
std::int64_t relation_tables(const EncoderOptions& e, std::int64_t topology, std::int64_t edge) {
  const RelationTerms& t = e.terms;
  const std::int64_t width = e.width, heads = e.heads;
  std::int64_t count = (t.topology_query + t.topology_key + t.topology_value) * topology * width;
  count += (t.edge_query + t.edge_key + t.edge_value) * edge * width;
  if (t.bias) count += (e.untie_virtual ? topology : topology - 2) * heads;
  if (t.global_bias) count += 2 * width;
  if (t.absolute_bias) count += 2 * (kAbsoluteRows + e.position_dim) * heads * kAbsoluteRank;
  return count;
}

}  // namespace

std::int64_t parameter_count(const ModelPlan& plan) {
  const EncoderOptions& e = plan.encoder;
  const FeatureShape& features = feature_shape(plan.features);
  const std::int64_t width = e.width, heads = e.heads, layers = e.layers, ffn = e.ffn;
  const std::int64_t topology = plan.classes.topology.count(), edge = plan.classes.edge.count();
  const auto hop_table = [&](std::int64_t hops) { return sum(features.bond_dims) * heads + hops * heads * heads; };

  std::int64_t count = (sum(features.atom_dims) + 1) * width;
  if (plan.max_degree >= 0) count += 2 * (plan.max_degree + std::int64_t{1}) * width;
  if (e.position != NodePosition::none) count += e.position_dim * width;
  if (e.input_norm) count += 2 * width;
  count += layers * (4 * linear(width, width) + linear(width, ffn) + linear(ffn, width) + 4 * width);
  count += (e.share_encodings ? 1 : layers) * relation_tables(e, topology, edge);
  if (e.gate.enabled) {
    const std::int64_t path = e.gate.path_hops > 0 ? hop_table(e.gate.path_hops) : 0;
    count += (e.gate.per_layer ? layers : 1) * (topology * heads + path);
  }
  if (!e.post_ln && e.final_norm) count += 2 * width;
  if (plan.path_hops > 0) count += hop_table(plan.path_hops);
  count += plan.head.last_mlp * linear(width, width);
  if (plan.head.transform) count += linear(width, width) + 2 * width;
  return count + linear(width, plan.outputs);
}

void check_model_fits(const ModelPlan& plan, const KeptArrays& kept) {
  const std::int64_t parameters = parameter_count(plan);
  const int arrays = 1 + (kept.trains ? 3 : 0) + (kept.average ? 1 : 0) + (kept.engine ? 2 : 0);
  const double needed = static_cast<double>(parameters) * arrays * sizeof(float), memory = machine_memory();
  if (needed <= memory) return;
  constexpr double kGigabyte = 1e9;
  throw UsageError("a model of " + with_thousands(parameters) + " parameters does not fit into memory: its training keeps at least " +
                   sensible_number(needed / kGigabyte) + " GB, this process may use " + sensible_number(memory / kGigabyte) +
                   " GB; make --layers, --width, --ffn, --heads or the tables smaller");
}

}  // namespace molgraph
