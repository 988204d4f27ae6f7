#include "attention/reference/parameter_tree.hpp"

#include <memory>
#include <stdexcept>

#include "attention/spec/options.hpp"

namespace molgraph {
namespace {

/// The module that owns the parameter, created if it does not exist. Removes the module path from `name`.
torch::nn::Module& owner_of(torch::nn::Module& root, std::string& name) {
  torch::nn::Module* owner = &root;
  for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.')) {
    const std::string child = name.substr(0, dot);
    const auto children = owner->named_children();
    const std::shared_ptr<torch::nn::Module>* known = children.find(child);
    owner =
        known != nullptr ? known->get() : owner->register_module(child, std::make_shared<torch::nn::Module>()).get();
    name.erase(0, dot + 1);
  }
  return *owner;
}

}  // namespace

void initialise(const torch::Tensor& tensor, const Initialisation& initial) {
  const torch::NoGradGuard no_grad;
  switch (initial.kind) {
    case Initialisation::Kind::constant: tensor.fill_(initial.value); break;
    case Initialisation::Kind::uniform: tensor.uniform_(-initial.value, initial.value); break;
    case Initialisation::Kind::positive: tensor.uniform_(0.0, initial.value); break;
    case Initialisation::Kind::normal: tensor.normal_(0.0, initial.value); break;
  }
}

ParameterTree::ParameterTree(ParameterList specs) : specs_(std::move(specs)) {
  for (const ParameterSpec& spec : specs_) {
    std::string name = spec.name;
    torch::nn::Module& owner = owner_of(*this, name);
    const torch::Tensor& tensor = owner.register_parameter(name, torch::empty(spec.shape));
    initialise(tensor, spec.initial);
    tensors_.emplace(spec.name, tensor);
  }
}

const torch::Tensor& ParameterTree::operator[](const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw std::invalid_argument("the model has no parameter " + name);
  return found->second;
}

torch::Tensor ParameterTree::linear(const torch::Tensor& x, const std::string& name) const {
  return torch::linear(x, (*this)[name + ".weight"], (*this)[name + ".bias"]);
}

torch::Tensor ParameterTree::norm(const torch::Tensor& x, const std::string& name) const {
  return torch::layer_norm(x, {x.size(-1)}, (*this)[name + ".weight"], (*this)[name + ".bias"], kLayerNormEpsilon);
}

}  // namespace molgraph
