#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

#include "apps/report/fold_facts.hpp"
#include "apps/report/report_facts.hpp"
#include "apps/report/run_tables.hpp"
#include "apps/scoring/calibration.hpp"
#include "apps/scoring/domain_file.hpp"
#include "apps/scoring/model_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kShownLevel = 0.9;
constexpr std::array kLevels{0.5, 0.6, 0.7, 0.8, 0.9, 0.95};

std::string model_description(const ModelConfig& config) {
  const EncoderOptions& e = config.encoder();
  const std::string pairs = e.pair_state > 0 ? text(", pair states of %d numbers", e.pair_state) : "";
  return text("%s%s, %d layers of %d channels%s", std::string(config.model.architecture->title).c_str(),
              e.gate.enabled ? " with URPE's gate" : "", e.layers, e.width, pairs.c_str());
}

bool exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// The difficulty of a label (Difficulty); 0 if the run has none.
double difficulty_of(const RowNumbers& numbers, std::size_t outputs, std::size_t row, std::size_t target) {
  return numbers.difficulty.empty() ? 0 : numbers.difficulty[row * outputs + target];
}

/// Whether an interval can be computed: its errors are one sample, and their divisor is known.
bool has_interval(const TargetCalibration& target, double level, const RowNumbers& numbers) {
  return target.kind == TaskKind::regression && target.errors.size() == 1 && target.has_interval(level) &&
         (target.offset == 0 || !numbers.difficulty.empty());
}

void add_intervals(const Calibration& calibration, const Task& task, const RowNumbers& numbers, PartRows& rows) {
  const std::size_t targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs());
  for (std::size_t t = 0; t < targets; ++t) {
    if (!has_interval(calibration.targets[t], kShownLevel, numbers)) continue;
    rows.low.resize(rows.labels.size(), kNaN);
    rows.high.resize(rows.labels.size(), kNaN);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Interval interval = interval_of(calibration.targets[t], kShownLevel, rows.predictions[i * outputs + t],
                                            difficulty_of(numbers, outputs, i, t), {});
      rows.low[i * targets + t] = interval.low;
      rows.high[i * targets + t] = interval.high;
    }
  }
}

std::vector<Coverage> coverage_of(const Calibration& calibration, const Task& task, const RowNumbers& numbers,
                                  const PartRows& rows) {
  const std::size_t targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs());
  std::vector<Coverage> all;
  for (std::size_t t = 0; t < targets; ++t)
    for (const double level : kLevels) {
      if (!has_interval(calibration.targets[t], level, numbers)) continue;
      Coverage one{.target = t, .level = level};
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const double label = rows.labels[i * targets + t];
        if (std::isnan(label)) continue;
        const Interval interval = interval_of(calibration.targets[t], level, rows.predictions[i * outputs + t],
                                              difficulty_of(numbers, outputs, i, t), {});
        ++one.labels;
        one.hits += label >= interval.low && label <= interval.high;
        one.width += interval.high - interval.low;
      }
      if (one.labels == 0) continue;
      one.covered = static_cast<double>(one.hits) / static_cast<double>(one.labels);
      one.width /= static_cast<double>(one.labels);
      all.push_back(one);
    }
  return all;
}

/// Checks that `numbers` match the molecules of a set. Returns none if its predictions were removed
/// (`molgraph-info --strip`).
RowNumbers checked_numbers(RowNumbers numbers, const PartRows& rows, std::size_t outputs, const std::string& where) {
  if (rows.size() == 0) return {};
  if ((!numbers.difficulty.empty() && numbers.difficulty.size() != rows.size() * outputs) ||
      (!numbers.similarity.empty() && numbers.similarity.size() != rows.size()))
    throw FileError(where + ": does not match the molecules of the run's predictions");
  return numbers;
}

/// For a run without report.json: computes the metrics from its predictions; the others remain those of results.csv.
void measure_rows(ReportFacts& facts, int threads) {
  if (facts.methods.empty()) facts.methods.push_back({.name = "this run"});
  for (const auto& [rows, p] : {std::pair{&facts.valid, 1}, {&facts.test, 2}})
    if (rows->size() > 0)
      facts.methods[0].parts[static_cast<std::size_t>(p)] =
          measure(facts.task, rows->predictions, rows->labels, {.threads = threads});
}

/// Whether results.csv has one row per fold.
bool has_fold_column(const fs::path& run) {
  std::ifstream in(run / "results.csv");
  std::string heading;
  return std::getline(in, heading) && heading.starts_with("part,fold,");
}

