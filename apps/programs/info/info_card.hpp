// What there is to know about a run or a store before one trusts it: as JSON, and as text made from that.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace molgraph {

/// A run directory, a folder of runs or a model file: model, sizes, parameters, options, featuriser, task, scaling, and
/// what training recorded: data, split sizes, metrics, baseline, time, version. Throws FileError.
nlohmann::ordered_json run_card(const std::string& path);
/// An HDF5 store: featuriser, source, targets, counts, splits. The whole file is checked. Throws FileError.
nlohmann::ordered_json store_card(const std::string& path);
/// Of a run the headline (info_headline.hpp), with `all` every entry behind it; of a store every entry: one line each,
/// nested objects indented.
std::string card_text(const nlohmann::ordered_json& card, bool all);

}  // namespace molgraph
