#include "apps/training/run_baselines.hpp"

#include <chrono>
#include <new>

#include "apps/scoring/gaussian_process_file.hpp"
#include "apps/scoring/run_blend.hpp"
#include "apps/scoring/tree_file.hpp"
#include "apps/training/baselines/booster.hpp"
#include "apps/training/baselines/gaussian_process_fit.hpp"
#include "apps/training/baselines/shares.hpp"
#include "apps/training/run_directory.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// The shares of every target in words: "logS 0.45 + 0.30".
std::string shares_text(const std::vector<const std::vector<BlendTarget>*>& partners) {
  std::vector<std::string> texts;
  for (std::size_t t = 0; t < partners.front()->size(); ++t) {
    std::string one = partners.front()->size() > 1 ? (*partners.front())[t].name + " " : "";
    for (std::size_t p = 0; p < partners.size(); ++p) one += text(p > 0 ? " + %.2f" : "%.2f", (*partners[p])[t].share);
    texts.push_back(std::move(one));
  }
  return list_of(texts, 12);
}

}  // namespace

RunBaselines::RunBaselines(const TrainRun& run, const ResolvedRun& resolved)
    : run_(run), resolved_(resolved), wanted_(resolved.options.training.baselines == Switch::on) {}

const FeatureRows* RunBaselines::rows_of(const MoleculeSet& set) {
  if (rows_) return &*rows_;
  if (set.size() > kMostBaselineMolecules) {
    run_.control.note("Baselines left out: " + with_thousands(set.size()) + " molecules are more than " +
                      with_thousands(kMostBaselineMolecules));
    return nullptr;
  }
  const auto give_up = [&](const std::exception& error) {
    run_.control.note(std::string("Baselines left out: ") + error.what());
    return nullptr;
  };
  // Nobody has asked for it: a trained model is not lost for it.
  const bool needed = run_.options.training.blend == Switch::on;
  try {
    const WorkInProgress work(run_.control, "Descriptors for the baselines", "molecules", set.size());
    rows_ = feature_rows(set, run_.threads, [&](std::int64_t done) {
      run_.control.stop_if_asked();
      work.advance(done, set.size());
    });
  } catch (const DataError& error) {
    if (needed) throw;
    return give_up(error);
  } catch (const FileError& error) {
    if (needed) throw;
    return give_up(error);
  }
  return &*rows_;
}

BaselineOptions RunBaselines::baseline_options() const {
  return {.seed = resolved_.options.training.seed, .threads = run_.threads, .ask_to_go_on = [this] {
            run_.control.stop_if_asked();
          }};
}

void RunBaselines::blend(const LoadedData& data, const Baselines& baselines, AllPredictions& predictions,
                         const std::string& folder) {
  const Metric metric = resolved_.trainer.metric;
  const Task& task = data.set.task;
  const std::vector<double> labels = targets_of(data.set, data.split.valid);
  const std::size_t targets = task.names.size();
  // Of the partners by themselves, then of the model and both.
  std::vector<double> of_process(targets, baselines.process ? 1.0 : 0.0);
  if (baselines.process && baselines.trees)
    of_process = choose_shares(metric, task, baselines.of_process[1], baselines.of_trees[1], labels);
  const auto set_shares = [&](std::vector<BlendTarget>& partner, const std::vector<double>& of_model, bool process) {
    for (std::size_t t = 0; t < targets; ++t)
      partner[t].share = (1 - of_model[t]) * (process ? of_process[t] : 1 - of_process[t]);
  };
  std::vector<double> partners = baselines.process ? baselines.of_process[1] : baselines.of_trees[1];
  if (baselines.process && baselines.trees) {
    std::vector<BlendTarget> trees = blend_targets(task);
    set_shares(trees, std::vector<double>(targets), false);
    mix_rows(trees, baselines.of_trees[1], partners);
  }
  const std::vector<double> of_model = choose_shares(metric, task, predictions.parts[1], partners, labels);

  const std::vector<std::int64_t> known = known_molecules(data.split);
  std::optional<Trees> trees;
  std::optional<ProcessPredictor> process;
  if (baselines.trees) {
    trees = refit_trees(baselines, *rows_, data.set, known, baseline_options());
    set_shares(trees->targets, of_model, false);
  }
  if (baselines.process) {
    GaussianProcess made = refit_process(baselines, *rows_, data.set, known, baseline_options());
    set_shares(made.targets, of_model, true);
    process.emplace(std::move(made));
  }
  const auto mix = [&](const std::vector<std::int64_t>& molecules, bool known_part, std::vector<double>& rows) {
    std::vector<double> by_trees, by_process;
    if (trees)
      by_trees = known_part ? baselines.of_trees[1] : tree_predictions(*trees, *rows_, molecules, run_.threads);
    if (process)
      by_process =
          known_part ? baselines.of_process[1] : process_predictions(*process, *rows_, molecules, run_.threads);
    const auto outputs = static_cast<std::size_t>(task.num_outputs());
    for (std::size_t i = 0; i < molecules.size(); ++i) {
      std::vector<PartnerPrediction> said;
      if (trees) said.push_back({trees->targets, std::span(by_trees).subspan(i * outputs, outputs)});
      if (process) said.push_back({process->process().targets, std::span(by_process).subspan(i * outputs, outputs)});
      blend_predictions(said, rows.data() + i * outputs);
    }
  };
  for (std::size_t p = 0; p < predictions.parts.size(); ++p)
    mix(*parts_of(data.split)[p], p == 1, predictions.parts[p]);
  for (auto& [name, values] : predictions.hidden) {
    const std::vector<std::int64_t>& molecules = data.hidden_parts.at(name);
    const auto outputs = static_cast<std::size_t>(task.num_outputs());
    for (std::size_t i = 0; i < molecules.size(); ++i) {
      if (molecules[i] < 0) continue;
      std::vector<double> row(values.begin() + static_cast<std::ptrdiff_t>(i * outputs),
                              values.begin() + static_cast<std::ptrdiff_t>((i + 1) * outputs));
      mix({molecules[i]}, false, row);
      std::ranges::copy(row, values.begin() + static_cast<std::ptrdiff_t>(i * outputs));
    }
  }
  const RunDirectory directory{folder};
  if (trees) write_trees(directory.trees(), *trees, resolved_.model.featurizer);
  if (process) write_process(directory.process(), process->process(), resolved_.model.featurizer);
  std::vector<const std::vector<BlendTarget>*> shown;
  std::string names;
  partners_.clear();
  if (trees) partners_.emplace_back(kTreesPartner);
  if (process) partners_.emplace_back(kProcessPartner);
  if (process) {
    shown.push_back(&process->process().targets);
    names = "the Gaussian process's";
  }
  if (trees) {
    shown.push_back(&trees->targets);
    names += (process ? " and the trees'" : "the trees'");
  }
  run_.control.note("Blend: " + names + " share is " + shares_text(shown) +
                    ", the transformer's the rest; chosen on the validation part, which they then learn too");
}

