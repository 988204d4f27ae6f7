#include "apps/training/baselines/gaussian_process_fit.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "datasets/splits/splits.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

constexpr std::int64_t kMoleculesPerPiece = 16;
constexpr std::int64_t kMaxChoiceLabels = 1'000;  ///< for the choice of kernel and noise
constexpr int kCensoredRounds = 3;
constexpr int kMaxRaises = 4;                     ///< of the noise, by a factor of 10, if a matrix cannot be factorised
constexpr std::int64_t kMeasuredMolecules = 512;  ///< to estimate the duration of a fit
/// The cost of a target is the cube of its number of labels. These limits apply to all targets together.
constexpr double kCubesOfFit = 1.3e11, kCubesOfChoice = 4e9;

/// Minimum noise of a label as a multiple of the target's, so that no row is fitted exactly, whatever its weight.
constexpr double kMinNoise = 0.01;

constexpr std::array kShares{0.0, 0.25, 0.5, 0.75, 1.0};
constexpr std::array kNoises{0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0};
constexpr std::int64_t kMatricesOfChoice = kShares.size() * kNoises.size();

std::int64_t max_labels(double cubes, std::int64_t limit, std::size_t targets) {
  return std::min(limit, static_cast<std::int64_t>(std::cbrt(cubes / static_cast<double>(targets))));
}

/// Gram matrices of both kernels.
struct Gram {
  Eigen::MatrixXf alike, near;

  Matrix mixed(double share, const Vector& noise) const {
    Matrix kernel = share * alike.cast<double>() + (1 - share) * near.cast<double>();
    kernel.diagonal() += noise;
    return kernel;
  }
};

Gram gram_of(const KernelMolecules& molecules, const std::vector<bool>& used, const ProcessFitOptions& options) {
  const KernelIndex index(molecules, used);
  const auto count = static_cast<Eigen::Index>(molecules.size());
  Gram gram{Eigen::MatrixXf(count, count), Eigen::MatrixXf(count, count)};
  parallel_for(count, KernelIndex::kMaxInputs, options.threads, [&](std::int64_t begin, std::int64_t end) {
    if (options.throw_if_stopped) options.throw_if_stopped();
    std::vector<KernelInput> inputs;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      inputs.push_back({molecules.counts(i), std::span(molecules.numbers).subspan(i * used.size(), used.size())});
    std::vector<double> alike;
    std::vector<float> near;
    index.kernels(inputs, alike, near);
    std::size_t k = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      for (Eigen::Index j = 0; j < count; ++j, ++k) {
        gram.alike(j, i) = static_cast<float>(alike[k]);
        gram.near(j, i) = near[k];
      }
    }
  });
  return gram;
}

/// Training labels of one target, in the order of `known`.
struct Labels {
  std::vector<std::size_t> known;  ///< molecules, as indices into the process's molecules
  std::vector<std::int8_t> bound;  ///< [known] see MoleculeSet::bound
  Matrix values;                   ///< [known, classes] standardised numbers, or 0 and 1 minus the mean
  Vector noise;                    ///< [known] as multiples of the target's noise
  std::vector<double> mean;        ///< [classes]
  double scale = 1;                ///< of a regression target
  bool constant = false;           ///< the target is constant
};

/// Returns the molecules of `train` that have a label of `target` and a weight above 0.
std::vector<std::int64_t> labelled(const MoleculeSet& set, const std::vector<std::int64_t>& train, std::size_t target) {
  std::vector<std::int64_t> known;
  for (const std::int64_t g : train) {
    const auto row = static_cast<std::size_t>(g);
    const bool counts = set.weight.empty() || set.weight[row] > 0;
    if (counts && !std::isnan(set.targets[row * set.task.names.size() + target])) known.push_back(g);
  }
  return known;
}

