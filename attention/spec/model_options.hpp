// The options of a model. An architecture (graphormer/, grpe/) sets the defaults; the user changes them. Both
// architectures are the same model with different defaults.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention/spec/model_plan.hpp"
#include "attention/spec/options.hpp"
#include "attention/spec/parameters.hpp"
#include "featurize/graph/graph_batch.hpp"

namespace molgraph {

struct Architecture;

struct ModelOptions {
  const Architecture* architecture =
      nullptr;  ///< graphormer_architecture() or grpe_architecture(); not null in a model
  Features features = Features::ogb;
  EncoderOptions encoder;
  int max_distance = 5;    ///< L, the cap of the topology classes
  int max_degree = -1;     ///< larger degrees share the last row; -1: no degrees in the node input
  bool path_bias = false;  ///< the multi-hop edge-path bias
  int path_hops = 0;       ///< number of hops that it counts
  PathRule path_rule = PathRule::mean;
  int spatial_pos_max = 0;         ///< > 0: atom pairs at this distance or more are masked; 0 = off
  bool published_classes = false;  ///< Architecture::published_classes
  double perturb_noise = 0;        ///< half-width a of the uniform noise in [-a, a] on atoms in training
  HeadOptions head;
  std::shared_ptr<const InputScaling> input_scaling;  ///< [HeadOptions::inputs]; null = the inputs are not scaled
  MissingRows missing;                                ///< rows that imported tables lack
  PublishedLayout published;                          ///< source of imported weights
  int outputs = 1;                                    ///< number of outputs of the head
};

/// A named size of an architecture.
struct ModelSize {
  std::string_view name;
  int layers, width, ffn, heads;
};

/// Defaults, published sizes and rules of an architecture. There are two; they live as long as the program.
struct Architecture {
  std::string_view name;   ///< "graphormer": in files and flags
  std::string_view title;  ///< "Graphormer": in messages
  ModelOptions defaults;   ///< `architecture` points to this object
  std::span<const ModelSize> sizes;
  std::string_view default_size;
  /// Options that not all architectures have, by their names in model files.
  std::span<const std::string_view> fields;
  /// Rows that the published code ties.
  ClassMaps (*published_classes)(Features features, int max_distance) = nullptr;
  /// Initial values that replace ParameterSpec::initial; none = ParameterSpec::initial applies.
  std::optional<Initialisation> (*initial)(const ParameterSpec& spec, const EncoderOptions& encoder) = nullptr;

  bool has(std::string_view field) const;
};

/// The model's plan, for engines.
ModelPlan model_plan(const ModelOptions& options);

/// Sets layers, width, ffn and heads. Throws UsageError with the list of sizes if there is no size `name`.
void set_size(const Architecture& architecture, const std::string& name, EncoderOptions& encoder);

}  // namespace molgraph
