#include "apps/scoring/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "datasets/system/readable.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {
namespace {

/// Limits of probabilities, because regression on the labels 0 and 1 may exceed that range: at least the smaller of
/// 0.01 and a tenth of the class frequency.
constexpr double kMaxLowerLimit = 0.01, kMinLowerLimit = 1e-6;

constexpr std::size_t kNeighbours = 16;  ///< that the difficulty depends on
constexpr double kGrowth = 1.5;          ///< of the logarithm of the difficulty with the distance

double lower_limit(double frequency) { return std::clamp(0.1 * frequency, kMinLowerLimit, kMaxLowerLimit); }

bool all_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

std::string molecules_problem(const KernelMolecules& m, std::size_t width) {
  const auto& offset = m.count_offset;
  if (offset.empty() || offset.front() != 0 || offset.back() != static_cast<std::int64_t>(m.column.size()) ||
      m.count.size() != m.column.size() || !std::ranges::is_sorted(offset))
    return "invalid count offsets of the molecules";
  if (m.numbers.size() != m.size() * width) return "the number of descriptor values does not match the molecules";
  for (std::size_t k = 0; k < m.column.size(); ++k) {
    if (m.column[k] >= kFingerprintBins) return text("a count for column %u of %zu", m.column[k], kFingerprintBins);
    if (!(m.count[k] > 0 && std::isfinite(m.count[k]))) return "a count that is not positive and finite";
  }
  if (!std::ranges::all_of(m.numbers, [](float x) { return std::isfinite(x); }))
    return "a descriptor value that is not finite";
  return {};
}

/// Root mean square of the coefficients of labelled molecules, whose coefficient is not 0; 0 without any.
double scale_of(std::span<const double> coefficients) {
  const auto labelled = std::ssize(coefficients) - std::ranges::count(coefficients, 0.0);
  const double squares = std::inner_product(coefficients.begin(), coefficients.end(), coefficients.begin(), 0.0);
  return labelled == 0 ? 0 : std::sqrt(squares / static_cast<double>(labelled));
}

/// ProcessPredictor::predict()'s difficulty. `tanimoto` and `coefficients` [N]; `scale`: scale_of(coefficients) > 0.
double difficulty_of(std::span<const double> tanimoto, std::span<const double> coefficients, double scale) {
  std::vector<std::pair<double, std::size_t>> nearest;  // distance and index
  nearest.reserve(tanimoto.size());
  for (std::size_t i = 0; i < tanimoto.size(); ++i)
    if (coefficients[i] != 0) nearest.emplace_back(1 - tanimoto[i], i);
  const std::size_t count = std::min(kNeighbours, nearest.size());
  std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(count), nearest.end());
  std::vector<double> chosen;
  for (std::size_t k = 0; k < count; ++k) chosen.push_back(coefficients[nearest[k].second]);
  return scale_of(chosen) / scale * std::exp(kGrowth * nearest.front().first);
}

}  // namespace

CountsView KernelMolecules::counts(std::size_t i) const {
  const auto begin = static_cast<std::size_t>(count_offset[i]),
             length = static_cast<std::size_t>(count_offset[i + 1]) - begin;
  return {std::span(column).subspan(begin, length), std::span(count).subspan(begin, length)};
}

void KernelMolecules::add(const CountsView& counts, std::span<const float> scaled) {
  column.insert(column.end(), counts.column.begin(), counts.column.end());
  count.insert(count.end(), counts.count.begin(), counts.count.end());
  count_offset.push_back(static_cast<std::int64_t>(column.size()));
  for (const float number : scaled) numbers.push_back(std::isfinite(number) ? number : 0.0F);
}

KernelIndex::KernelIndex(const KernelMolecules& molecules, const std::vector<bool>& used) {
  const std::size_t count = molecules.size(), width = used.size();
  for (std::size_t i = 0; i < count; ++i) counts_.add(molecules.counts(i));
  for (std::size_t d = 0; d < width; ++d) {
    if (!used[d]) continue;
    used_.push_back(d);
    for (std::size_t i = 0; i < count; ++i) by_column_.push_back(molecules.numbers[i * width + d]);
  }
}

