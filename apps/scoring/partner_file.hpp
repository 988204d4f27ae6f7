// Code shared by the file formats of a blend's partners: arrays of numbers and a JSON description.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/scoring/blend.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/featurizer_options.hpp"

namespace molgraph {

using PartnerJson = nlohmann::ordered_json;

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  else if constexpr (std::is_same_v<T, float>) return DType::f32;
  else if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  else if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  else return DType::u8;
}

/// A one-dimensional tensor to write; `values` must outlive it.
template <class T>
TensorView array_view(const std::string& name, const std::vector<T>& values) {
  return {name, dtype_of<T>(), {static_cast<std::int64_t>(values.size())}, values.data()};
}

/// Names, kinds and sizes of the targets as JSON, without their shares (array "share").
PartnerJson targets_json(const std::vector<BlendTarget>& targets);

/// Writes `arrays`, the targets' shares, `about` under `key`, and the featuriser's hash. Atomic. Throws FileError.
void write_partner(const std::string& path, const char* key, const PartnerJson& about,
                   const std::vector<BlendTarget>& targets, const FeaturizerOptions& featurizer,
                   std::vector<TensorView> arrays);

/// Reads a partner's file. `what` ("trees") is its name in messages. All functions throw FileError.
class PartnerFile {
 public:
  /// Throws if the file is missing or damaged, has no `key`, or was created with another featuriser.
  PartnerFile(std::string path, std::string what, const char* key, const FeaturizerOptions& featurizer);

  const PartnerJson& about() const { return about_; }
  /// Returns the file's version. Throws FileError if it is not from `oldest` to `newest`.
  int check_version(int oldest, int newest) const;
  template <class T>
  std::vector<T> array(const std::string& name) const {
    const StoredTensor& tensor = find(name, dtype_of<T>());
    std::vector<T> values(static_cast<std::size_t>(tensor.count()));
    copy(tensor, values.data());
    return values;
  }
  /// An entry of the JSON description.
  template <class T>
  T get(const char* name) const {
    try {
      return about_.at(name).get<T>();
    } catch (const nlohmann::json::exception& problem) {
      throw_damaged(problem.what());
    }
  }
  /// The targets without shares. Throws if they are not those of `task`.
  std::vector<BlendTarget> targets(const Task& task) const;
  /// Sets the shares from the array "share".
  void read_shares(std::vector<BlendTarget>& targets) const;
  [[noreturn]] void throw_damaged(const std::string& why) const;

 private:
  const StoredTensor& find(const std::string& name, DType dtype) const;
  static void copy(const StoredTensor& tensor, void* to);

  std::string path_, what_;
  SafetensorsFile file_;
  PartnerJson about_;
};

}  // namespace molgraph
