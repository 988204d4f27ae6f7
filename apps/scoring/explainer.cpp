#include "apps/scoring/explainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/scoring/explained_value.hpp"
#include "apps/scoring/molecule_window.hpp"
#include "datasets/system/threads.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kPairsPerGroup = 8192;      // pairs of tokens that one thread integrates together
constexpr int kFirstPieces = 2;                    // initial pieces of a path
constexpr std::size_t kMaxPieces = 512;            // of one model's path; beyond it, the sum may be incomplete
constexpr double kTolerance = 0.01, kFloor = 0.1;  // TargetExplanation::complete

/// The explained quantity as a linear function of the raw outputs: factor * (slope . outputs) + shift.
struct Linear {
  std::vector<float> slope;  ///< [outputs]
  double factor = 1, shift = 0;
  double apply(const float* scaled) const {
    double value = 0;
    for (std::size_t o = 0; o < slope.size(); ++o)
      value += static_cast<double>(slope[o]) * static_cast<double>(scaled[o]);
    return factor * value + shift;
  }
};

/// `chosen`: the predicted class of a multiclass target.
Linear explained_of(const ScoringModel& run, const TargetPlace& target, std::size_t chosen) {
  Linear linear{std::vector<float>(run.target_shift.size())};
  const std::size_t first = target.first;
  if (target.kind == TaskKind::multiclass)
    for (std::size_t c = 0; c < target.count; ++c)
      linear.slope[first + c] = (c == chosen ? 1.0f : 0.0f) - 1.0f / static_cast<float>(target.count);
  else linear.slope[first] = 1;
  if (target.kind == TaskKind::regression) {
    linear.factor = run.target_scale[first];
    linear.shift = run.target_shift[first];
  }
  return linear;
}

}  // namespace

/// The computation for a few molecules, with all targets and all models.
class Explainer::Group {
 public:
  /// `temperatures` null = none.
  Group(const Explainer& owner, const ExplainedRows& rows, std::span<const std::size_t> chosen,
        const Calibration* temperatures)
      : owner_(owner), rows_(rows), chosen_(chosen), temperatures_(temperatures),
        targets_(places_of(owner.runs_[0].config.task)), outputs_(owner.runs_[0].target_shift.size()),
        inputs_(owner.runs_[0].config.input_names.size()) {
    for (const std::size_t i : chosen) {
      graphs_.push_back(std::get<MolecularGraph>(rows.molecules[i]).view());
      graphs_.back().num_inputs = static_cast<int>(inputs_);
      graphs_.back().inputs = rows.inputs.data() + i * inputs_;
    }
    for (std::size_t r = 0; r < owner.runs_.size(); ++r) predict(r);
    start();
  }

  /// Bisects pieces of the paths until every sum is complete. Adaptive, because the outputs of deep models change in a
  /// small part of a path.
  void integrate() {
    std::vector<std::size_t> unfinished(parts_.size());
    std::iota(unfinished.begin(), unfinished.end(), std::size_t{0});
    while (!unfinished.empty()) {
      for (std::size_t r = 0; r < owner_.runs_.size(); ++r) integrate(r, unfinished);
      std::erase_if(unfinished, [&](std::size_t p) { return bisect_unless_done(parts_[p]); });
    }
    for (Part& part : parts_) combine_models(part);
  }

