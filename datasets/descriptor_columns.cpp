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

constexpr std::int64_t kMostRows = 200, kFewestRows = 20;
constexpr std::size_t kFewestValues = 4;
constexpr double kOtherVersion = 1e-4;  ///< relative: masses of atoms differ between versions of RDKit

/// Half a unit of the last digit that the cell shows.
double rounding_of(std::string_view cell) {
  const auto point = cell.find('.');
  if (point == std::string_view::npos) return 0.5;
  return 0.5 * std::pow(10.0, -static_cast<double>(cell.size() - point - 1));
}

/// The descriptors that a column may still be.
struct Comparison {
  std::vector<std::size_t> alike{};
  std::set<double> values{};
  std::int64_t rows = 0;

  void add(std::string_view cell, const std::vector<float>& descriptors) {
    const auto number = number_of_cell(cell);
    if (!number) return;
    ++rows;
    values.insert(*number);
    std::erase_if(alike, [&](std::size_t d) {
      const double value = descriptors[d];
      return !(std::abs(value - *number) <= 1.001 * rounding_of(trim(cell)) + kOtherVersion * std::abs(value));
    });
  }
};

}  // namespace

void mark_descriptors(const std::string& path, const TableOptions& options, const std::vector<int>& places,
                      std::vector<ColumnStats>& stats) {
  const auto names = descriptor_names();
  std::vector<Comparison> comparisons(stats.size());
  for (std::size_t c = 0; c < stats.size(); ++c) {
    if (!stats[c].is_found() || stats[c].is_binary()) continue;
    for (std::size_t d = 0; d < names.size(); ++d) comparisons[c].alike.push_back(d);
  }
  std::optional<Featurizer> featurizer;
  try {
    featurizer.emplace(FeaturizerOptions{}, FeaturizerLimits{}, FeaturizerExtras{.descriptors = true});
  } catch (const FileError&) {
    return;
  }
  TableOptions quiet = options;
  quiet.hooks = {};  // what there is to say of the table has been said
  TableReader reader(path, quiet);
  TableRow row;
  for (std::int64_t r = 0; r < kMostRows && reader.next(row); ++r) {
    if (!row.problem.empty()) continue;
    const FeaturizeResult read = row.mol_block.empty()
                                     ? featurizer->smiles(row.cells[static_cast<std::size_t>(reader.smiles_column())])
                                     : featurizer->mol_block(row.mol_block);
    const auto* graph = std::get_if<MolecularGraph>(&read);
    if (graph == nullptr) continue;
    for (std::size_t c = 0; c < stats.size(); ++c)
      if (!comparisons[c].alike.empty())
        comparisons[c].add(row.cells[static_cast<std::size_t>(places[c])], graph->descriptors);
  }
  for (std::size_t c = 0; c < stats.size(); ++c) {
    const Comparison& of = comparisons[c];
    if (!of.alike.empty() && of.rows >= kFewestRows && of.values.size() >= kFewestValues)
      stats[c].descriptor = names[of.alike.front()];
  }
}

}  // namespace molgraph
