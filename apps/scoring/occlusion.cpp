#include "apps/scoring/occlusion.hpp"

#include <algorithm>
#include <limits>

#include "apps/scoring/explained_value.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/fragments.hpp"

namespace molgraph {
namespace {

/// The explained quantity of each target, in the model's unit or in logits. `chosen` [T]: predicted classes.
std::vector<double> explained_values(const Prediction& prediction, const Task& task,
                                     const std::vector<TargetPlace>& places, const std::vector<std::size_t>& chosen) {
  std::vector<double> values;
  for (std::size_t t = 0; t < places.size(); ++t)
    values.push_back(task.in_model_unit(t, explained_value(prediction.values.data(), places[t], chosen[t])));
  return values;
}

std::vector<std::size_t> predicted_classes(const Prediction& prediction, const std::vector<TargetPlace>& places) {
  std::vector<std::size_t> chosen;
  for (const TargetPlace& place : places) {
    const auto first = prediction.values.begin() + static_cast<std::ptrdiff_t>(place.first);
    const auto largest = std::max_element(first, first + static_cast<std::ptrdiff_t>(place.count));
    chosen.push_back(static_cast<std::size_t>(largest - first));
  }
  return chosen;
}

}  // namespace

std::vector<Explanation> explain_fragments(const OccludedRows& rows, const std::vector<Prediction>& whole,
                                           const FeaturizerOptions& featurizer, const Task& task, int threads,
                                           const PredictSmiles& predict) {
  std::vector<MoleculeFragments> fragments(rows.texts.size());
  std::vector<std::string> failures(rows.texts.size());
  parallel_for(static_cast<std::int64_t>(fragments.size()), 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      if (whole[i].status == RowStatus::ok) try {
          fragments[i] = murcko_fragments(rows.texts[i], rows.mol_blocks, featurizer);
        } catch (const DataError& error) {
          failures[i] = error.what();
        }
  });
  std::vector<std::string> texts;
  std::vector<float> columns;
  const std::size_t width = rows.texts.empty() ? 0 : rows.columns.size() / rows.texts.size();
  for (std::size_t i = 0; i < fragments.size(); ++i)
    for (const std::string& rest : fragments[i].without) {
      texts.push_back(rest);
      const auto first = rows.columns.begin() + static_cast<std::ptrdiff_t>(i * width);
      columns.insert(columns.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  const std::vector<Prediction> rests = predict(texts, columns);
  const std::vector<TargetPlace> places = places_of(task);
  std::vector<Explanation> all(fragments.size());
  auto rest = rests.begin();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Explanation& to = all[i];
    to.status = whole[i].status;
    to.reason = whole[i].reason;
    if (!failures[i].empty()) to.status = RowStatus::unsupported, to.reason = failures[i];
    if (to.status != RowStatus::ok) continue;
    to.fragment = fragments[i].of_atom;
    to.targets.resize(places.size());
    const std::vector<std::size_t> chosen = predicted_classes(whole[i], places);
    const std::vector<double> values = explained_values(whole[i], task, places, chosen);
    for (std::size_t t = 0; t < places.size(); ++t) to.targets[t].prediction = values[t];
    for (std::size_t f = 0; f < fragments[i].without.size(); ++f, ++rest) {
      std::vector<double> without(places.size(), std::numeric_limits<double>::quiet_NaN());
      if (rest->status == RowStatus::ok) without = explained_values(*rest, task, places, chosen);
      for (std::size_t t = 0; t < places.size(); ++t) to.targets[t].fragments.push_back(values[t] - without[t]);
    }
  }
  return all;
}

}  // namespace molgraph
