// GRPE (Park et al. 2022, arXiv:2201.12787), optionally with URPE's gate (Luo et al. 2022). Does not use LibTorch.
#pragma once

#include "attention/spec/model_options.hpp"

namespace molgraph {

/// Node input = embedded atom columns, without degrees; in training plus uniform noise on atoms (0.2 in the ZINC
/// recipe). Topology and edge encodings act on query, key and value. Initial values are PyTorch's defaults: Linear as
/// in LibTorch, tables N(0, 1), the virtual node zero.
///
/// Published classes (docs/models/formula.md section 6): distances of L and more share row L; the pair (0, 0) uses the
/// rows of distance 0 and of NO_EDGE; the pairs of token 0 share one row in both directions; an atom with itself is
/// NO_EDGE; `ogb` bond ids are type + 4*stereo + 16*conjugated (not injective).
const Architecture& grpe_architecture();

}  // namespace molgraph