void KernelIndex::kernels(const CountsView& counts, std::span<const float> scaled, std::vector<double>& tanimoto,
                          std::vector<float>& rational_quadratic) const {
  counts_.similarities(counts, tanimoto);
  const std::size_t count = size();
  rational_quadratic.assign(count, 0);
  const float* row = by_column_.data();
  for (const std::size_t d : used_) {
    const float number = std::isfinite(scaled[d]) ? scaled[d] : 0.0F;
    for (std::size_t i = 0; i < count; ++i) rational_quadratic[i] += (number - row[i]) * (number - row[i]);
    row += count;
  }
  const float scale = 0.5F / static_cast<float>(std::max<std::size_t>(used_.size(), 1));
  for (float& squared : rational_quadratic) squared = 1 / (1 + scale * squared);
}

std::vector<bool> GaussianProcess::used_columns() const {
  std::vector<bool> used(scaling.size());
  for (std::size_t d = 0; d < used.size(); ++d) used[d] = scaling.scale[d] > 0;
  return used;
}

std::string process_problem(const GaussianProcess& p) {
  if (std::string why = targets_problem(p.targets); !why.empty()) return why;
  const std::size_t outputs = outputs_of(p.targets), width = p.descriptors.size() + p.columns.size();
  if (p.mean.size() != outputs || p.coefficient.size() != outputs * p.molecules.size())
    return text("the targets have %zu outputs, but mean (%zu) or coefficient has another size", outputs, p.mean.size());
  if (p.fingerprint_share.size() != p.targets.size() || p.noise.size() != p.targets.size())
    return "not one kernel per target";
  if (p.scaling.center.size() != width || p.scaling.scale.size() != width) return "not one scale per input";
  if (!all_finite(p.mean) || !all_finite(p.coefficient) || !all_finite(p.scaling.center) ||
      !all_finite(p.scaling.scale) || !all_finite(p.noise) || !std::isfinite(p.scaling.clip))
    return "a number that is not finite";
  for (const double share : p.fingerprint_share)
    if (!(share >= 0 && share <= 1)) return "a kernel share outside the range 0 to 1";
  return molecules_problem(p.molecules, width);
}

ProcessPredictor::ProcessPredictor(GaussianProcess process)
    : process_(std::move(process)), index_(process_.molecules, process_.used_columns()) {
  for (std::size_t o = 0; o < process_.outputs(); ++o)
    coefficient_scale_.push_back(scale_of(std::span(process_.coefficient).subspan(o * index_.size(), index_.size())));
}

void ProcessPredictor::predict(const CountsView& counts, std::span<const float> raw, double* values,
                               double* difficulty) const {
  const std::size_t count = index_.size();
  std::vector<float> scaled(process_.scaling.size()), rational_quadratic;
  std::vector<double> tanimoto;
  process_.scaling.apply(raw.data(), scaled.data());
  index_.kernels(counts, scaled, tanimoto, rational_quadratic);
  std::size_t o = 0;
  for (std::size_t t = 0; t < process_.targets.size(); ++t) {
    const BlendTarget& target = process_.targets[t];
    const double share = process_.fingerprint_share[t];
    const std::span<double> target_values(values + o, static_cast<std::size_t>(target.classes));
    if (difficulty != nullptr) {
      std::fill_n(difficulty + o, target_values.size(), 0.0);
      if (target.kind == TaskKind::regression && coefficient_scale_[o] > 0)
        difficulty[o] =
            difficulty_of(tanimoto, std::span(process_.coefficient).subspan(o * count, count), coefficient_scale_[o]);
    }
    for (double& value : target_values) {
      const double* coefficient = process_.coefficient.data() + o * count;
      value = process_.mean[o++];
      for (std::size_t i = 0; i < count; ++i)
        value += coefficient[i] * (share * tanimoto[i] + (1 - share) * static_cast<double>(rational_quadratic[i]));
    }
    if (target.kind == TaskKind::regression) continue;
    for (std::size_t c = 0; c < target_values.size(); ++c) {
      const double frequency = std::clamp(process_.mean[o - target_values.size() + c], 0.0, 1.0);
      target_values[c] = std::clamp(target_values[c], lower_limit(frequency), 1 - lower_limit(1 - frequency));
    }
    if (target.kind != TaskKind::multiclass) continue;
    const double sum = std::accumulate(target_values.begin(), target_values.end(), 0.0);
    for (double& value : target_values) value /= sum;
  }
}

}  // namespace molgraph
