// The parameters of a list (spec/parameters.hpp) as a LibTorch module.
#pragma once

#include <torch/torch.h>

#include <string>
#include <unordered_map>

#include "attention/spec/parameters.hpp"

namespace molgraph {

/// Plain modules nested as the dots of the names say; named_parameters() has the list's names. What computes takes its
/// tensors by name.
class ParameterTree : public torch::nn::Module {
 public:
  /// Float32. Draws the numbers that ParameterSpec::initial asks for from LibTorch's generator, in the list's order.
  explicit ParameterTree(ParameterList specs);

  const ParameterList& specs() const { return specs_; }
  /// std::invalid_argument if there is none of this name.
  const torch::Tensor& operator[](const std::string& name) const;

  /// x [rows, in] -> [rows, out] by NAME.weight and NAME.bias.
  torch::Tensor linear(const torch::Tensor& x, const std::string& name) const;
  /// LayerNorm over the last dimension by NAME.weight and NAME.bias.
  torch::Tensor norm(const torch::Tensor& x, const std::string& name) const;

 private:
  ParameterList specs_;
  std::unordered_map<std::string, torch::Tensor> tensors_;
};

/// Fills a tensor anew: a LibTorch generator in the same state gives the same numbers.
void initialise(torch::Tensor tensor, const Initialisation& initial);

}  // namespace molgraph
