#include "apps/training/run/predictions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "datasets/archives/npy.hpp"
#include "datasets/system/readable.hpp"

namespace molgraph {

std::array<const std::vector<std::int64_t>*, 3> parts_of(const Split& split) {
  return {&split.train, &split.valid, &split.test};
}

Split union_of(const std::vector<Split>& splits) {
  std::set<std::int64_t> train, valid;
  for (const Split& split : splits) {
    train.insert(split.train.begin(), split.train.end());
    valid.insert(split.valid.begin(), split.valid.end());
  }
  return {{train.begin(), train.end()}, {valid.begin(), valid.end()}, splits.front().test, splits.front().calibration};
}

std::vector<Split> splits_of_members(const LoadedData& data, const Split& base_split, std::int64_t members) {
  std::vector<Split> member_splits = data.member_splits;
  if (!member_splits.empty()) member_splits.resize(static_cast<std::size_t>(members));
  const auto is_base = [&](const Split& member) {
    return member.train == base_split.train && member.valid == base_split.valid;
  };
  if (std::ranges::all_of(member_splits, is_base)) member_splits.clear();
  return member_splits;
}

std::vector<std::int64_t> known_molecules(const Split& split) {
  std::set<std::int64_t> known(split.train.begin(), split.train.end());
  known.insert(split.valid.begin(), split.valid.end());
  return {known.begin(), known.end()};
}

PartPredictions pooled(const std::vector<PartPredictions>& models, const std::vector<Split>& splits,
                       const Split& whole) {
  PartPredictions all;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const std::vector<std::int64_t>& molecules = *parts_of(whole)[p];
    std::unordered_map<std::int64_t, std::size_t> position;
    for (std::size_t i = 0; i < molecules.size(); ++i) position.emplace(molecules[i], i);
    std::vector<double> known(molecules.size());  // number of models per molecule
    for (std::size_t m = 0; m < models.size(); ++m) {
      const std::vector<std::int64_t>& model_molecules = *parts_of(splits[m])[p];
      if (model_molecules.empty()) continue;
      const std::size_t outputs = models[m][p].size() / model_molecules.size();
      all[p].resize(molecules.size() * outputs);
      for (std::size_t i = 0; i < model_molecules.size(); ++i) {
        const auto found = position.find(model_molecules[i]);
        if (found == position.end()) continue;
        known[found->second] += 1;
        for (std::size_t o = 0; o < outputs; ++o) all[p][found->second * outputs + o] += models[m][p][i * outputs + o];
      }
    }
    for (std::size_t k = 0; k < all[p].size(); ++k) all[p][k] /= known[k / (all[p].size() / molecules.size())];
  }
  return all;
}

void AllPredictions::add_share(const AllPredictions& one, double share) {
  const auto add = [share](std::vector<double>& to, const std::vector<double>& from) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i] * share;
  };
  for (std::size_t p = 0; p < parts.size(); ++p) add(parts[p], one.parts[p]);
  add(calibration, one.calibration);
  for (const auto& [name, values] : one.hidden) add(hidden[name], values);
  if (output_scale.empty()) output_scale = one.output_scale;
  for (std::size_t o = 0; o < output_scale.size(); ++o)
    output_scale[o] = std::min(output_scale[o], one.output_scale[o]);
}

std::vector<double> deviation_of(const std::vector<const std::vector<double>*>& models) {
  const auto count = static_cast<double>(models.size());
  std::vector<double> deviation(models.front()->size());
  for (std::size_t i = 0; i < deviation.size(); ++i) {
    double mean = 0, square = 0;
    for (const auto* model : models) mean += (*model)[i] / count;
    for (const auto* model : models) square += ((*model)[i] - mean) * ((*model)[i] - mean);
    deviation[i] = std::sqrt(square / count);
  }
  return deviation;
}

std::vector<double> mean_predictions(const LoadedData& data, const Split& split, std::size_t molecules) {
  const Task& task = data.set.task;
  const std::size_t targets = task.names.size(), outputs = static_cast<std::size_t>(task.num_outputs()),
                    classes = outputs / targets;
  std::vector<double> sum(outputs), count(targets);
  for (const std::int64_t g : split.train)
    data.set.labels_of(g, [&](std::size_t t, double label, std::int8_t bound) {
      if (bound != 0) return;
      if (task.kind == TaskKind::multiclass) sum[t * classes + static_cast<std::size_t>(label)] += 1;
      else sum[t] += label;
      count[t] += 1;
    });
  std::vector<double> predictions(molecules * outputs);
  for (std::size_t i = 0; i < predictions.size(); ++i)
    predictions[i] = sum[i % outputs] / count[i % outputs / classes];  // NaN without labels
  return predictions;
}

bool is_measured(const LoadedData& data, std::size_t part) { return part > 0 || data.set.computed_targets.empty(); }

AllPredictions predict_all(const PredictFunction& run, const PackOptions& pack, const LoadedData& data,
                           const Split& split, const RunControl& control) {
  AllPredictions all;
  const WorkInProgress work(control, kPredictingWork, "molecules", data.set.size());
  const auto predicted = [&](const std::vector<std::int64_t>& molecules) {
    std::vector<double> values = predict_molecules(run, pack, data.set, molecules, control);
    work.add(std::ssize(molecules), data.set.size());
    return values;
  };
  for (std::size_t p = 0; p < all.parts.size(); ++p)
    if (is_measured(data, p)) all.parts[p] = predicted(*parts_of(split)[p]);
  all.calibration = predicted(split.calibration);
  for (const auto& [name, molecules] : data.hidden_parts) {
    std::vector<std::int64_t> present;
    for (const std::int64_t g : molecules)
      if (g >= 0) present.push_back(g);
    const std::vector<double> values = predicted(present);
    std::vector<double>& rows = all.hidden[name];
    std::size_t next = 0;
    for (const std::int64_t g : molecules)
      rows.push_back(g >= 0 ? values[next++] : std::numeric_limits<double>::quiet_NaN());
  }
  return all;
}

void write_submissions(const std::string& folder, const LoadedData& data, const Split& split,
                       const AllPredictions& predictions, const RunControl& control) {
  if (data.set.task.num_outputs() != 1) return;
  const TargetStatistics train = target_statistics(data.set, split.train);
  for (const auto& [part, predicted] : predictions.hidden) {
    std::vector<float> values(predicted.begin(), predicted.end());
    std::int64_t missing = 0;
    for (float& value : values) {
      if (!std::isnan(value)) continue;
      value = static_cast<float>(train.mean[0]);
      ++missing;
    }
    for (float& value : values) value = static_cast<float>(data.set.task.in_table_unit(0, value));
    const std::string name = data.set.source.name == "pcqm4mv2" ? "pcqm4m-v2" : data.set.source.name;
    const std::string path = folder + "/y_pred_" + name + (part == "test" ? "" : "_" + part) + ".npz";
    write_npz_vector(path, "y_pred", values);
    control.note("Submission with " + with_thousands(static_cast<std::int64_t>(values.size())) + " rows: " + path);
    if (missing > 0)
      control.warn(std::to_string(missing) + " rows of the submission have no molecule and contain the training mean");
  }
}

}  // namespace molgraph