/// Returns the labels of the molecules `rows`, whose indices into the process's molecules are `known`.
Labels labels_of(const MoleculeSet& set, const std::vector<std::int64_t>& rows, std::vector<std::size_t> known,
                 std::size_t target) {
  const std::size_t targets = set.task.names.size();
  const TaskKind kind = set.task.kind_of(target);
  Labels labels;
  labels.known = std::move(known);
  const auto count = static_cast<Eigen::Index>(rows.size());
  const auto classes = kind == TaskKind::multiclass ? static_cast<Eigen::Index>(set.task.classes) : 1;
  Vector weight = Vector::Ones(count), counted(count);
  labels.values.setZero(count, classes);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
    const double value = set.targets[row * targets + target];
    if (kind == TaskKind::multiclass) labels.values(i, static_cast<Eigen::Index>(value)) = 1;
    else labels.values(i, 0) = value;
    labels.bound.push_back(set.bound.empty() ? std::int8_t{0} : set.bound[row * targets + target]);
    if (!set.weight.empty()) weight[i] = static_cast<double>(set.weight[row]);
    counted[i] = labels.bound.back() == 0 ? weight[i] : 0;
  }
  if (count > 0) labels.noise = (weight.mean() * weight.cwiseInverse()).cwiseMax(kMinNoise);
  if (counted.sum() <= 0) counted = weight;  // censored labels only
  const double total = counted.sum();
  double squares = 0;
  for (Eigen::Index c = 0; c < classes; ++c) {
    // Without labels, all classes have the same probability.
    const double unknown =
        kind == TaskKind::regression ? 0 : 1.0 / static_cast<double>(std::max<Eigen::Index>(classes, 2));
    labels.mean.push_back(count > 0 ? counted.dot(labels.values.col(c)) / total : unknown);
    labels.values.col(c).array() -= labels.mean.back();
    if (count > 0) squares += counted.dot(labels.values.col(c).cwiseAbs2()) / total;
  }
  if (kind == TaskKind::regression && squares > 0) labels.scale = std::sqrt(squares);
  labels.values /= labels.scale;
  labels.constant = count < 2 || !(squares > 0);
  return labels;
}

/// Kernel of one target; noise 0 = not chosen.
struct Kernel {
  double share = 0.5, noise = 0;
};

/// Returns the log marginal likelihood of all classes, with the amplitude that maximises it, up to a constant.
double log_likelihood(const Matrix& kernel, const Matrix& values) {
  const Eigen::LLT<Matrix> factor(kernel);
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const auto count = static_cast<double>(values.rows());
  const Matrix half = factor.matrixL().solve(values);
  const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
  double sum = 0;
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    const double squares = half.col(c).squaredNorm() / count;
    if (squares > 0) sum -= 0.5 * (count * std::log(squares) + log_determinant);
  }
  return sum;
}

/// Chooses the kernel. Calls `advance` with 1 after each of kMatricesOfChoice matrices.
Kernel choose_kernel(const Gram& gram, const Labels& labels, const ProcessFitOptions& options,
                     const std::function<void(std::int64_t)>& advance) {
  std::array<double, kMatricesOfChoice> likelihood;
  parallel_for(kMatricesOfChoice, 1, options.threads, [&](std::int64_t begin, std::int64_t) {
    if (options.throw_if_stopped) options.throw_if_stopped();
    const auto k = static_cast<std::size_t>(begin);
    likelihood[k] = log_likelihood(gram.mixed(kShares[k / kNoises.size()], kNoises[k % kNoises.size()] * labels.noise),
                                   labels.values);
    advance(1);
  });
  const auto best = static_cast<std::size_t>(std::ranges::max_element(likelihood) - likelihood.begin());
  return {kShares[best / kNoises.size()], kNoises[best % kNoises.size()]};
}

/// Returns the labels at `indices`, without bounds, because the choice of a kernel ignores them.
Labels labels_at(const Labels& labels, const std::vector<std::int64_t>& indices) {
  Labels some;
  some.values.resize(std::ssize(indices), labels.values.cols());
  some.noise.resize(std::ssize(indices));
  for (Eigen::Index to = 0; to < std::ssize(indices); ++to) {
    const std::int64_t from = indices[static_cast<std::size_t>(to)];
    some.known.push_back(labels.known[static_cast<std::size_t>(from)]);
    some.values.row(to) = labels.values.row(from);
    some.noise[to] = labels.noise[from];
  }
  return some;
}

KernelMolecules molecules_of(const KernelMolecules& all, const std::vector<std::size_t>& indices, std::size_t width) {
  KernelMolecules some;
  for (const std::size_t i : indices) some.add(all.counts(i), std::span(all.numbers).subspan(i * width, width));
  return some;
}

