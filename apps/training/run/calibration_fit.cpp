#include "apps/training/run/calibration_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "apps/scoring/blend.hpp"
#include "apps/scoring/moments.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr double kMinTemperature = 0.25, kMaxTemperature = 10;
constexpr double kMinProbability = 1e-12;
constexpr double kStandardErrors = 2;  // minimum gain of a temperature, in standard errors
constexpr std::size_t kTargetsNamed = 5;

/// One label of a target with its prediction.
struct Labelled {
  const double* values;  ///< [outputs of the target]
  double difficulty;     ///< of the first output; 0 if there is none
  double label;
};

/// Returns the labels of target number `t`, whose outputs begin at `first`.
std::vector<Labelled> labelled(const PredictedRows& rows, std::size_t t, std::size_t targets, std::size_t first,
                               std::size_t outputs) {
  std::vector<Labelled> all;
  for (std::size_t i = 0; i * targets < rows.labels.size(); ++i) {
    const double label = rows.labels[i * targets + t];
    if (std::isnan(label)) continue;
    const std::size_t at = i * outputs + first;
    all.push_back({&rows.predictions[at], rows.difficulty.empty() ? 0 : rows.difficulty[at], label});
  }
  return all;
}

/// Returns the negative log-likelihood of each label.
std::vector<double> log_losses(const TargetCalibration& target, const std::vector<Labelled>& rows) {
  std::vector<double> losses, row;
  for (const Labelled& one : rows) {
    row.assign(one.values, one.values + target.outputs);
    apply_temperature(target, row.data());
    const double p = target.kind != TaskKind::binary ? row[static_cast<std::size_t>(one.label)]
                     : one.label > 0                 ? row[0]
                                                     : 1 - row[0];
    losses.push_back(-std::log(std::max(kMinProbability, p)));
  }
  return losses;
}

/// Returns the same for Platt's targets, to which a temperature is fitted: instead of 1 for the label's class and 0 for
/// the others, (n + 1)/(n + K) and 1/(n + K), with n labels of that class and K classes (Platt 1999, section 2.2, for
/// two classes).
std::vector<double> smoothed_losses(const TargetCalibration& target, const std::vector<Labelled>& rows) {
  const bool binary = target.kind == TaskKind::binary;
  const std::size_t classes = binary ? 2 : static_cast<std::size_t>(target.outputs);
  const auto class_of = [&](const Labelled& one) {
    return binary ? std::size_t{one.label > 0} : static_cast<std::size_t>(one.label);
  };
  std::vector<double> count(classes), losses, row;
  for (const Labelled& one : rows) count[class_of(one)] += 1;
  for (const Labelled& one : rows) {
    row.assign(one.values, one.values + target.outputs);
    apply_temperature(target, row.data());
    if (binary) row = {1 - row[0], row[0]};
    const std::size_t label_class = class_of(one);
    const double other = 1 / (count[label_class] + static_cast<double>(classes));
    double loss = 0;
    for (std::size_t c = 0; c < classes; ++c)
      loss -=
          (c == label_class ? (count[label_class] + 1) * other : other) * std::log(std::max(kMinProbability, row[c]));
    losses.push_back(loss);
  }
  return losses;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns true if the mean gain exceeds kStandardErrors standard errors.
bool is_gain(const std::vector<double>& gains) {
  const double mean = mean_of(gains), n = static_cast<double>(gains.size());
  double squares = 0;
  for (const double gain : gains) squares += (gain - mean) * (gain - mean);
  return mean > kStandardErrors * std::sqrt(squares / (n - 1) / n);
}

/// Minimises the loss by golden-section search. The loss is convex in 1/temperature, so it has one minimum between the
/// bounds. Returns 1 if the gain is not clear, because a gain by chance on a hundred labels makes the probabilities of
/// other molecules worse.
double best_temperature(TargetCalibration target, const std::vector<Labelled>& rows) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto loss = [&](double log_temperature) {
    target.temperature = std::exp(log_temperature);
    return mean_of(smoothed_losses(target, rows));
  };
  double low = std::log(kMinTemperature), high = std::log(kMaxTemperature);
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double left_loss = loss(left), right_loss = loss(right);
  while (high - low > 1e-4) {
    if (left_loss <= right_loss) {
      high = right, right = left, right_loss = left_loss;
      left = high - golden * (high - low), left_loss = loss(left);
    } else {
      low = left, left = right, left_loss = right_loss;
      right = low + golden * (high - low), right_loss = loss(right);
    }
  }
  target.temperature = 1;
  std::vector<double> gains = smoothed_losses(target, rows);
  target.temperature = std::exp((low + high) / 2);
  const std::vector<double> best = smoothed_losses(target, rows);
  std::ranges::transform(gains, best, gains.begin(), std::minus());
  return is_gain(gains) ? target.temperature : 1;
}

