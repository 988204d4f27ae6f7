#include "attention/cpu/pair_terms.hpp"

#include <algorithm>
#include <stdexcept>

#include "attention/cpu/absolute_term.hpp"
#include "attention/cpu/path_term.hpp"
#include "attention/cpu/resistance_term.hpp"
#include "attention/cpu/walk_term.hpp"

namespace molgraph::cpu {

std::unique_ptr<PairTermPart> make_pair_term(const PairTerm& term, const ParameterList& parameters, Features features) {
  switch (term.kind) {
    case PairTerm::Kind::path: return std::make_unique<PathTerm>(term, parameters, features);
    case PairTerm::Kind::absolute: return std::make_unique<AbsoluteTerm>(term, parameters);
    case PairTerm::Kind::resistance: return std::make_unique<ResistanceTerm>(term, parameters);
    case PairTerm::Kind::walk: return std::make_unique<WalkTerm>(term, parameters);
  }
  throw std::invalid_argument("unknown kind of pair term");
}

PlainPairTerm::PlainPairTerm(const PairTerm& term, const ParameterList& parameters,
                             std::initializer_list<const char*> parts) {
  std::size_t size = 0;
  for (const char* part : parts) {
    const ParameterSpec& spec = parameters.at(term.prefix + part);
    flat_parameters_.push_back({spec.name, size, static_cast<std::size_t>(spec.size())});
    size += flat_parameters_.back().size;
  }
  flat_.resize(size);
}

void PlainPairTerm::assign(const TensorLookup& tensors) {
  for (const FlatParameter& parameter : flat_parameters_)
    std::copy_n(tensors(parameter.name), parameter.size, flat_.data() + parameter.offset);
}

void PlainPairTerm::add_gradients(const float* flat, const GradientLookup& gradients) const {
  for (const FlatParameter& parameter : flat_parameters_) {
    float* to = gradients(parameter.name);
    for (std::size_t i = 0; to != nullptr && i < parameter.size; ++i) to[i] += flat[parameter.offset + i];
  }
}

PairTerms::PairTerms(const ModelPlan& plan, const ParameterList& parameters)
    : layers_(static_cast<std::size_t>(plan.encoder.layers)),
      heads_(padded_heads(static_cast<std::size_t>(plan.encoder.heads))) {
  for (PairTerm& term : pair_terms(plan)) {
    auto part = make_pair_term(term, parameters, plan.features);
    terms_.push_back({std::move(term), std::move(part)});
  }
}

void PairTerms::assign(const TensorLookup& tensors) {
  for (const Term& term : terms_) term.part->assign(tensors);
}

void PairTerms::add_gradients(std::size_t term, const float* flat, const GradientLookup& gradients) const {
  terms_[term].part->add_gradients(flat, gradients);
}

// Number of arrays: 0, 1 for all layers, or one per layer.
std::size_t PairTerms::arrays_of(TermFills fills) const {
  std::size_t count = 0;
  for (const Term& term : terms_)
    if (term.spec.fills == fills) count = std::max(count, term.spec.layer < 0 ? 1 : layers_);
  return count;
}

std::vector<const float*> PairTerms::sum(TermFills fills, std::size_t floats, PackPlaces& places,
                                         std::vector<std::vector<float>>& arrays) const {
  arrays.resize(arrays_of(fills));
  if (arrays.empty()) return {};
  arrays[0].assign(floats, 0.0f);
  for (const Term& term : terms_)
    if (term.spec.fills == fills && term.spec.layer < 0) term.part->add_values(places, arrays[0].data());
  for (std::size_t k = 1; k < arrays.size(); ++k) arrays[k] = arrays[0];
  for (const Term& term : terms_)
    if (term.spec.fills == fills && term.spec.layer >= 0)
      term.part->add_values(places, arrays[static_cast<std::size_t>(term.spec.layer)].data());
  std::vector<const float*> pointers;
  for (const auto& array : arrays) pointers.push_back(array.data());
  return pointers;
}

PairInputs PairTerms::values(Work& work) const {
  const std::size_t floats = work.places.pack().pairs * heads_;
  return {sum(TermFills::bias, floats, work.places, work.bias), sum(TermFills::gate, floats, work.places, work.gate)};
}

PairGradients PairTerms::gradients(const Pack& pack, Work& work) const {
  const auto zeros = [&](std::vector<std::vector<float>>& arrays, std::size_t count) {
    std::vector<float*> pointers;
    arrays.resize(count);
    for (auto& array : arrays) {
      array.assign(pack.pairs * heads_, 0.0f);
      pointers.push_back(array.data());
    }
    return pointers;
  };
  return {zeros(work.dbias, work.bias.size()), zeros(work.dgate, work.gate.size())};
}

void PairTerms::add_gradient(Work& work, std::vector<std::vector<float>>& flat) const {
  const auto of_all_layers = [&](const std::vector<std::vector<float>>& slopes) -> const float* {
    if (slopes.size() == 1) return slopes[0].data();
    work.slope = slopes[0];
    for (std::size_t k = 1; k < slopes.size(); ++k)
      for (std::size_t i = 0; i < work.slope.size(); ++i) work.slope[i] += slopes[k][i];
    return work.slope.data();
  };
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const PairTerm& spec = terms_[t].spec;
    const auto& slopes = spec.fills == TermFills::gate ? work.dgate : work.dbias;
    const float* slope = spec.layer < 0 ? of_all_layers(slopes) : slopes[static_cast<std::size_t>(spec.layer)].data();
    terms_[t].part->add_gradient(work.places, slope, flat[t].data());
  }
}

}  // namespace molgraph::cpu
