// What there is to know about a run or a store before one trusts it: as JSON, and as text made from that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// A run directory, a folder of runs or a model file: model, sizes, parameters, options, featuriser, task, scaling,
/// split sizes, metrics. Throws FileError.
nlohmann::ordered_json run_card(const std::string& path);
/// An HDF5 store: featuriser, source, targets, counts, splits. The whole file is checked. Throws FileError.
nlohmann::ordered_json store_card(const std::string& path);
/// One line per entry, nested objects indented.
std::string card_text(const nlohmann::ordered_json& card);

}  // namespace molgraph
