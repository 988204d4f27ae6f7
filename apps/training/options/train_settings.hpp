// Training settings as plain structs. train_options.hpp lists every field with its flag.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/training/loop/metrics.hpp"
#include "apps/training/loop/schedule.hpp"
#include "apps/training/options/option_field.hpp"
#include "attention/spec/encodings.hpp"
#include "attention/spec/model_options.hpp"
#include "attention/spec/precision.hpp"
#include "datasets/load_options.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph {

// Unset values (an empty optional, a null pointer, Switch::automatic, an empty text where noted) are resolved from the
// data and the other options: run_options.hpp.

/// `classification` is a synonym of `binary`; config.toml keeps the word that was given.
enum class TaskWord : std::uint8_t { regression, classification, binary, multiclass, mixed };

struct DataSettings {
  std::vector<std::string> paths;  ///< a data set, table or store; two or three tables: train, [valid,] test; a corpus
  std::string folder;              ///< for named data sets; "" = $MOLGRAPH_DATA, otherwise the user's cache
  std::string subset;              ///< "" = the data set's default
  TableFormat format = TableFormat::automatic;
  bool header = false, no_header = false;      ///< neither: detected from the lines
  std::string smiles_column, id_column;        ///< "" = detected by name
  std::vector<std::string> target_columns;     ///< empty = columns with numbers, or with yes and no
  std::vector<std::string> auxiliary_targets;  ///< trained with a low weight, never reported; empty = none
  std::vector<std::string> log_targets;        ///< learned as logarithms, all or none; empty = by their labels
  std::optional<TaskWord> task;                ///< empty = detected from the values
  std::string positive;                        ///< the label that becomes 1; "" = by its meaning
  Censored censored = Censored::bounded;
  std::string weight_column;  ///< "" = all rows have the same weight
  std::optional<Features> features;
  std::optional<DescriptorSet> descriptors;                ///< empty = depends on the data
  std::vector<std::string> descriptor_columns;             ///< empty = none; for a store all of its columns
  DescriptorSet target_descriptors = DescriptorSet::none;  ///< targets of pre-training (pretraining.hpp)
  std::vector<double> table_weights;                       ///< of the labels in a corpus, per table; empty = all 1
  std::optional<Standardize> standardize;
  std::optional<Duplicates> duplicates;
  SplitKind split = SplitKind::automatic;
  SplitSizes split_sizes{0.8, 0.1, 0.1};
  double calibration_size = 0;  ///< fraction of the training set; 0 = calibrate on the validation set
  std::string splits_column, group_column, time_column, splits_file;
  int folds = 0;           ///< 0 = one split
  std::int64_t limit = 0;  ///< 0 = all molecules
  int max_atoms = 1024;
  bool strict = false;
};

struct GateSettings {
  Switch use = Switch::automatic;  ///< by default on if neither model, encoding nor recipe is given
  bool relu = false, path = false, per_layer = false;
};

/// Words of --grpe-terms: relation classes, and the terms that their tables act on.
enum class GrpeTerm : std::uint8_t { topology, edge, query, key, value };
/// Words of --walk-terms: where random walk probabilities enter the model.
enum class WalkTerm : std::uint8_t { input, bias, gate, query, key, value };
/// Words of --pair-relations: columns of the pair vectors.
enum class PairWord : std::uint8_t { walks, paths, rings };
enum class Frozen : std::uint8_t { nothing, encoder };

struct ModelSettings {
  std::string recipe;  ///< "" = none
  const Architecture* architecture = nullptr;
  std::string size;                              ///< "" = the architecture's default
  std::optional<int> layers, width, ffn, heads;  ///< empty = by `size`
  const Encoding* encoding = nullptr;            ///< null = the architecture's own
  GateSettings gate;
  Switch share_encodings = Switch::automatic;
  std::optional<int> position_dim;
  std::optional<int> mix_width;  ///< empty = HeadOptions::mixed
  bool post_ln = false;
  std::optional<int> max_distance;
  std::optional<int> path_hops;
  PathRule path_rule = PathRule::mean;
  int spatial_pos_max = 0;  ///< 0 = off
  bool untie_virtual = false;
  KeyTerm key_term = KeyTerm::column;  ///< column or row
  std::vector<GrpeTerm> grpe_terms{GrpeTerm::topology, GrpeTerm::edge, GrpeTerm::query, GrpeTerm::key, GrpeTerm::value};
  std::vector<WalkTerm> walk_terms{WalkTerm::input, WalkTerm::bias, WalkTerm::gate,
                                   WalkTerm::query, WalkTerm::key,  WalkTerm::value};
  std::vector<PairWord> pair_relations{PairWord::walks};
  Readout readout = Readout::virtual_node;
  bool degree_scaler = false;
  int pair_state = 0;  ///< width of the pairs' states; 0 = off
  bool published_classes = false;
  double dropout = 0.1, attention_dropout = 0.1;
  double perturb_noise = 0.0;
  std::string flag;  ///< FLAG as "ASCENTS,STEP,MAGNITUDE"; "" = off
  std::string from;  ///< a run, or a word of shipped_weights.hpp; "" = automatic_start()
  Frozen frozen = Frozen::nothing;
};

enum class TrainingBackend : std::uint8_t { engine, reference };
enum class DecayOf : std::uint8_t { weights, all };
/// Computing time for a result: quality.hpp.
enum class Quality : std::uint8_t { fast, standard, best };

/// Weight of an auxiliary label in the loss, relative to other labels.
inline constexpr double kAuxiliaryWeight = 0.2;

/// Weights of the measured labels of a corpus in the loss.
struct LabelOptions {
  double weight = 1;     ///< of an average measured label, relative to all descriptors of a molecule together
  double balance = 0.5;  ///< the weight of a label is proportional to n^-balance, for a target with n labels
  bool operator==(const LabelOptions&) const = default;
};

struct TrainingSettings {
  Quality quality = Quality::standard;
  TrainingBackend backend = TrainingBackend::engine;
  Precision precision = Precision::fp32;
  std::optional<Loss> loss;
  std::vector<double> task_weights;  ///< weight of the labels of each target; empty = all 1
  bool balance_tasks = false, balance_classes = false;
  LabelOptions labels;
  std::optional<Metric> metric;
  std::optional<std::int64_t> epochs, steps, batch_size;
  double lr = 5e-4;  ///< peak
  double end_lr = 0.0;
  Schedule schedule = Schedule::linear;
  std::optional<std::int64_t> warmup_steps;  ///< empty = from warmup_epochs, by default 10 % of all steps
  std::optional<std::int64_t> warmup_epochs;
  double weight_decay = 0.01;
  DecayOf decay = DecayOf::weights;
  double grad_clip = 5.0;                ///< 0 = off
  std::optional<std::int64_t> patience;  ///< epochs without improvement; 0 = no early stopping
  double ema = 0.0;                      ///< 0 = off
  bool scale_targets = true;
  bool clip_labels = false;  ///< clip labels to label_limits() in training and validation
  std::optional<std::int64_t> ensemble_size;
  Switch member_splits = Switch::automatic;
  Switch out_of_fold = Switch::automatic;
  bool refit = false;
  Switch baselines = Switch::automatic;  ///< see resolve_quality()
  Switch blend = Switch::automatic;
  bool calibrate = true;
  bool domain = true;          ///< store the data for molgraph-score --domain
  bool domain_labels = false;  ///< also store ids, SMILES and true values
  bool report = true;
  std::uint64_t seed = 0;
};

struct TrainOptions {
  DataSettings data;
  ModelSettings model;
  TrainingSettings training;
};

}  // namespace molgraph
