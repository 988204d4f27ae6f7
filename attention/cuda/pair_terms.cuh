// The terms per pair of the bias or of the gate, and their sum.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "attention/cuda/absolute_term.cuh"
#include "attention/cuda/kernels/rows.cuh"
#include "attention/cuda/path_term.cuh"
#include "attention/cuda/resistance_term.cuh"
#include "attention/cuda/walk_term.cuh"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

/// Creates a pair term. Add a line for each new kind.
inline std::unique_ptr<PairTermPart> make_pair_term(const PairTerm& term, const ModelPlan& plan,
                                                    const Parameters& parameters, Stream stream) {
  switch (term.kind) {
    case PairTerm::Kind::path: return std::make_unique<PathTerm>(term, plan, parameters, stream);
    case PairTerm::Kind::absolute: return std::make_unique<AbsoluteTerm>(term, plan, parameters, stream);
    case PairTerm::Kind::resistance: return std::make_unique<ResistanceTerm>(term, plan, parameters, stream);
    case PairTerm::Kind::walk: return std::make_unique<WalkTerm>(term, plan, parameters, stream);
  }
  throw std::invalid_argument("unknown kind of pair term");
}

/// The sum of the pair terms of the bias or gate: one for all layers, or one per layer if a term has parameters per
/// layer.
class PairSum {
 public:
  PairSum(TermFills fills, const ModelPlan& plan, const Parameters& parameters, Stream stream)
      : stream_(stream), heads_(static_cast<std::size_t>(plan.encoder.heads)) {
    for (const PairTerm& term : pair_terms(plan)) {
      if (term.fills != fills) continue;
      const auto slots = term.layer < 0 ? std::size_t{1} : static_cast<std::size_t>(plan.encoder.layers);
      if (slots > slots_.size()) slots_.resize(slots);
      auto& parts = term.layer < 0 ? shared_ : slots_[static_cast<std::size_t>(term.layer)].own;
      parts.push_back(make_pair_term(term, plan, parameters, stream));
    }
  }

  bool per_layer() const { return slots_.size() > 1; }
  /// [pairs, H], per molecule [head, key, query]; null = there are no terms.
  const float* values(std::size_t layer) const { return slots_.empty() ? nullptr : slot(layer).values.data(); }
  /// Where the attention's backward pass writes the gradient of the sum.
  float* gradient(std::size_t layer) const { return slots_.empty() ? nullptr : slot(layer).gradient.data(); }

  void derive(const Weights& weights) {
    for (auto& part : shared_) part->derive(weights);
    for (Slot& slot : slots_)
      for (auto& part : slot.own) part->derive(weights);
  }

  void forward(const Weights& weights, const PassInput& pass) {
    const std::size_t floats = static_cast<std::size_t>(pass.batch->pairs) * heads_;
    for (Slot& slot : slots_) {
      (void)slot.values.sized(floats);
      if (pass.keep) (void)slot.gradient.sized(floats);
    }
    for (std::size_t i = 0; i < shared_.size(); ++i) shared_[i]->forward(weights, pass, i > 0, slots_[0].values.data());
    for (std::size_t k = 1; k < slots_.size() && !shared_.empty(); ++k)
      copy_on_device(slots_[k].values.data(), slots_[0].values.data(), floats * sizeof(float), stream_);
    for (Slot& slot : slots_)
      for (std::size_t i = 0; i < slot.own.size(); ++i)
        slot.own[i]->forward(weights, pass, i > 0 || !shared_.empty(), slot.values.data());
  }

  void backward(const Weights& weights, const PassInput& pass) {
    const std::size_t floats = static_cast<std::size_t>(pass.batch->pairs) * heads_;
    const auto run = [&](PairTermPart& part, const Array<float>& slope, bool last) {  // the last one may overwrite it
      if (!last) copy_on_device(copy_.sized(floats), slope.data(), floats * sizeof(float), stream_);
      part.backward(weights, pass, last ? slope.data() : copy_.data());
    };
    for (Slot& slot : slots_)
      for (std::size_t i = 0; i < slot.own.size(); ++i)
        run(*slot.own[i], slot.gradient, shared_.empty() && i + 1 == slot.own.size());
    if (shared_.empty()) return;
    for (std::size_t k = 1; k < slots_.size(); ++k)
      add(stream_, slots_[k].gradient.data(), slots_[0].gradient.data(), static_cast<std::int64_t>(floats));
    for (std::size_t i = 0; i < shared_.size(); ++i) run(*shared_[i], slots_[0].gradient, i + 1 == shared_.size());
  }

 private:
  struct Slot {
    std::vector<std::unique_ptr<PairTermPart>> own;  ///< terms of this layer
    Array<float> values, gradient;
  };
  const Slot& slot(std::size_t layer) const { return slots_[per_layer() ? layer : 0]; }

  Stream stream_;
  std::size_t heads_;
  std::vector<std::unique_ptr<PairTermPart>> shared_;  ///< terms of all layers
  std::vector<Slot> slots_;
  Array<float> copy_;
};

}  // namespace molgraph::cuda
