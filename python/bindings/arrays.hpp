// Conversion of C++ vectors to numpy arrays, which either own the data or are views.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <utility>
#include <vector>

namespace molgraph::python {

namespace nb = nanobind;

/// An array that owns `values`, without a copy. The product of `shape` must be the number of values.
template <class Number>
nb::ndarray<nb::numpy, Number> array_of(std::vector<Number> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<Number>(std::move(values));
  const nb::capsule owner(kept, [](void* one) noexcept { delete static_cast<std::vector<Number>*>(one); });
  return {kept->data(), shape, owner};
}

/// A read-only view of `values`, which `owner` keeps alive.
template <class Number>
nb::ndarray<nb::numpy, const Number> view_of(const std::vector<Number>& values,
                                             std::initializer_list<std::size_t> shape, nb::handle owner) {
  return {values.data(), shape, owner};
}

}  // namespace molgraph::python
