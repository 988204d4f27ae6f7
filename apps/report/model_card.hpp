// model_card.md: a description of the run for people who receive the model, with the metadata that model hubs read.
#pragma once

#include <string>

#include "apps/report/report_facts.hpp"

namespace molgraph {

/// Markdown that begins with a YAML block (library_name, tags, model-index with the metrics of the evaluation set; see
/// the documentation of the Hugging Face hub, "Model Cards"). `contents`: contents_of_run(). Contains no molecules.
std::string model_card(const ReportFacts& facts, const std::string& contents);

/// The last section of the card: which files of the run contain information about its molecules.
std::string contents_of_run(const std::string& folder);

/// Replaces the last section in RUN/model_card.md, if the file exists and has it. Throws FileError.
void update_model_card(const std::string& folder);

}  // namespace molgraph
