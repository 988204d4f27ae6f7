// The parameters of a list (spec/parameters.hpp) as a LibTorch module.
#pragma once

#include <torch/torch.h>

#include <string>
#include <unordered_map>

#include "attention/spec/parameters.hpp"

namespace molgraph {

/// Modules nested by the dots in the names, so that named_parameters() has the list's names. Other code takes its
/// tensors by name.
class ParameterTree : public torch::nn::Module {
 public:
  /// Creates float32 parameters with the initial values of ParameterSpec::initial, drawn from LibTorch's generator in
  /// the list's order.
  explicit ParameterTree(ParameterList specs);

  const ParameterList& specs() const { return specs_; }
  /// Throws std::invalid_argument if there is no parameter of this name.
  const torch::Tensor& operator[](const std::string& name) const;

  /// x [rows, in] -> [rows, out] with NAME.weight and NAME.bias.
  torch::Tensor linear(const torch::Tensor& x, const std::string& name) const;
  /// LayerNorm over the last dimension with NAME.weight and NAME.bias.
  torch::Tensor norm(const torch::Tensor& x, const std::string& name) const;

 private:
  ParameterList specs_;
  std::unordered_map<std::string, torch::Tensor> tensors_;
};

/// Fills a tensor with initial values. The same state of LibTorch's generator gives the same values.
void initialise(const torch::Tensor& tensor, const Initialisation& initial);

}  // namespace molgraph
