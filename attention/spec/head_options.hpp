// Options of the task head: no torch here.
#pragma once

namespace molgraph {

/// What stands between a molecule's embedding and the Linear -> outputs. At most one of the first two is in use.
struct HeadOptions {
  int last_mlp =
      0;  ///< so many times (Linear C x C, exact GELU): GRPE's optional tail (docs/models/formula.md section 6)
  bool transform = false;  ///< Linear C x C, exact GELU, LayerNorm: Graphormer v2 (arXiv:2203.04810)
  /// D > 0: behind them the embedding and D numbers of the molecule (GraphBatch::inputs) go through dropout, a Linear
  /// C + D -> mixed and exact GELU
  int inputs = 0;
  int mixed = 256;
};

}  // namespace molgraph
