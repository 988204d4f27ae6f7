// molgraph._core: the C++ library for python/molgraph, which contains the public interface.
#include "python/bindings/module.hpp"

#include <nanobind/stl/string.h>

#include "featurize/graph/error.hpp"
#include "featurize/smiles/smiles.hpp"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace molgraph;
  nb::exception<FileError>(module, "FileError", PyExc_OSError);
  nb::exception<DataError>(module, "DataError", PyExc_ValueError);
  nb::exception<UsageError>(module, "UsageError", PyExc_ValueError);
  nb::exception<RunError>(module, "RunError", PyExc_RuntimeError);
  module.attr("__version__") = MOLGRAPH_VERSION;
  module.attr("rdkit_version") = rdkit_version();
  python::bind_predictor(module);
  python::bind_molecules(module);
  python::bind_store(module);
}
