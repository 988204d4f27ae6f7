#include "datasets/descriptor_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <variant>

#include "datasets/system/text.hpp"
#include "featurize/descriptors/descriptors.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kMaxRows = 200;
constexpr std::size_t kMinRows = 20, kMinValues = 4;
constexpr int kMaxComparedAtoms = 150;      ///< atoms: descriptors of larger molecules are slow
constexpr double kVersionTolerance = 1e-4;  ///< relative: atomic masses differ between RDKit versions

/// Half a unit of the cell's last digit: 0.05 for "1.5", 5e-8 for "1.5e-6".
double rounding_of(std::string_view cell) {
  const std::string_view digits = cell.substr(0, cell.find_first_of("eE"));
  const double power = digits.size() < cell.size() ? number_of_cell(cell.substr(digits.size() + 1)).value_or(0) : 0;
  const auto point = digits.find('.');
  const double decimals = point == std::string_view::npos ? 0 : static_cast<double>(digits.size() - point - 1);
  return 0.5 * std::pow(10.0, power - decimals);
}

std::size_t distinct_count(const std::vector<double>& values) {
  return std::set<double>(values.begin(), values.end()).size();
}

/// Values of a column and the descriptors that still match them.
struct Comparison {
  std::vector<std::size_t> matching{};
  std::vector<double> values{};
  std::vector<std::vector<double>> matching_values{};  ///< [matching][values] the descriptors' values

  void add(std::string_view cell, const std::vector<float>& descriptors) {
    const auto number = number_of_cell(cell);
    if (!number) return;
    values.push_back(*number);
    const double max_difference = 1.001 * rounding_of(trim(cell));
    for (std::size_t k = matching.size(); k-- > 0;) {
      const double value = descriptors[matching[k]];
      if (std::abs(value - *number) <= max_difference + kVersionTolerance * std::abs(value)) {
        matching_values[k].push_back(value);
        continue;
      }
      matching.erase(matching.begin() + static_cast<std::ptrdiff_t>(k));
      matching_values.erase(matching_values.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }

  /// The descriptor that the column contains; nothing if there are too few values to decide.
  std::optional<std::size_t> found() const {
    if (values.size() < kMinRows || distinct_count(values) < kMinValues) return std::nullopt;
    for (std::size_t k = 0; k < matching.size(); ++k)
      if (distinct_count(matching_values[k]) >= kMinValues) return matching[k];
    return std::nullopt;
  }
};

}  // namespace

bool is_descriptor_name(std::string_view column) {
  const std::string lowered = lower(trim(column));
  return std::ranges::any_of(descriptor_names(), [&](std::string_view name) { return lower(name) == lowered; });
}

void mark_descriptors(const std::string& path, const TableOptions& options, const std::vector<int>& positions,
                      std::vector<ColumnStats>& stats) {
  const auto names = descriptor_names();
  std::vector<Comparison> comparisons(stats.size());
  for (std::size_t c = 0; c < stats.size(); ++c) {
    if (positions[c] < 0 || !stats[c].is_found() || stats[c].is_binary()) continue;
    for (std::size_t d = 0; d < names.size(); ++d) comparisons[c].matching.push_back(d);
    comparisons[c].matching_values.resize(names.size());
  }
  std::optional<Featurizer> featurizer;
  try {
    featurizer.emplace(FeaturizerOptions{}, FeaturizerLimits{.max_atoms = kMaxComparedAtoms},
                       FeaturizerExtras{.descriptors = true});
  } catch (const FileError&) {
    return;
  }
  TableOptions quiet = options;
  quiet.hooks.log = {};  // the table's messages have already been shown
  TableReader reader(path, quiet);
  TableRow row;
  const auto has_candidates = [](const Comparison& one) { return !one.matching.empty(); };
  for (std::int64_t r = 0; r < kMaxRows && std::ranges::any_of(comparisons, has_candidates) && reader.next(row); ++r) {
    if (!row.problem.empty()) continue;
    const FeaturizeResult read = row.mol_block.empty()
                                     ? featurizer->smiles(row.cells[static_cast<std::size_t>(reader.smiles_column())])
                                     : featurizer->mol_block(row.mol_block);
    const auto* graph = std::get_if<MolecularGraph>(&read);
    if (graph == nullptr) continue;
    for (std::size_t c = 0; c < stats.size(); ++c)
      if (has_candidates(comparisons[c]))
        comparisons[c].add(row.cells[static_cast<std::size_t>(positions[c])], graph->descriptors);
  }
  for (std::size_t c = 0; c < stats.size(); ++c)
    if (const auto descriptor = comparisons[c].found()) stats[c].descriptor = names[*descriptor];
}

}  // namespace molgraph
