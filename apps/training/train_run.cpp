#include "apps/training/train_run.hpp"

#include <ATen/Context.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "apps/training/compute.hpp"
#include "apps/training/cuda_training.hpp"
#include "apps/programs/shell/log.hpp"
#include "apps/training/model_factory.hpp"
#include "apps/scoring/model_file.hpp"
#include "apps/training/model_size.hpp"
#include "apps/training/nccl.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/training/run_directory.hpp"
#include "apps/training/run_options.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/train_report.hpp"
#include "apps/training/warm_start.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/system/files.hpp"
#include "datasets/archives/npy.hpp"
#include "datasets/system/text.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "attention/spec/missing_rows.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr double kLongRun = 24 * 3600.0;  ///< seconds

/// `start`: the run to begin with, whose tables may lack rows for some molecules; may be null.
LoadedData load_with_progress(const TrainOptions& options, const ModelConfig* start, int threads) {
  Progress progress("Reading and featurising", "molecules", 0);
  LoadOptions load = to_load_options(options, threads);
  load.download = downloads_shown();
  if (start != nullptr && !start->missing().empty()) {
    load.unsupported = [start](const GraphView& graph) {
      return missing_rows_reason(graph, start->max_distance(), start->missing());
    };
  }
  return load_data(load, [&](std::int64_t done, std::int64_t total) {
    if (const int signal = stop_requested()) throw Stopped{signal};
    if (total > 0) progress.set_total(total);
    progress.update(done);
  });
}

void report_data(const LoadedData& data) {
  const MoleculeSet& set = data.set;
  log_info(text("%s molecules (%zu rejected), split %s: %zu train, %zu valid, %zu test",
                with_thousands(set.size()).c_str(), set.rejected.size(), data.split_name.c_str(),
                data.split.train.size(), data.split.valid.size(), data.split.test.size()));
  std::vector<std::string> targets;
  for (std::size_t t = 0; t < set.task.names.size(); ++t) {
    targets.push_back(set.task.names[t] + (set.task.units[t].empty() ? "" : " [" + set.task.units[t] + "]"));
  }
  log_info("Targets (" + std::string(to_string(set.task.kind)) + "): " + list_of(targets));
  for (const auto& note : data.notes) log_info(note);
  log_warnings(data.warnings);
}

/// By mean and standard deviation of every training target; a constant target keeps scale 1.
void scale_targets(const MoleculeSet& set, const Split& split, GraphModel& model) {
  const TargetStatistics train = target_statistics(set, split.train);
  std::vector<double> scale = train.deviation;
  for (double& deviation : scale)
    if (deviation <= 1e-12) deviation = 1;
  model.set_target_scaling(torch::tensor(train.mean, torch::kFloat64), torch::tensor(scale, torch::kFloat64));
}

void freeze(const std::string& what, GraphModel& model) {
  if (what.empty()) return;
  for (auto& item : model.named_parameters()) {
    if (!item.key().starts_with("head.")) item.value().set_requires_grad(false);
  }
}

PartPredictions predict_parts(const RunFunction& run, const PackOptions& pack, const LoadedData& data) {
  PartPredictions all;
  for (std::size_t p = 0; p < 3; ++p) {
    all[p] = predict_molecules(run, pack, data.set, *parts_of(data.split)[p]);
  }
  return all;
}

void print_estimate(double step_seconds, const TrainerOptions& t) {
  const double whole = step_seconds * static_cast<double>(t.total_steps);
  log_info(text("One update of %lld molecules takes %s s here: %s steps (%lld epochs) take about %s%s",
                static_cast<long long>(t.batch_size), sensible_number(step_seconds).c_str(), with_thousands(t.total_steps).c_str(),
                static_cast<long long>(t.epochs), duration_text(whole).c_str(),
                t.patience > 0 ? " at most (training stops early)" : ""));
  if (whole > kLongRun) log_warning("That is long on this machine; --steps N makes a shorter schedule");
}

/// The run that --from names.
struct StartingPoint {
  std::string file;
  ModelConfig config;
};

std::optional<StartingPoint> starting_point(const TrainOptions& options) {
  if (options.from.empty()) return std::nullopt;
  const std::string file = model_file_of(options.from);
  StartingPoint start{file, read_model_config(read_model_file(file), file)};
  const std::string features(to_string(start.config.featurizer.features));
  if (!options.features.empty() && options.features != features) {
    throw UsageError("--features " + options.features + " contradicts " + options.from + ", which --from names: it was trained on " + features);
  }
  return start;
}