/// Returns the coefficients [known, classes] of the labels. Throws RunError if the matrix cannot be factorised.
Matrix coefficients(const Gram& gram, const Labels& labels, const Kernel& kernel) {
  Vector noise = kernel.noise * labels.noise;
  Eigen::LLT<Matrix> factor(gram.mixed(kernel.share, noise));
  for (int more = 0; factor.info() != Eigen::Success && more < kMaxRaises; ++more) {
    noise *= 10;
    factor.compute(gram.mixed(kernel.share, noise));
  }
  if (factor.info() != Eigen::Success) throw RunError("Gaussian process: the kernel matrix cannot be factorised");
  Matrix values = labels.values, solved = factor.solve(values);
  if (std::ranges::count(labels.bound, 0) == static_cast<std::ptrdiff_t>(labels.bound.size())) return solved;
  for (int round = 0; round < kCensoredRounds; ++round) {
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
      const auto bound = labels.bound[static_cast<std::size_t>(i)];
      const double predicted = values(i, 0) - noise[i] * solved(i, 0);  // the process's prediction for this molecule
      if (bound > 0) values(i, 0) = std::max(labels.values(i, 0), predicted);
      if (bound < 0) values(i, 0) = std::min(labels.values(i, 0), predicted);
    }
    solved = factor.solve(values);
  }
  return solved;
}

/// Training molecules of each target. All targets together have at most kMaxProcessMolecules.
struct SelectedMolecules {
  std::vector<std::vector<std::int64_t>> by_target;  ///< [T]
  std::vector<std::int64_t> all;                     ///< ascending
  std::int64_t labels = 0;                           ///< total number, before sampling
};

SelectedMolecules select_molecules(const MoleculeSet& set, const std::vector<std::int64_t>& train, std::uint64_t seed) {
  const std::size_t targets = set.task.names.size();
  const std::int64_t limit = max_labels(kCubesOfFit, kMaxProcessLabels, targets);
  SelectedMolecules selected;
  const auto choose = [&](const std::vector<std::int64_t>& among) {
    std::set<std::int64_t> all;
    selected.by_target.clear();
    for (std::size_t t = 0; t < targets; ++t) {
      selected.by_target.push_back(sample(labelled(set, among, t), limit, seed));
      all.insert(selected.by_target.back().begin(), selected.by_target.back().end());
    }
    selected.all.assign(all.begin(), all.end());
  };
  for (std::size_t t = 0; t < targets; ++t) selected.labels += std::ssize(labelled(set, train, t));
  choose(train);
  if (std::ssize(selected.all) > kMaxProcessMolecules) choose(sample(train, kMaxProcessMolecules, seed));
  return selected;
}

/// Returns a process of these molecules, without kernels and coefficients.
GaussianProcess process_of(const FeatureRows& rows, const MoleculeSet& set,
                           const std::vector<std::int64_t>& molecules) {
  GaussianProcess process{.descriptors = rows.descriptors, .columns = rows.columns, .targets = blend_targets(set.task)};
  const std::size_t width = rows.width - kFingerprintBins;
  std::vector<std::vector<float>> raw;
  std::vector<const float*> pointers;
  for (const std::int64_t g : molecules) raw.push_back(rows.numbers(static_cast<std::size_t>(g)));
  for (const auto& numbers : raw) pointers.push_back(numbers.data());
  process.scaling = input_scaling(pointers, width);
  std::vector<float> scaled(width);
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    process.scaling.apply(raw[i].data(), scaled.data());
    process.molecules.add(rows.counts(static_cast<std::size_t>(molecules[i])), scaled);
  }
  return process;
}

}  // namespace

FittedProcess fit_process(const FeatureRows& rows, const MoleculeSet& set, const std::vector<std::int64_t>& train,
                          const ProcessFitOptions& options) {
  const SelectedMolecules selected = select_molecules(set, train, options.seed);
  const std::vector<std::int64_t>& molecules = selected.all;
  FittedProcess fitted{.labels = selected.labels};
  GaussianProcess& process = fitted.process;
  process = process_of(rows, set, molecules);
  const std::size_t width = rows.width - kFingerprintBins, count = molecules.size();
  const std::vector<bool> used = process.used_columns();
  const std::size_t targets = process.targets.size();
  const auto advance = [&](std::int64_t matrices) {
    if (options.progress) options.progress(matrices, static_cast<std::int64_t>(targets) * (kMatricesOfChoice + 1));
  };
  const std::int64_t max_choice_labels = max_labels(kCubesOfChoice, kMaxChoiceLabels, targets);
  for (std::size_t t = 0; t < targets; ++t) {
    std::vector<std::size_t> known;
    for (const std::int64_t g : selected.by_target[t])
      known.push_back(static_cast<std::size_t>(std::ranges::lower_bound(molecules, g) - molecules.begin()));
    fitted.learned += std::ssize(known);
    const Labels labels = labels_of(set, selected.by_target[t], std::move(known), t);
    Kernel kernel;
    Matrix solved;
    std::int64_t left = kMatricesOfChoice + 1;  // matrices to report
    if (options.like != nullptr) kernel = {options.like->fingerprint_share[t], options.like->noise[t]};
    if (!labels.constant) {
      if (kernel.noise <= 0) {
        std::vector<std::int64_t> indices(labels.known.size());
        std::iota(indices.begin(), indices.end(), std::int64_t{0});
        const Labels some = labels_at(labels, sample(std::move(indices), max_choice_labels, options.seed));
        kernel = choose_kernel(gram_of(molecules_of(process.molecules, some.known, width), used, options), some,
                               options, advance);
        left -= kMatricesOfChoice;
      }
      solved =
          coefficients(gram_of(molecules_of(process.molecules, labels.known, width), used, options), labels, kernel);
    }
    advance(left);
    process.fingerprint_share.push_back(kernel.share);
    process.noise.push_back(kernel.noise);
    for (std::size_t c = 0; c < labels.mean.size(); ++c) {
      process.mean.push_back(labels.mean[c]);
      const std::size_t first = process.coefficient.size();
      process.coefficient.resize(first + count);
      for (std::size_t i = 0; i < labels.known.size() && !labels.constant; ++i)
        process.coefficient[first + labels.known[i]] =
            labels.scale * solved(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(c));
    }
  }
  return fitted;
}