/// Adds the facts of a run with a single split (a model or an ensemble).
void add_split(const fs::path& run, const ModelConfig& config, int threads, ReportFacts& facts) {
  const std::size_t outputs = static_cast<std::size_t>(facts.task.num_outputs());
  RowNumbers valid_numbers, test_numbers;
  const std::string path = (run / kReportRecord).string();
  if (exists(path)) {
    ReportRecord record = report_record_from_json(read_file(path), path, facts.task.names.size());
    facts.has_record = true;
    facts.methods = std::move(record.methods);
    facts.members = std::move(record.members);
    facts.recipe = std::move(record.recipe);
    facts.shared = record.shared;
    facts.censored = record.censored;
    valid_numbers = checked_numbers(std::move(record.valid), facts.valid, outputs, path);
    test_numbers = checked_numbers(std::move(record.test), facts.test, outputs, path);
    facts.compared = record.compared;
    const auto part = [&](int p) -> const PartRows& { return p == 1 ? facts.valid : facts.test; };
    for (const Twins& pair : record.twins) {
      if (part(pair.part_a).size() == 0 || part(pair.part_b).size() == 0) continue;
      if (pair.row_a >= part(pair.part_a).size() || pair.row_b >= part(pair.part_b).size())
        throw FileError(path + ": its near twins do not match the run's predictions");
      facts.twins.push_back(pair);
    }
    facts.valid.similarity = valid_numbers.similarity;
    facts.test.similarity = test_numbers.similarity;
  } else {
    facts.methods = read_results((run / "results.csv").string());
    measure_rows(facts, threads);
  }
  if (const std::string file = domain_file_of(run.string()); !file.empty() && domain_summary(file).labels)
    facts.training = std::make_shared<const NearestTraining>(read_domain(file, config), config.featurizer);
  if (const std::optional<Calibration> calibration = calibration_of(run.string(), facts.task)) {
    add_intervals(*calibration, facts.task, valid_numbers, facts.valid);
    add_intervals(*calibration, facts.task, test_numbers, facts.test);
    facts.coverage = coverage_of(*calibration, facts.task, test_numbers, facts.test);
  }
}

}  // namespace

ReportFacts facts_of_run(const std::string& folder, int threads) {
  const fs::path run(folder);
  const std::vector<std::string> weights = weight_files(folder);
  const ModelConfig config = read_model_config(read_model_file(weights.front()), weights.front());
  ReportFacts facts;
  facts.task = config.task;
  facts.model = model_description(config);
  facts.models = static_cast<std::int64_t>(weights.size());
  facts.run = read_run_record(folder);
  if (facts.run) facts.name = facts.run->source;
  facts.has_config = exists((run / "config.toml").string());

  const auto sizes = read_part_sizes((run / "splits.csv").string());
  for (std::size_t p = 0; p < kParts; ++p) facts.parts[p] = sizes[p];
  facts.calibration_part = sizes[kParts];
  facts.rejected = read_rejected((run / "rejected.csv").string());
  facts.valid = read_predictions((run / "valid_predictions.csv").string(), facts.task);
  facts.valid.in_train = read_in_train((run / "splits.csv").string(), facts.valid);
  facts.test = read_predictions((run / "test_predictions.csv").string(), facts.task);
  for (const std::string& file : weights) {
    const fs::path member = fs::path(file).parent_path();
    LearningCurve curve = read_curve((member / "metrics.csv").string());
    if (weights.size() > 1) curve.name = member.filename().string();
    if (!curve.epoch.empty()) facts.curves.push_back(std::move(curve));
  }

  facts.folds = weights.size() > 1 && has_fold_column(run);
  if (facts.folds) {
    std::vector<std::string> folds;
    for (const std::string& file : weights) folds.push_back(fs::path(file).parent_path().string());
    add_folds(folds, threads, facts);
  } else {
    add_split(run, config, threads, facts);
  }
  const bool corpus = facts.run && !facts.run->target_descriptors.empty();  // its duplicates.csv has no labels
  RepeatedMolecules repeated =
      read_repeated((run / "duplicates.csv").string(), corpus ? Task{} : facts.task, facts.judged().labels);
  facts.repeated_molecules = repeated.molecules;
  facts.repeated_rows = repeated.rows;
  facts.noise = std::move(repeated.noise);
  return facts;
}

}  // namespace molgraph
