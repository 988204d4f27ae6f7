// Functions that add classes and functions to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace molgraph::python {

void bind_predictor(nanobind::module_& module);
void bind_molecules(nanobind::module_& module);
void bind_store(nanobind::module_& module);

}  // namespace molgraph::python
