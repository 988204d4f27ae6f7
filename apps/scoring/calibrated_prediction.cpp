#include "apps/scoring/calibrated_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

namespace {

/// For folds: the temperature was fitted to single models, so it is applied to each before averaging.
void apply_to_members(const Calibration& calibration, Prediction& prediction) {
  std::fill(prediction.values.begin(), prediction.values.end(), 0);
  for (std::vector<double> member : prediction.members) {
    apply_temperatures(calibration, member.data());
    for (std::size_t o = 0; o < member.size(); ++o)
      prediction.values[o] += member[o] / static_cast<double>(prediction.members.size());
  }
}

/// Replaces all results of a row that contains a non-finite number.
void reject(Prediction& prediction, const char* reason) {
  prediction.status = RowStatus::not_finite;
  prediction.reason = reason;
  for (auto* values : {&prediction.values, &prediction.deviation, &prediction.low, &prediction.high})
    std::ranges::fill(*values, std::numeric_limits<double>::quiet_NaN());
  for (auto& member : prediction.members) std::ranges::fill(member, std::numeric_limits<double>::quiet_NaN());
  std::ranges::fill(prediction.embedding, std::numeric_limits<float>::quiet_NaN());
  prediction.domain.reset();
}

}  // namespace

void summarise_members(Prediction& prediction) {
  const std::size_t runs = prediction.members.size();
  if (runs == 1) {
    prediction.values = std::move(prediction.members[0]);
    prediction.members.clear();
    return;
  }
  const std::size_t outputs = prediction.members[0].size();
  prediction.values.resize(outputs);
  prediction.deviation.resize(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    double mean = 0, square = 0;
    for (const auto& member : prediction.members) mean += member[o] / static_cast<double>(runs);
    for (const auto& member : prediction.members) square += (member[o] - mean) * (member[o] - mean);
    prediction.values[o] = mean;
    prediction.deviation[o] = std::sqrt(square / static_cast<double>(runs));
  }
}

void calibrate(const Calibration& calibration, bool temperatures, double level, std::span<const double> difficulty,
               Prediction& prediction) {
  if (level > 0) {
    prediction.low.assign(prediction.values.size(), std::numeric_limits<double>::quiet_NaN());
    prediction.high = prediction.low;
  }
  if (prediction.status != RowStatus::ok) return;
  const bool per_member = calibration.part == CalibrationPart::folds && !prediction.members.empty();
  if (temperatures && per_member) apply_to_members(calibration, prediction);
  else if (temperatures) apply_temperatures(calibration, prediction.values.data());
  if (difficulty.empty()) difficulty = prediction.deviation;
  std::size_t o = 0;
  std::vector<double> members;
  for (const TargetCalibration& target : calibration.targets) {
    if (level > 0 && !target.errors.empty()) {
      members.clear();
      for (const auto& member : prediction.members) members.push_back(member[o]);
      const double of_output = difficulty.empty() ? 0 : difficulty[o];
      const Interval found = interval_of(target, level, prediction.values[o], of_output, members);
      prediction.low[o] = found.low;
      prediction.high[o] = found.high;
    }
    o += static_cast<std::size_t>(target.outputs);
  }
  const auto is_bound = [](double value) { return std::isnan(value) || is_finite_float(value); };  // NaN = no interval
  if (!std::ranges::all_of(prediction.low, is_bound) || !std::ranges::all_of(prediction.high, is_bound))
    reject(prediction, "its interval contains inf");
}

void convert_to_table_unit(const Task& task, Prediction& prediction) {
  if (task.logarithmic.empty() || prediction.status != RowStatus::ok) return;
  bool finite = true;
  for (std::size_t t = 0; t < task.names.size(); ++t) {
    if (!task.is_logarithmic(t)) continue;
    const auto convert = [&](double& value) {
      value = task.in_table_unit(t, value);
      finite = finite && (std::isnan(value) || is_finite_float(value));  // NaN = no interval
    };
    convert(prediction.values[t]);
    if (!prediction.low.empty()) convert(prediction.low[t]), convert(prediction.high[t]);
    const auto count = static_cast<double>(prediction.members.size());
    double mean = 0, square = 0;
    for (auto& member : prediction.members) convert(member[t]), mean += member[t] / count;
    for (const auto& member : prediction.members) square += (member[t] - mean) * (member[t] - mean);
    if (!prediction.deviation.empty()) prediction.deviation[t] = std::sqrt(square / count);
  }
  if (!finite) reject(prediction, "10 to the power of its prediction or interval is inf");
}

void check_calibration(const std::optional<Calibration>& calibration, const std::vector<std::string>& runs,
                       std::size_t models) {
  if (calibration && calibration->members != static_cast<std::int64_t>(models))
    throw FileError(runs[0] + "/" + kCalibrationFile + ": was computed for " + std::to_string(calibration->members) +
                    " models, but the run has " + std::to_string(models));
}

void check_difficulty(const std::optional<Calibration>& calibration, const std::vector<std::string>& runs,
                      bool has_process) {
  if (calibration && calibration->by_difficulty() && !has_process)
    throw FileError(runs[0] + "/" + kCalibrationFile + ": requires a Gaussian process, but the run has none");
}

void check_interval(const std::optional<Calibration>& calibration, const Task& task,
                    const std::vector<std::string>& runs, double level) {
  if (level == 0) return;
  if (!(level >= 0.5 && level < 1))
    throw UsageError("interval: " + number_text(level) + ": must be 0 (no interval) or from 0.5 to below 1");
  if (calibration &&
      std::ranges::any_of(calibration->targets, [&](const auto& one) { return one.has_interval(level); }))
    return;
  const std::string why = !task.has(TaskKind::regression) ? "it has no numeric target"
                          : runs.size() > 1               ? "intervals require a single run, but several are given"
                          : calibration
                              ? "too few labels for this level"
                              : "it has no calibration.json; its log gives the reason, or it is a model file or "
                                "only part of a run";
  throw UsageError(runs[0] + " has no intervals: " + why);
}

std::vector<std::string> targets_without_interval(const Calibration& calibration, double level) {
  std::vector<std::string> names;
  for (const TargetCalibration& target : calibration.targets)
    if (!target.has_interval(level)) names.push_back(target.name);
  return names;
}

}  // namespace molgraph