Baselines RunBaselines::make(const LoadedData& data, const std::vector<Split>& rounds) const {
  if (rounds.empty()) return make_baselines(*rows_, data.set, data.split, baseline_options());
  std::vector<Baselines> of_rounds;
  for (const Split& round : rounds) of_rounds.push_back(make_baselines(*rows_, data.set, round, baseline_options()));
  const auto pool = [&](auto part_of) {
    std::vector<PartPredictions> parts;
    for (Baselines& one : of_rounds) parts.push_back(std::move(part_of(one)));
    return pooled(parts, rounds, data.split);
  };
  // A partner that one of the rounds lacks is none: its predictions would be of a part of the molecules.
  const bool trees = std::ranges::all_of(of_rounds, [](const Baselines& one) { return one.trees.has_value(); });
  const bool process = std::ranges::all_of(of_rounds, [](const Baselines& one) { return one.process.has_value(); });
  Baselines made;
  made.nearest = pool([](Baselines & one) -> auto& { return one.nearest; });
  if (trees) made.of_trees = pool([](Baselines & one) -> auto& { return one.of_trees; });
  if (process) made.of_process = pool([](Baselines & one) -> auto& { return one.of_process; });
  Baselines& last = of_rounds.back();
  if (trees) made.trees = std::move(last.trees);
  if (process) made.process = std::move(last.process);
  made.rounds = std::move(last.rounds);
  made.notes = std::move(last.notes);
  return made;
}

std::vector<Rival> RunBaselines::of_split(const LoadedData& data, const std::vector<Split>& rounds,
                                          AllPredictions& predictions, const std::string& folder) {
  partners_.clear();
  if (!wanted_) return {};
  const auto begin = std::chrono::steady_clock::now();
  if (rows_of(data.set) == nullptr) return {};
  const bool blended = resolved_.options.training.blend == Switch::on;
  // Nobody may have asked for it: then a trained model is not lost for it.
  const bool asked = run_.options.training.blend == Switch::on;
  const AllPredictions alone = predictions;
  try {
    const Baselines made = make(data, rounds);
    for (const std::string& note : made.notes) run_.control.note(note);
    std::vector<Rival> rivals{{"nearest neighbour", "nearest_neighbour", made.nearest}};
    if (made.trees) rivals.push_back({kTreesName, "trees", made.of_trees});
    if (made.process) rivals.push_back({kProcessName, "gaussian_process", made.of_process});
    if (blended && asked && !made.trees && !made.process)
      throw UsageError("--blend: neither trees nor a Gaussian process can be made of this split");
    if (blended && (made.trees || made.process)) {
      rivals.push_back({"transformer alone", "transformer", predictions.parts, true});
      blend(data, made, predictions, folder);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run_.control.note("Baselines took " + duration_text(seconds));
    return rivals;
  } catch (const RunError& error) {  // of the library, or of a matrix
    if (asked) throw;
    run_.control.warn(std::string("Baselines left out: ") + error.what());
  } catch (const std::bad_alloc&) {
    if (asked) throw;
    run_.control.warn("Baselines left out: there is not enough memory for them");
  }
  predictions = alone;
  partners_.clear();
  return {};
}

}  // namespace molgraph
