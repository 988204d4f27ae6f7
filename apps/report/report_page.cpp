#include "apps/report/report_page.hpp"

#include <array>
#include <utility>

#include "apps/report/html.hpp"
#include "apps/report/page_sections.hpp"
#include "apps/report/page_style.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kNamesInTitle = 3;

std::string title_of(const ReportFacts& facts) {
  const std::string targets = list_of(facts.task.names, kNamesInTitle);
  return (facts.name.empty() ? "" : facts.name + ": ") + cut_short(targets, 120);
}

const char* const kHowComputed = R"html(<section id="how"><h2>How the numbers are made</h2>

<p>Intervals behind values hold the middle 95&nbsp;% of what resamples of the molecules give (percentile
bootstrap, Efron 1979): they say how far luck in drawing these molecules moves the value, not what another
training would give. Of several targets a value is the mean over those that have it. Kendall's is tau-b, PR-AUC
the average precision, MCC and accuracy are taken at a probability of one half, Brier is the mean squared
difference of probability and label. The mean predictor always says the training part's average, or its share of
the class. Labels such as &gt;50 count nowhere. More: docs/reference/report.md of molgraph.</p></section>
)html";

}  // namespace

std::string report_page(const ReportFacts& facts) {
  const std::array<std::pair<const char*, std::pair<const char*, std::string>>, 7> sections{{
      {"data", {"Data", data_section(facts)}},
      {"results", {"Results", results_section(facts)}},
      {"learning", {"Learning curve", learning_section(facts)}},
      {"predictions", {"Predictions", prediction_section(facts)}},
      {"similarity", {"Away from the training set", similarity_section(facts)}},
      {"molecules", {"Molecules to look at", molecule_section(facts)}},
      {"coverage", {"Intervals", coverage_section(facts)}},
  }};
  std::string body, links;
  for (const auto& [id, section] : sections) {
    if (section.second.empty()) continue;
    links += std::string("<li><a href=\"#") + id + "\">" + section.first + "</a></li>";
    body +=
        std::string("<section id=\"") + id + "\"><h2>" + section.first + "</h2>\n" + section.second + "</section>\n";
  }
  const std::string title = escaped(title_of(facts));
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>" + title +
                     "</title>\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\">\n<style>" +
                     kPageStyle + "</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n";
  page += "<header><h1>" + title + "</h1>\n" + lead_sentence(facts) + "<nav aria-label=\"Sections\"><ul>" + links +
          "<li><a href=\"#how\">How the numbers are made</a></li></ul></nav></header>\n<main id=\"main\">\n" + body +
          kHowComputed + "</main>\n";
  if (facts.run && !facts.run->program.empty())
    page += "<footer><p class=\"quiet\">Made by " + escaped(facts.run->program) +
            (facts.run->finished.empty() ? "" : ", training finished " + escaped(facts.run->finished)) +
            ".</p></footer>\n";
  return page + "</body></html>\n";
}

std::string write_report_page(const std::string& folder, int threads) {
  const std::string path = folder + "/" + kReportPage;
  write_file_atomically(path, report_page(facts_of_run(folder, threads)));
  return path;
}

}  // namespace molgraph
