// Copies numbers to a device and back.
#pragma once

#include <vector>

#include "attention/cuda/kernels/device.cuh"
#include "attention/cuda/memory.hpp"

namespace molgraph::test {

/// Arrays that live as long as this object. put() returns null for an empty vector.
class DeviceArrays {
 public:
  template <class T>
  T* put(const std::vector<T>& numbers) {
    if (numbers.empty()) return nullptr;
    cuda::Array<char>& array = arrays_.emplace_back();
    void* memory = array.sized(numbers.size() * sizeof(T));
    cuda::copy_to_device(memory, numbers.data(), numbers.size() * sizeof(T), nullptr);
    return static_cast<T*>(memory);
  }
  /// Rounded to bfloat16.
  cuda::Bf16* put_bf16(const std::vector<float>& numbers) {
    std::vector<cuda::Bf16> rounded;
    for (const float number : numbers) rounded.push_back(cuda::from_float<cuda::Bf16>(number));
    return put(rounded);
  }
  /// Numbers that are not set.
  template <class T>
  T* unset(std::size_t count) {
    return reinterpret_cast<T*>(arrays_.emplace_back().sized(count * sizeof(T)));
  }
  template <class T>
  static std::vector<T> get(const T* memory, std::size_t count) {
    std::vector<T> numbers(memory == nullptr ? 0 : count);
    if (memory != nullptr) cuda::copy_to_host(numbers.data(), memory, count * sizeof(T), nullptr);
    return numbers;
  }

 private:
  std::vector<cuda::Array<char>> arrays_;
};

}  // namespace molgraph::test
