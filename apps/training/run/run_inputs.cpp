#include "apps/training/run/run_inputs.hpp"

#include "apps/scoring/model_file.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/quality.hpp"
#include "apps/training/run/run_directory.hpp"
#include "apps/training/run/run_options.hpp"
#include "apps/training/run/shipped_weights.hpp"
#include "apps/training/run/warm_start.hpp"
#include "attention/spec/missing_rows.hpp"
#include "datasets/load.hpp"
#include "datasets/log_targets.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

LoadedData load(const TrainRun& run, const std::optional<StartingPoint>& start) {
  const WorkInProgress work(run.control, "Reading and featurising", "molecules", 0);
  LoadOptions load = to_load_options(run.options, run.threads);
  if (load.target_columns.empty()) load.target_columns = run.found_targets;
  // Pre-trained weights already encode the descriptors; a head with descriptors is worse
  // (docs/development/accuracy.md).
  const bool pretrained = start ? is_pretrained(start->config) : may_start_from_shipped(run.options);
  if (pretrained && !run.options.model.mix_width)  // --mix-width needs descriptors
    load.table_descriptors = DescriptorSet::none, load.descriptors_of_store = false;
  if (start) load.features = start->config.featurizer.features;
  if (start && !is_pretrained(start->config)) {
    load.standardize = start->config.featurizer.standardize;
    if (!load.descriptors) load.descriptors = start->config.featurizer.descriptors;
    const auto columns = start->config.input_columns();
    if (load.input_columns.empty() && !load.corpus) load.input_columns.assign(columns.begin(), columns.end());
  }
  load.table.hooks = run.control.reading;
  load.download = run.control.download;
  if (start && !start->config.model.missing.empty()) {
    load.unsupported = [&config = start->config](const GraphView& graph) {
      return missing_rows_reason(graph, config.model.max_distance, config.model.missing);
    };
  }
  return load_data(load, [&](std::int64_t done, std::int64_t total) {
    run.control.stop_if_requested();
    work.advance(done, total);
  });
}

void log_data(const LoadedData& data, const RunControl& control) {
  const MoleculeSet& set = data.set;
  const std::size_t calibration = data.split.calibration.size();
  control.note(text("%s molecules (%zu rejected), split %s: %zu train, %zu valid, %zu test",
                    with_thousands(set.size()).c_str(), set.rejected.size(), data.split_name.c_str(),
                    data.split.train.size(), data.split.valid.size(), data.split.test.size()) +
               (calibration > 0 ? text(", %zu calibration", calibration) : ""));
  std::vector<std::string> targets;
  for (std::size_t t = 0; t < set.task.names.size(); ++t) {
    const std::string unit = set.task.model_unit(t);
    targets.push_back(set.task.names[t] + (unit.empty() ? "" : " [" + unit + "]") +
                      (set.task.kinds.empty() ? "" : " (" + std::string(to_string(set.task.kinds[t])) + ")"));
  }
  if (set.computed_targets.empty())  // for computed targets, a note describes them
    control.note("Targets (" + std::string(to_string(set.task.kind)) + "): " + list_of(targets));
  if (!data.auxiliary.empty())
    control.note("Auxiliary targets (trained, but not predicted): " + list_of(data.auxiliary.task.names));
  for (const auto& note : data.notes) control.note(note);
  control.warn_of(data.warnings);
}

/// Takes the logarithms of the requested targets. By default, a run that starts from one with the same targets keeps
/// the choice of that run; others take the logarithms of targets that are skewed over a decade.
void set_log_targets(const TrainOptions& options, const std::optional<StartingPoint>& start, LoadedData& data) {
  const std::vector<std::string>& names = options.data.log_targets;
  const Task& task = data.set.task;
  std::vector<bool> chosen;
  std::string reason;
  if (!names.empty()) {
    chosen = log_targets_of(names, task);
  } else if (start && start->config.task.names == task.names) {
    chosen = positive_targets(data.set);
    for (std::size_t t = 0; t < chosen.size(); ++t) {
      const bool was_chosen = start->config.task.is_logarithmic(t);
      if (was_chosen && !chosen[t])
        data.notes.push_back("The run given with --from learned the logarithm of " + task.names[t] +
                             ". This run does not, because some labels are 0 or less");
      chosen[t] = chosen[t] && was_chosen;
    }
    reason = ", as the run given with --from";
  } else if (is_own_table(options) && options.model.recipe.empty()) {
    chosen = skewed_targets(data);
    reason = ", because the labels are skewed and span a factor of 10 or more (--log-targets none: no logarithms)";
  }
  take_logarithms(chosen, data.set);
  if (const std::vector<std::string> taken = task.logarithmic_names(); !taken.empty())
    data.notes.push_back("The model learns the logarithm (base 10) of " + list_of(taken, 10) + reason +
                         ". The errors of these targets are in log10 units: 0.3 is a factor of 2. Predictions and "
                         "intervals are in the unit of the table");
}

LoadedData load_together(const TrainRun& run, const std::optional<StartingPoint>& start) {
  const bool named = !is_own_table(run.options), loads_first = run.processes->info().local_rank == 0;
  if (!named || run.processes->is_single()) return load(run, start);
  LoadedData data;
  if (loads_first) data = load(run, start);
  run.processes->wait();
  if (!loads_first) data = load(run, start);
  return data;
}

}  // namespace

std::optional<StartingPoint> starting_point(const TrainOptions& options) {
  const std::string& from = options.model.from;
  if (from.empty() || from == kFromNothing) return std::nullopt;
  const std::string file = is_path(from) ? model_file_of(from) : shipped_weights();
  if (file.empty()) throw FileError("--from pretrained: molgraph was installed without its pre-trained weights");
  StartingPoint start{file, read_model_config(read_model_file(file), file)};
  const auto require_same = [&](const char* flag, const auto& requested, const auto& trained) {
    if (!requested || *requested == trained) return;
    throw UsageError(flag + (" " + std::string(to_string(*requested))) + " contradicts " + from +
                     " (--from), which was trained on " + std::string(to_string(trained)));
  };
  const FeaturizerOptions& start_options = start.config.featurizer;
  require_same("--features", options.data.features, start_options.features);
  if (!is_pretrained(start.config)) require_same("--standardize", options.data.standardize, start_options.standardize);
  return start;
}

LoadedData load_run_data(const TrainRun& run, const std::optional<StartingPoint>& start) {
  LoadedData data = load_together(run, start);
  if (is_pretraining(run.options)) learn_inputs(data, run.options.training.labels);
  else set_log_targets(run.options, start, data);
  log_data(data, run.control);
  return data;
}

}  // namespace molgraph
