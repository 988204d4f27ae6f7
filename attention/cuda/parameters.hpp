// Where a model's parameters stand in one flat float32 array on the device: in the modules' own layout, one tensor after the
// other, so that reading, writing, gradients, moments and averages are plain copies.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "attention/cuda/namespace.hpp"
#include "attention/spec/model_plan.hpp"

namespace molgraph::MOLGRAPH_CUDA {

inline constexpr std::int64_t kNone = -1;

class Parameters {
 public:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;
    std::int64_t offset = 0, size = 0;
  };
  explicit Parameters(const ModelPlan& plan);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  std::int64_t size() const { return size_; }
  /// kNone: the model has no such tensor.
  std::int64_t offset(const std::string& name) const;

 private:
  void place(Tensor tensor);
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::int64_t> offsets_;
  std::int64_t size_ = 0;
};

/// A Linear [out, in]; query, key and value count as one of 3C outputs.
struct LinearPlace {
  std::int64_t weight = kNone, bias = kNone;
  int in = 0, out = 0;
};
struct NormPlace {
  std::int64_t weight = kNone, bias = kNone;
};
/// Relation tables of a layer, or of all.
struct TablePlaces {
  std::int64_t spatial = kNone, gate = kNone, topology_query = kNone, topology_key = kNone, topology_value = kNone,
               edge_query = kNone, edge_key = kNone, edge_value = kNone, content_bias = kNone, position_bias = kNone;
};
struct LayerPlaces {
  NormPlace attention_norm, ffn_norm;
  LinearPlace qkv, output, linear1, linear2;
  TablePlaces own;
};
struct EncoderPlaces {
  EncoderPlaces(const Parameters& parameters, const EncoderOptions& options);
  std::vector<LayerPlaces> layers;
  TablePlaces shared;
  NormPlace final_norm;
};

}  // namespace molgraph::MOLGRAPH_CUDA
