#include "apps/training/run/run_baselines.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <csignal>
#include <exception>
#include <new>

#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/scoring/tree_file.hpp"
#include "apps/training/baselines/booster.hpp"
#include "apps/training/baselines/gaussian_process_fit.hpp"
#include "apps/training/baselines/shares.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/label_limits.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// Shares [T] of each model; 0 for a missing partner.
struct Shares {
  std::vector<double> model, trees, process;
};

void set_shares(const std::vector<double>& shares, std::vector<BlendTarget>& targets) {
  for (std::size_t t = 0; t < targets.size(); ++t) targets[t].share = shares[t];
}

/// Shares chosen on the validation set. `of_model` [valid, outputs].
Shares choose(Metric metric, const LoadedData& data, const Split& split, const Baselines& baselines,
              const std::vector<double>& of_model) {
  std::vector<std::vector<double>> predictions{of_model};
  if (baselines.trees) predictions.push_back(baselines.of_trees[1]);
  if (baselines.process) predictions.push_back(baselines.of_process[1]);
  const auto all = choose_shares(metric, data.set.task, predictions, targets_of(data.set, split.valid));
  const std::vector<double> none(data.set.task.names.size());
  return {all[0], baselines.trees ? all[1] : none, baselines.process ? all.back() : none};
}

/// Final partners of the model in a blend.
struct Partners {
  std::optional<Trees> trees;
  std::optional<ProcessPredictor> process;

  /// Mixes `rows` [n, outputs] of the model with those of the partners; rows of a missing partner are empty.
  void mix(const std::vector<double>& of_trees, const std::vector<double>& of_process,
           std::vector<double>& rows) const {
    const std::size_t outputs = trees ? trees->outputs() : process->process().outputs();
    for (std::size_t i = 0; i < rows.size(); i += outputs) {
      std::vector<PartnerPrediction> partners;
      if (trees) partners.push_back({trees->targets, std::span(of_trees).subspan(i, outputs)});
      if (process) partners.push_back({process->process().targets, std::span(of_process).subspan(i, outputs)});
      blend_predictions(partners, rows.data() + i);
    }
  }
  /// "the shares of the Gaussian process and the trees are logS 0.45 + 0.30, ..."
  std::string shares_text() const {
    std::vector<const std::vector<BlendTarget>*> shown;
    if (process) shown.push_back(&process->process().targets);
    if (trees) shown.push_back(&trees->targets);
    std::vector<std::string> texts;
    for (std::size_t t = 0; t < shown.front()->size(); ++t) {
      std::string one = shown.front()->size() > 1 ? (*shown.front())[t].name + " " : "";
      for (std::size_t p = 0; p < shown.size(); ++p) one += text(p > 0 ? " + %.2f" : "%.2f", (*shown[p])[t].share);
      texts.push_back(std::move(one));
    }
    const char* names = process && trees ? "the shares of the Gaussian process and the trees are"
                        : process        ? "the share of the Gaussian process is"
                                         : "the share of the trees is";
    return std::string(names) + " " + list_of(texts, 12);
  }
};

/// Calls mix(molecules, rows) for the rows of a hidden set that have a molecule (-1 = none). Other rows are unchanged.
template <class Mix>
void mix_present(const std::vector<std::int64_t>& molecules, const Mix& mix, std::vector<double>& values) {
  const std::size_t outputs = values.size() / std::max<std::size_t>(molecules.size(), 1);
  std::vector<std::int64_t> present;
  std::vector<double> rows;
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    if (molecules[i] < 0) continue;
    present.push_back(molecules[i]);
    rows.insert(rows.end(), &values[i * outputs], &values[i * outputs] + outputs);
  }
  mix(present, rows);
  const double* from = rows.data();
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    if (molecules[i] < 0) continue;
    std::copy_n(from, outputs, &values[i * outputs]);
    from += outputs;
  }
}

}  // namespace

RunBaselines::RunBaselines(const TrainRun& run, const ResolvedRun& resolved)
    : run_(run), resolved_(resolved), enabled_(resolved.options.training.baselines == Switch::on) {}

bool RunBaselines::make_rows(const MoleculeSet& set) {
  if (set.size() > kMaxBaselineMolecules) {
    run_.control.note("Baselines left out: " + with_thousands(set.size()) + " molecules exceed the limit of " +
                      with_thousands(kMaxBaselineMolecules));
    return false;
  }
  const auto give_up = [&](const std::exception& error) {
    run_.control.note(std::string("Baselines left out: ") + error.what());
    return false;
  };
  // If no blend was requested, an error here must not lose a trained model.
  const bool needed = run_.options.training.blend == Switch::on;
  try {
    const WorkInProgress work(run_.control, "Descriptors for the baselines", "molecules", set.size());
    rows_ = feature_rows(set, run_.threads, [&](std::int64_t done) {
      run_.control.stop_if_requested();
      work.advance(done, set.size());
    });
  } catch (const DataError& error) {
    if (needed) throw;
    return give_up(error);
  } catch (const FileError& error) {
    if (needed) throw;
    return give_up(error);
  }
  return true;
}