ProcessSeconds seconds_to_fit_process(const FeatureRows& rows, const MoleculeSet& set,
                                      const std::vector<std::int64_t>& train, const ProcessFitOptions& options) {
  using Clock = std::chrono::steady_clock;
  const SelectedMolecules selected = select_molecules(set, train, options.seed);
  const auto subset = sample(selected.all, kMeasuredMolecules, options.seed);
  if (subset.size() < 2) return {};
  const GaussianProcess process = process_of(rows, set, subset);
  const auto start = Clock::now();
  const Gram gram = gram_of(process.molecules, process.used_columns(), options);
  const auto gram_end = Clock::now();
  const auto size = static_cast<double>(subset.size());
  (void)log_likelihood(gram.mixed(0.5, Vector::Ones(std::ssize(subset))), Matrix::Ones(std::ssize(subset), 1));
  const std::chrono::duration<double> pair_time = gram_end - start, matrix_time = Clock::now() - gram_end;
  const double pair = pair_time.count() / (size * size), cube = matrix_time.count() / (size * size * size);
  const auto fit = [&](double n) { return n * n * pair + n * n * n * cube; };
  const std::size_t targets = selected.by_target.size();
  ProcessSeconds seconds{.molecule = pair * static_cast<double>(selected.all.size())};
  for (const auto& known : selected.by_target) {
    const auto n = static_cast<double>(known.size());
    const double choice_labels =
        std::min(n, static_cast<double>(max_labels(kCubesOfChoice, kMaxChoiceLabels, targets)));
    const double matrices = std::ceil(static_cast<double>(kMatricesOfChoice) / thread_count(options.threads));
    seconds.fit +=
        fit(n) + choice_labels * choice_labels * pair + matrices * choice_labels * choice_labels * choice_labels * cube;
    seconds.refit += fit(n);
  }
  return seconds;
}

std::vector<double> process_predictions(const ProcessPredictor& process, const FeatureRows& rows,
                                        const std::vector<std::int64_t>& indices, int threads,
                                        const std::function<void()>& throw_if_stopped,
                                        std::vector<double>* difficulty) {
  const std::size_t outputs = process.process().outputs();
  std::vector<double> values(indices.size() * outputs);
  if (difficulty != nullptr) difficulty->assign(values.size(), 0);
  parallel_for(static_cast<std::int64_t>(indices.size()), kMoleculesPerPiece, threads,
               [&](std::int64_t begin, std::int64_t end) {
                 if (throw_if_stopped) throw_if_stopped();
                 std::vector<std::vector<float>> numbers;
                 std::vector<KernelInput> inputs;
                 for (std::int64_t k = begin; k < end; ++k) {
                   const auto row = static_cast<std::size_t>(indices[static_cast<std::size_t>(k)]);
                   numbers.push_back(rows.numbers(row));
                   inputs.push_back({rows.counts(row), numbers.back()});
                 }
                 const std::size_t first = static_cast<std::size_t>(begin) * outputs;
                 process.predict(inputs, values.data() + first,
                                 difficulty == nullptr ? nullptr : difficulty->data() + first);
               });
  return values;
}

}  // namespace molgraph
