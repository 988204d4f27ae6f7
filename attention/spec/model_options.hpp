// A model as people ask for it: an architecture (graphormer/, grpe/) fills in what it says, options change it. Both
// architectures are one model with other defaults.
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
      nullptr;  ///< graphormer_architecture() or grpe_architecture(); never null in a model
  Features features = Features::ogb;
  EncoderOptions encoder;
  int max_distance = 5;    ///< L, the cap of the topology classes
  int max_degree = -1;     ///< degrees above share the last row; -1: no degrees on the node input
  bool path_bias = false;  ///< the multi-hop edge-path bias
  int path_hops = 0;       ///< hops that count
  PathRule path_rule = PathRule::mean;
  int spatial_pos_max = 0;         ///< > 0: atom pairs at this distance or more are masked; 0 = off
  bool published_classes = false;  ///< Architecture::published_classes
  double perturb_noise = 0;        ///< width a of the uniform noise in [-a, a] on atoms in training
  HeadOptions head;
  std::shared_ptr<const InputScaling>
      input_scaling;          ///< [HeadOptions::inputs]; null = the inputs are taken as they are
  MissingRows missing;        ///< of imported tables
  PublishedLayout published;  ///< where the weights came from
  int outputs = 1;            ///< columns of the head
};

/// A named size of an architecture.
struct ModelSize {
  std::string_view name;
  int layers, width, ffn, heads;
};

/// What distinguishes an architecture: defaults, published sizes, rules. Two exist; they live as long as the program.
struct Architecture {
  std::string_view name;   ///< "graphormer": in files and flags
  std::string_view title;  ///< "Graphormer": for people
  ModelOptions defaults;   ///< `architecture` points back
  std::span<const ModelSize> sizes;
  std::string_view default_size;
  /// Options that this architecture has beside those that all have, by their names in model files.
  std::span<const std::string_view> fields;
  /// Rows that the published code ties.
  ClassMaps (*published_classes)(Features features, int max_distance) = nullptr;
  /// How a parameter starts where not as ParameterSpec::initial says.
  std::optional<Initialisation> (*initial)(const ParameterSpec& spec, const EncoderOptions& encoder) = nullptr;

  bool has(std::string_view field) const;
};

/// What the model consists of, for engines.
ModelPlan model_plan(const ModelOptions& options);

/// Sets layers, width, ffn and heads. Throws UsageError with the list of names.
void set_size(const Architecture& architecture, const std::string& name, EncoderOptions& encoder);

}  // namespace molgraph