/// Returns the first few names and, if there are more, the number of names.
std::string named(const std::vector<std::string>& names) {
  return (names.size() > kTargetsNamed ? std::to_string(names.size()) + " targets: " : "") +
         list_of(names, kTargetsNamed);
}

const char* words_of(CalibrationPart part) {
  switch (part) {
    case CalibrationPart::calibration: return "calibration set";
    case CalibrationPart::folds: return "folds' test sets";
    case CalibrationPart::inner_folds: return "training and validation sets (out-of-fold)";
    default: return "validation set";
  }
}

/// Returns the ECE of the predicted class's probability (for binary targets, of label 1).
double calibration_error(const TargetCalibration& target, const std::vector<Labelled>& rows) {
  std::vector<double> probabilities, row;
  std::vector<int> outcomes;
  for (const Labelled& one : rows) {
    row.assign(one.values, one.values + target.outputs);
    apply_temperature(target, row.data());
    const auto predicted = std::ranges::max_element(row);
    probabilities.push_back(*predicted);
    outcomes.push_back(target.kind == TaskKind::binary ? one.label > 0
                                                       : predicted - row.begin() == std::lround(one.label));
  }
  return expected_calibration_error(probabilities, outcomes);
}

/// Means over targets, in the order in which names were first added.
class Means {
 public:
  void add(const std::string& name, double value) {
    auto found = std::ranges::find(sums_, name, [](const auto& entry) { return entry.first; });
    if (found == sums_.end()) {
      sums_.emplace_back(name, 0), counts_.push_back(0);
      found = std::prev(sums_.end());
    }
    found->second += value;
    counts_[static_cast<std::size_t>(found - sums_.begin())] += 1;
  }
  std::vector<std::pair<std::string, double>> all() const {
    auto means = sums_;
    for (std::size_t k = 0; k < means.size(); ++k) means[k].second /= counts_[k];
    return means;
  }

 private:
  std::vector<std::pair<std::string, double>> sums_;
  std::vector<double> counts_;
};

void add_coverage(const TargetCalibration& target, const std::vector<Labelled>& rows, Means& means) {
  double covered = 0, width = 0;
  for (const Labelled& one : rows) {
    const Interval interval = interval_of(target, kReportedLevel, *one.values, one.difficulty, {});
    covered += one.label >= interval.low && one.label <= interval.high;
    width += interval.high - interval.low;
  }
  means.add("coverage-90", covered / static_cast<double>(rows.size()));
  means.add("width-90", width / static_cast<double>(rows.size()));
}

}  // namespace

double expected_calibration_error(const std::vector<double>& probabilities, const std::vector<int>& outcomes) {
  constexpr std::size_t kBins = 10;
  std::array<double, kBins> difference{};  // of sums: predicted - observed
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const auto bin = static_cast<std::size_t>(std::max(0.0, probabilities[i]) * kBins);
    difference[std::min(bin, kBins - 1)] += probabilities[i] - outcomes[i];
  }
  double sum = 0;
  for (const double of_bin : difference) sum += std::abs(of_bin);
  return sum / static_cast<double>(probabilities.size());
}

