#include "apps/report/report_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/report/cautions.hpp"
#include "apps/report/judged_errors.hpp"
#include "apps/report/page_sections.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWorst = 10;

Json number(double value) {
  return std::isfinite(value) ? Json(number_of_digits(static_cast<float>(value))) : Json(nullptr);
}

Json estimate(const Estimate& source) {
  Json all = {{"value", number(source.value)}};
  if (std::isfinite(source.low)) all["low"] = number(source.low), all["high"] = number(source.high);
  return all;
}

void add_measures(const Estimates& estimates, Json& all) {
  for (std::size_t m = 0; m < kMeasures; ++m)
    if (std::isfinite(estimates[m].value)) all[std::string(key_of(static_cast<Measure>(m)))] = estimate(estimates[m]);
}

/// The metrics of each method on the evaluation set.
Json judged_json(const ReportFacts& facts, const std::vector<MethodResults>& methods, std::size_t first) {
  Json all = Json::array();
  for (std::size_t k = first; k < methods.size(); ++k) {
    const auto& part = methods[k].parts[facts.judged_part()];
    if (!part) continue;
    Json one = {{"name", methods[k].name}, {"molecules", part->molecules}};
    add_measures(part->mean, one);
    all.push_back(std::move(one));
  }
  return all;
}

Json targets_of(const ReportFacts& facts) {
  Json all = Json::array();
  if (facts.methods.empty()) return all;
  const auto& part = facts.methods.front().parts[facts.judged_part()];
  if (!part) return all;
  for (std::size_t t = 0; t < part->targets.size(); ++t) {
    Json one = {{"name", facts.task.names[t]}, {"labels", part->labels[t]}};
    if (facts.task.kind_of(t) == TaskKind::binary) one["positives"] = part->positives[t];
    if (facts.task.is_logarithmic(t)) one["logarithmic"] = true;
    add_measures(part->targets[t], one);
    all.push_back(std::move(one));
  }
  return all;
}

Json noise_json(const ReportFacts& facts) {
  Json all = Json::array();
  for (const LabelNoise& noise : facts.noise) {
    Json one = {{"name", facts.task.names[noise.target]}, {"molecules", noise.molecules}, {"rows", noise.rows}};
    if (facts.task.kind_of(noise.target) == TaskKind::regression)
      one["deviation"] = number(noise.deviation), one["best_r2"] = number(noise.best_r2);
    else one["disagree"] = number(noise.disagree);
    if (facts.task.is_logarithmic(noise.target)) one["logarithmic"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

Json bins_json(const std::vector<SimilarityBin>& bins) {
  Json all = Json::array();
  for (const SimilarityBin& bin : bins)
    all.push_back({{"low", number(bin.low)},
                   {"high", number(bin.high)},
                   {"molecules", bin.molecules},
                   {"labels", bin.labels},
                   {"error", estimate(bin.mean)}});
  return all;
}

Json coverage_json(const ReportFacts& facts) {
  Json all = Json::array();
  for (const Coverage& one : facts.coverage) {
    Json one_level = {{"name", facts.task.names[one.target]},
                      {"level", number(one.level)},
                      {"covered", number(one.covered)},
                      {"width", number(one.width)},
                      {"labels", one.labels}};
    if (facts.task.is_logarithmic(one.target)) one_level["logarithmic"] = true;
    all.push_back(std::move(one_level));
  }
  return all;
}

/// The label in the unit of the table, or the name of its class, if the classes have names.
Json label_json(const ReportFacts& facts, const PartRows& rows, std::size_t row, std::size_t target) {
  const Task& task = facts.task;
  const double label = rows.labels[row * task.names.size() + target];
  const bool is_class = task.kind_of(target) != TaskKind::regression && label >= 0;
  if (is_class && label < static_cast<double>(task.class_labels.size()))
    return task.class_labels[static_cast<std::size_t>(label)];
  return number(task.in_table_unit(target, label));
}

Json worst_json(const ReportFacts& facts) {
  const PartRows& rows = facts.judged();
  Json all = Json::array();
  for (const LabelError& error : worst_errors(facts, kWorst)) {
    const auto of_table = [&](double value) { return number(facts.task.in_table_unit(error.target, value)); };
    Json one = {{"id", rows.id[error.row]},
                {"smiles", rows.smiles[error.row]},
                {"target", facts.task.names[error.target]},
                {"label", label_json(facts, rows, error.row, error.target)},
                {"prediction", of_table(prediction_of(facts, rows, error.row, error.target))}};
    if (!rows.similarity.empty() && std::isfinite(rows.similarity[error.row]))
      one["similarity"] = number(rows.similarity[error.row]);
    all.push_back(std::move(one));
  }
  return all;
}

Json twins_json(const ReportFacts& facts) {
  Json all = Json::array();
  for (const Twins& pair : facts.twins) {
    const auto side = [&](std::size_t part, std::size_t row) {
      const PartRows& rows = part == 1 ? facts.valid : facts.test;
      return Json{{"id", rows.id[row]},
                  {"smiles", rows.smiles[row]},
                  {"part", kPartNames[part]},
                  {"label", label_json(facts, rows, row, pair.target)}};
    };
    all.push_back({{"target", facts.task.names[pair.target]},
                   {"similarity", number(pair.similarity)},
                   {"a", side(pair.part_a, pair.row_a)},
                   {"b", side(pair.part_b, pair.row_b)}});
  }
  return all;
}

}  // namespace

std::string targets_json(const ReportFacts& facts) {
  return targets_of(facts).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_json(const ReportFacts& facts) {
  Json all = {{"judged", kPartNames[facts.judged_part()]}};
  if (facts.folds) all["folds"] = facts.members.size();
  if (!facts.methods.empty()) {
    all["metric"] = std::string(key_of(leading_measure(facts)));
    for (std::size_t p = 0; p < kParts; ++p) {
      const auto& part = facts.methods.front().parts[p];
      if (!part) continue;
      Json& one = all["measures"][kPartNames[p]] = {{"molecules", part->molecules}};
      add_measures(part->mean, one);
    }
  }
  const auto add = [&](const char* key, Json list) {
    if (!list.empty()) all[key] = std::move(list);
  };
  add("targets", targets_of(facts));
  add("beside", judged_json(facts, facts.methods, 1));
  add("members", judged_json(facts, facts.members, 0));
  Json careful = Json::array();
  for (const Caution& caution : cautions(facts)) careful.push_back(caution.text);
  add("cautions", std::move(careful));
  if (!facts.recipe.empty()) all["recipe"] = facts.recipe;
  add("noise", noise_json(facts));
  add("by_similarity", bins_json(similarity_bins(facts, true)));
  add("classes_by_similarity", bins_json(similarity_bins(facts, false)));
  add("coverage", coverage_json(facts));
  add("worst", worst_json(facts));
  add("twins", twins_json(facts));
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace molgraph
