#include "attention/formula/molecule.hpp"

namespace molgraph::formula {

PairClasses pair_classes(const Molecule& molecule, const ClassRule& rule) {
  const std::int64_t n = molecule.tokens();
  PairClasses classes{Grid<int>(n, n), Grid<int>(n, n), Grid<char>(n, n)};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      classes.topology(i, j) = rule.topology_class(i, j, molecule.topology(i, j));
      classes.edge(i, j) = rule.edge_class(i, j, molecule.edge(i, j));
      classes.masked(i, j) = rule.forbidden(i, j, molecule.topology(i, j));
    }
  return classes;
}

}  // namespace molgraph::formula