  /// Moves molecule k's explanation to `to`; temperatures divide logits.
  void take(std::size_t k, Explanation& to) {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      TargetExplanation& one = parts_[k * targets_.size() + t].sum;
      if (temperatures_ != nullptr && targets_[t].kind != TaskKind::regression)
        divide(one, temperatures_->targets[t].temperature);
      to.targets.push_back(std::move(one));
    }
  }

 private:
  /// One model's outputs for the group [molecules, outputs].
  struct ModelOutputs {
    MoleculeGroup group;
    /// Raw outputs: for mean atoms; for the atoms; also with numeric inputs.
    std::vector<float> mean, without_inputs, with_inputs;
    std::vector<double> values;  ///< the run's predictions (units, probabilities), including its blend
  };
  /// A piece of a molecule's path.
  struct Piece {
    double from, to, at_from, at_to;  ///< path parameter a, and the explained quantity there
    std::vector<double> atoms;        ///< [n]; empty = not integrated yet
    double error = 0;                 ///< the atoms' sum - (at_to - at_from)
  };
  /// One target of one molecule.
  struct Part {
    std::size_t molecule, target, chosen = 0;
    TargetExplanation sum;
    std::vector<std::vector<Piece>> pieces;  ///< [models] of the path, starting at the mean
  };

  void predict(std::size_t r) {
    ModelOutputs& run = model_outputs_.emplace_back();
    run.group.graphs = graphs_;
    run.group.rows = owner_.paths_[r]->differences(graphs_);
    const ScoringModel& model = owner_.runs_[r];
    run.with_inputs.resize(graphs_.size() * outputs_);
    model.engine->predict(pack(graphs_, std::vector<std::int64_t>(graphs_.size()), model.engine->pack_options()),
                          run.with_inputs.data());
    run.mean = outputs_at(r, 0);
    run.without_inputs = inputs_ == 0 ? run.with_inputs : outputs_at(r, 1);
    run.values.resize(run.with_inputs.size());
    for (std::size_t k = 0; k < graphs_.size(); ++k) {
      std::vector<float> raw(run.with_inputs.begin() + static_cast<std::ptrdiff_t>(k * outputs_),
                             run.with_inputs.begin() + static_cast<std::ptrdiff_t>((k + 1) * outputs_));
      double* values = run.values.data() + k * outputs_;
      model.to_predictions(raw.data(), values);
      if (const RunBlend* blend = owner_.blends_[r].get(); blend != nullptr)
        blend->mix(std::span(rows_.partners.contribution.at(blend)).subspan(chosen_[k] * outputs_, outputs_), values);
    }
  }

  /// Raw outputs of a model at the path parameter `a` [molecules, outputs].
  std::vector<float> outputs_at(std::size_t r, double a) const {
    std::vector<PathTask> tasks;
    for (std::size_t k = 0; k < graphs_.size(); ++k) tasks.push_back({k, std::vector<float>(outputs_), a, a});
    std::vector<float> all;
    for (const PathPart& part : owner_.paths_[r]->integrate(model_outputs_[r].group, tasks))
      all.insert(all.end(), part.end.begin(), part.end.end());
    return all;
  }

  /// The class that the models predict together. For folds, the temperature is applied to each model (calibrate()).
  std::size_t class_of(std::size_t molecule, std::size_t t) const {
    const TargetPlace& target = targets_[t];
    std::vector<double> sums(target.count);
    for (const ModelOutputs& run : model_outputs_) {
      const auto first = run.values.begin() + static_cast<std::ptrdiff_t>(molecule * outputs_ + target.first);
      std::vector<double> row(first, first + static_cast<std::ptrdiff_t>(target.count));
      if (temperatures_ != nullptr && temperatures_->part == CalibrationPart::folds)
        apply_temperature(temperatures_->targets[t], row.data());
      for (std::size_t c = 0; c < target.count; ++c) sums[c] += row[c];
    }
    return static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
  }

  /// Computes everything except the atoms' attributions.
  void start() {
    for (std::size_t k = 0; k < graphs_.size(); ++k)
      for (std::size_t t = 0; t < targets_.size(); ++t) {
        const TargetPlace& target = targets_[t];
        Part part{k, t, target.kind == TaskKind::multiclass ? class_of(k, t) : 0, {}, {}};
        for (std::size_t r = 0; r < model_outputs_.size(); ++r) {
          const ModelOutputs& run = model_outputs_[r];
          const Linear linear = explained_of(owner_.runs_[r], target, part.chosen);
          const std::size_t at = k * outputs_;
          const double model_share = model_share_of(r, target), mean = linear.apply(&run.mean[at]),
                       without_inputs = linear.apply(&run.without_inputs[at]),
                       with_inputs = linear.apply(&run.with_inputs[at]),
                       predicted =
                           model_share < 1 ? explained_value(&run.values[at], target, part.chosen) : with_inputs;
          const double share = 1.0 / static_cast<double>(model_outputs_.size());
          part.sum.baseline += share * mean;
          part.sum.descriptors += share * model_share * (with_inputs - without_inputs);
          part.sum.blend += share * (predicted - model_share * with_inputs - (1 - model_share) * mean);
          part.sum.prediction += share * predicted;
          std::vector<Piece>& pieces = part.pieces.emplace_back();
          for (int piece = 0; piece < kFirstPieces; ++piece)
            pieces.push_back(
                {piece / double{kFirstPieces}, (piece + 1) / double{kFirstPieces}, mean, without_inputs, {}});
        }
        parts_.push_back(std::move(part));
      }
  }

  double model_share_of(std::size_t r, const TargetPlace& target) const {
    return owner_.blends_[r] ? owner_.blends_[r]->model_share(target.first) : 1.0;
  }

  /// The weight of a model in a target's sum.
  double weight(std::size_t r, const Part& part) const {
    return model_share_of(r, targets_[part.target]) / static_cast<double>(model_outputs_.size());
  }

  /// Integrates the pieces that have not been integrated yet.
  void integrate(std::size_t r, const std::vector<std::size_t>& unfinished) {
    std::vector<PathTask> tasks;
    std::vector<std::pair<Part*, std::size_t>> origins;
    for (const std::size_t p : unfinished) {
      Part& part = parts_[p];
      const Linear linear = explained_of(owner_.runs_[r], targets_[part.target], part.chosen);
      for (std::size_t i = 0; i < part.pieces[r].size(); ++i) {
        const Piece& piece = part.pieces[r][i];
        if (!piece.atoms.empty()) continue;
        tasks.push_back({part.molecule, linear.slope, piece.from, piece.to});
        origins.emplace_back(&part, i);
      }
    }
    std::vector<PathPart> found = owner_.paths_[r]->integrate(model_outputs_[r].group, tasks);
    for (std::size_t k = 0; k < found.size(); ++k) {
      Part& part = *origins[k].first;
      std::vector<Piece>& pieces = part.pieces[r];
      Piece& piece = pieces[origins[k].second];
      const Linear linear = explained_of(owner_.runs_[r], targets_[part.target], part.chosen);
      if (origins[k].second > 0) piece.at_from = pieces[origins[k].second - 1].at_to;  // earlier pieces are complete
      if (piece.to < 1) piece.at_to = linear.apply(found[k].end.data());
      piece.atoms = std::move(found[k].atoms);
      for (double& value : piece.atoms) value *= linear.factor;
      piece.error = std::accumulate(piece.atoms.begin(), piece.atoms.end(), piece.at_from - piece.at_to);
    }
  }

  double tolerance(const Part& part) const {
    const double deviation = owner_.deviation_[targets_[part.target].first];
    return kTolerance * std::max(std::abs(part.sum.prediction - part.sum.baseline), kFloor * deviation);
  }

  /// True if the sum of the pieces' absolute errors (so that errors do not cancel) is within the tolerance or the
  /// maximum number of pieces is reached. Otherwise bisects the pieces with too large an error.
  bool bisect_unless_done(Part& part) const {
    double errors = 0;
    std::size_t count = 0, max_pieces = 0;
    for (std::size_t r = 0; r < part.pieces.size(); ++r) {
      for (const Piece& piece : part.pieces[r]) errors += weight(r, part) * std::abs(piece.error);
      count += part.pieces[r].size();
      max_pieces = std::max(max_pieces, part.pieces[r].size());
    }
    if (!(errors > tolerance(part)) || max_pieces > kMaxPieces) return true;
    for (std::size_t r = 0; r < part.pieces.size(); ++r) {
      std::vector<Piece> finer;
      for (Piece& piece : part.pieces[r]) {
        if (weight(r, part) * std::abs(piece.error) <= tolerance(part) / (2 * static_cast<double>(count))) {
          finer.push_back(std::move(piece));
          continue;
        }
        const double middle = (piece.from + piece.to) / 2;
        finer.push_back({piece.from, middle, piece.at_from, piece.at_to, {}});
        finer.push_back({middle, piece.to, piece.at_from, piece.at_to, {}});
      }
      part.pieces[r] = std::move(finer);
    }
    return false;
  }

  /// Combines the models' attributions.
  void combine_models(Part& part) const {
    TargetExplanation& sum = part.sum;
    sum.atoms.assign(static_cast<std::size_t>(graphs_[part.molecule].num_atoms), 0);
    for (std::size_t r = 0; r < part.pieces.size(); ++r)
      for (const Piece& piece : part.pieces[r])
        for (std::size_t i = 0; i < sum.atoms.size(); ++i) sum.atoms[i] += weight(r, part) * piece.atoms[i];
    const double difference = sum.prediction - sum.baseline;
    sum.error = std::accumulate(sum.atoms.begin(), sum.atoms.end(), sum.descriptors + sum.blend) - difference;
    sum.complete = std::abs(sum.error) <= tolerance(part);
  }

  static void divide(TargetExplanation& one, double temperature) {
    for (double& value : one.atoms) value /= temperature;
    for (double* value : {&one.baseline, &one.descriptors, &one.blend, &one.prediction, &one.error})
      *value /= temperature;
  }

  const Explainer& owner_;
  const ExplainedRows& rows_;
  std::span<const std::size_t> chosen_;
  const Calibration* temperatures_;
  std::vector<TargetPlace> targets_;
  std::size_t outputs_, inputs_;
  std::vector<GraphView> graphs_;
  std::vector<ModelOutputs> model_outputs_;  ///< by model
  std::vector<Part> parts_;                  ///< by molecule, then target
};

