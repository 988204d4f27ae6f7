// Rows of a batch's tokens in the tables that are read by token, and the tokens' positions.
#pragma once

#include "attention/cuda/kernels/node_input.cuh"
#include "attention/cuda/molecules.hpp"
#include "attention/spec/node_positions.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

/// Ids of the batch's tokens in tables, for node input and absolute positions.
class TokenRows {
 public:
  TokenRows(const ModelPlan& plan, Stream stream) : plan_(plan), stream_(stream) {
    for (const PairTerm& term : pair_terms(plan))
      has_absolute_ = has_absolute_ || term.kind == PairTerm::Kind::absolute;
  }
  void make(const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws) {
    const FeatureShape& features = feature_shape(plan_.features);
    TokenTables t{.rows = batch.rows,
                  .columns = features.atom_columns,
                  .molecules = batch.molecule,
                  .token = batch.token,
                  .atoms = set.atoms(),
                  .degree = set.degree()};
    for (int k = 0, start = 0; k < features.atom_columns; start += features.atom_dims[static_cast<std::size_t>(k++)])
      t.column_start[k] = start;
    const auto rows = static_cast<std::size_t>(batch.rows);
    t.ids = ids.sized(rows * static_cast<std::size_t>(features.atom_columns));
    if (plan_.max_degree >= 0) t.degree_ids = degree_ids.sized(rows), t.last_degree = plan_.max_degree;
    if (plan_.encoder.degree_scaler) t.log_degree = log_degree.sized(rows);
    if (plan_.encoder.position != NodePosition::none) {
      t.position_dim = plan_.encoder.pair_vector().size();
      t.atom_positions = set.positions();
      t.positions = positions.sized(rows * static_cast<std::size_t>(t.position_dim));
      if (plan_.encoder.position == NodePosition::laplacian) t.signs = draws;
    }
    launch(stream_, token_tables_kernel, blocks_for(batch.rows, kTableThreads), kTableThreads, 0, t);
    if (!has_absolute_) return;
    TokenTables w{.rows = batch.rows,
                  .last_absolute = kAbsoluteLastDegree,
                  .position_dim = plan_.encoder.pair_vector().size(),
                  .molecules = t.molecules,
                  .token = t.token,
                  .atoms = t.atoms,
                  .degree = t.degree,
                  .atom_positions = set.walks()};
    w.absolute_ids = absolute_ids.sized(rows);
    w.positions = walks.sized(rows * static_cast<std::size_t>(w.position_dim));
    launch(stream_, token_tables_kernel, blocks_for(batch.rows, kTableThreads), kTableThreads, 0, w);
  }
  Array<std::int32_t> ids, degree_ids, absolute_ids;
  Array<float> positions, walks, log_degree;  ///< log_degree: only for models with a degree scaler

 private:
  const ModelPlan& plan_;
  Stream stream_;
  bool has_absolute_ = false;
};

}  // namespace molgraph::cuda
