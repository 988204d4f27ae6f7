#include "apps/training/run/run_report.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>

#include "apps/report/report_page.hpp"
#include "apps/report/report_record.hpp"
#include "apps/report/similarity.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/dataset_warnings.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {
namespace {

MethodResults results_of(const std::string& name, const TrainRun& run, const ResolvedRun& resolved,
                         const LoadedData& data, const Split& split, const PartPredictions& predictions,
                         std::size_t first_part = 0) {
  MethodResults results{.name = name};
  for (std::size_t p = first_part; p < kParts; ++p) {
    const std::vector<std::int64_t>& part = *parts_of(split)[p];
    if (part.empty() || !is_measured(data, p) || predictions[p].empty()) continue;
    run.control.stop_if_requested();
    results.parts[p] = measure(data.set.task, predictions[p], targets_of(data.set, part),
                               {.seed = resolved.options.training.seed, .threads = run.threads});
  }
  return results;
}

/// Removes the means of other methods that are not defined for the same targets as the run's, because means over
/// different targets cannot be compared.
void keep_comparable_means(std::vector<MethodResults>& methods) {
  for (std::size_t k = 1; k < methods.size(); ++k)
    for (std::size_t p = 0; p < kParts; ++p) {
      const std::optional<Measured>& own = methods.front().parts[p];
      std::optional<Measured>& other = methods[k].parts[p];
      for (std::size_t m = 0; own && other && m < kMeasures; ++m)
        for (std::size_t t = 0; t < own->targets.size(); ++t)
          if (std::isnan(own->targets[t][m].value) != std::isnan(other->targets[t][m].value))
            other->mean[m] = no_estimates()[m];
    }
}

ReportRecord record_of(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                       const SplitReportInputs& inputs) {
  ReportRecord record{.members = inputs.members, .recipe = inputs.recipe, .censored = data.censored};
  record.shared = shared_molecules(data.set, split, run.threads).count;
  if (!data.set.computed_targets.empty()) return record;  // descriptors of a corpus: no evaluation
  record.methods.push_back(results_of("this run", run, resolved, data, split, inputs.predictions.parts));
  PartPredictions mean;
  for (std::size_t p = 0; p < kParts; ++p) mean[p] = mean_predictions(data, split, parts_of(split)[p]->size());
  record.methods.push_back(results_of("mean predictor", run, resolved, data, split, mean));
  for (const ComparedMethod& method : inputs.compared)
    record.methods.push_back(results_of(method.name, run, resolved, data, split, method.predictions));
  keep_comparable_means(record.methods);
  record.valid.difficulty = inputs.difficulty.valid;
  record.test.difficulty = inputs.difficulty.test;
  add_similarities(data.set, split, resolved.options.training.seed, run.threads, record);
  return record;
}

void remove_report(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove(RunDirectory{folder}.report_record(), error);
  std::filesystem::remove(RunDirectory{folder}.report_page(), error);
  std::filesystem::remove(RunDirectory{folder}.model_card(), error);
}

/// Calls make() and writes the page. Errors become a warning.
template <class Make>
void make_report(const TrainRun& run, const std::string& folder, const Make& make) {
  const auto begin = std::chrono::steady_clock::now();
  remove_report(folder);
  WrittenReport written;
  try {
    make();
    written = write_report(folder, run.threads);
  } catch (const std::exception& error) {
    return run.control.warn(std::string("The report could not be created; the run is complete without it: ") +
                            error.what());
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!written.targets.empty()) run.control.report(written.targets);
  run.control.note("Report: " + written.path + " (" + duration_text(seconds) + ")");
}

}  // namespace

std::vector<MethodResults> results_of_members(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data,
                                              const Split& split, const std::vector<AllPredictions>& models,
                                              bool same_parts) {
  std::vector<MethodResults> members;
  if (models.size() < 2 || !resolved.options.training.report || !data.set.computed_targets.empty()) return members;
  const std::vector<double> labels = targets_of(data.set, split.test);
  const bool tested = std::ranges::any_of(labels, [](double label) { return !std::isnan(label); });
  const std::size_t first_part = tested ? 2 : 1;
  for (std::size_t m = 0; m < models.size() && (same_parts || first_part == 2); ++m)
    members.push_back(
        results_of("model_" + std::to_string(m), run, resolved, data, split, models[m].parts, first_part));
  return members;
}

void report_split(const TrainRun& run, const ResolvedRun& resolved, const LoadedData& data, const Split& split,
                  const SplitReportInputs& inputs, const std::string& folder) {
  if (!resolved.options.training.report) return remove_report(folder);
  make_report(run, folder, [&] {
    const ReportRecord record = record_of(run, resolved, data, split, inputs);
    write_file_atomically(RunDirectory{folder}.report_record(), to_json(record, data.set.task.names));
  });
}

void report_folds_page(const TrainRun& run, const ResolvedRun& resolved, const std::string& folder) {
  if (!resolved.options.training.report) return remove_report(folder);
  make_report(run, folder, [] {});
}

}  // namespace molgraph
