// The task head: from a molecule's embedding to the model's outputs (docs/models/formula.md sections 2 and 6).
#pragma once

#include "attention/formula/parameters.hpp"
#include "attention/spec/head_options.hpp"

namespace molgraph::formula {

/// `graph` [1, C], the molecule's embedding -> [1, outputs], in scaled units or as logits. `inputs` [1, D], NaN =
/// missing, and `dropout` [1, C + D], factors of the mixing layer's input, are used only if HeadOptions::inputs > 0.
Matrix head(const Matrix& graph, const Matrix& inputs, const HeadOptions& options, const Parameters& parameters,
            const Matrix& dropout);

}  // namespace molgraph::formula
