// List of all training options. The command line, config.toml and the log are generated from this list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/model_limits.hpp"
#include "apps/training/options/train_settings.hpp"
#include "attention/spec/pair_states.hpp"
#include "attention/spec/scalar.hpp"
#include "datasets/system/value_ranges.hpp"

namespace molgraph {

/// The step, with 32 bits, is part of the key of random numbers.
inline constexpr std::int64_t kMaxSteps = 4'000'000'000;

/// One option: its flags in CLI11 notation ("-b,--batch-size"), its field and its help text.
struct TrainOption {
  std::string flags;
  std::string group;
  OptionField field;
  std::string help;
  NumberRange range = {};  ///< of the number, or of each number in a list

  /// The key in config.toml: the long flag without dashes.
  std::string key() const;
  /// Reason why the command line would reject the value; "" if it is valid.
  std::string problem(const OptionValue& value) const;
};

// Words of fields whose values are defined in other files.
Words<const Architecture*> architecture_words();
Words<std::string> size_words();
Words<const Encoding*> encoding_words();
Words<std::string> recipe_words();

inline constexpr int kMaxTables = 10'000;  ///< of a corpus
inline constexpr std::int64_t kMaxBatch = 1'000'000;
inline constexpr std::int64_t kMaxFolds = 1000;  ///< also the limit for ensemble members
inline constexpr std::int64_t kMaxEpochs = 1'000'000;
inline constexpr double kMaxCalibration = 0.9;  ///< fraction of the training set
inline constexpr double kMaxWeight = 1e6;       ///< of a target

/// All options over the fields of a TrainOptions, in the order of --help. To add an option, add a field above and a
/// line here. (A template, so that files that include this header only for the fields do not compile it. Other code
/// calls list_options().)
template <class Options>
std::vector<TrainOption> options_over(Options& o) {
  const std::string data = "Data", model = "Model", training = "Training";
  auto& d = o.data;
  auto& m = o.model;
  auto& t = o.training;
  return {
      {"-i,--data-path,data", data, bounded_list(d.paths, 1, kMaxTables),
       "data set name, table (CSV, TSV, SMI, SDF, .gz) or store; 2 or 3 tables: train [valid] test"},
      {"--data-dir", data, d.folder, "folder of the named data sets (empty: $MOLGRAPH_DATA, then the user's cache)"},
      {"--subset", data, d.subset,
       "subset of a named data set: zinc 12k|full, pcqm4mv2 partial|sample (empty: its default)"},
      {"--format", data,
       one_of(d.format, {{"auto", TableFormat::automatic},
                         {"csv", TableFormat::csv},
                         {"tsv", TableFormat::tsv},
                         {"smi", TableFormat::smi},
                         {"sdf", TableFormat::sdf}}),
       "format of the table"},
      {"--header", data, d.header,
       "the first line of the table contains column names (without --header and --no-header: detected)"},
      {"--no-header", data, d.no_header, "the first line of the table is data"},
      {"-s,--smiles-column", data, d.smiles_column,
       "column of SMILES (empty: smiles, canonical_smiles, another common name, or a column whose cells are SMILES)"},
      {"--id-column", data, d.id_column, "column of ids (empty: id, idx, name, else the row number)"},
      {"--target-columns", data, d.target_columns,
       "columns to predict, or all (empty: at most 20 columns of numbers or of yes and no, without identifiers, years, "
       "constants and descriptors)"},
      {"--auxiliary-targets", data, d.auxiliary_targets,
       "more columns of numbers or two classes that the transformer learns with a fifth of the weight, but does not "
       "predict or report (empty: none)"},
      {"--log-targets", data, d.log_targets,
       "targets with positive labels whose logarithms the model learns, or all, or none; predictions keep the unit of "
       "the table (empty: in your own table, targets whose labels are skewed and span a factor of 10 or more)"},
      {"-t,--task-type", data,
       one_of(d.task, {{"", {}},
                       {"regression", TaskWord::regression},
                       {"classification", TaskWord::classification},
                       {"binary", TaskWord::binary},
                       {"multiclass", TaskWord::multiclass},
                       {"mixed", TaskWord::mixed}}),
       "kind of the targets (empty: detected); mixed: each column is numbers or two classes"},
      {"--positive", data, d.positive,
       "classification: the label of class 1, if the labels are words other than yes and no or similar"},
      {"--censored", data,
       one_of(d.censored, {{"bounded", Censored::bounded}, {"drop", Censored::drop}, {"value", Censored::value}}),
       "labels such as >50: bounded = no loss on the allowed side, drop = missing, value = exact"},
      {"--weight-column", data, d.weight_column,
       "column with the weight of each row in training, 0 or more (empty: equal weights)"},
      {"--features", data,
       one_of(d.features,
              {{"", {}}, {"molgraph", Features::molgraph}, {"ogb", Features::ogb}, {"zinc", Features::zinc}}),
       "atom and bond features (empty: those of the data set, else molgraph; with --recipe ogb)"},
      {"--descriptors", data,
       one_of(d.descriptors, {{"", {}}, {"none", DescriptorSet::none}, {"rdkit", DescriptorSet::rdkit}}),
       "descriptors of the whole molecule as input of the head, see docs/models/descriptors.md (empty: those of --from "
       "or of the store; else none for regression from pre-trained weights; else rdkit for regression on your own "
       "table of at most 50,000 rows)"},
      {"--descriptor-columns", data, d.descriptor_columns,
       "numeric columns as input of the head; a table to score needs them too (empty: those of --from or of the store, "
       "else none)"},
      {"--target-descriptors", data,
       one_of(d.target_descriptors, {{"none", DescriptorSet::none}, {"rdkit", DescriptorSet::rdkit}}),
       "learn these descriptors of each molecule instead of table columns, as molgraph-pretrain does"},
      {"--table-weights", data, d.table_weights,
       "weight of the measured labels of each table of the corpus, in the order of the tables (empty: equal weights)",
       RealRange{0, kMaxWeight, true}},
      {"--standardize", data,
       one_of(d.standardize, {{"", {}}, {"none", Standardize::none}, {"parent", Standardize::parent}}),
       "parent: remove salts and solvents and neutralise charges, in training and scoring (empty: that of --from or of "
       "the store, else none)"},
      {"--duplicates", data,
       one_of(d.duplicates, {{"", {}},
                             {"mean", Duplicates::mean},
                             {"median", Duplicates::median},
                             {"keep", Duplicates::keep},
                             {"drop", Duplicates::drop}}),
       "molecules in several rows: merge into one row with the mean or median of each target (classes: the majority; a "
       "tie is missing); keep all rows, in one set of the split; drop all but the first row (empty: mean for your own "
       "table, or keep with --descriptor-columns; otherwise all rows unchanged)"},
      {"--split-type", data,
       one_of(d.split, {{"", SplitKind::automatic},
                        {"published", SplitKind::published},
                        {"random", SplitKind::random},
                        {"scaffold", SplitKind::scaffold},
                        {"scaffold-balanced", SplitKind::scaffold_balanced},
                        {"group", SplitKind::group},
                        {"time", SplitKind::time},
                        {"order", SplitKind::order},
                        {"predefined", SplitKind::column}}),
       "how to split; time and order: the last rows are the test set; of two tables, the last rows of the first are "
       "the validation set (empty: published, else random)"},
      {"--split-sizes", data, d.split_sizes, "shares of training, validation and test set", kSplitShares},
      {"--calibration-size", data, d.calibration_size,
       "share of the training set that is held out for exact intervals and temperatures; 0 = they use the validation "
       "set",
       RealRange{0, kMaxCalibration}},
      {"--splits-column", data, d.splits_column, "column with train, val, test (implies --split-type predefined)"},
      {"--group-column", data, d.group_column, "--split-type group: rows with the same cell stay in one set"},
      {"--time-column", data, d.time_column,
       "--split-type time: column of numbers or dates; the latest rows are the test set"},
      {"--splits-file", data, d.splits_file,
       "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0; several entries = folds"},
      {"--folds", data, d.folds,
       "cross-validation: models model_0, model_1, ... with disjoint test sets (--steps is rounded up to whole "
       "epochs); 0 = off",
       WholeRange{0, kMaxFolds}},
      {"--limit", data, d.limit, "use only this many molecules; 0 = all", kMoleculeLimits},
      {"--max-atoms", data, d.max_atoms, "reject larger molecules", WholeRange{1, kMaxAtoms}},
      {"--strict", data, d.strict, "stop at the first invalid row"},

      {"--recipe", model, one_of(m.recipe, recipe_words()),
       "settings of a recipe, listed below; other flags override single values"},
      {"--model", model, one_of(m.architecture, architecture_words()),
       "architecture: node input and initialisation (empty: by --encoding, else by data set)"},
      {"--size", model, one_of(m.size, size_words()),
       "graphormer: slim small base large; grpe: tiny small standard large (empty: slim or small)"},
      {"--layers", model, or_unset(m.layers, 0),
       "blocks; 0 = by --size, or 6 for measured targets with fewer than 5,000 training molecules if neither --size "
       "nor --from is in use",
       WholeRange{0, kMaxLayers}},
      {"--width", model, or_unset(m.width, 0), "channels, a multiple of --heads; 0 = by --size",
       WholeRange{0, kMaxWidth}},
      {"--ffn", model, or_unset(m.ffn, 0), "inner width of the FFN; 0 = by --size", WholeRange{0, kMaxFfn}},
      {"--heads", model, or_unset(m.heads, 0), "attention heads; 0 = by --size", WholeRange{0, kMaxHeads}},
      {"--encoding", model, one_of(m.encoding, encoding_words()),
       "position encoding, see docs/models/encodings.md (empty: that of the model)"},
      {"--urpe", model, on_off(m.gate.use),
       "URPE's gate: on, off or auto (on if none of --model, --encoding, --recipe is given)"},
      {"--gate-relu", model, m.gate.relu, "apply ReLU to the gate"},
      {"--gate-path", model, m.gate.path, "add an edge-path term over --path-hops to the gate"},
      {"--gate-per-layer", model, m.gate.per_layer, "use one gate per layer"},
      {"--share-encodings", model, on_off(m.share_encodings),
       "share relation tables between layers: on, off or auto (off for diet-rel)"},
      {"--pe-dim", model, or_unset(m.position_dim, 0),
       "number of eigenvectors (laplacian), random-walk steps (random-walk, diet-abs, tupe, grpe-walk, "
       "graphormer-walk) or Gaussians (resistance); 0 = laplacian 8, grpe-walk and graphormer-walk 10, else 16",
       WholeRange{0, kMaxPositions}},
      {"--mix-width", model, or_unset(m.mix_width, 0),
       "width of the layer that mixes descriptors into the head; 0 = 256, or 32 for classes alone with fewer than "
       "5,000 training molecules",
       WholeRange{0, kMaxWidth}},
      {"--post-ln", model, m.post_ln, "LayerNorm after the residual sums"},
      {"--max-distance", model, or_unset(m.max_distance, 0),
       "largest shortest-path distance with its own class; 0 = graphormer 20, grpe 5", WholeRange{0, kMaxDistance}},
      {"--path-hops", model, or_unset(m.path_hops, 0),
       "hops of the edge-path bias and of --gate-path; 0 = 20 for zinc features, else 5", WholeRange{0, kMaxDistance}},
      {"--path", model, one_of(m.path_rule, {{"mean", PathRule::mean}, {"single", PathRule::single}}),
       "graphormer: edge-path bias as the mean over all shortest paths, or of a single one"},
      {"--spatial-pos-max", model, m.spatial_pos_max, "graphormer: mask atom pairs at this distance or more; 0 = off",
       WholeRange{0, kMaxSpatialPos}},
      {"--untie-virtual", model, m.untie_virtual,
       "graphormer: separate bias for each kind of pair with the virtual node"},
      {"--key-term", model, one_of(m.key_term, {{"column", KeyTerm::column}, {"row", KeyTerm::row}}),
       "grpe: relation terms with the key's column (paper) or row (published code)"},
      {"--grpe-terms", model,
       some_of(m.grpe_terms, {{"topology", GrpeTerm::topology},
                              {"edge", GrpeTerm::edge},
                              {"query", GrpeTerm::query},
                              {"key", GrpeTerm::key},
                              {"value", GrpeTerm::value}}),
       "grpe and grpe-walk: active terms"},
      {"--walk-terms", model,
       some_of(m.walk_terms, {{"input", WalkTerm::input},
                              {"bias", WalkTerm::bias},
                              {"gate", WalkTerm::gate},
                              {"query", WalkTerm::query},
                              {"key", WalkTerm::key},
                              {"value", WalkTerm::value}}),
       "grpe-walk and graphormer-walk: where the relations of --pair-relations enter; gate: only if there is one"},
      {"--pair-relations", model,
       some_of(m.pair_relations, {{"walks", PairWord::walks}, {"paths", PairWord::paths}, {"rings", PairWord::rings}}),
       "grpe-walk and graphormer-walk: features of two atoms: probabilities of walks of 1 to --pe-dim steps, numbers "
       "of paths of 2 to 8 bonds, shared rings"},
      {"--readout", model,
       one_of(m.readout, {{"virtual-node", Readout::virtual_node}, {"sum", Readout::sum}, {"mean", Readout::mean}}),
       "input of the head: the virtual node, or the sum or mean over the atoms"},
      {"--degree-scaler", model, m.degree_scaler, "scale the output of attention by the atom's degree"},
      {"--pair-state", model, m.pair_state,
       "numbers in the state of each pair of tokens (atoms and virtual node), which each layer reads and changes; "
       "0 = no states; CPU only",
       WholeRange{0, kMaxPairState}},
      {"--published-classes", model, m.published_classes, "grpe: relation classes as in the published code"},
      {"--dropout", model, m.dropout, "dropout of the residual branches", RealRange{0, kMaxDropout}},
      {"--attention-dropout", model, m.attention_dropout, "dropout of the attention weights",
       RealRange{0, kMaxDropout}},
      {"--perturb-noise", model, m.perturb_noise, "grpe: width of the uniform noise on the node input in training",
       RealRange{0, kMaxNoise}},
      {"--flag", model, m.flag,
       "FLAG, adversarial noise on the node input: ascents,step,magnitude, for example 2,0.2,0 (empty: off)"},
      {"--from", model, m.from,
       "start from the weights of a run; pretrained: from the weights that ship with molgraph; none: from scratch "
       "(empty: pretrained for your own table and the default model, except with --quality fast; else none)"},
      {"--freeze", model, one_of(m.frozen, {{"", Frozen::nothing}, {"encoder", Frozen::encoder}}),
       "weights that stay fixed: encoder = all but the head"},

      {"--quality", training,
       one_of(t.quality, {{"fast", Quality::fast}, {"default", Quality::standard}, {"best", Quality::best}}),
       "how much to spend on your own table: fast = one model with a third of the epochs, no --baselines; default = "
       "one model and --blend; best = --ensemble-size 5 --member-splits --blend"},
      {"--backend", training,
       one_of(t.backend, {{"cpu", TrainingBackend::engine}, {"reference", TrainingBackend::reference}}),
       "cpu = molgraph's engine, reference = LibTorch operations (slow)"},
      {"--precision", training,
       one_of(t.precision, {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}}),
       "precision of matrix products: bf16 is faster where the processor supports it, weights and sums stay float32; "
       "tf32 is for GPUs"},
      {"--loss", training,
       one_of(t.loss, {{"", {}},
                       {"l1", Loss::l1},
                       {"mse", Loss::mse},
                       {"huber", Loss::huber},
                       {"bce", Loss::bce},
                       {"ce", Loss::ce}}),
       "loss (empty: l1 for regression, or mse with --metric rmse or r2; bce or ce for classes; of a mixed task: that "
       "of the numbers, classes use bce)"},
      {"--task-weights", training, t.task_weights,
       "weight of each target in the loss, in the order of the targets (empty: equal weights)",
       RealRange{0, kMaxWeight, true}},
      {"--task-balance", training, t.balance_tasks,
       "give every target the same share of the loss (times --task-weights), however few labels it has"},
      {"--label-weight", training, t.labels.weight,
       "weight of an average label of --target-columns; all descriptors of a molecule together weigh 1",
       RealRange{0, kMaxWeight}},
      {"--label-balance", training, t.labels.balance,
       "0 = equal weight for every label of --target-columns, 1 = equal weight for every target, however few labels it "
       "has",
       RealRange{0, 1}},
      {"--class-balance", training, t.balance_classes,
       "classification: give every class of a target the same share of its loss; this shifts the probabilities"},
      {"--metric", training,
       one_of(t.metric, {{"", {}},
                         {"mae", Metric::mae},
                         {"rmse", Metric::rmse},
                         {"r2", Metric::r2},
                         {"roc-auc", Metric::roc_auc},
                         {"ap", Metric::ap},
                         {"accuracy", Metric::accuracy},
                         {"loss", Metric::loss}}),
       "metric that chooses the best epoch (empty: that of the data set, else mae, roc-auc or accuracy; mixed tasks: "
       "loss over all targets)"},
      {"--epochs", training, or_unset(t.epochs, 0),
       "passes over the training set; 0 = 60, or 20 for classes alone, or at most 300 for computed targets (demo, qm9, "
       "pcqm4m)",
       WholeRange{0, kMaxEpochs}},
      {"--steps", training, or_unset(t.steps, 0), "update steps instead of epochs; 0 = by --epochs",
       WholeRange{0, kMaxSteps}},
      {"-b,--batch-size", training, or_unset(t.batch_size, 0),
       "molecules per update; 0 = 32 to 256, by the number of molecules", WholeRange{0, kMaxBatch}},
      {"--lr", training, t.lr, "peak learning rate", RealRange{0, 100, true}},
      {"--end-lr", training, t.end_lr, "learning rate at the last step", RealRange{0, 100}},
      {"--schedule", training, one_of(t.schedule, {{"linear", Schedule::linear}, {"cosine", Schedule::cosine}}),
       "how the learning rate falls to --end-lr after the warm-up"},
      {"--warmup-steps", training, or_unset(t.warmup_steps, -1),
       "steps of linear warm-up; -1 = by --warmup-epochs, else 10 % of all steps (pre-training: 5 %)",
       WholeRange{-1, kMaxSteps}},
      {"--warmup-epochs", training, or_unset(t.warmup_epochs, 0),
       "epochs of linear warm-up, if --warmup-steps is -1; 0 = off", WholeRange{0, kMaxEpochs}},
      {"--weight-decay", training, t.weight_decay, "weight decay of AdamW", RealRange{0, 1000}},
      {"--decay", training, one_of(t.decay, {{"weights", DecayOf::weights}, {"all", DecayOf::all}}),
       "decay all parameters, or weights only (no biases, LayerNorms, gates, tables)"},
      {"--grad-clip", training, t.grad_clip, "largest norm of the gradient; 0 = off", RealRange{0, 1e9}},
      {"--patience", training, or_unset(t.patience, -1),
       "early stopping: stop after this many epochs without a better validation result; 0 = never, -1 = 30 for "
       "computed targets without --epochs and --steps, else 0",
       WholeRange{-1, kMaxEpochs}},
      {"--ema", training, t.ema,
       "decay of the moving average of the weights, which is then validated and saved; 0 = off",
       RealRange{0, 1, false, true}},
      {"--scale-targets", training, t.scale_targets, "regression: standardise targets inside the model"},
      {"--clip-labels", training, t.clip_labels,
       "regression: train on and choose by outlier labels (the log lists them) clipped to the outermost other label; "
       "results show the labels of the table"},
      {"--ensemble-size", training, or_unset(t.ensemble_size, 0),
       "number of models to train, with seeds seed, seed + 1, ...; 0 = by --quality: 5 or 1", WholeRange{0, kMaxFolds}},
      {"--member-splits", training, on_off(t.member_splits),
       "give each ensemble member its own validation set, so that together they learn all training and validation "
       "molecules: on, off or auto (on for --quality best and your own table)"},
      {"--out-of-fold", training, on_off(t.out_of_fold),
       "base intervals, temperatures and the blend on out-of-fold predictions of five more models: on, off or auto (on "
       "for your own table if training and validation set have at most 1,000 rows and a target has too few validation "
       "labels for intervals)"},
      {"--refit", training, t.refit, "train once more, on training and validation set together, up to the best epoch"},
      {"--baselines", training, on_off(t.baselines),
       "compare with the nearest neighbour, trees and a Gaussian process: on, off or auto (on for your own table of at "
       "most 50,000 training molecules, not with --quality fast)"},
      {"--blend", training, on_off(t.blend),
       "predict with a mixture of the model, trees and a Gaussian process, weighted by the validation set: on, off or "
       "auto (on with automatic --baselines)"},
      {"--calibrate", training, t.calibrate,
       "prepare intervals (molgraph-score --interval) and temperatures of probabilities from held-out errors"},
      {"--domain", training, t.domain,
       "store fingerprints and embeddings of the training molecules for molgraph-score --domain (at most 384 bytes "
       "each; up to 200,000 molecules)"},
      {"--domain-labels", training, t.domain_labels,
       "store their ids, SMILES and labels too; anyone with the run can read them"},
      {"--report", training, t.report,
       "write report.html (results in plots and tables, in one file) and model_card.md"},
      {"--seed", training, t.seed, "seed of split, shuffling, initialisation and dropout", kSeeds},
  };
}

std::vector<TrainOption> list_options(TrainOptions& options);

/// Throws UsageError for a value that the command line would reject.
void check_values(const TrainOptions& options);

/// The options as TOML, one key per flag; `data-path` first.
std::string to_toml(const TrainOptions& options);
/// The same without options that version 0.1.0 did not have, unless they differ from their defaults, so that runs of
/// that version can be resumed.
std::string to_identity(const TrainOptions& options);
/// Inverse of to_toml. Throws FileError with file, key and problem.
TrainOptions train_options_from_toml(const std::string& path);
/// Parses a text; messages contain `name` instead of the file.
TrainOptions train_options_from_text(const std::string& toml, const std::string& name);

}  // namespace molgraph
