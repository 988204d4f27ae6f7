// GRPE's options and published sizes: no torch here.
#pragma once

#include <string>

#include "featurize/graph/vocabulary.hpp"
#include "attention/spec/model_plan.hpp"
#include "attention/spec/options.hpp"

namespace molgraph {

/// GRPE (Park et al. 2022, arXiv:2201.12787), optionally with URPE's gate (encoder.gate).
struct GrpeOptions {
  Features features = Features::ogb;
  EncoderOptions encoder{.terms = {.topology_query = true, .topology_key = true, .topology_value = true,
                                   .edge_query = true, .edge_key = true, .edge_value = true}};
  int max_distance = 5;          ///< L
  double perturb_noise = 0.0;    ///< width a of the uniform noise in [-a, a] on atoms in training (0.2 in the ZINC recipe)
  int last_mlp = 0;              ///< k times (Linear C x C, GELU) between the final LayerNorm and the head
  bool published_classes = false;///< the quirks of the published code (docs/formula.md section 6), needed by the grpe-* recipes
  MissingRows missing;           ///< of imported tables
  PublishedLayout published;     ///< where the weights came from
  int outputs = 1;               ///< columns of the head
};

/// Rows that the published code ties (docs/formula.md section 6): distances of L and more share row L; the pair (0, 0) has
/// the rows of distance 0 and of NO_EDGE; the pairs of token 0 share one row both ways; an atom with itself is NO_EDGE;
/// `ogb` bond ids are type + 4*stereo + 16*conjugated (not injective).
ClassMaps published_class_maps(Features features, int max_distance);

/// What the model consists of, for engines that know no LibTorch.
ModelPlan model_plan(const GrpeOptions& options);

/// Sets layers, width, ffn and heads: tiny 4x64/64/8, small 12x80/80/8, standard 12x768/768/32, large 18x1024/1024/32.
/// Throws UsageError with the list of names.
void set_grpe_size(EncoderOptions& encoder, const std::string& name);

}  // namespace molgraph
