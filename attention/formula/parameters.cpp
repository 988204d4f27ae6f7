#include "attention/formula/parameters.hpp"

namespace molgraph::formula {

Parameters::Parameters(const ParameterList& list) {
  for (const ParameterSpec& spec : list) {
    const std::int64_t columns = spec.shape.back();
    by_name_.emplace(spec.name, Matrix(spec.size() / columns, columns));
  }
}

const Matrix& Parameters::operator[](std::string_view name) const {
  static const Matrix none;
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? none : found->second;
}

}  // namespace molgraph::formula
