#include "apps/scoring/node_rows.hpp"

#include <algorithm>

#include "attention/spec/node_positions.hpp"
#include "attention/spec/pair_vector.hpp"
#include "attention/spec/parameters.hpp"

namespace molgraph {

NodeRows::NodeRows(const ModelPlan& plan, const TensorLookup& tensors)
    : features_(plan.features), width_(static_cast<std::size_t>(plan.encoder.width)), position_(plan.encoder.position),
      vector_(plan.encoder.pair_vector()) {
  const ParameterList parameters = parameters_of(plan);
  const auto copy = [&](const char* name) {
    const ParameterSpec* spec = parameters.find(name);
    if (spec == nullptr) return std::vector<float>{};
    const float* values = tensors(name);
    return std::vector<float>(values, values + spec->size());
  };
  atom_ = copy("node.atom");
  degree_ = copy("in_degree");
  const std::vector<float> out_degree = copy("out_degree");
  for (std::size_t i = 0; i < degree_.size(); ++i) degree_[i] += out_degree[i];
  degrees_ = degree_.size() / width_;
  position_weight_ = copy("encoder.position.weight");
}

std::vector<double> NodeRows::of(const GraphBatch& batch, std::size_t molecule) const {
  const FeatureShape& shape = feature_shape(features_);
  const auto columns = static_cast<std::size_t>(shape.atom_columns);
  const auto first = static_cast<std::size_t>(batch.atom_offset[molecule]),
             last = static_cast<std::size_t>(batch.atom_offset[molecule + 1]);
  std::vector<double> rows((last - first) * width_);
  for (std::size_t a = first; a < last; ++a) {
    double* row = rows.data() + (a - first) * width_;
    const auto add = [&](const std::vector<float>& table, std::size_t at) {
      for (std::size_t c = 0; c < width_; ++c) row[c] += table[at * width_ + c];
    };
    std::size_t value = 0;  // row of the column's value 0
    for (std::size_t k = 0; k < columns; value += static_cast<std::size_t>(shape.atom_dims[k++]))
      add(atom_, value + batch.atoms[a * columns + k]);
    if (degrees_ > 0) add(degree_, std::min(static_cast<std::size_t>(batch.degree[a]), degrees_ - 1));
  }
  if (position_ != NodePosition::none) add_positions(batch, molecule, rows);
  return rows;
}

void NodeRows::add_positions(const GraphBatch& batch, std::size_t molecule, std::vector<double>& rows) const {
  const auto dim = static_cast<std::size_t>(vector_.size());
  std::vector<double> positions(rows.size() / width_ * dim);
  if (position_ == NodePosition::random_walk)
    atom_vectors(batch, static_cast<std::int64_t>(molecule), vector_, positions.data());
  else laplacian_positions(batch, static_cast<std::int64_t>(molecule), vector_.size(), positions.data());
  for (std::size_t a = 0; a < rows.size() / width_; ++a)
    for (std::size_t c = 0; c < width_; ++c)
      for (std::size_t d = 0; d < dim; ++d)
        rows[a * width_ + c] += positions[a * dim + d] * static_cast<double>(position_weight_[c * dim + d]);
}

}  // namespace molgraph