Calibration fit_calibration(const Task& task, CalibrationPart part, const std::vector<PredictedRows>& rows,
                            bool temperatures, const std::vector<double>& reference) {
  Calibration calibration{.part = part};
  const std::vector<BlendTarget> targets = blend_targets(task);
  const std::size_t outputs = outputs_of(targets);
  std::size_t first = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    TargetCalibration target{.name = targets[t].name, .kind = targets[t].kind, .outputs = targets[t].classes};
    std::vector<Labelled> all;
    std::vector<std::vector<Labelled>> each;
    for (const PredictedRows& one : rows) {
      each.push_back(labelled(one, t, targets.size(), first, outputs));
      all.insert(all.end(), each.back().begin(), each.back().end());
    }
    target.labels = static_cast<std::int64_t>(all.size());
    const bool enough = target.labels >= kMinCalibrationLabels;
    if (enough && target.kind == TaskKind::regression) {
      Moments difficulty;
      if (reference.empty())
        for (const Labelled& one : all) difficulty.add(one.difficulty);
      for (std::size_t i = first; i < reference.size(); i += outputs) difficulty.add(reference[i]);
      target.offset = difficulty.mean;
      for (const auto& labels : each) {
        std::vector<double> errors;
        for (const Labelled& one : labels)
          errors.push_back(std::abs(one.label - *one.values) /
                           (target.offset > 0 ? one.difficulty + target.offset : 1));
        target.errors.push_back(error_sample(std::move(errors)));
      }
    } else if (temperatures && enough &&
               std::ranges::any_of(all, [&](const Labelled& one) { return one.label != all[0].label; })) {
      target.temperature = best_temperature(target, all);
    }
    first += static_cast<std::size_t>(target.outputs);
    calibration.targets.push_back(std::move(target));
  }
  return calibration;
}

bool has_effect(const Calibration& calibration) {
  return std::ranges::any_of(calibration.targets, [](const TargetCalibration& target) {
    return !target.errors.empty() || target.temperature != 1;
  });
}

std::vector<std::string> calibration_notes(const Calibration& calibration, bool inner_folds, bool classes) {
  std::vector<std::string> few, temperatures, unscaled, intervals, notes;
  for (const TargetCalibration& target : calibration.targets) {
    if (target.kind != TaskKind::regression && !classes) continue;
    if (target.labels < kMinCalibrationLabels) few.push_back(target.name + " (" + std::to_string(target.labels) + ")");
    else if (target.kind == TaskKind::regression) intervals.push_back(target.name);
    else if (target.temperature == 1) unscaled.push_back(target.name);
    else temperatures.push_back(text("%s %.2f", target.name.c_str(), target.temperature));
  }
  const std::string part = words_of(calibration.part);
  if (!few.empty())
    notes.push_back("Too few labels in the " + part + " for an interval or a temperature (at least " +
                    std::to_string(kMinCalibrationLabels) + " are required): " + named(few) +
                    (calibration.part == CalibrationPart::valid && inner_folds
                         ? " (--out-of-fold also uses the training set)"
                         : ""));
  if (!intervals.empty())
    notes.push_back("Prediction intervals (molgraph-score --interval) from the errors on the " + part + ": " +
                    named(intervals) +
                    (calibration.part == CalibrationPart::valid || calibration.part == CalibrationPart::inner_folds
                         ? "; approximate, because the best epoch was chosen on the same data "
                           "(--calibration-size uses a separate set)"
                         : ""));
  if (!temperatures.empty())
    notes.push_back("Temperatures of the probabilities, fitted to the " + part + ": " + named(temperatures));
  if (!unscaled.empty())
    notes.push_back("Probabilities are not scaled, because on the " + part +
                    " a temperature gives no clear gain: " + named(unscaled));
  return notes;
}

std::vector<std::pair<std::string, double>> calibration_results(const Calibration& calibration,
                                                                const PredictedRows& rows) {
  Means means;
  const std::size_t targets = calibration.targets.size();
  std::size_t outputs = 0, first = 0;
  for (const TargetCalibration& target : calibration.targets) outputs += static_cast<std::size_t>(target.outputs);
  for (std::size_t t = 0; t < targets; ++t) {
    const TargetCalibration& target = calibration.targets[t];
    const std::vector<Labelled> all = labelled(rows, t, targets, first, outputs);
    first += static_cast<std::size_t>(target.outputs);
    if (all.empty()) continue;
    if (target.kind == TaskKind::regression) {
      if (target.errors.size() == 1) add_coverage(target, all, means);
      continue;
    }
    TargetCalibration raw = target;
    raw.temperature = 1;
    means.add("ece-uncalibrated", calibration_error(raw, all));
    means.add("ece", calibration_error(target, all));
    means.add("nll-uncalibrated", mean_of(log_losses(raw, all)));
    means.add("nll", mean_of(log_losses(target, all)));
  }
  return means.all();
}

}  // namespace molgraph
