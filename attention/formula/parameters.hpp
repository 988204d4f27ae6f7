// The parameter values of a model by name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "attention/formula/matrix.hpp"
#include "attention/spec/parameters.hpp"

namespace molgraph::formula {

/// Every parameter of a list (names and shapes: attention/spec/parameters.hpp). A vector [C] is a matrix with one row.
/// For a three-dimensional table [hops, H, H], the first two dimensions are merged: [hops*H, H].
class Parameters {
 public:
  /// Sets all values to zero.
  explicit Parameters(const ParameterList& list);
  /// `numbers(name)` is a pointer to the parameter's values, row-major, float or double.
  template <class Lookup>
  Parameters(const ParameterList& list, const Lookup& numbers) : Parameters(list) {
    for (auto& [name, matrix] : by_name_) {
      const auto* from = numbers(name);
      for (double& value : matrix.values) value = *from++;
    }
  }

  /// Throws std::out_of_range if the model has no such parameter.
  Matrix& at(const std::string& name) { return by_name_.at(name); }
  const Matrix& at(const std::string& name) const { return by_name_.at(name); }
  /// Returns an empty matrix if the model has no such parameter: the term is switched off.
  const Matrix& operator[](std::string_view name) const;

  auto begin() const { return by_name_.begin(); }
  auto end() const { return by_name_.end(); }

 private:
  std::map<std::string, Matrix, std::less<>> by_name_;
};

}  // namespace molgraph::formula
