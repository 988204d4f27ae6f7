#include "datasets/tables/output_columns.hpp"

#include <algorithm>
#include <array>

#include "datasets/system/text.hpp"

namespace molgraph {

namespace oc = output_column;

namespace {

constexpr std::array<std::string_view, 12> kExactNames{
    oc::kNearestDistance, oc::kNearestId, oc::kSimilarity, oc::kDomainId,       oc::kDomainSmiles, oc::kPercentile,
    oc::kElementsSeen,    oc::kRingsSeen, oc::kRollout,    oc::kFragmentOfAtom, oc::kStatus,       oc::kReason};
constexpr std::array<std::string_view, 7> kSuffixes{oc::kLow,         oc::kHigh,  oc::kAtoms,      oc::kBaseline,
                                                    oc::kDescriptors, oc::kBlend, oc::kOfFragments};
constexpr std::string_view kPrediction = oc::kPrediction, kDomain = oc::kDomain;

}  // namespace

OutputColumns::OutputColumns(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) {
    const std::string name = lower(trim(column));
    if (name.ends_with(kPrediction)) predicted_.insert(name.substr(0, name.size() - kPrediction.size()));
  }
}

bool OutputColumns::contains(std::string_view column) const {
  const std::string lowered = lower(trim(column));
  std::string_view name = lowered;
  if (name.starts_with(oc::kTakenPrefix) || name.find(oc::kProbability) != std::string_view::npos) return true;
  if (std::ranges::find(kExactNames, name) != kExactNames.end()) return true;
  if (name.starts_with(kDomain) && predicted_.contains(name.substr(kDomain.size()))) return true;
  for (const std::string_view end : kSuffixes)
    if (name.ends_with(end) && predicted_.contains(name.substr(0, name.size() - end.size()))) return true;
  const std::string class_marker = std::string(oc::kDeviation) + "_";  // y_std_CLASS
  for (auto at = name.find(class_marker); at != std::string_view::npos; at = name.find(class_marker, at + 1))
    if (predicted_.contains(name.substr(0, at))) return true;
  // y_pred_0 and y_std_0: one member of an ensemble
  const auto digits = name.find_last_not_of("0123456789");
  if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_')
    name = name.substr(0, digits);
  return name.ends_with(kPrediction) || name.ends_with(oc::kDeviation);
}

}  // namespace molgraph
