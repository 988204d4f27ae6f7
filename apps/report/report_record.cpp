#include "apps/report/report_record.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "datasets/system/text.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

/// Written with a float's digits, which suffice for display and take less space than a double's.
Json number(double value) {
  return std::isfinite(value) ? Json(number_of_digits(static_cast<float>(value))) : Json(nullptr);
}
double number_from(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}
std::vector<double> numbers_from(const Json& all, const char* key) {
  std::vector<double> values;
  if (all.contains(key))
    for (const Json& value : all[key]) values.push_back(number_from(value));
  return values;
}

Json estimates(const Estimates& values) {
  Json all = Json::object();
  for (std::size_t m = 0; m < kMeasures; ++m)
    if (!std::isnan(values[m].value))
      all[std::string(key_of(static_cast<Measure>(m)))] = {number(values[m].value), number(values[m].low),
                                                           number(values[m].high)};
  return all;
}
Estimates estimates_from(const Json& all) {
  Estimates values = no_estimates();
  for (std::size_t m = 0; m < kMeasures; ++m)
    if (const auto found = all.find(std::string(key_of(static_cast<Measure>(m)))); found != all.end())
      values[m] = {number_from(found->at(0)), number_from(found->at(1)), number_from(found->at(2))};
  return values;
}

Json measured(const Measured& result, const std::vector<std::string>& targets, bool with_targets) {
  Json all = {{"molecules", result.molecules}, {"resamples", result.resamples}, {"mean", estimates(result.mean)}};
  for (std::size_t t = 0; with_targets && t < targets.size(); ++t)
    all["targets"].push_back({{"name", targets[t]},
                              {"labels", result.labels[t]},
                              {"positives", result.positives[t]},
                              {"values", estimates(result.targets[t])}});
  return all;
}
Measured measured_from(const Json& all) {
  Measured result;
  all.at("molecules").get_to(result.molecules);
  all.at("resamples").get_to(result.resamples);
  result.mean = estimates_from(all.at("mean"));
  if (!all.contains("targets")) return result;
  for (const Json& target : all["targets"]) {
    result.labels.push_back(target.at("labels").get<std::int64_t>());
    result.positives.push_back(target.at("positives").get<std::int64_t>());
    result.targets.push_back(estimates_from(target.at("values")));
  }
  return result;
}

/// `with_targets`: includes the metrics of every target for the first method.
Json methods_json(const std::vector<MethodResults>& methods, const std::vector<std::string>& targets,
                  bool with_targets) {
  Json all = Json::array();
  for (const MethodResults& method : methods) {
    Json one = {{"name", method.name}};
    for (std::size_t p = 0; p < kParts; ++p)
      if (method.parts[p])
        one[kPartNames[p]] = measured(*method.parts[p], targets, with_targets && &method == &methods.front());
    all.push_back(std::move(one));
  }
  return all;
}
std::vector<MethodResults> methods_from(const Json& all, const std::string& where, std::size_t targets) {
  std::vector<MethodResults> methods;
  for (const Json& one : all) {
    MethodResults method{.name = one.at("name").get<std::string>()};
    for (std::size_t p = 0; p < kParts; ++p) {
      if (!one.contains(kPartNames[p])) continue;
      method.parts[p] = measured_from(one[kPartNames[p]]);
      if (!method.parts[p]->targets.empty() && method.parts[p]->targets.size() != targets)
        throw FileError(where + ": belongs to another model: " + std::to_string(method.parts[p]->targets.size()) +
                        " targets instead of " + std::to_string(targets));
    }
    methods.push_back(std::move(method));
  }
  return methods;
}

Json rows_json(const RowNumbers& rows) {
  Json all = Json::object();
  if (!rows.difficulty.empty()) all["difficulty"] = numbers(rows.difficulty);
  if (!rows.similarity.empty()) all["similarity"] = numbers(rows.similarity);
  return all;
}

}  // namespace

std::string to_json(const ReportRecord& record, const std::vector<std::string>& targets) {
  Json all = {{"version", kVersion}, {"censored", record.censored}};
  all["methods"] = methods_json(record.methods, targets, true);
  if (!record.members.empty()) all["members"] = methods_json(record.members, targets, false);
  if (!record.recipe.empty()) all["recipe"] = record.recipe;
  if (record.shared) all["shared_molecules"] = *record.shared;
  if (record.compared > 0) all["compared_with"] = record.compared;
  for (const Twins& pair : record.twins)
    all["twins"].push_back({{"a", {kPartNames[pair.part_a], pair.row_a}},
                            {"b", {kPartNames[pair.part_b], pair.row_b}},
                            {"target", pair.target},
                            {"similarity", number(pair.similarity)}});
  all["valid"] = rows_json(record.valid);
  all["test"] = rows_json(record.test);
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ReportRecord report_record_from_json(const std::string& json, const std::string& where, std::size_t targets) {
  try {
    const Json all = Json::parse(json);
    if (const int version = all.at("version").get<int>(); version != kVersion)
      throw FileError(where + ": has version " + std::to_string(version) + "; this program reads version 1");
    ReportRecord record;
    all.at("censored").get_to(record.censored);
    if (all.contains("shared_molecules")) record.shared = all["shared_molecules"].get<std::int64_t>();
    record.methods = methods_from(all.at("methods"), where, targets);
    record.members = methods_from(all.value("members", Json::array()), where, targets);
    record.recipe = all.value("recipe", std::string());
    record.compared = all.value("compared_with", std::int64_t{0});
    for (const Json& pair : all.value("twins", Json::array())) {
      const auto part = [](const Json& side) { return side.at(0) == kPartNames[1] ? std::size_t{1} : std::size_t{2}; };
      record.twins.push_back({part(pair.at("a")), pair.at("a").at(1).get<std::size_t>(), part(pair.at("b")),
                              pair.at("b").at(1).get<std::size_t>(), pair.at("target").get<std::size_t>(),
                              number_from(pair.at("similarity"))});
      if (record.twins.back().target >= targets)
        throw FileError(where + ": belongs to another model: near twins of an unknown target");
    }
    for (const auto& [rows, key] : {std::pair{&record.valid, "valid"}, {&record.test, "test"}}) {
      // 0.1.0 wrote it as "deviation".
      rows->difficulty = numbers_from(all.at(key), all.at(key).contains("deviation") ? "deviation" : "difficulty");
      rows->similarity = numbers_from(all.at(key), "similarity");
    }
    return record;
  } catch (const nlohmann::json::exception& problem) {
    throw FileError(where + ": damaged: " + problem.what());
  }
}

}  // namespace molgraph