/// The model of one member, initialised or with the weights of another run.
std::shared_ptr<GraphModel> start_model(const TrainOptions& options, const ModelConfig& config, const LoadedData& data,
                                        const std::optional<StartingPoint>& start) {
  const std::shared_ptr<GraphModel> model = make_model(config, options.seed);
  bool scale = options.scale_targets && data.set.task.kind == TaskKind::regression;
  if (start) {
    const WarmStart warm = warm_start(start->file, start->config, config, *model);
    scale = scale && warm.new_head;
    log_info("Weights from " + start->file + (warm.new_head ? ", with a new head for these targets" : "") +
             (warm.fresh.empty() ? "" : ", with a new gate of ones"));
  }
  if (scale) scale_targets(data.set, data.split, *model);
  freeze(options.freeze, *model);
  return model;
}

void describe(const ModelConfig& config, const GraphModel& model, std::uint64_t seed) {
  std::int64_t parameters = 0;
  for (const auto& parameter : model.parameters()) parameters += parameter.numel();
  const EncoderOptions& e = config.encoder();
  log_info(text("%s%s, %d layers x %d (FFN %d, %d heads), %s parameters; seed %llu",
                config.kind == ModelKind::grpe ? "GRPE" : "Graphormer", e.gate.enabled ? " + URPE gate" : "", e.layers,
                e.width, e.ffn, e.heads, with_thousands(parameters).c_str(), static_cast<unsigned long long>(seed)));
}

void write_config(const RunDirectory& directory, const TrainOptions& options) {
  write_file_atomically(directory.config(), std::string(kConfigHeading) + "\n" + to_toml(options));
}

/// What a model says of all parts, and of those whose labels are hidden (a row without a molecule is NaN).
struct AllPredictions {
  PartPredictions parts;
  std::map<std::string, std::vector<double>> hidden;
  std::vector<double> output_scale;   ///< [outputs] of the model; of several the smallest

  void add_share(const AllPredictions& one, double share) {
    const auto add = [share](std::vector<double>& to, const std::vector<double>& from) {
      to.resize(from.size());
      for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i] * share;
    };
    for (std::size_t p = 0; p < parts.size(); ++p) add(parts[p], one.parts[p]);
    for (const auto& [name, values] : one.hidden) add(hidden[name], values);
    if (output_scale.empty()) output_scale = one.output_scale;
    for (std::size_t o = 0; o < output_scale.size(); ++o) output_scale[o] = std::min(output_scale[o], one.output_scale[o]);
  }
};

AllPredictions predict_all(const RunFunction& run, const PackOptions& pack, const LoadedData& data) {
  AllPredictions all;
  all.parts = predict_parts(run, pack, data);
  for (const auto& [name, molecules] : data.hidden_parts) {
    std::vector<std::int64_t> present;
    for (const std::int64_t g : molecules)
      if (g >= 0) present.push_back(g);
    const std::vector<double> values = predict_molecules(run, pack, data.set, present);
    std::vector<double>& rows = all.hidden[name];
    std::size_t next = 0;
    for (const std::int64_t g : molecules) rows.push_back(g >= 0 ? values[next++] : std::numeric_limits<double>::quiet_NaN());
  }
  return all;
}

/// What OGB-LSC's judges take: y_pred, float32, in the order of the table. A row without a molecule gets the training mean.
void write_submissions(const std::string& folder, const LoadedData& data, const AllPredictions& predictions) {
  if (data.set.task.num_outputs() != 1) return;
  const TargetStatistics train = target_statistics(data.set, data.split.train);
  for (const auto& [part, predicted] : predictions.hidden) {
    std::vector<float> values(predicted.begin(), predicted.end());
    std::int64_t missing = 0;
    for (float& value : values) {
      if (!std::isnan(value)) continue;
      value = static_cast<float>(train.mean[0]);
      ++missing;
    }
    const std::string name = data.set.source.name == "pcqm4mv2" ? "pcqm4m-v2" : data.set.source.name;
    const std::string path = folder + "/y_pred_" + name + (part == "test" ? "" : "_" + part) + ".npz";
    write_npz_vector(path, "y_pred", values);
    log_info("Submission of " + with_thousands(static_cast<std::int64_t>(values.size())) + " rows: " + path);
    if (missing > 0) log_warning(std::to_string(missing) + " of its rows have no molecule and get the training mean");
  }
}

