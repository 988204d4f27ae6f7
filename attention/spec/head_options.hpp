// Options of the task head. Does not use LibTorch.
#pragma once

namespace molgraph {

/// Layers between a molecule's embedding and the Linear -> outputs. At most one of the first two is used.
struct HeadOptions {
  int last_mlp =
      0;  ///< number of layers (Linear C x C, exact GELU): GRPE's optional tail (docs/models/formula.md section 6)
  bool transform = false;  ///< Linear C x C, exact GELU, LayerNorm: Graphormer v2 (arXiv:2203.04810)
  /// D > 0: after these layers, the embedding and D values of the molecule (GraphBatch::inputs) pass through dropout, a
  /// Linear C + D -> mixed and exact GELU
  int inputs = 0;
  int mixed = 256;
};

}  // namespace molgraph