Explainer::Explainer(const std::vector<ScoringModel>& runs, const Blends& blends,
                     const std::vector<std::string>& weights, int threads)
    : runs_(runs), blends_(blends), threads_(threads) {
  for (std::size_t r = 0; r < runs.size(); ++r) paths_.push_back(std::make_unique<const PathIntegral>(weights[r]));
  deviation_ = runs[0].target_scale;
  for (const ScoringModel& run : runs)
    for (std::size_t o = 0; o < deviation_.size(); ++o) deviation_[o] = std::min(deviation_[o], run.target_scale[o]);
}

std::vector<std::string> Explainer::files() const {
  std::vector<std::string> all;
  for (const auto& path : paths_) all.push_back(path->file());
  return all;
}

std::vector<Explanation> Explainer::explain(const ExplainedRows& rows, const Calibration* temperatures) const {
  std::vector<Explanation> all(rows.molecules.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const auto* rejection = std::get_if<Rejection>(&rows.molecules[i]))
      all[i] = {rejection->status, rejection->reason, {}, {}};
  const Batches batches = make_batches(rows.molecules, kPairsPerGroup);
  parallel_for(batches.size(), 1, threads_, [&](std::int64_t begin, std::int64_t) {
    const auto b = static_cast<std::size_t>(begin);
    const std::span<const std::size_t> chosen(batches.order.data() + batches.offset[b],
                                              batches.offset[b + 1] - batches.offset[b]);
    Group group(*this, rows, chosen, temperatures);
    group.integrate();
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      Explanation& to = all[chosen[k]];
      group.take(k, to);
      const bool finite = std::ranges::all_of(to.targets, [](const TargetExplanation& one) {
        return std::isfinite(one.error) && std::isfinite(one.prediction) && std::isfinite(one.baseline);
      });
      if (!finite) to = {RowStatus::not_finite, "its attributions are not finite", {}, {}};
    }
  });
  return all;
}

}  // namespace molgraph
