// Options of the task head: no torch here.
#pragma once

namespace molgraph {

/// What stands between a molecule's embedding and the Linear C -> outputs. At most one of the two is in use.
struct HeadOptions {
  int last_mlp = 0;  ///< so many times (Linear C x C, exact GELU): GRPE's optional tail (docs/formula.md section 6)
  bool transform = false;  ///< Linear C x C, exact GELU, LayerNorm: Graphormer v2 (arXiv:2203.04810)
};

}  // namespace molgraph
