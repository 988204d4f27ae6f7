// The stack of attention blocks in LibTorch calls.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "attention/reference/attention.hpp"
#include "attention/reference/dropout.hpp"
#include "attention/reference/forward_mode.hpp"
#include "attention/reference/layout.hpp"
#include "attention/reference/pair_terms.hpp"
#include "attention/reference/parameter_tree.hpp"
#include "attention/spec/options.hpp"
#include "attention/spec/terms.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

/// Layers of attention and FFN over packed tokens, with the relation tables and the gate (docs/models/formula.md
/// section 2). Refers to the parameters that encoder_parameters() lists; it does not own them.
class Encoder {
 public:
  /// The parameters' names begin with `prefix`. `terms` are all pair terms of bias and gate, with their own prefixes.
  /// `options` and `parameters` must outlive the object.
  Encoder(const EncoderOptions& options, const ParameterTree& parameters, std::string prefix,
          std::vector<PairTerm> terms);
  /// An encoder without a surrounding model: no prefix, only the encoder's pair terms.
  Encoder(const EncoderOptions& options, const ParameterTree& parameters)
      : Encoder(options, parameters, "", encoder_pair_terms(options, "")) {}

  /// x [tokens, C] -> [tokens, C] after the last block and, with pre-LN, the final LayerNorm (on all token rows).
  /// `kept` receives copies of the states that ForwardMode::keep_layers lists, in this order. `given` is added to b of
  /// every layer, in addition to the terms.
  torch::Tensor forward(torch::Tensor x, const GraphBatch& batch, const RelationClasses& classes,
                        const ForwardMode& mode = {}, std::vector<torch::Tensor>* kept = nullptr,
                        const PairValues& given = {}) const;

 private:
  /// State of a forward pass over one batch.
  struct Pass;

  torch::Tensor input(torch::Tensor x, const GraphBatch& batch, const Pass& pass) const;
  torch::Tensor block(int layer, torch::Tensor x, const BatchTerms& terms, const std::vector<torch::Tensor>& gates,
                      Pass& pass) const;
  torch::Tensor attend(int layer, const torch::Tensor& x, const BatchTerms& terms,
                       const std::vector<torch::Tensor>& gates, Pass& pass) const;
  torch::Tensor feed_forward(int layer, const torch::Tensor& x, const Pass& pass) const;

  /// Tables and pair terms of a layer's scores, and its gates; -1: those that all layers share.
  BatchTerms terms_of(int layer, Pass& pass) const;
  std::vector<torch::Tensor> gates_of(int layer, Pass& pass) const;
  std::vector<FilledTable> filled(std::vector<RelationTable> tables, int layer) const;
  std::vector<PairValues> added(TermFills fills, int layer, Pass& pass) const;

  const EncoderOptions& options_;
  const ParameterTree& parameters_;
  std::string prefix_;
  std::vector<PairTerm> pair_terms_;
};

}  // namespace molgraph