BaselineSeconds RunBaselines::seconds_of_split(const LoadedData& data) {
  enabled_ = enabled_ && make_rows(data.set);
  if (!enabled_) return {};
  try {
    return seconds_to_make_baselines(*rows_, data.set, data.split, baseline_options());
  } catch (const RunError&) {  // of_split() reports it
  } catch (const std::bad_alloc&) {
  }
  return {};
}

BaselineSeconds RunBaselines::prepare(const LoadedData& data) {
  BaselineSeconds seconds;
  std::exception_ptr problem;
  try {
    if (run_.processes->first()) seconds = seconds_of_split(data);
  } catch (...) {  // the other processes wait
    problem = std::current_exception();
  }
  double problems = problem ? 1 : 0;
  run_.processes->sum(std::span(&problems, 1));
  if (problem) std::rethrow_exception(problem);
  if (problems > 0) throw Stopped{SIGTERM};
  return seconds;
}

BaselineOptions RunBaselines::baseline_options() const {
  return {.seed = resolved_.options.training.seed, .threads = run_.threads, .control = run_.control};
}

void RunBaselines::blend(const LoadedData& data, const Split& split, const Baselines& baselines,
                         AllPredictions& predictions, const std::string& folder) {
  const Shares shares = choose(resolved_.trainer.metric, data, split, baselines, predictions.parts[1]);
  model_shares_ = shares.model;
  const std::vector<std::int64_t> known = known_molecules(split);
  Partners partners;
  const auto predict_trees = [&](const std::vector<std::int64_t>& molecules) {
    return partners.trees ? tree_predictions(*partners.trees, *rows_, molecules, run_.threads) : std::vector<double>();
  };
  const auto predict_process = [&](const std::vector<std::int64_t>& molecules, std::vector<double>* difficulty) {
    return partners.process ? process_predictions(
                                  *partners.process, *rows_, molecules, run_.threads,
                                  [this] { run_.control.stop_if_requested(); }, difficulty)
                            : std::vector<double>();
  };
  // Predictions of the partner in use for the training, test and calibration set.
  PartPredictions of_trees, of_process;
  bool rejected = false;
  if (baselines.trees) {
    const auto use = [&](Trees trees) {
      set_shares(shares.trees, trees.targets);
      partners.trees = std::move(trees);
      of_trees = {predict_trees(split.train), predict_trees(split.test), predict_trees(split.calibration)};
    };
    use(refit_trees(baselines, *rows_, data.set, known, baseline_options()));
    if (is_rejected(kTreesName, data, split, baselines.of_trees, of_trees)) use(*baselines.trees), rejected = true;
    else trained_on_valid_ = true;
  }
  if (baselines.process) {
    const auto use = [&](GaussianProcess process) {
      set_shares(shares.process, process.targets);
      partners.process.emplace(std::move(process));
      of_process = {predict_process(split.train, nullptr), predict_process(split.test, &difficulty_.test),
                    predict_process(split.calibration, &difficulty_.calibration)};
    };
    use(refit_process(baselines, *rows_, data.set, known, baseline_options()));
    if (is_rejected(kProcessName, data, split, baselines.of_process, of_process))
      use(*baselines.process), rejected = true;
    else trained_on_valid_ = true;
    difficulty_.valid = baselines.difficulty[1];
  }
  const std::vector<BlendTarget> targets = blend_targets(data.set.task);
  if (std::ranges::find(targets, TaskKind::regression, &BlendTarget::kind) == targets.end()) difficulty_ = {};

  partners.mix(of_trees[0], of_process[0], predictions.parts[0]);
  partners.mix(baselines.of_trees[1], baselines.of_process[1], predictions.parts[1]);  // not trained on this set
  partners.mix(of_trees[1], of_process[1], predictions.parts[2]);
  partners.mix(of_trees[2], of_process[2], predictions.calibration);
  const auto mix = [&](const std::vector<std::int64_t>& molecules, std::vector<double>& rows) {
    partners.mix(predict_trees(molecules), predict_process(molecules, nullptr), rows);
  };
  for (auto& [name, values] : predictions.hidden) mix_present(data.hidden_parts.at(name), mix, values);

  const RunDirectory directory{folder};
  if (partners.trees) {
    write_trees(directory.trees(), *partners.trees, resolved_.model.featurizer);
    partners_.emplace_back(kTreesPartner);
  }
  if (partners.process) {
    write_process(directory.process(), partners.process->process(), resolved_.model.featurizer);
    partners_.emplace_back(kProcessPartner);
  }
  run_.control.note("Blend: " + partners.shares_text() +
                    ", the transformer has the rest; chosen on the validation set" +
                    (rejected ? "" : ", on which they are then trained too"));
}

