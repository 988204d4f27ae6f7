// Every option of training, listed once: the command line, config.toml and the log are made from this list.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>


#include "datasets/system/value_ranges.hpp"

namespace molgraph {

/// Random numbers are keyed by the step, 32 bits.
inline constexpr std::int64_t kMostSteps = 4'000'000'000;

/// Empty text and 0 mean "automatic" where the help says so; run_options.hpp resolves them against the data.
struct TrainOptions {
  // data
  std::vector<std::string> data;            ///< a name, a table, a store; or two or three tables: train, [valid,] test
  std::string data_dir;
  std::string subset;
  std::string format = "auto";
  bool header = false;
  bool no_header = false;
  std::string smiles_column;
  std::string id_column;
  std::vector<std::string> target_columns;
  std::string task_type;
  std::string positive;
  std::string features;
  std::string split_type;
  std::vector<double> split_sizes{0.8, 0.1, 0.1};
  std::string splits_column;
  std::string group_column;
  std::string time_column;
  std::string splits_file;
  int folds = 0;
  std::int64_t limit = 0;
  int max_atoms = 1024;
  bool strict = false;
  // model
  std::string recipe;
  std::string model;
  std::string size;
  int layers = 0;
  int width = 0;
  int ffn = 0;
  int heads = 0;
  std::string encoding;
  std::string urpe = "auto";                ///< auto, on, off
  bool gate_relu = false;
  bool gate_path = false;
  bool gate_per_layer = false;
  std::string share_encodings = "auto";     ///< auto, on, off
  int pe_dim = 0;
  bool post_ln = false;
  int max_distance = 0;
  int path_hops = 0;
  std::string path = "mean";
  int spatial_pos_max = 0;
  bool untie_virtual = false;
  std::string key_term = "column";
  std::vector<std::string> grpe_terms{"topology", "edge", "query", "key", "value"};
  bool published_classes = false;
  double dropout = 0.1;
  double attention_dropout = 0.1;
  double activation_dropout = 0.0;
  double input_dropout = 0.0;
  double perturb_noise = 0.0;
  std::string flag;                         ///< "M,STEP,MAGNITUDE"
  std::string from;
  std::string freeze;
  // optimisation
  std::string backend = "cpu";              ///< cpu or reference
  std::string precision = "fp32";           ///< of the engine's matrix products: fp32, tf32 (GPU) or bf16
  std::string loss;
  std::string metric;
  std::int64_t epochs = 0;
  std::int64_t steps = 0;
  std::int64_t batch_size = 0;
  double lr = 5e-4;
  double end_lr = 0.0;
  std::int64_t warmup_steps = -1;
  std::int64_t warmup_epochs = 0;
  double weight_decay = 0.01;
  std::string decay = "weights";            ///< weights, all
  double grad_clip = 5.0;
  std::int64_t patience = -1;
  double ema = 0.0;
  bool scale_targets = true;
  std::int64_t ensemble_size = 1;
  std::uint64_t seed = 0;
};

/// One option: its long flag with short ones as CLI11 writes them ("-b,--batch-size"), the field and the help line.
struct TrainOption {
  using Field = std::variant<std::string*, bool*, int*, std::int64_t*, std::uint64_t*, double*, std::vector<std::string>*,
                             std::vector<double>*>;
  std::string flags;
  std::string group;
  Field field;
  std::string help;
  std::vector<std::string> words;   ///< allowed values, empty = any
  NumberRange range = {};           ///< of a number, or of each number of a list

  /// The long flag without dashes: the key in config.toml.
  std::string key() const;
};

/// All options over the fields of `options`, in the order in which people read them.
std::vector<TrainOption> list_options(TrainOptions& options);

/// Throws UsageError for a value that the command line would not take.
void check_values(const TrainOptions& options);

/// The options as TOML, one key per flag; `data` first.
std::string to_toml(const TrainOptions& options);
/// Inverse of to_toml. Throws FileError naming file, key and problem.
TrainOptions train_options_from_toml(const std::string& path);
/// The same from a text; `name` stands for the file in messages.
TrainOptions train_options_from_text(const std::string& toml, const std::string& name);

}  // namespace molgraph
