// The numbers of a model by name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "attention/formula/matrix.hpp"
#include "attention/spec/parameters.hpp"

namespace molgraph::formula {

/// Every parameter of a list (attention/spec/parameters.hpp has names and shapes). A vector [C] is a matrix of one row;
/// a table of three dimensions [hops, H, H] has its first two in one, [hops*H, H].
class Parameters {
 public:
  /// All zero.
  explicit Parameters(const ParameterList& list);
  /// `numbers(name)` is where a parameter's numbers are, row-major, in float or double.
  template <class Lookup>
  Parameters(const ParameterList& list, const Lookup& numbers) : Parameters(list) {
    for (auto& [name, matrix] : by_name_) {
      const auto* from = numbers(name);
      for (double& value : matrix.values) value = *from++;
    }
  }

  /// std::out_of_range if the model has no such parameter.
  Matrix& at(const std::string& name) { return by_name_.at(name); }
  const Matrix& at(const std::string& name) const { return by_name_.at(name); }
  /// An empty matrix if the model has no such parameter: the term is switched off.
  const Matrix& operator[](std::string_view name) const;

  auto begin() const { return by_name_.begin(); }
  auto end() const { return by_name_.end(); }

 private:
  std::map<std::string, Matrix, std::less<>> by_name_;
};

}  // namespace molgraph::formula
