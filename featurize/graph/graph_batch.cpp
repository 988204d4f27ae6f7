#include "featurize/graph/graph_batch.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "featurize/graph/pair_writer.hpp"

namespace molgraph {
namespace {

void write_offsets(std::span<const GraphView> graphs, GraphBatch& batch) {
  const std::size_t count = graphs.size();
  batch.atom_offset.assign(count + 1, 0);
  batch.token_offset.assign(count + 1, 0);
  batch.pair_offset.assign(count + 1, 0);
  for (std::size_t b = 0; b < count; ++b) {
    const std::int64_t tokens = graphs[b].num_atoms + 1;
    batch.atom_offset[b + 1] = batch.atom_offset[b] + graphs[b].num_atoms;
    batch.token_offset[b + 1] = batch.token_offset[b] + tokens;
    batch.pair_offset[b + 1] = batch.pair_offset[b] + tokens * tokens;
  }
}

void write_inputs(std::span<const GraphView> graphs, const PackOptions& options, GraphBatch& batch) {
  const auto count = static_cast<std::size_t>(options.inputs);
  if (count == 0) return;
  batch.inputs.resize(graphs.size() * count);
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    if (graphs[b].num_inputs != options.inputs)
      throw std::invalid_argument("pack(): a molecule has " + std::to_string(graphs[b].num_inputs) +
                                  " inputs, but the model reads " + std::to_string(count));
    float* to = batch.inputs.data() + b * count;
    if (options.scaling == nullptr) std::copy_n(graphs[b].inputs, count, to);
    else options.scaling->apply(graphs[b].inputs, to);
  }
}

/// Throws std::invalid_argument for input that would cause out-of-bounds access.
void check(std::span<const GraphView> graphs, std::span<const std::int64_t> rows) {
  if (graphs.size() != rows.size())
    throw std::invalid_argument("pack(): there are " + std::to_string(rows.size()) + " rows for " +
                                std::to_string(graphs.size()) + " molecules");
  for (const GraphView& graph : graphs) {
    if (graph.features != graphs.front().features)
      throw std::invalid_argument("pack(): molecules have different feature sets");
    if (graph.num_atoms < 0 || graph.num_bonds < 0)
      throw std::invalid_argument("pack(): a molecule has a negative size");
    for (int k = 0; k < 2 * graph.num_bonds; ++k)
      if (graph.bond_atoms[k] >= graph.num_atoms)
        throw std::invalid_argument("pack(): a bond refers to an atom that does not exist");
  }
}

}  // namespace

GraphBatch pack(std::span<const GraphView> graphs, std::span<const std::int64_t> rows, const PackOptions& options) {
  check(graphs, rows);
  GraphBatch batch;
  if (!graphs.empty()) batch.features = graphs.front().features;
  batch.row.assign(rows.begin(), rows.end());
  write_offsets(graphs, batch);

  const auto columns = static_cast<std::size_t>(feature_shape(batch.features).atom_columns);
  const auto atoms = static_cast<std::size_t>(batch.atom_offset.back());
  batch.atoms.resize(atoms * columns);
  batch.degree.assign(atoms, 0);
  batch.topology.resize(static_cast<std::size_t>(batch.num_pairs()));
  batch.edge.resize(batch.topology.size());
  std::vector<Adjacency> adjacency(options.paths ? graphs.size() : 0);
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    const GraphView& graph = graphs[b];
    const auto first_atom = static_cast<std::size_t>(batch.atom_offset[b]);
    for (std::size_t a = 0; a < static_cast<std::size_t>(graph.num_atoms); ++a)
      std::copy_n(graph.atoms[a], columns, batch.atoms.data() + (first_atom + a) * columns);
    for (int k = 0; k < 2 * graph.num_bonds; ++k) {
      ++batch.degree[first_atom + static_cast<std::size_t>(graph.bond_atoms[k])];
    }
    write_pair_relations(graph, batch.topology.data() + batch.pair_offset[b], batch.edge.data() + batch.pair_offset[b]);
    if (options.paths) adjacency[b].assign(graph);
  }
  write_inputs(graphs, options, batch);
  if (options.paths) batch.paths = path_steps(batch, adjacency, options.path_rule);
  return batch;
}

}  // namespace molgraph
