// GRPE's options and published sizes: no torch here.
#pragma once

#include <string>

#include "featurize/vocabulary.hpp"
#include "graphormer/attention/options.hpp"

namespace molgraph {

/// GRPE (Park et al. 2022, arXiv:2201.12787), optionally with URPE's gate (encoder.gate).
struct GrpeOptions {
  Features features = Features::ogb;
  EncoderOptions encoder{.terms = {.topology_query = true, .topology_key = true, .topology_value = true,
                                   .edge_query = true, .edge_key = true, .edge_value = true}};
  int max_distance = 5;          ///< L
  double perturb_noise = 0.0;    ///< width a of the uniform noise in [-a, a] on atoms in training (0.2 in the ZINC recipe)
  int last_mlp = 0;              ///< k times (Linear C x C, GELU) between the final LayerNorm and the head
  bool published_classes = false;///< the quirks of the published code (models.md section 6), needed by the grpe-* recipes
  MissingRows missing;           ///< of imported tables
  PublishedLayout published;     ///< where the weights came from
  int outputs = 1;               ///< columns of the head
};

/// Sets layers, width, ffn and heads: tiny 4x64/64/8, small 12x80/80/8, standard 12x768/768/32, large 18x1024/1024/32.
/// Throws UsageError with the list of names.
void set_grpe_size(EncoderOptions& encoder, const std::string& name);

}  // namespace molgraph
