#include "apps/programs/train/train_call.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "apps/programs/shell/option_values.hpp"
#include "apps/training/options/recipes.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/quality.hpp"
#include "datasets/catalogue/catalogue.hpp"
#include "datasets/load.hpp"
#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::string footer() {
  std::string text = "Data sets:\n";
  for (const auto& set : named_datasets())
    text += "  " + set.name + std::string(12 - std::min<std::size_t>(11, set.name.size()), ' ') + set.what + "\n";
  text += "Recipes:\n";
  for (const auto& r : recipes())
    text += "  " + r.name + std::string(20 - std::min<std::size_t>(19, r.name.size()), ' ') + r.what + "\n";
  return text;
}

// clang-format off
/// The options that --help shows, most important first. --help-all shows all options.
constexpr std::array kBasicOptions{
    "data-path", "target-columns", "smiles-column", "id-column", "task-type", "split-type", "split-sizes",
    "splits-column", "group-column", "time-column",
    "folds", "duplicates", "standardize", "censored", "weight-column", "descriptors", "descriptor-columns",
    "auxiliary-targets", "log-targets", "table-weights",
    "from", "recipe", "model", "size", "encoding",
    "quality", "metric", "epochs", "batch-size", "lr", "ensemble-size", "refit", "blend", "class-balance",
    "label-weight", "label-balance", "seed"};
// clang-format on

/// For each group of basic options, the group of the other options.
const std::map<std::string, std::string> kAdvancedGroups{{"Data", "Data: further options"},
                                                         {"Model", "Model: architecture and ablations"},
                                                         {"Training", "Training: optimiser, evaluation and output"}};

/// Adds one listed option, which stores its value in `value`. `group`: its group in the help, "" = hidden.
/// `default_on`: the option is a flag that is set by default.
void add_option(CLI::App& app, const TrainOption& option, OptionValue& value, const std::string& group,
                bool default_on) {
  const OptionField& field = option.field;
  const std::string name = option.key();
  std::visit(
      [&](auto& to) {
        using T = std::decay_t<decltype(to)>;
        CLI::Option* added = nullptr;
        if constexpr (std::is_same_v<T, bool>) {
          added = app.add_flag(to || default_on ? option.flags + ",!--no-" + name : option.flags, to,
                               default_on ? option.help + " [default: on]" : option.help);
        } else {
          if (field.is_switch) {
            added = app.add_flag("--" + name + "{on},--no-" + name + "{off}", to, option.help);
          } else {
            added = app.add_option(option.flags, to, option.help)->capture_default_str();
          }
          if (field.max_items != 0) added->expected(field.min_items, field.max_items);
          if (!field.words.empty()) choose(added, field.words);
          if (!std::holds_alternative<std::monostate>(option.range)) limit(added, option.range);
        }
        added->group(group);
      },
      value);
}

/// Reads a command line whose options have the defaults `base`.
class CallReader {
 public:
  CallReader(const TrainProgram& program, const TrainOptions& base)
      : line_(program.name, program.what, program.example) {
    call_.options = base;
    options_ = list_options(call_.options);
    for (TrainOption& option : options_) {
      if (const auto help = program.help.find(option.key()); help != program.help.end()) option.help = help->second;
      values_.push_back(option.field.get());
    }
    CLI::App& app = line_.app();
    std::vector<bool> added(options_.size());
    TrainOptions defaults = program.base;
    const std::vector<TrainOption> by_default = list_options(defaults);
    const auto add = [&](std::size_t k, bool basic) {
      const TrainOption& option = options_[k];
      const std::string group = basic ? option.group : kAdvancedGroups.at(option.group);
      add_option(app, option, values_[k], program.hidden.contains(option.key()) ? "" : group,
                 by_default[k].field.get() == OptionValue(true));
      added[k] = true;
    };
    for (const char* key : kBasicOptions) {
      const auto found = std::ranges::find(options_, key, &TrainOption::key);
      if (found == options_.end()) throw std::logic_error("kBasicOptions names the unknown option " + std::string(key));
      add(static_cast<std::size_t>(found - options_.begin()), true);
    }
    for (std::size_t k = 0; k < options_.size(); ++k)
      if (!added[k]) add(k, false);
    if (program.by_molecules)
      limit(
          app.add_option("--molecules-seen", molecules_seen_,
                         "number of molecules to learn from, counting every pass, instead of --steps; 0 = " +
                             with_thousands(kMoleculesSeen) + ", but at most " + std::to_string(kMaxPasses) + " passes")
              ->capture_default_str(),
          WholeRange{0, kMaxSteps})
          ->group("Training");
    app.add_option("-o,--output-dir", call_.output, "run directory (empty: runs/NAME, with a number if it exists)")
        ->group("Data");
    app.add_flag("--resume", call_.resume, "continue the run in --output-dir")->group("Training");
    std::vector<std::string> advanced;
    for (const auto& [basic, group] : kAdvancedGroups) advanced.push_back(group);
    line_.add_help_all(std::move(advanced));
    line_.add_common(call_.common, kThreads | kDevice);
    if (!program.by_molecules) app.footer(footer());
  }
  CallReader(const CallReader&) = delete;
  CallReader& operator=(const CallReader&) = delete;

