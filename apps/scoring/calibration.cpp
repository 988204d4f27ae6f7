#include "apps/scoring/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/scoring/blend.hpp"
#include "apps/scoring/model_limits.hpp"
#include "apps/scoring/run_record.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxErrors = 2000;   ///< stored errors of a sample
constexpr double kMinProbability = 1e-12;  ///< lower limit of a probability, so that its logarithm is finite
constexpr int kMaxBisections = 200;        ///< enough to separate any two doubles

constexpr std::array<std::pair<CalibrationPart, const char*>, 4> kParts{{{CalibrationPart::calibration, "calibration"},
                                                                         {CalibrationPart::valid, "valid"},
                                                                         {CalibrationPart::inner_folds, "inner_folds"},
                                                                         {CalibrationPart::folds, "folds"}}};

/// The rank, among `count` ascending errors, of stored error k of `kept`.
std::int64_t rank_of(std::int64_t k, std::int64_t kept, std::int64_t count) {
  return ((k + 1) * count + kept - 1) / kept;
}

std::int64_t labels_of(std::span<const ErrorSample> samples) {
  std::int64_t count = 0;
  for (const ErrorSample& sample : samples) count += sample.count;
  return count;
}

/// ceil((n + 1) level), tolerant of the rounding error of (n + 1) level.
std::int64_t required_rank(std::int64_t count, double level) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(count + 1) * level - 1e-9));
}

/// The `rank`-th smallest of |error| + centre over all samples; each sample has its own centre.
double shifted_error(std::span<const ErrorSample> samples, std::span<const double> centres, std::int64_t rank) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    if (samples[k].errors.empty()) continue;
    low = std::min(low, centres[k]);
    high = std::max(high, centres[k] + samples[k].errors.back());
  }
  const auto count_up_to = [&](double value) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < samples.size(); ++k) count += samples[k].at_most(value - centres[k]);
    return count;
  };
  high += 1e-12 * std::max(1.0, std::abs(high));  // (value - centre) rounds; ensures that all errors are below
  for (int step = 0; step < kMaxBisections; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (count_up_to(middle) >= rank ? high : low) = middle;
  }
  return high;
}

ErrorSample sample_of(const Json& json, const std::string& path) {
  ErrorSample sample;
  json.at("count").get_to(sample.count);
  json.at("errors").get_to(sample.errors);
  const auto kept = static_cast<std::int64_t>(sample.errors.size());
  const bool valid = std::ranges::all_of(sample.errors, [](double e) { return std::isfinite(e) && e >= 0; });
  if (!valid || !std::ranges::is_sorted(sample.errors) || kept > sample.count || (kept == 0 && sample.count != 0))
    throw FileError(path + ": damaged: invalid or unsorted errors");
  return sample;
}

TargetCalibration target_of(const Json& json, const BlendTarget& expected, const Calibration& all,
                            const std::string& path) {
  TargetCalibration target{.kind = expected.kind, .outputs = expected.classes};
  json.at("name").get_to(target.name);
  json.at("labels").get_to(target.labels);
  target.temperature = json.value("temperature", 1.0);
  target.offset = json.value("offset", 0.0);
  if (json.contains("samples"))
    for (const Json& sample : json["samples"]) target.errors.push_back(sample_of(sample, path));
  if (target.name != expected.name) throw FileError(path + ": has other targets than the run's model");
  const std::size_t num_samples = all.part == CalibrationPart::folds ? static_cast<std::size_t>(all.members) : 1;
  const bool is_regression = target.kind == TaskKind::regression;
  if (!(target.temperature > 0) || !std::isfinite(target.temperature) || !(target.offset >= 0) ||
      !std::isfinite(target.offset) ||
      (!target.errors.empty() && (!is_regression || target.errors.size() != num_samples)))
    throw FileError(path + ": damaged: " + target.name + " has an invalid temperature or sample");
  return target;
}

}  // namespace

std::string_view to_string(CalibrationPart part) {
  return std::ranges::find(kParts, part, [](const auto& entry) { return entry.first; })->second;
}

std::int64_t ErrorSample::at_most(double limit) const {
  const auto kept = std::ranges::upper_bound(errors, limit) - errors.begin();
  return kept == 0 ? 0 : rank_of(kept - 1, static_cast<std::int64_t>(errors.size()), count);
}

ErrorSample error_sample(std::vector<double> errors) {
  std::ranges::sort(errors);
  const auto count = static_cast<std::int64_t>(errors.size());
  if (errors.size() <= kMaxErrors) return {count, std::move(errors)};
  ErrorSample sample{count, {}};
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(kMaxErrors); ++k)
    sample.errors.push_back(errors[static_cast<std::size_t>(rank_of(k, kMaxErrors, count) - 1)]);
  return sample;
}

