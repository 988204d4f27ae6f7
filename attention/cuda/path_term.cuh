// The edge-path term (Ying et al. 2021, eq. 7): a table of every hop's bonds, and its means along shortest paths.
#pragma once

#include <numeric>
#include <vector>

#include "attention/cuda/kernels/paths.cuh"
#include "attention/cuda/kernels/rows.cuh"
#include "attention/cuda/pair_term_part.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

class PathTerm : public PairTermPart {
 public:
  PathTerm(const PairTerm& term, const ModelPlan& plan, const Parameters& parameters, Stream stream)
      : stream_(stream), features_(feature_shape(plan.features)), heads_(plan.encoder.heads), hops_(term.size),
        single_(plan.pack.path_rule == PathRule::single), bond_(parameters.offset(term.prefix + "bond")),
        weight_(parameters.offset(term.prefix + "hop_weight")) {
    std::vector<std::int32_t> rows;
    for (const auto& of_id : rows_of_bond_ids(plan.features)) rows.insert(rows.end(), of_id.begin(), of_id.end());
    bond_rows_.upload(rows, stream);
  }

  void derive(const Weights& w) override {
    const int size = table_size();
    launch(stream_, path_table_kernel, blocks_for(size, kPathThreads), kPathThreads, 0, w.at(bond_), w.at(weight_),
           bond_rows_.data(), features_.bond_columns, hops_, features_.bond_ids, heads_,
           table_.sized(static_cast<std::size_t>(size)));
  }

  void forward(const Weights&, const PassInput& pass, bool add_to, float* values) override {
    const auto pairs = static_cast<std::size_t>(pass.batch->pairs), floats = pairs * static_cast<std::size_t>(heads_);
    task_ = {.molecules = pass.batch->molecule,
             .count = pass.batch->molecules,
             .heads = heads_,
             .hops = hops_,
             .bond_ids = features_.bond_ids,
             .single = single_,
             .graph = pass.set->bonds(),
             .table = table_.data(),
             .number = number_.sized(pairs),
             .values = add_to ? alone_.sized(floats) : values};
    launch(stream_, path_values_kernel, static_cast<unsigned>(task_.count), kPathThreads, 0, task_);
    if (add_to) add(stream_, task_.values, values, static_cast<std::int64_t>(floats));
  }

  void backward(const Weights& w, const PassInput&, float* slope) override {
    constexpr int kParts = 256;
    const int size = table_size(), parts = task_.count < kParts ? task_.count : kParts;
    const int bond_rows = std::accumulate(features_.bond_dims.begin(), features_.bond_dims.end(), 0);
    launch(stream_, path_gradient_kernel, static_cast<unsigned>(parts), kPathThreads, 0, task_, slope,
           parts_.sized(static_cast<std::size_t>(parts) * static_cast<std::size_t>(size)));
    const PathFactors factors{.parts = parts_.data(),
                              .bond = w.at(bond_),
                              .hop_weight = w.at(weight_),
                              .rows = bond_rows_.data(),
                              .part_count = parts,
                              .rows_per_id = features_.bond_columns,
                              .hops = hops_,
                              .bond_ids = features_.bond_ids,
                              .heads = heads_,
                              .bond_rows = bond_rows,
                              .table = dtable_.sized(static_cast<std::size_t>(size)),
                              .dbond = w.gradient(bond_),
                              .dhop_weight = w.gradient(weight_)};
    launch(stream_, path_parts_kernel, blocks_for(size, kPathThreads), kPathThreads, 0, factors);
    launch(stream_, path_factors_kernel, blocks_for(hops_ * heads_ * heads_ + bond_rows * heads_, kPathThreads),
           kPathThreads, 0, factors);
  }

 private:
  int table_size() const { return hops_ * features_.bond_ids * heads_; }

  Stream stream_;
  const FeatureShape& features_;
  int heads_, hops_;
  bool single_;
  std::int64_t bond_, weight_;
  Array<std::int32_t> bond_rows_;  ///< [bond ids, bond columns] rows of `bond`
  PathTask task_;
  Array<float> table_, alone_, number_, parts_, dtable_;
};

}  // namespace molgraph::cuda
