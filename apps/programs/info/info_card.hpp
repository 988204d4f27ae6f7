// Description of a run or a store as JSON, and as text made from the JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// Describes a run directory, a folder of runs or a model file: model, sizes, parameters, options, featuriser, task and
/// scaling, and from the training records data, split sizes, metrics, baseline, time and version. Throws FileError.
nlohmann::ordered_json run_card(const std::string& path);
/// Describes an HDF5 store: featuriser, source, targets, counts, splits. Checks the whole file. Throws FileError.
nlohmann::ordered_json store_card(const std::string& path);
/// For a run, the headline (info_headline.hpp), with `all` followed by every entry; for a store, every entry. One line
/// per entry, nested objects indented.
std::string card_text(const nlohmann::ordered_json& card, bool all);

}  // namespace molgraph
