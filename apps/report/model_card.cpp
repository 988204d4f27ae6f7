#include "apps/report/model_card.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/report/cautions.hpp"
#include "apps/report/html.hpp"
#include "apps/report/page_sections.hpp"
#include "apps/scoring/molecule_files.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContentsHeading = "## Information about molecules";
constexpr std::size_t kNamesShown = 20, kTargetsShown = 100;

/// Text from the run's files on one line, without effect on the Markdown around it.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|!&~$").find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' || c == '\t' ? ' ' : c;
  }
  return safe;
}

/// A quoted scalar: JSON strings of printable text are valid YAML.
std::string quoted(const std::string& text) { return nlohmann::json(printable(text)).dump(); }

/// YAML 1.1 reads a number with an exponent only if it has a decimal point.
std::string yaml_number(double value) {
  std::string digits = number_text(static_cast<float>(value));
  if (const std::size_t e = digits.find('e'); e != std::string::npos && digits.find('.') == std::string::npos)
    digits.insert(e, ".0");
  return digits;
}

std::string name_of(const ReportFacts& facts) { return facts.name.empty() ? "molgraph model" : facts.name; }

/// The metrics that compare runs: for mixed tasks, those of regression; for several regression targets, none that
/// averages over units.
std::vector<Measure> metadata_measures(const Task& task) {
  std::vector<Measure> measures = measures_of(task.kind == TaskKind::mixed ? TaskKind::regression : task.kind);
  if (task.names.size() > 1) std::erase(measures, Measure::mae), std::erase(measures, Measure::rmse);
  return measures;
}

std::string metadata(const ReportFacts& facts) {
  std::string metrics;
  if (!facts.methods.empty())
    if (const auto& own = facts.methods.front().parts[facts.judged_part()])
      for (const Measure measure : metadata_measures(facts.task))
        if (const double value = own->value_of(measure).value; std::isfinite(static_cast<float>(value)))
          metrics += "    - type: " + std::string(key_of(measure)) + "\n      value: " + yaml_number(value) + "\n";
  std::string out =
      "---\nlibrary_name: molgraph\ntags:\n- chemistry\n- molecular-property-prediction\n- graph-transformer\n";
  const std::string name = quoted(name_of(facts));
  if (!metrics.empty())
    out += "model-index:\n- name: " + name + "\n  results:\n  - task:\n      type: tabular-" +
           (facts.task.has(TaskKind::regression) ? "regression" : "classification") +
           "\n      name: molecular property prediction\n    dataset:\n      name: " + name + "\n      type: " + name +
           "\n      split: " + kPartNames[facts.judged_part()] + "\n    metrics:\n" + metrics;
  return out + "---\n\n";
}

std::string predicts_text(const ReportFacts& facts) {
  std::vector<std::string> names;
  for (std::size_t t = 0; t < facts.task.names.size(); ++t) {
    const std::string unit = t < facts.task.units.size() ? facts.task.units[t] : "";
    names.push_back(plain(facts.task.names[t] + (unit.empty() ? "" : " [" + unit + "]")));
  }
  return list_of(names, kNamesShown) + " (" + std::string(to_string(facts.task.kind)) + ")";
}

std::string model_text(const ReportFacts& facts) {
  std::string out = (facts.models > 1 ? with_thousands(facts.models) + " models: " : "") + plain(facts.model);
  if (const std::string blend = blend_text(facts); !blend.empty()) out += ", blended with " + plain(blend);
  if (facts.run && !facts.run->start.empty())  // a path can be private
    out += "; training started from " + plain(fs::path(facts.run->start).filename().string());
  return out;
}

std::string estimate_text(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return "-";
  return sensible_number(estimate.value) +
         (std::isfinite(estimate.low) && std::isfinite(estimate.high)
              ? " (" + sensible_number(estimate.low) + " to " + sensible_number(estimate.high) + ")"
              : "");
}

/// The metrics of each of several targets on the evaluation set.
std::string targets_table(const ReportFacts& facts) {
  const auto& part = facts.methods.front().parts[facts.judged_part()];
  if (!part || part->targets.size() < 2) return {};
  const std::size_t shown = std::min(part->targets.size(), kTargetsShown);
  std::string head = "| target, " + std::string(kSetNames[facts.judged_part()]) + " set | labels |", rule = "|---|---|";
  std::vector<std::string> rows;
  for (std::size_t t = 0; t < shown; ++t)
    rows.push_back("| " + plain(facts.task.model_name(t)) + " | " + with_thousands(part->labels[t]) + " |");
  for (const Measure measure : measures_of(facts.task)) {
    const auto m = static_cast<std::size_t>(measure);
    if (std::ranges::none_of(part->targets, [&](const Estimates& of) { return std::isfinite(of[m].value); })) continue;
    head += " " + std::string(title_of(measure)) + " |", rule += "---|";
    for (std::size_t t = 0; t < shown; ++t) rows[t] += " " + estimate_text(part->targets[t][m]) + " |";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const std::string& row : rows) out += row + "\n";
  if (shown < part->targets.size())
    out += "\n" + with_thousands(std::ssize(part->targets) - static_cast<std::int64_t>(shown)) +
           " more targets: `molgraph-info RUN --json`\n";
  return "\n" + out;
}

