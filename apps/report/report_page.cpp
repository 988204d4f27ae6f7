#include "apps/report/report_page.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "apps/report/cautions.hpp"
#include "apps/report/html.hpp"
#include "apps/report/model_card.hpp"
#include "apps/report/page_sections.hpp"
#include "apps/report/page_style.hpp"
#include "apps/report/report_json.hpp"
#include "apps/report/target_lines.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kNamesInTitle = 3;

std::string title_of(const ReportFacts& facts) {
  const std::string targets = list_of(facts.task.names, kNamesInTitle);
  return (facts.name.empty() ? "" : facts.name + ": ") + cut_short(targets, 120);
}

const char* const kHowComputed = R"html(<section id="how"><h2>How the numbers are computed</h2>

<p>The interval of a metric contains the middle 95&nbsp;% of its values on resamples of the molecules (percentile
bootstrap, Efron 1979). It shows how much the choice of molecules changes the value, not how much another training
run would differ. For several targets, a metric is the mean over the targets for which it is defined. Kendall's
correlation is tau-b, PR-AUC is the average precision, MCC and accuracy use a probability threshold of 0.5, and the
Brier score is the mean squared difference between probability and label. The mean predictor always predicts the
training set's mean or class frequency. Censored labels such as &gt;50 are excluded. For details, see
docs/reference/report.md of molgraph.</p></section>
)html";

struct Section {
  const char* id;
  const char* title;
  std::string html;  ///< "" = nothing to show
};

template <class Sections>
std::string cautions_list(const ReportFacts& facts, const Sections& sections) {
  std::string items;
  for (const Caution& caution : cautions(facts)) {
    const auto section = std::ranges::find(sections, std::string_view(caution.section), &Section::id);
    const bool is_shown = section != sections.end() && !section->html.empty();
    items += "<li>" + escaped(caution.text) +
             (is_shown ? std::string(" <a href=\"#") + caution.section + "\">Details</a>" : "") + "</li>\n";
  }
  return items.empty() ? "" : "<div class=\"warn\"><h2>What to be careful about</h2>\n<ul>\n" + items + "</ul></div>\n";
}

/// How to train the run again, and with which versions.
std::string repeat_section(const ReportFacts& facts) {
  if (!facts.has_config || !facts.run || facts.run->finished.empty()) return {};
  const RunRecord& run = *facts.run;
  std::string list;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) list += std::string("<dt>") + name + "</dt><dd>" + escaped(value) + "</dd>\n";
  };
  add("Versions", run.program + (run.rdkit.empty() ? "" : ", RDKit " + run.rdkit));
  add("SHA-256 of the data", run.sha256);
  add("Precision of matrix products", run.precision);
  add("Time of the last call", run.seconds > 0 ? duration_text(run.seconds) : "");
  return "<p><code>molgraph-train --config RUN/config.toml -o NEW_RUN</code>, where RUN is the folder of this report. "
         "config.toml contains all options, including the seed. Relative paths in it refer to the folder in which "
         "the training was started.</p>\n<dl>" +
         list + "</dl>\n";
}

}  // namespace

std::string report_page(const ReportFacts& facts) {
  const std::array sections{Section{"data", "Data", data_section(facts)},
                            Section{"results", "Results", results_section(facts)},
                            Section{"learning", "Learning curve", learning_section(facts)},
                            Section{"predictions", "Predictions", prediction_section(facts)},
                            Section{"similarity", "Errors by similarity", similarity_section(facts)},
                            Section{"molecules", "Molecules to look at", molecule_section(facts)},
                            Section{"coverage", "Intervals", coverage_section(facts)},
                            Section{"repeat", "Repeat this run", repeat_section(facts)}};
  std::string body, links;
  for (const Section& section : sections) {
    if (section.html.empty()) continue;
    links += std::string("<li><a href=\"#") + section.id + "\">" + section.title + "</a></li>";
    body += std::string("<section id=\"") + section.id + "\"><h2>" + section.title + "</h2>\n" + section.html +
            "</section>\n";
  }
  const std::string title = escaped(title_of(facts));
  // Names from the data cannot imitate the tag, because their quotes are escaped.
  const bool has_script = body.find(kSortableTable) != std::string::npos;
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>" + title +
                     "</title>\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'" +
                     (has_script ? std::string("; script-src 'sha256-") + kSortScriptHash + "'" : "") + "\">\n<style>" +
                     kPageStyle + "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n";
  page += "<header><h1>" + title + "</h1>\n" + lead_sentence(facts) + cautions_list(facts, sections) +
          "<nav aria-label=\"Sections\"><ul>" + links +
          "<li><a href=\"#how\">How the numbers are computed</a></li></ul></nav></header>\n<main id=\"main\">\n" +
          body + kHowComputed + "</main>\n";
  if (facts.run && !facts.run->program.empty())
    page += "<footer><p class=\"quiet\">Generated by " + escaped(facts.run->program) +
            (facts.run->finished.empty() ? "" : ", training finished " + escaped(facts.run->finished)) +
            ".</p></footer>\n";
  if (has_script) page += std::string("<script>") + kSortScript + "</script>\n";
  return page + "</body></html>\n";
}

WrittenReport write_report(const std::string& folder, int threads) {
  std::string path = folder + "/" + kReportPage;
  const ReportFacts facts = facts_of_run(folder, threads);
  write_file_atomically(path, report_page(facts));
  const std::string card = folder + "/" + kModelCard;
  // After molgraph-info --strip, the facts for a complete card are missing.
  if (std::error_code error; facts.is_stripped() && std::filesystem::exists(card, error)) update_model_card(folder);
  else write_file_atomically(card, model_card(facts, contents_of_run(folder)));
  std::string targets = target_lines(targets_json(facts));
  if (!targets.empty())
    targets = "\nTargets, " + std::string(kSetNames[facts.judged_part()]) + " set" +
              (facts.folds ? ", mean over the folds" : "") + ":\n" + targets;
  return {path, targets};
}

}  // namespace molgraph