/// How gradients on GPUs are added up; empty for one process.
cuda::DeviceSum device_sum(const TrainRun& run) {
  if (run.processes->alone()) return {};
  return [nccl = std::make_shared<Nccl>(*run.processes, run.gpu)](float* values, std::size_t size, cuda::Stream stream) {
    nccl->sum(values, size, stream);
  };
}

/// Trains the model of one folder and returns its predictions; only the first process has any.
AllPredictions train_member(const TrainRun& run, TrainOptions options, const ModelConfig& config, const LoadedData& data,
                            const std::optional<StartingPoint>& start, const std::string& folder) {
  const RunDirectory directory{folder};
  if (run.processes->first()) fs::create_directories(folder);
  TrainerOptions trainer = resolve_training(options, data, folder);
  trainer.processes = run.processes;
  const std::shared_ptr<GraphModel> model = start_model(options, config, data, start);
  describe(config, *model, options.seed);
  const Compute compute = make_compute(run, *model);
  Trainable trainable = make_trainable(model, compute, config, options.decay == "all");
  if (compute.gpu && trainer.flag.ascents == 0)   // FLAG's passes go through the host
    trainable.device = cuda::train_on_device(compute.gpu, *model, data.set, trainable.decay_exempt, device_sum(run));
  print_estimate(measure_step(trainable, data.set, data.split, trainer), trainer);
  const TrainerResult result = train(trainable, data.set, data.split, trainer, run.resume);
  if (!run.processes->first()) return {};
  if (result.best_epoch > 0) {
    log_info(text("%s after epoch %lld; the best by validation is epoch %lld",
                  result.stopped_early ? "Stopped early" : "Done", static_cast<long long>(result.epochs),
                  static_cast<long long>(result.best_epoch)));
  }
  const LoadedModel best = load_model(directory.best());
  const Compute computes_best = make_compute(run, *best.model);
  AllPredictions predictions = predict_all(run_function(best.model, computes_best), pack_options(*best.model, computes_best), data);
  predictions.output_scale = values_of(best.model->named_buffers()["target_scale"]);
  save_model(directory.model(), *best.model, best.config);
  return predictions;
}

/// A finished run that is resumed keeps its record.
void record_run(const TrainRun& run, const std::string& folder, const RunRecord& record) {
  if (run.resume) {
    const std::optional<RunRecord> before = read_run_record(folder);
    if (before && !before->finished.empty()) return;
  }
  write_run_record(folder, record);
}

/// How many models a folder will hold, known to it before the first is trained.
void announce_members(const TrainRun& run, const std::string& folder, std::int64_t members) {
  if (members > 1) record_run(run, folder, {.members = members, .program = version_text()});
}

/// What is known at the end of training.
RunRecord record_of(const LoadedData& data, const TrainOptions& options, std::int64_t members, std::chrono::steady_clock::time_point begin) {
  const MoleculeSet& set = data.set;
  RunRecord record{.members = members > 1 ? members : 0, .finished = now_utc(), .program = version_text(),
                   .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), .data = options.data,
                   .source = set.source.name, .sha256 = set.source.sha256, .rdkit = set.source.rdkit_version, .molecules = set.size(),
                   .rejected = static_cast<std::int64_t>(set.rejected.size()), .split = data.split_name, .metric = options.metric,
                   .baseline = baseline_of(data, options.metric)};
  for (std::size_t p = 0; p < record.parts.size(); ++p) record.parts[p] = static_cast<std::int64_t>(parts_of(data.split)[p]->size());
  return record;
}

/// Trains on one split, a model or an ensemble, and reports. Returns the metric of the three parts.
std::array<double, 3> train_split(const TrainRun& run, const TrainOptions& options, const ModelConfig& config,
                                  const LoadedData& data, const std::optional<StartingPoint>& start,
                                  const std::string& folder) {
  const RunDirectory directory{folder};
  const bool first = run.processes->first();
  const auto begin = std::chrono::steady_clock::now();
  if (first) {
    fs::create_directories(folder);
    announce_members(run, folder, options.ensemble_size);
    write_splits(directory.splits(), data.set, data.split);
  }
  const std::int64_t members = options.ensemble_size;
  AllPredictions mean;
  for (std::int64_t m = 0; m < members; ++m) {
    TrainOptions own = options;
    own.seed += static_cast<std::uint64_t>(m);
    own.ensemble_size = 1;
    const std::string member = members == 1 ? folder : folder + "/model_" + std::to_string(m);
    if (members > 1) log_info("Model " + std::to_string(m + 1) + " of " + std::to_string(members));
    mean.add_share(train_member(run, own, config, data, start, member), 1.0 / static_cast<double>(members));
  }
  if (!first) return {};
  if (!data.split.test.empty()) write_predictions(directory.test_predictions(), data.set, data.split.test, mean.parts[2], mean.output_scale);
  write_submissions(folder, data, mean);
  const std::array<double, 3> reached = report_results(folder, data, options, mean.parts);
  record_run(run, folder, record_of(data, options, members, begin));
  return reached;
}