std::string results_text(const ReportFacts& facts) {
  if (facts.methods.empty()) return {};
  const MethodResults& own = facts.methods.front();
  std::string head = "| metric |", rule = "|---|", rows;
  bool intervals = false;
  for (std::size_t p = 0; p < kParts; ++p)
    if (own.parts[p]) {
      head += std::string(" ") + kSetNames[p] + " (" + with_thousands(own.parts[p]->molecules) + ") |";
      rule += "---|";
    }
  for (const Measure measure : measures_of(facts.task)) {
    std::string row = "| " + std::string(title_of(measure)) + " |";
    bool any = false;
    for (const auto& part : own.parts)
      if (part) {
        row += " " + estimate_text(part->value_of(measure)) + " |";
        any = any || std::isfinite(part->value_of(measure).value);
        intervals = intervals || std::isfinite(part->value_of(measure).low);
      }
    if (any) rows += row + "\n";
  }
  if (rows.empty()) return {};
  std::string out = "## Results\n\n" + head + "\n" + rule + "\n" + rows + "\n";
  if (facts.folds)
    out += "Means over " + with_thousands(std::ssize(facts.members)) +
           " folds; in parentheses: minus and plus one standard deviation.\n";
  else if (intervals) out += "In parentheses: 95 % intervals (bootstrap over the molecules).\n";
  if (facts.task.names.size() > 1)
    out += "A metric is the mean over the targets for which it is defined, in their units" +
           (facts.task.logarithmic_names().empty()
                ? std::string()
                : " (log10 units: " + plain(list_of(facts.task.logarithmic_names(), kNamesShown)) + ")") +
           ".\n";
  else if (const std::string unit = facts.task.model_unit(0); facts.task.has(TaskKind::regression) && !unit.empty())
    out += "MAE and RMSE are in " + plain(unit) + ".\n";
  if (facts.run && facts.run->refit)
    out += "The model was then also trained on the validation set; the validation results are those before.\n";
  const Measure measure = leading_measure(facts);
  std::vector<std::string> others;
  for (const auto& [name, value] : other_methods(facts, measure))
    others.push_back(plain(name) + " " + sensible_number(value));
  if (!others.empty())
    out += std::string(title_of(measure)) + " of other methods on the " + kSetNames[facts.judged_part()] +
           " set: " + list_of(others) + ".\n";
  if (!facts.recipe.empty()) out += plain(facts.recipe) + ".\n";
  return out + targets_table(facts) + "\n";
}

std::string cautions_text(const ReportFacts& facts) {
  std::string out = "## What to be careful about\n\n";
  for (const Caution& caution : cautions(facts)) out += "- " + plain(caution.text) + "\n";
  return out +
         "- The model predicts every molecule, also one that is unlike its training molecules. `molgraph-score "
         "--domain`"
         " shows how similar a molecule is to them, if the run contains the data for it.\n\n";
}

std::string data_text(const ReportFacts& facts) {
  std::string out;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += std::string("- ") + name + ": " + value + "\n";
  };
  if (facts.run) {
    add("Data",
        plain(facts.run->source) + (facts.run->sha256.empty() ? "" : " (SHA-256 " + plain(facts.run->sha256) + ")"));
    if (facts.run->molecules > 0)
      add("Molecules",
          with_thousands(facts.run->molecules) + "; rejected rows: " + with_thousands(facts.run->rejected));
    add("Split", plain(split_text(facts)));
  }
  std::vector<std::string> noise;
  for (const LabelNoise& one : facts.noise)
    if (facts.task.kind_of(one.target) == TaskKind::regression)
      noise.push_back(plain(facts.task.model_name(one.target)) + " " + sensible_number(one.deviation) + " (" +
                      counted(one.molecules, "molecule", "molecules") + ")");
  if (!noise.empty()) add("Standard deviation of repeated measurements", list_of(noise, kNamesShown));
  if (facts.run) {
    add("Trained with", plain(facts.run->program) +
                            (facts.run->rdkit.empty() ? "" : ", RDKit " + plain(facts.run->rdkit)) +
                            (facts.run->finished.empty() ? "" : ", finished " + plain(facts.run->finished)));
    add("Precision of matrix products", plain(facts.run->precision));
    if (facts.has_config && !facts.run->finished.empty())
      add("Command",
          "`molgraph-train --config RUN/config.toml -o NEW_RUN` trains it again, in the folder where the "
          "training was started");
  }
  return out.empty() ? "" : "## Data and training\n\n" + out + "\n";
}

}  // namespace

std::string model_card(const ReportFacts& facts, const std::string& contents) {
  const bool pretrained = facts.run && !facts.run->target_descriptors.empty();
  return metadata(facts) + "# " + plain(name_of(facts)) + "\n\n- Predicts: " + predicts_text(facts) +
         "\n- Model: " + model_text(facts) + "\n\n## Use\n\n```sh\n" +
         (pretrained ? "molgraph-train table.csv --from RUN -o NEW_RUN"
                     : "molgraph-score -m RUN -i library.csv -o scored.csv") +
         "\n```\n\nRUN is the folder of this file, " +
         (pretrained ? "table.csv a table with SMILES and labels" : "library.csv a table with SMILES") + ".\n\n" +
         results_text(facts) + cautions_text(facts) + data_text(facts) + contents;
}

std::string contents_of_run(const std::string& folder) {
  std::string list;
  for (const MoleculeFile& file : molecule_files(folder))
    list += "- `" + fs::path(file.path).lexically_relative(folder).string() + "`: " + file.contents +
            (file.needed ? " (needed for predictions)" : "") + "\n";
  return std::string(kContentsHeading) + "\n\n" +
         (list.empty() ? "The folder contains no structures, ids or labels of molecules. Some files contain numbers "
                         "that were computed from them.\n"
                       : list + "\n`molgraph-info RUN --strip` removes what predictions do not need.\n");
}

void update_model_card(const std::string& folder) {
  const std::string path = folder + "/" + kModelCard;
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const std::string card = read_file(path);
  const std::size_t at = card.rfind(std::string("\n") + kContentsHeading + "\n");
  if (at == std::string::npos) return;
  write_file_atomically(path, card.substr(0, at + 1) + contents_of_run(folder));
}

}  // namespace molgraph
