// Every option of training, listed once: the command line, config.toml and the log are made from this list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/scoring/model_limits.hpp"
#include "apps/training/train_settings.hpp"
#include "attention/spec/scalar.hpp"
#include "datasets/system/value_ranges.hpp"

namespace molgraph {

/// Random numbers are keyed by the step, 32 bits.
inline constexpr std::int64_t kMostSteps = 4'000'000'000;

/// One option: its flags as CLI11 writes them ("-b,--batch-size"), the field and the help line.
struct TrainOption {
  std::string flags;
  std::string group;
  OptionField field;
  std::string help;
  NumberRange range = {};  ///< of a number, or of each number of a list

  /// The long flag without dashes: the key in config.toml.
  std::string key() const;
  /// Why the value is none that the command line would take, "" if it is one.
  std::string problem(const OptionValue& value) const;
};

// The words of fields whose values other files list.
Words<const Architecture*> architecture_words();
Words<std::string> size_words();
Words<const Encoding*> encoding_words();
Words<std::string> recipe_words();

inline constexpr int kMostTables = 10'000;  ///< of a corpus
inline constexpr std::int64_t kMostBatch = 1'000'000;
inline constexpr std::int64_t kMostFolds = 1000;  ///< and members of an ensemble
inline constexpr std::int64_t kMostEpochs = 1'000'000;
inline constexpr double kMostCalibration = 0.9;  ///< of the training part
inline constexpr double kMostWeight = 1e6;       ///< of a target

/// All options over the fields of a TrainOptions, in the order in which people read them. To add one: a field above, a
/// line here. (A template, so that those who include this file for the fields need not compile it; others call
/// list_options().)
template <class Options>
std::vector<TrainOption> options_over(Options& o) {
  const std::string data = "Data", model = "Model", training = "Training";
  auto& d = o.data;
  auto& m = o.model;
  auto& t = o.training;
  return {
      {"-i,--data-path,data", data, few_of(d.paths, 1, kMostTables),
       "data set name, table (CSV, TSV, SMI, SDF, .gz) or store; 2 or 3 tables: train [valid] test"},
      {"--data-dir", data, d.folder, "folder of the named data sets (empty: $MOLGRAPH_DATA, then the user's cache)"},
      {"--subset", data, d.subset,
       "part of a named data set: zinc 12k|full, pcqm4mv2 partial|sample (empty: its default)"},
      {"--format", data,
       one_of(d.format, {{"auto", TableFormat::automatic},
                         {"csv", TableFormat::csv},
                         {"tsv", TableFormat::tsv},
                         {"smi", TableFormat::smi},
                         {"sdf", TableFormat::sdf}}),
       "table format"},
      {"--header", data, d.header, "the table's first line holds the names (neither: the lines behind it decide)"},
      {"--no-header", data, d.no_header, "the table's first line is data"},
      {"-s,--smiles-column", data, d.smiles_column,
       "column of SMILES (empty: smiles, canonical_smiles, else another common name or the one whose cells are "
       "SMILES)"},
      {"--id-column", data, d.id_column, "column of ids (empty: id, idx, name, else the row number)"},
      {"--target-columns", data, d.target_columns,
       "columns to predict, or all (empty: those with numbers or with yes and no, at most 20, but no identifiers, "
       "years, constants and descriptors; in pre-training none)"},
      {"--auxiliary-targets", data, d.auxiliary_targets,
       "more columns of numbers or two classes: the transformer learns them from the training part with a fifth of the "
       "weight; they are not predicted or reported (empty: none)"},
      {"-t,--task-type", data,
       one_of(d.task, {{"", {}},
                       {"regression", TaskWord::regression},
                       {"classification", TaskWord::classification},
                       {"binary", TaskWord::binary},
                       {"multiclass", TaskWord::multiclass},
                       {"mixed", TaskWord::mixed}}),
       "kind of the targets (empty: by their values); mixed = each column is numbers or two classes, as its values "
       "say"},
      {"--positive", data, d.positive,
       "classification: the label that is 1, where two words do not say it themselves as yes and no do"},
      {"--censored", data,
       one_of(d.censored, {{"bounded", Censored::bounded}, {"drop", Censored::drop}, {"value", Censored::value}}),
       "labels such as >50: bounded = no loss on their side, drop = missing, value = as if they were exact"},
      {"--weight-column", data, d.weight_column,
       "column of numbers of 0 or more: how much a row counts in training (empty: all alike)"},
      {"--features", data,
       one_of(d.features,
              {{"", {}}, {"molgraph", Features::molgraph}, {"ogb", Features::ogb}, {"zinc", Features::zinc}}),
       "atom and bond columns (empty: the data set's, else molgraph; with --recipe ogb)"},
      {"--descriptors", data,
       one_of(d.descriptors, {{"", {}}, {"none", DescriptorSet::none}, {"rdkit", DescriptorSet::rdkit}}),
       "numbers of the whole molecule that the head reads too, see docs/descriptors.md (empty: none for numbers beside "
       "a pre-trained start; else those of --from or of a store, else rdkit for numbers of a table of your own of at "
       "most "
       "50,000 rows)"},
      {"--descriptor-columns", data, d.descriptor_columns,
       "columns of numbers that the head reads too; a table to score needs them as well (empty: those of --from or of "
       "a "
       "store, else none)"},
      {"--target-descriptors", data,
       one_of(d.target_descriptors, {{"none", DescriptorSet::none}, {"rdkit", DescriptorSet::rdkit}}),
       "learn these numbers of each molecule instead of columns of a table, as molgraph-pretrain does"},
      {"--table-weights", data, d.table_weights,
       "how much the measured labels of each table of the corpus count, in the tables' order (empty: all alike)",
       RealRange{0, kMostWeight, true}},
      {"--standardize", data,
       one_of(d.standardize, {{"", {}}, {"none", Standardize::none}, {"parent", Standardize::parent}}),
       "parent: salts and solvents off and charges neutral before anything else, in scoring too (empty: that of --from "
       "or of the store, else none)"},
      {"--duplicates", data,
       one_of(d.duplicates, {{"", {}},
                             {"mean", Duplicates::mean},
                             {"median", Duplicates::median},
                             {"keep", Duplicates::keep},
                             {"drop", Duplicates::drop}}),
       "molecules in several rows: one row each by mean or median of each target (classes: majority, a tie is blank); "
       "keep all rows, in one part of the split; drop all but the first row (empty: mean for a table of one's "
       "own, keep there with --descriptor-columns, else all rows as they are)"},
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
       "how to split; order: by rows, of which the last are the test part; time, order: of two tables the last of the "
       "first validate (empty: published, else random)"},
      {"--split-sizes", data, d.split_sizes, "shares of train, valid and test", kSplitShares},
      {"--calibration-size", data, d.calibration_size,
       "share of the training part that is kept apart for intervals and temperatures, so that they are exact; 0 = they "
       "are made of the validation part",
       RealRange{0, kMostCalibration}},
      {"--splits-column", data, d.splits_column, "column with train, val, test (implies predefined)"},
      {"--group-column", data, d.group_column, "split group: column whose equal cells stay in one part"},
      {"--time-column", data, d.time_column, "split time: column of numbers or dates; the latest are the test part"},
      {"--splits-file", data, d.splits_file,
       "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0; several = folds"},
      {"--folds", data, d.folds,
       "cross-validation: models model_0, model_1, ... with disjoint test parts (--steps counts as whole epochs); 0 = "
       "off",
       WholeRange{0, kMostFolds}},
      {"--limit", data, d.limit, "keep this many molecules; 0 = all", kMoleculeLimits},
      {"--max-atoms", data, d.max_atoms, "reject larger molecules", WholeRange{1, kMostAtoms}},
      {"--strict", data, d.strict, "stop at the first bad row"},

      {"--recipe", model, one_of(m.recipe, recipe_words()),
       "settings of a paper, listed below; other flags override single values"},
      {"--model", model, one_of(m.architecture, architecture_words()),
       "architecture: node input and initialisation (empty: by --encoding, else by data set)"},
      {"--size", model, one_of(m.size, size_words()),
       "graphormer: slim small base large; grpe: tiny small standard large (empty: slim or small)"},
      {"--layers", model, or_open(m.layers, 0),
       "blocks; 0 = by --size; without that either 6 for measured targets of fewer than 5,000 training molecules (a "
       "start has its own number)",
       WholeRange{0, kMostLayers}},
      {"--width", model, or_open(m.width, 0), "channels, a multiple of heads; 0 = by --size",
       WholeRange{0, kMostWidth}},
      {"--ffn", model, or_open(m.ffn, 0), "inner width of the FFN; 0 = by --size", WholeRange{0, kMostFfn}},
      {"--heads", model, or_open(m.heads, 0), "attention heads; 0 = by --size", WholeRange{0, kMostHeads}},
      {"--encoding", model, one_of(m.encoding, encoding_words()),
       "position encoding, see docs/encodings.md (empty: the model's own)"},
      {"--urpe", model, on_off(m.gate.use),
       "URPE's gate: on, off or auto (on where none of --model, --encoding, --recipe is given)"},
      {"--gate-relu", model, m.gate.relu, "the gate goes through ReLU"},
      {"--gate-path", model, m.gate.path, "the gate has an edge-path term, over --path-hops"},
      {"--gate-per-layer", model, m.gate.per_layer, "a gate per layer"},
      {"--share-encodings", model, on_off(m.share_encodings),
       "relation tables shared by all layers: on, off or auto (off for diet-rel)"},
      {"--pe-dim", model, or_open(m.position_dim, 0),
       "eigenvectors of laplacian; steps of random walks (random-walk, diet-abs, tupe, grpe-walk ...); Gaussians of "
       "resistance; 0 = laplacian 8, grpe-walk and graphormer-walk 10, else 16",
       WholeRange{0, kMostPositions}},
      {"--mix-width", model, or_open(m.mix_width, 0),
       "width of the layer that mixes descriptors into the head; 0 = 256, for classes alone of fewer than 5,000 "
       "training molecules 32",
       WholeRange{0, kMostWidth}},
      {"--post-ln", model, m.post_ln, "LayerNorm after the residual sums"},
      {"--max-distance", model, or_open(m.max_distance, 0), "cap of the topology classes; 0 = graphormer 20, grpe 5",
       WholeRange{0, kMostDistance}},
      {"--path-hops", model, or_open(m.path_hops, 0),
       "hops of the edge-path bias and of --gate-path; 0 = 20 for zinc features, else 5", WholeRange{0, kMostDistance}},
      {"--path", model, one_of(m.path_rule, {{"mean", PathRule::mean}, {"single", PathRule::single}}),
       "graphormer: edge-path bias over the mean of all shortest paths or a single one"},
      {"--spatial-pos-max", model, m.spatial_pos_max, "graphormer: mask atom pairs at this distance or more; 0 = off",
       WholeRange{0, kMostForbidden}},
      {"--untie-virtual", model, m.untie_virtual,
       "graphormer: a bias of its own for each pair kind of the virtual node"},
      {"--key-term", model, one_of(m.key_term, {{"column", KeyTerm::column}, {"row", KeyTerm::row}}),
       "grpe: relation terms with the key's own column (paper) or row (published code)"},
      {"--grpe-terms", model,
       some_of(m.grpe_terms, {{"topology", GrpeTerm::topology},
                              {"edge", GrpeTerm::edge},
                              {"query", GrpeTerm::query},
                              {"key", GrpeTerm::key},
                              {"value", GrpeTerm::value}}),
       "grpe and grpe-walk: terms in use"},
      {"--walk-terms", model,
       some_of(m.walk_terms, {{"input", WalkTerm::input},
                              {"bias", WalkTerm::bias},
                              {"gate", WalkTerm::gate},
                              {"query", WalkTerm::query},
                              {"key", WalkTerm::key},
                              {"value", WalkTerm::value}}),
       "grpe-walk and graphormer-walk: where the relations of --pair-relations enter; gate: where there is one"},
      {"--pair-relations", model,
       some_of(m.pair_relations, {{"walks", PairWord::walks}, {"paths", PairWord::paths}, {"rings", PairWord::rings}}),
       "grpe-walk and graphormer-walk: numbers of two atoms: probabilities of walks of 1 .. --pe-dim steps, numbers of "
       "paths of 2 .. 8 bonds, whether they share a ring"},
      {"--readout", model,
       one_of(m.readout, {{"virtual-node", Readout::virtual_node}, {"sum", Readout::sum}, {"mean", Readout::mean}}),
       "what the head reads: the virtual node, or the atoms' sum or mean"},
      {"--degree-scaler", model, m.degree_scaler, "attention's output is scaled by the atom's degree"},
      {"--published-classes", model, m.published_classes, "grpe: relation classes as the published code assigns them"},
      {"--dropout", model, m.dropout, "dropout of the residual branches", RealRange{0, kMostDropout}},
      {"--attention-dropout", model, m.attention_dropout, "dropout of the attention weights",
       RealRange{0, kMostDropout}},
      {"--activation-dropout", model, m.activation_dropout, "dropout inside the FFN", RealRange{0, kMostDropout}},
      {"--input-dropout", model, m.input_dropout, "dropout of the node input", RealRange{0, kMostDropout}},
      {"--perturb-noise", model, m.perturb_noise, "grpe: width of the uniform noise on the node input in training",
       RealRange{0, kMostNoise}},
      {"--flag", model, m.flag, "adversarial noise on the node input: ascents,step,magnitude, as 2,0.2,0 (empty: off)"},
      {"--from", model, m.from,
       "start from the weights of this run; pretrained: from those that come with molgraph; none: from nothing (empty: "
       "pretrained for a table of one's own and the default model, else none)"},
      {"--freeze", model, one_of(m.frozen, {{"", Frozen::nothing}, {"encoder", Frozen::encoder}}),
       "what does not train: encoder = all but the head"},

      {"--quality", training,
       one_of(t.quality, {{"fast", Quality::fast}, {"default", Quality::standard}, {"best", Quality::best}}),
       "how much is spent on a table of your own: fast = one model of a third of the epochs, no --baselines; default = "
       "one model and --blend; best = --ensemble-size 5 --member-splits --blend"},
      {"--backend", training,
       one_of(t.backend, {{"cpu", TrainingBackend::engine}, {"reference", TrainingBackend::reference}}),
       "what computes: cpu = the engine, reference = LibTorch's operations (slow)"},
      {"--precision", training,
       one_of(t.precision, {{"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}}),
       "of the engine's matrix products: bf16 is faster, weights and sums stay float32; tf32 is for GPUs"},
      {"--loss", training,
       one_of(t.loss, {{"", {}},
                       {"l1", Loss::l1},
                       {"mse", Loss::mse},
                       {"huber", Loss::huber},
                       {"bce", Loss::bce},
                       {"ce", Loss::ce}}),
       "empty: for regression l1, or mse with --metric rmse or r2; bce, ce (mixed: of the numbers, bce for the "
       "classes)"},
      {"--task-weights", training, t.task_weights,
       "how much a label of each target counts in the loss, in the targets' order (empty: all alike)",
       RealRange{0, kMostWeight, true}},
      {"--task-balance", training, t.balance_tasks,
       "every target has the same share of the loss (times --task-weights), however few labels it has"},
      {"--label-weight", training, t.labels.weight,
       "how much an average label of --target-columns counts beside all descriptors of a molecule together",
       RealRange{0, kMostWeight}},
      {"--label-balance", training, t.labels.balance,
       "0 = every label of --target-columns counts alike, 1 = every target does, however few labels it has",
       RealRange{0, 1}},
      {"--class-balance", training, t.balance_classes,
       "classification: every class of a target has the same share of its loss; probabilities shift with it"},
      {"--metric", training,
       one_of(t.metric, {{"", {}},
                         {"mae", Metric::mae},
                         {"rmse", Metric::rmse},
                         {"r2", Metric::r2},
                         {"roc-auc", Metric::roc_auc},
                         {"ap", Metric::ap},
                         {"accuracy", Metric::accuracy},
                         {"loss", Metric::loss}}),
       "chooses the best epoch (empty: the data set's, else mae, roc-auc, accuracy; mixed: loss, over all targets)"},
      {"--epochs", training, or_open(t.epochs, 0),
       "passes over the training molecules; 0 = automatic: 60, for classes alone 20, for computed targets (demo, qm9, "
       "pcqm4m) at most 300",
       WholeRange{0, kMostEpochs}},
      {"--steps", training, or_open(t.steps, 0), "update steps instead of epochs; 0 = by --epochs",
       WholeRange{0, kMostSteps}},
      {"-b,--batch-size", training, or_open(t.batch_size, 0),
       "molecules per update; 0 = 32 to 256 by the number of molecules", WholeRange{0, kMostBatch}},
      {"--lr", training, t.lr, "peak learning rate", RealRange{0, 100, true}},
      {"--end-lr", training, t.end_lr, "learning rate at the last step", RealRange{0, 100}},
      {"--schedule", training, one_of(t.schedule, {{"linear", Schedule::linear}, {"cosine", Schedule::cosine}}),
       "how the learning rate falls to --end-lr behind the warm-up"},
      {"--warmup-steps", training, or_open(t.warmup_steps, -1),
       "steps of linear warm-up; -1 = by --warmup-epochs, else 10 % of all", WholeRange{-1, kMostSteps}},
      {"--warmup-epochs", training, or_open(t.warmup_epochs, 0),
       "epochs of linear warm-up, if --warmup-steps is -1; 0 = off", WholeRange{0, kMostEpochs}},
      {"--weight-decay", training, t.weight_decay, "AdamW's decay", RealRange{0, 1000}},
      {"--decay", training, one_of(t.decay, {{"weights", DecayOf::weights}, {"all", DecayOf::all}}),
       "decay all parameters, or weights only (no biases, LayerNorms, gates, tables)"},
      {"--grad-clip", training, t.grad_clip, "largest norm of the gradient; 0 = off", RealRange{0, 1e9}},
      {"--patience", training, or_open(t.patience, -1),
       "stop after this many epochs without a better validation; 0 = never, -1 = automatic: 30 for computed "
       "targets without --epochs and --steps, else 0",
       WholeRange{-1, kMostEpochs}},
      {"--ema", training, t.ema, "decay of the weights' moving average that is validated and saved; 0 = off",
       RealRange{0, 1, false, true}},
      {"--scale-targets", training, t.scale_targets, "regression: standardise targets inside the model"},
      {"--clip-labels", training, t.clip_labels,
       "regression: labels of training and validation part that lie far from all others, which the log names, are "
       "learned and chosen by as the outermost of the others; results show the table's labels"},
      {"--ensemble-size", training, or_open(t.ensemble_size, 0),
       "models to train, with seeds seed, seed + 1, ...; 0 = by --quality: 5 or 1", WholeRange{0, kMostFolds}},
      {"--member-splits", training, on_off(t.member_splits),
       "each member of an ensemble has a validation part of its own, so that together they learn all of training and "
       "validation part: on, off or auto (on for --quality best and a table of one's own)"},
      {"--out-of-fold", training, on_off(t.out_of_fold),
       "intervals, temperatures and the blend rest on the whole training and validation part, of which five more "
       "models, each trained without a fifth, predict that fifth: on, off or auto (on for one's own table of at most "
       "1,000 such rows, if a target has too few validation labels for intervals)"},
      {"--refit", training, t.refit,
       "train once more, on training and validation part together, up to the epoch that validation chose"},
      {"--baselines", training, on_off(t.baselines),
       "the nearest neighbour, trees and a Gaussian process beside the result: on, off or auto (on for one's own table "
       "of at most 50,000 training molecules, not with --quality fast)"},
      {"--blend", training, on_off(t.blend),
       "predictions are a mixture of the model's, of trees' and of a Gaussian process's, by what is best on the "
       "validation part: on, off or auto (on with automatic --baselines)"},
      {"--calibrate", training, t.calibrate,
       "intervals of numbers (molgraph-score --interval) and temperatures of probabilities, by what the model has not "
       "learned"},
      {"--domain", training, t.domain,
       "keep fingerprints and embeddings of the training molecules, which molgraph-score --domain compares others with "
       "(384 bytes each at most; up to 200,000 molecules)"},
      {"--domain-labels", training, t.domain_labels,
       "keep their ids, SMILES and true values too: whoever gets the run can read them"},
      {"--report", training, t.report, "report.html: the run's results in plots and tables, one file for any browser"},
      {"--seed", training, t.seed, "of split, shuffle, initialisation and dropout", kSeeds},
  };
}

std::vector<TrainOption> list_options(TrainOptions& options);

/// Throws UsageError for a value that the command line would not take.
void check_values(const TrainOptions& options);

/// The options as TOML, one key per flag; `data-path` first.
std::string to_toml(const TrainOptions& options);
/// Inverse of to_toml. Throws FileError naming file, key and problem.
TrainOptions train_options_from_toml(const std::string& path);
/// The same from a text; `name` stands for the file in messages.
TrainOptions train_options_from_text(const std::string& toml, const std::string& name);

}  // namespace molgraph
