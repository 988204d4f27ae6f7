// Offsets of a model's parameters in one flat float32 array on the device. Each parameter has its own row-major layout,
// and parameters follow each other, so reading, writing, gradients, moments and averages are plain copies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/spec/parameters.hpp"
#include "attention/spec/terms.hpp"

namespace molgraph::cuda {

inline constexpr std::int64_t kNone = -1;

class Parameters {
 public:
  struct Placed {
    const ParameterSpec* spec = nullptr;
    std::int64_t offset = 0, size = 0;
  };
  explicit Parameters(const ModelPlan& plan);
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  auto begin() const { return placed_.begin(); }
  auto end() const { return placed_.end(); }
  /// Number of floats in the array, including padding for alignment.
  std::int64_t size() const { return size_; }
  /// Returns null if the model has no such parameter.
  const Placed* find(const std::string& name) const;
  /// Returns kNone if the model has no such parameter.
  std::int64_t offset(const std::string& name) const;

 private:
  ParameterList list_;
  std::vector<Placed> placed_;  ///< in the order of list_
  std::int64_t size_ = 0;
};

/// A Linear [out, in]. Query, key and value form one Linear of 3C outputs.
struct LinearPlace {
  std::int64_t weight = kNone, bias = kNone;
  int in = 0, out = 0;
};
struct NormPlace {
  std::int64_t weight = kNone, bias = kNone;
};
LinearPlace linear_place(const Parameters& parameters, const std::string& name, int in, int out);
NormPlace norm_place(const Parameters& parameters, const std::string& name);

/// Relation tables of one layer or of all layers (spec/terms.hpp).
struct TablePlaces {
  struct One {
    RelationTable table;
    std::int64_t offset = kNone;
    int rows = 0;
  };
  std::vector<One> tables;
  std::int64_t position_bias = kNone;  ///< v of the shared query, which becomes a bias per class
  /// Returns null if there is no such table.
  const One* find(TermFills fills, RelationTable::Row row) const;
};

struct LayerPlaces {
  NormPlace attention_norm, ffn_norm;
  LinearPlace qkv, output, linear1, linear2;
  std::int64_t scale = kNone, degree_scale = kNone;  ///< EncoderOptions::degree_scaler
};
struct EncoderPlaces {
  EncoderPlaces(const Parameters& parameters, const EncoderOptions& options);
  std::vector<LayerPlaces> layers;
  NormPlace final_norm;
  std::vector<TablePlaces> relations, gates;  ///< one for all layers, or one per layer
};

}  // namespace molgraph::cuda