  TrainCall read(const std::vector<std::string>& arguments) {
    line_.parse(arguments);
    for (std::size_t k = 0; k < options_.size(); ++k) {
      options_[k].field.set(values_[k]);
      if (line_.named("--" + options_[k].key())) call_.named.insert(options_[k].key());
    }
    if (molecules_seen_ > 0) set_length();
    call_.config = line_.config_file();
    while (call_.output.size() > 1 && call_.output.back() == '/') call_.output.pop_back();
    return call_;
  }

  const CommandLine& line() const { return line_; }

 private:
  /// Converts --molecules-seen to steps. If the steps change, epochs and warm-up from a run or file are reset.
  void set_length() {
    TrainingSettings& t = call_.options.training;
    if (line_.named("--epochs") || line_.named("--steps"))
      throw UsageError("--molecules-seen sets the training length and cannot be combined with --epochs or --steps");
    if (!t.batch_size) throw UsageError("--molecules-seen needs a --batch-size");
    const std::int64_t steps = steps_for(molecules_seen_, *t.batch_size);
    if (t.steps == steps) return;
    t.steps = steps;
    t.epochs.reset();
    if (!line_.named("--warmup-steps")) t.warmup_steps.reset();
  }

  TrainCall call_;
  std::vector<TrainOption> options_;  // refer to fields of call_
  std::vector<OptionValue> values_;
  CommandLine line_;
  std::int64_t molecules_seen_ = 0;  ///< 0 = default
};

/// Resolves steps and epochs. A recipe or --config gives one of them; the user's option replaces both. The warm-up
/// keeps its fraction of the training.
void resolve_length(TrainingSettings& t, const TrainingSettings& base, const CommandLine& line) {
  const auto only = [&](const char* one, const char* other) {
    return line.named(one) ? !line.named(other) : line.given(one) && !line.given(other);
  };
  if (only("--epochs", "--steps")) t.steps.reset();
  if (only("--steps", "--epochs")) t.epochs.reset();
  const auto replaces = [&](const char* one, const char* other) {
    return line.named(one) && line.given(other) && !line.named(other);
  };
  const bool other_length = replaces("--epochs", "--steps") || replaces("--steps", "--epochs");
  if (other_length && !line.named("--warmup-steps")) t.warmup_steps.reset();  // a file's warm-up fits only its length
  const bool warmup_epochs = only("--warmup-epochs", "--warmup-steps");
  if (warmup_epochs) t.warmup_steps.reset();
  if (only("--warmup-steps", "--warmup-epochs")) t.warmup_epochs.reset();
  if (!line.given("--warmup-steps") && !warmup_epochs && base.steps && t.steps != base.steps) {
    t.warmup_steps =
        t.steps && base.warmup_steps ? std::optional(*base.warmup_steps * *t.steps / *base.steps) : std::nullopt;
  }
}

