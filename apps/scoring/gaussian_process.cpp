#include "apps/scoring/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "datasets/system/readable.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kNeighbours = 16;  ///< that the difficulty depends on
constexpr double kGrowth = 1.5;          ///< of the logarithm of the difficulty with the distance

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
    if (!(m.count[k] >= 1 && m.count[k] <= kMaxCount && m.count[k] == std::floor(m.count[k])))
      return text("a count that is not a whole number from 1 to %d", kMaxCount);
  }
  for (std::size_t i = 0; i < m.size(); ++i)
    if (std::ranges::adjacent_find(m.counts(i).column, std::greater_equal<>()) != m.counts(i).column.end())
      return text("the columns of molecule %zu do not ascend", i);
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

std::vector<CountsView> views_of(const KernelMolecules& molecules) {
  std::vector<CountsView> views;
  for (std::size_t i = 0; i < molecules.size(); ++i) views.push_back(molecules.counts(i));
  return views;
}

constexpr std::size_t kTile = KernelIndex::kTile;
constexpr std::size_t kGroup = 4;  ///< inputs compared with a tile at once; with AVX2, their sums stay in registers
static_assert(KernelIndex::kMaxInputs % kGroup == 0);

/// Squared distances [kGroup, kTile] of the inputs from `first` on, `numbers` [columns, kMaxInputs], to the molecules
/// of a tile [columns, kTile].
MOLGRAPH_ALWAYS_INLINE void squared_distances(const float* tile, const float* numbers, std::size_t first,
                                              std::size_t columns, float* squared) {
  using Lanes [[gnu::vector_size(kTile / 2 * sizeof(float))]] = float;
  Lanes low[kGroup] = {}, high[kGroup] = {};
  for (std::size_t d = 0; d < columns; ++d) {
    Lanes tile_low, tile_high;
    std::memcpy(&tile_low, tile + d * kTile, sizeof(Lanes));
    std::memcpy(&tile_high, tile + d * kTile + kTile / 2, sizeof(Lanes));
    for (std::size_t m = 0; m < kGroup; ++m) {
      const float number = numbers[d * KernelIndex::kMaxInputs + first + m];
      const Lanes to_low = number - tile_low, to_high = number - tile_high;
      low[m] += to_low * to_low;
      high[m] += to_high * to_high;
    }
  }
  for (std::size_t m = 0; m < kGroup; ++m) {
    std::memcpy(squared + m * kTile, &low[m], sizeof(Lanes));
    std::memcpy(squared + m * kTile + kTile / 2, &high[m], sizeof(Lanes));
  }
}
MOLGRAPH_AVX2 void squared_distances_avx2(const float* tile, const float* numbers, std::size_t first,
                                          std::size_t columns, float* squared) {
  squared_distances(tile, numbers, first, columns, squared);
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

KernelIndex::KernelIndex(const KernelMolecules& molecules, const std::vector<bool>& used)
    : counts_(views_of(molecules)) {
  const std::size_t count = molecules.size(), width = used.size();
  for (std::size_t d = 0; d < width; ++d)
    if (used[d]) used_.push_back(d);
  tiles_.resize((count + kTile - 1) / kTile * used_.size() * kTile);
  float* to = tiles_.data();
  for (std::size_t first = 0; first < count; first += kTile) {
    for (const std::size_t d : used_) {
      for (std::size_t i = first; i < std::min(first + kTile, count); ++i)
        to[i - first] = molecules.numbers[i * width + d];
      to += kTile;
    }
  }
}

void KernelIndex::kernels(std::span<const KernelInput> inputs, std::vector<double>& tanimoto,
                          std::vector<float>& rational_quadratic, bool avx2) const {
  assert(inputs.size() <= kMaxInputs);
  const std::size_t count = size(), columns = used_.size();
  tanimoto.resize(inputs.size() * count);
  rational_quadratic.resize(inputs.size() * count);
  std::vector<float> numbers(columns * kMaxInputs);  // [used, kMaxInputs]
  for (std::size_t m = 0; m < inputs.size(); ++m) {
    counts_.similarities(inputs[m].counts, std::span(tanimoto).subspan(m * count, count), avx2);
    for (std::size_t d = 0; d < columns; ++d)
      if (const float number = inputs[m].numbers[used_[d]]; std::isfinite(number)) numbers[d * kMaxInputs + m] = number;
  }
  const float scale = 0.5F / static_cast<float>(std::max<std::size_t>(columns, 1));
  std::array<float, kMaxInputs * kTile> squared;
  for (std::size_t first = 0; first < count; first += kTile) {
    const float* const tile = tiles_.data() + first * columns;
    for (std::size_t m = 0; m < inputs.size(); m += kGroup) {
      if (avx2) squared_distances_avx2(tile, numbers.data(), m, columns, squared.data() + m * kTile);
      else squared_distances(tile, numbers.data(), m, columns, squared.data() + m * kTile);
    }
    for (std::size_t m = 0; m < inputs.size(); ++m)
      for (std::size_t i = first; i < std::min(first + kTile, count); ++i)
        rational_quadratic[m * count + i] = 1 / (1 + scale * squared[m * kTile + i - first]);
  }
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

void ProcessPredictor::predict(std::span<const KernelInput> molecules, double* values, double* difficulty) const {
  const std::size_t count = index_.size(), width = process_.scaling.size(), outputs = process_.outputs();
  std::vector<float> scaled(KernelIndex::kMaxInputs * width), rational_quadratic;
  std::vector<double> tanimoto;
  while (!molecules.empty()) {
    const std::span<const KernelInput> piece = molecules.first(std::min(molecules.size(), KernelIndex::kMaxInputs));
    molecules = molecules.subspan(piece.size());
    std::vector<KernelInput> inputs;
    for (const KernelInput& molecule : piece) {
      const std::span<float> numbers = std::span(scaled).subspan(inputs.size() * width, width);
      process_.scaling.apply(molecule.numbers.data(), numbers.data());
      inputs.push_back({molecule.counts, numbers});
    }
    index_.kernels(inputs, tanimoto, rational_quadratic);
    for (std::size_t m = 0; m < inputs.size(); ++m) {
      predict(std::span(tanimoto).subspan(m * count, count), std::span(rational_quadratic).subspan(m * count, count),
              values, difficulty);
      values += outputs;
      if (difficulty != nullptr) difficulty += outputs;
    }
  }
}

void ProcessPredictor::predict(std::span<const double> tanimoto, std::span<const float> rational_quadratic,
                               double* values, double* difficulty) const {
  const std::size_t count = index_.size();
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
    for (std::size_t c = 0; c < target_values.size(); ++c) {  // regression on 0 and 1 may exceed that range
      const double frequency = std::clamp(process_.mean[o - target_values.size() + c], 0.0, 1.0);
      target_values[c] = limited_probability(target_values[c], frequency);
    }
    if (target.kind != TaskKind::multiclass) continue;
    const double sum = std::accumulate(target_values.begin(), target_values.end(), 0.0);
    for (double& value : target_values) value /= sum;
  }
}

}  // namespace molgraph