/// One model per split, each in a folder of its own.
void train_folds(const TrainRun& run, const TrainOptions& options, const ModelConfig& config, LoadedData& data,
                 const std::optional<StartingPoint>& start) {
  if (options.ensemble_size > 1) throw UsageError("--ensemble-size beside several splits: each of them trains one model");
  TrainOptions own = options;
  own.steps = 0;   // folds differ in length by a molecule or a group: all get the same number of epochs
  if (own.warmup_epochs > 0) own.warmup_steps = -1;
  std::vector<std::array<double, 3>> reached;
  const auto begin = std::chrono::steady_clock::now();
  const auto folds = static_cast<std::int64_t>(data.folds.size());
  std::array<double, 3> baseline{};
  if (run.processes->first()) announce_members(run, run.folder, folds);
  for (std::size_t k = 0; k < data.folds.size(); ++k) {
    log_info(text("Fold %zu of %zu", k + 1, data.folds.size()));
    data.split = data.folds[k];
    if (k > 0) log_warnings(part_warnings(data.set, data.split));   // the first one's stand with the data's
    reached.push_back(train_split(run, own, config, data, start, run.folder + "/model_" + std::to_string(k)));
    const std::array<double, 3> own_baseline = baseline_of(data, options.metric);
    for (std::size_t p = 0; p < 3; ++p) baseline[p] += own_baseline[p] / static_cast<double>(folds);
  }
  if (!run.processes->first()) return;
  report_folds(run.folder, options.metric, reached);
  RunRecord record = record_of(data, options, folds, begin);
  record.parts = {};   // they are the folds' own
  record.baseline = baseline;
  record_run(run, run.folder, record);
}

/// All processes load at once, but a named data set may have to be downloaded: by one process of a machine.
LoadedData load_together(const TrainRun& run, const TrainOptions& options, const std::optional<StartingPoint>& start) {
  const auto load = [&] { return load_with_progress(options, start ? &start->config : nullptr, run.threads); };
  const bool named = !fs::exists(options.data.front()), goes_first = run.processes->place().local_rank == 0;
  if (!named || run.processes->alone()) return load();
  LoadedData data;
  if (goes_first) data = load();
  run.processes->wait();
  if (!goes_first) data = load();
  return data;
}

}  // namespace

void run_training(const TrainRun& run) {
  // Threads write gradients in a fixed order, so that equal runs give equal files.
  at::globalContext().setDeterministicAlgorithms(true, true);
  torch::set_num_threads(thread_count(run.threads));
  check_compute(run);
  TrainOptions options = run.options;
  const std::optional<StartingPoint> start = starting_point(options);
  const RunDirectory directory{run.folder};
  const bool first = run.processes->first();
  std::optional<LogFile> log;
  if (first) log.emplace(directory.log());

  if (start && options.features.empty()) options.features = to_string(start->config.featurizer.features);
  LoadedData data = load_together(run, options, start);
  report_data(data);
  const ModelConfig* const from = start ? &start->config : nullptr;
  const ModelConfig config = resolve_model(options, data.set, from, run.named);
  check_training_flags(options, run.named, data, from);
  check_model_fits(model_plan(config), {options.freeze.empty(), options.ema > 0, options.backend == "cpu" && run.gpu == kNoGpu});
  const std::int64_t batch_size = resolve_training(options, data, run.folder).batch_size;
  if (batch_size < run.processes->count()) {
    throw UsageError(text("--batch-size %lld cannot be divided among %d processes", static_cast<long long>(batch_size), run.processes->count()));
  }
  if (first) {
    write_config(directory, options);
    write_rejected(directory.rejected(), data.set);
  }
  if (data.folds.empty()) {
    train_split(run, options, config, data, start, run.folder);
  } else {
    train_folds(run, options, config, data, start);
  }
}

}  // namespace molgraph