/// Options of the run to resume. Throws UsageError if the command line differs from them.
TrainOptions options_of_run(const TrainProgram& program, const std::vector<std::string>& arguments,
                            const std::string& folder) {
  TrainOptions stored = train_options_from_toml(folder + "/config.toml"),
               given = CallReader(program, stored).read(arguments).options;
  const auto before = list_options(stored), after = list_options(given);
  for (std::size_t k = 0; k < before.size(); ++k) {
    if (before[k].field.get() != after[k].field.get())
      throw UsageError("--resume: --" + before[k].key() + " differs from the run in " + folder);
  }
  return stored;
}

/// The recipe of --recipe, or the data set's default recipe if no option chooses the kind of model.
std::string recipe_of_new_run(const TrainProgram& program, const std::vector<std::string>& arguments) {
  CallReader reader(program, program.base);
  const TrainOptions given = reader.read(arguments).options;
  const bool may_use_default = given.data.paths.size() == 1 && !program.hidden.contains("recipe");
  for (const char* flag : {"--recipe", "--model", "--size", "--encoding", "--from", "--quality"})
    if (!may_use_default || reader.line().given(flag)) return given.model.recipe;
  return is_own_table(given) ? "" : default_recipe(given.data.paths[0], given.data.subset);
}

/// Values of the options that neither the command line nor the file `config` gives. A config.toml of a run gives all
/// options of its version: today its recipe may have other settings.
TrainOptions base_of_new_run(const TrainProgram& program, const std::string& config, const std::string& recipe_name) {
  try {
    if (!config.empty()) return train_options_from_toml(config);
  } catch (const FileError&) {  // only some options
  }
  return recipe_name.empty() ? program.base : recipe(recipe_name).options;
}

/// Whether the options are those of a config.toml of a run, which contains all values in use.
bool is_resolved(const TrainOptions& base) { return base.training.ensemble_size && base.training.patience; }

TrainOptions options_of_new_run(const TrainProgram& program, const std::vector<std::string>& arguments,
                                const std::string& config) {
  const std::string recipe_name = recipe_of_new_run(program, arguments);
  const TrainOptions base = base_of_new_run(program, config, recipe_name);
  CallReader reader(program, base);
  TrainOptions options = reader.read(arguments).options;
  if (reader.line().named("--quality") && is_resolved(base) && options.training.quality != base.training.quality)
    throw UsageError(
        "--quality has no effect, because the config.toml of a run contains the settings of its quality level; set "
        "--epochs, --from, --baselines, --blend, --ensemble-size or --member-splits");
  options.model.recipe = recipe_name;
  resolve_length(options.training, base.training, reader.line());
  return options;
}

}  // namespace

TrainProgram train_program() {
  return {.name = "molgraph-train",
          .what = "Trains a graph transformer on a table, a store or a named data set.",
          .example =
              "molgraph-train my_assay.csv -o runs/my_assay\n"
              "  molgraph-train zinc --model grpe --urpe --epochs 20 -o runs/zinc",
          .nothing_to_read = "no data are given. Name a data set, a table or a store: molgraph-train my_assay.csv",
          .hidden = {"table-weights", "label-weight", "label-balance"}};
}

TrainCall read_call(const TrainProgram& program, const std::vector<std::string>& arguments) {
  return CallReader(program, program.base).read(arguments);
}

TrainOptions requested_options(const TrainProgram& program, const std::vector<std::string>& arguments,
                               const TrainCall& call) {
  if (call.resume && call.output.empty()) throw UsageError("--resume needs --output-dir: the run to resume");
  const bool resumes = call.resume && std::filesystem::exists(call.output + "/config.toml");
  TrainOptions options =
      resumes ? options_of_run(program, arguments, call.output) : options_of_new_run(program, arguments, call.config);
  if (options.data.paths.empty()) throw UsageError(program.nothing_to_read);
  if (is_pretraining(program.base) && !is_pretraining(options))
    throw UsageError((resumes               ? call.output
                      : call.config.empty() ? "--target-descriptors none"
                                            : call.config) +
                     ": these are the options of a training run, not of a pre-training; use molgraph-train");
  return options;
}

}  // namespace molgraph
