// Terms of scores or gate that do not come from a relation table: the terms of pair_terms() (spec/terms.hpp) as classes
// with one interface, and the sums of their values for each layer.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "attention/cpu/pack_places.hpp"
#include "attention/cpu/terms.hpp"
#include "attention/engine.hpp"
#include "attention/spec/parameters.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cpu {

/// One term. To add a kind, add a class and a case of make_pair_term().
class PairTermPart {
 public:
  virtual ~PairTermPart() = default;
  /// Reads the term's parameters, all of which must exist.
  virtual void assign(const TensorLookup& tensors) = 0;
  /// Adds the term's values to `out` [pairs, H].
  virtual void add_values(PackPlaces& places, float* out) const = 0;
  /// Size of the gradient in floats. Each term has its own layout.
  virtual std::size_t gradient_size() const = 0;
  /// Adds the gradient for `slope` [pairs, H] to `flat` [gradient_size()].
  virtual void add_gradient(PackPlaces& places, const float* slope, float* flat) const = 0;
  /// Adds `flat` to the gradients of the parameters.
  virtual void add_gradients(const float* flat, const GradientLookup& gradients) const = 0;
};

/// A term that uses its parameters directly: `flat_` contains their concatenated copies, and the gradient has the same
/// layout.
class PlainPairTerm : public PairTermPart {
 public:
  /// `parts`: the parameters' names without the term's prefix, in the order of `flat_`.
  PlainPairTerm(const PairTerm& term, const ParameterList& parameters, std::initializer_list<const char*> parts);
  void assign(const TensorLookup& tensors) final;
  std::size_t gradient_size() const final { return flat_.size(); }
  void add_gradients(const float* flat, const GradientLookup& gradients) const final;

 protected:
  struct FlatParameter {
    std::string name;
    std::size_t offset, size;
  };
  std::vector<FlatParameter> flat_parameters_;
  std::vector<float> flat_;
};

std::unique_ptr<PairTermPart> make_pair_term(const PairTerm& term, const ParameterList& parameters, Features features);

/// All terms of a model.
class PairTerms {
 public:
  PairTerms(const ModelPlan& plan, const ParameterList& parameters);

  void assign(const TensorLookup& tensors);
  std::size_t size() const { return terms_.size(); }
  std::size_t gradient_size(std::size_t term) const { return terms_[term].part->gradient_size(); }
  void add_gradients(std::size_t term, const float* flat, const GradientLookup& gradients) const;

  /// One thread's arrays for the current pack.
  struct Work {
    PackPlaces places;
    std::vector<std::vector<float>> bias, gate, dbias,
        dgate;  ///< [pairs, H] each: one for all layers, or one per layer
    std::vector<float> slope;
  };
  /// The summed values of all terms for the pack loaded in `work.places`. Terms are added in their order, first those
  /// of all layers, then those of one layer.
  PairInputs values(Work& work) const;
  /// Zeroed arrays for the gradients of the arrays of values().
  PairGradients gradients(const Pack& pack, Work& work) const;
  /// Adds these gradients to those of the terms: `flat` [size()] arrays of gradient_size() floats.
  void add_gradient(Work& work, std::vector<std::vector<float>>& flat) const;

 private:
  struct Term {
    PairTerm spec;
    std::unique_ptr<PairTermPart> part;
  };
  std::size_t arrays_of(TermFills fills) const;
  std::vector<const float*> sum(TermFills fills, std::size_t floats, PackPlaces& places,
                                std::vector<std::vector<float>>& arrays) const;

  std::vector<Term> terms_;
  std::size_t layers_, heads_;  ///< padded heads
};

}  // namespace molgraph::cpu
