// What is added to scores or gate per pair of tokens and stands in no relation table: the terms of pair_terms()
// (spec/terms.hpp) as parts with one interface, and the sums of their values for each layer.
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

/// One term. A new kind is a class of its own and a case of make_pair_term().
class PairTermPart {
 public:
  virtual ~PairTermPart() = default;
  /// Takes its parameters, all of which are there.
  virtual void assign(const TensorLookup& tensors) = 0;
  /// Adds to `out` [pairs, H]: zeros, or what terms before it left there.
  virtual void add_values(PackPlaces& places, float* out) const = 0;
  /// Floats of its gradient, in a layout of its own.
  virtual std::size_t gradient_size() const = 0;
  /// From `slope` [pairs, H] to `flat` [gradient_size()], which is added to.
  virtual void add_gradient(PackPlaces& places, const float* slope, float* flat) const = 0;
  /// From `flat` to the parameters' gradients, which are added to.
  virtual void add_gradients(const float* flat, const GradientLookup& gradients) const = 0;
};

/// A term that computes with its parameters as they are: copies of them one after the other in `flat_`, and their
/// gradients alike.
class PlainPairTerm : public PairTermPart {
 public:
  /// `parts`: the parameters' names below the term's prefix, in the order in which they stand.
  PlainPairTerm(const PairTerm& term, const ParameterList& parameters, std::initializer_list<const char*> parts);
  void assign(const TensorLookup& tensors) final;
  std::size_t gradient_size() const final { return flat_.size(); }
  void add_gradients(const float* flat, const GradientLookup& gradients) const final;

 protected:
  struct Place {
    std::string name;
    std::size_t offset, size;
  };
  std::vector<Place> places_;
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

  /// One thread's arrays of the pack at hand.
  struct Work {
    PackPlaces places;
    std::vector<std::vector<float>> bias, gate, dbias,
        dgate;  ///< [pairs, H] each: one for all layers, or one per layer
    std::vector<float> slope;
  };
  /// The values of all terms for the pack that `work.places` has loaded, summed up in their order: first those of all
  /// layers, then a layer's own.
  PairInputs values(Work& work) const;
  /// Zeros for the gradients by values()'s arrays.
  PairGradients gradients(const Pack& pack, Work& work) const;
  /// Takes them to the terms: `flat` [size()] arrays of gradient_size() are added to.
  void add_gradient(Work& work, std::vector<std::vector<float>>& flat) const;

 private:
  struct Term {
    PairTerm what;
    std::unique_ptr<PairTermPart> part;
  };
  std::size_t arrays_of(TermFills fills) const;
  std::vector<const float*> sum(TermFills fills, std::size_t floats, PackPlaces& places,
                                std::vector<std::vector<float>>& arrays) const;

  std::vector<Term> terms_;
  std::size_t layers_, heads_;  ///< padded heads
};

}  // namespace molgraph::cpu