bool TargetCalibration::has_interval(double level) const {
  const std::int64_t count = labels_of(errors);
  return count > 0 && required_rank(count, level) <= count;
}

Interval interval_of(const TargetCalibration& target, double level, double value, double difficulty,
                     std::span<const double> members) {
  if (!target.has_interval(level)) return {std::nan(""), std::nan("")};
  const std::int64_t count = labels_of(target.errors), rank = required_rank(count, level);
  if (target.errors.size() > 1) {
    std::vector<double> centres(members.begin(), members.end());
    const double high = shifted_error(target.errors, centres, rank);
    for (double& centre : centres) centre = -centre;
    return {-shifted_error(target.errors, centres, rank), high};
  }
  const ErrorSample& sample = target.errors.front();
  const auto kept = static_cast<std::int64_t>(sample.errors.size());
  // The first stored error whose rank is large enough: rank_of(k) >= rank.
  const auto k = static_cast<std::size_t>((rank - 1) * kept / count);
  const double width = sample.errors[k] * (target.offset > 0 ? difficulty + target.offset : 1);
  return {value - width, value + width};
}

bool Calibration::by_difficulty() const {
  return members == 1 && std::ranges::any_of(targets, [](const TargetCalibration& one) { return one.offset > 0; });
}

void apply_temperature(const TargetCalibration& target, double* probabilities) {
  const double t = target.temperature;
  if (t == 1 || target.kind == TaskKind::regression) return;
  if (target.kind == TaskKind::binary) {
    const double p = std::clamp(*probabilities, kMinProbability, 1 - kMinProbability);
    *probabilities = 1 / (1 + std::exp(-(std::log(p) - std::log1p(-p)) / t));
    return;
  }
  const std::span<double> row(probabilities, static_cast<std::size_t>(target.outputs));
  const double largest = std::log(std::max(kMinProbability, *std::ranges::max_element(row)));
  double sum = 0;
  for (double& p : row) sum += p = std::exp((std::log(std::max(kMinProbability, p)) - largest) / t);
  for (double& p : row) p /= sum;
}

void apply_temperatures(const Calibration& calibration, double* row) {
  for (const TargetCalibration& target : calibration.targets) {
    apply_temperature(target, row);
    row += target.outputs;
  }
}

void write_calibration(const std::string& path, const Calibration& calibration) {
  Json targets = Json::array();
  for (const TargetCalibration& target : calibration.targets) {
    Json one = {{"name", target.name}, {"labels", target.labels}};
    if (target.kind != TaskKind::regression) one["temperature"] = target.temperature;
    if (target.offset > 0) one["offset"] = target.offset;
    for (const ErrorSample& sample : target.errors)
      one["samples"].push_back({{"count", sample.count}, {"errors", sample.errors}});
    targets.push_back(std::move(one));
  }
  // Programs that read only version 1 do not compute the difficulty, so their intervals would be wrong.
  const Json all = {{"version", calibration.by_difficulty() ? 2 : 1},
                    {"part", to_string(calibration.part)},
                    {"members", calibration.members},
                    {"targets", std::move(targets)}};
  write_file_atomically(path, all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Calibration read_calibration(const std::string& path, const Task& task) {
  try {
    const Json all = Json::parse(read_file(path));
    const auto version = all.at("version").get<int>();
    if (version != 1 && version != 2)
      throw FileError(path + ": has version " + std::to_string(version) + "; this program reads versions 1 and 2");
    Calibration calibration;
    const auto part = std::ranges::find(kParts, all.at("part").get<std::string>(),
                                        [](const auto& entry) { return std::string(entry.second); });
    if (part == kParts.end()) throw FileError(path + ": damaged: \"part\" has an unknown value");
    calibration.part = part->first;
    const Json& members = all.at("members");
    if (!members.is_number_integer() || members < 1 || members > kMaxMembers)
      throw FileError(path + ": damaged: \"members\" is not a valid number of models");
    members.get_to(calibration.members);
    const std::vector<BlendTarget> expected = blend_targets(task);
    const Json& targets = all.at("targets");
    if (targets.size() != expected.size()) throw FileError(path + ": has other targets than the run's model");
    for (std::size_t t = 0; t < expected.size(); ++t)
      calibration.targets.push_back(target_of(targets[t], expected[t], calibration, path));
    return calibration;
  } catch (const nlohmann::json::exception& problem) {
    throw FileError(path + ": damaged: " + problem.what());
  }
}

std::optional<Calibration> calibration_of(const std::string& run, const Task& task) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(run, error)) return std::nullopt;
  const std::string path = (fs::path(run) / kCalibrationFile).string();
  if (fs::exists(path, error)) return read_calibration(path, task);
  if (const std::optional<RunRecord> record = read_run_record(run); record && record->calibrated)
    throw FileError(path + " is missing, although run.json records it");
  return std::nullopt;
}

}  // namespace molgraph