bool RunBaselines::is_rejected(const std::string& name, const LoadedData& data, const Split& split,
                               const PartPredictions& before, const PartPredictions& after) const {
  const std::vector<double> train = targets_of(data.set, split.train), valid = targets_of(data.set, split.valid);
  const std::string why =
      why_refit_is_rejected(resolved_.trainer.metric, data.set.task, {before[0], before[1], after, train, valid});
  if (why.empty()) return false;
  run_.control.warn("Blend: retraining the " + name + " with the validation set was rejected, because " + why +
                    "; the run keeps the version trained without it. A label in the validation set may be wrong");
  return true;
}

Baselines RunBaselines::make(const LoadedData& data, const Split& split,
                             const std::vector<Split>& member_splits) const {
  if (member_splits.empty()) return make_baselines(*rows_, data.set, split, baseline_options());
  std::vector<Baselines> of_splits;
  for (const Split& member : member_splits)
    of_splits.push_back(make_baselines(*rows_, data.set, member, baseline_options()));
  const auto pool = [&](auto part_of) {
    std::vector<PartPredictions> parts;
    for (Baselines& one : of_splits) parts.push_back(std::move(part_of(one)));
    return pooled(parts, member_splits, split);
  };
  // A partner that is missing for a member is dropped: it would have predictions for only some of the molecules.
  const bool trees = std::ranges::all_of(of_splits, [](const Baselines& one) { return one.trees.has_value(); });
  const bool process = std::ranges::all_of(of_splits, [](const Baselines& one) { return one.process.has_value(); });
  Baselines result;
  result.nearest = pool([](Baselines & one) -> auto& { return one.nearest; });
  if (trees) result.of_trees = pool([](Baselines & one) -> auto& { return one.of_trees; });
  if (process) result.difficulty = pool([](Baselines & one) -> auto& { return one.difficulty; });
  if (process) result.of_process = pool([](Baselines & one) -> auto& { return one.of_process; });
  Baselines& last = of_splits.back();
  if (trees) result.trees = std::move(last.trees);
  if (process) result.process = std::move(last.process);
  result.tree_sizes = std::move(last.tree_sizes);
  result.notes = std::move(last.notes);
  return result;
}

std::vector<ComparedMethod> RunBaselines::of_split(LoadedData& data, const Split& split,
                                                   const std::vector<Split>& member_splits, AllPredictions& predictions,
                                                   const std::string& folder) {
  partners_.clear(), model_shares_.clear(), difficulty_ = {}, trained_on_valid_ = false;
  if (!enabled_) return {};
  assert(rows_);
  const auto begin = std::chrono::steady_clock::now();
  const bool blended = resolved_.options.training.blend == Switch::on;
  // If no blend was requested, an error here must not lose a trained model.
  const bool requested = run_.options.training.blend == Switch::on;
  const AllPredictions unblended = predictions;
  const std::vector<std::int64_t> known = known_molecules(split);
  // One label that is wrong by a factor of 100 would distort least squares, and shares based on the mean loss.
  const ClippedLabels clipped(data.set, label_limits(data.set, known), known);
  try {
    const Baselines baselines = make(data, split, member_splits);
    for (const std::string& note : baselines.notes) run_.control.note(note);
    std::vector<ComparedMethod> compared{{"nearest neighbour", "nearest_neighbour", baselines.nearest}};
    if (baselines.trees) compared.push_back({kTreesName, "trees", baselines.of_trees});
    if (baselines.process) compared.push_back({kProcessName, "gaussian_process", baselines.of_process});
    if (blended && requested && !baselines.trees && !baselines.process)
      throw UsageError("--blend: neither trees nor a Gaussian process can be fitted to this split");
    if (blended && (baselines.trees || baselines.process)) {
      compared.push_back({"transformer alone", "transformer", predictions.parts, true});
      blend(data, split, baselines, predictions, folder);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run_.control.note("Baselines took " + duration_text(seconds));
    return compared;
  } catch (const RunError& error) {  // from XGBoost or a matrix
    if (requested) throw;
    run_.control.warn(std::string("Baselines left out: ") + error.what());
  } catch (const std::bad_alloc&) {
    if (requested) throw;
    run_.control.warn("Baselines left out: not enough memory");
  }
  predictions = unblended;
  partners_.clear(), model_shares_.clear(), difficulty_ = {}, trained_on_valid_ = false;
  return {};
}

}  // namespace molgraph
