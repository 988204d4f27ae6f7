#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "apps/programs/shell/help_formatter.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/program.hpp"
#include "apps/programs/shell/progress_bar.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/tables/encoding.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/pair_relations.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kShownKey = 60;  ///< characters of a key in a message

/// Replaces underscores in the name but not in the value: "--max_atoms=5" -> "--max-atoms=5".
std::string with_hyphens(std::string argument) {
  const auto end = argument.begin() + static_cast<std::ptrdiff_t>(std::min(argument.find('='), argument.size()));
  std::replace(argument.begin(), end, '_', '-');
  return argument;
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

/// Normalises the names of long flags. Throws UsageError with a suggestion for unknown flags.
std::vector<std::string> checked_flags(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  bool only_values = false;
  for (const std::string& argument : arguments) {
    if (only_values || argument.size() < 3 || argument.rfind("--", 0) != 0) {
      only_values = only_values || argument == "--";
      result.push_back(argument);
      continue;
    }
    const std::string flag = with_hyphens(argument);
    const std::string name = flag.substr(2, flag.find('=') == std::string::npos ? flag.npos : flag.find('=') - 2);
    if (app.get_option_no_throw("--" + name) == nullptr) {
      const std::string suggestion = closest_word(name, long_names(app));
      throw UsageError("unknown option --" + name + (suggestion.empty() ? "" : "; did you mean --" + suggestion + "?"));
    }
    result.push_back(flag);
  }
  return result;
}

/// Options named on the command line, found before parsing. A configuration file must not change them.
std::vector<const CLI::Option*> options_named_in(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<const CLI::Option*> named;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.size() < 2 || argument[0] != '-') continue;
    const bool is_long = argument[1] == '-';
    const std::string name = is_long ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
    if (const CLI::Option* option = app.get_option_no_throw(name)) named.push_back(option);
    if (!is_long) continue;
    const std::string opposite = name.rfind("--no-", 0) == 0 ? "--" + name.substr(5) : "--no-" + name.substr(2);
    if (const CLI::Option* option = app.get_option_no_throw(opposite)) named.push_back(option);
  }
  return named;
}

/// Adds all options on the command line to `named`, including positional ones. Parses the command line without the
/// configuration file; the final parse sets the values again. Throws CLI::ParseError.
void add_parsed_options(CLI::App& app, std::vector<std::string> arguments, std::vector<const CLI::Option*>& named) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::RequiredError&) {  // the configuration file may contain the option
  }
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0) named.push_back(option);
}

void hide_groups(CLI::App& app, const std::vector<std::string>& groups) {
  for (CLI::Option* option : app.get_options())
    if (std::ranges::count(groups, option->get_group()) > 0) option->group("");
}

std::string config_file_in(const std::vector<std::string>& arguments) {
  std::string file;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--config" && i + 1 < arguments.size()) file = arguments[i + 1];
    if (arguments[i].rfind("--config=", 0) == 0) file = arguments[i].substr(std::string("--config=").size());
  }
  return file;
}

std::string value_text(const toml::node& node, const std::string& where) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto integer = node.value_exact<std::int64_t>()) return std::to_string(*integer);
  if (const auto real = node.value_exact<double>()) {
    std::ostringstream out;
    out.precision(17);
    out << *real;
    return out.str();
  }
  throw UsageError(where + ": must be text, a number, true, false or a list of these");
}

/// Converts the file's entries to arguments, except options that the command line names.
std::vector<std::string> arguments_of_config(const CLI::App& app, const std::string& file,
                                             const std::vector<const CLI::Option*>& named) {
  toml::table table;
  std::error_code none;
  if (std::filesystem::is_directory(file, none))  // toml++ reads it as an empty file
    throw FileError("--config " + file + ": is a folder" +
                    (std::filesystem::exists(file + "/config.toml", none) ? "; did you mean " + file + "/config.toml?"
                                                                          : ", not a file"));
  try {
    table = toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    throw FileError(file + (line > 0 ? ", line " + std::to_string(line) : "") + ": " +
                    std::string(error.description()));
  }
  std::vector<std::string> result;
  for (const auto& [key, node] : table) {
    const std::string name = with_hyphens("--" + std::string(key.str()));
    const std::string where = file + ": " + std::string(key.str());
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr || name == "--config" || name == "--help" || name == "--help-all" || name == "--version") {
      const std::string suggestion = closest_word(name.substr(2), long_names(app));
      throw UsageError(file + ": unknown key " + shown_head(std::string(key.str()), kShownKey) +
                       (suggestion.empty() || option != nullptr ? "" : "; did you mean " + suggestion + "?"));
    }
    if (std::find(named.begin(), named.end(), option) != named.end()) continue;
    std::vector<std::string> values;
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& value : *list) values.push_back(value_text(value, where));
    } else {
      values.push_back(value_text(node, where));
    }
    const auto max_values = static_cast<std::size_t>(option->get_items_expected_max());
    if (values.size() > std::max<std::size_t>(max_values, 1)) throw UsageError(where + ": takes one value");
    if (values.empty()) continue;
    if (max_values == 0) {
      result.push_back(name + "=" + values[0]);
      continue;
    }
    result.push_back(name);
    result.insert(result.end(), values.begin(), values.end());
    if (values.size() < max_values) result.push_back("--");  // ends a list that accepts more values
  }
  return result;
}

}  // namespace

TableOptions TableFlags::options() const {
  TableOptions options = table;
  if (format != "auto") options.format = table_format_from_string(format);
  options.hooks = reading_hooks();
  return options;
}

struct CommandLine::State {
  std::string name, example;
  CLI::App app;
  std::string config;
  bool help = false, help_all = false, version = false, verbose = false, quiet = false;
  std::vector<std::string> advanced_groups;  // shown only by --help-all
  CommonOptions* common = nullptr;
  std::vector<const CLI::Option*> named;  // on the command line
};

CommandLine::CommandLine(const std::string& name, const std::string& what, const std::string& example)
    : state_(new State) {
  state_->name = name;
  state_->example = example;
  CLI::App& app = state_->app;
  app.name(name);
  app.description(what);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag();  // replaced by our flag, which works even if a required option is missing
  app.option_defaults()->group("Common");
  app.add_flag("-h,--help", state_->help, "Show this text and exit");
  app.add_flag("--version", state_->version, "Show the version and exit");
  app.add_flag("-v,--verbose", state_->verbose, "Log more");
  app.add_flag("-q,--quiet", state_->quiet, "Log only warnings and errors, without progress");
  app.add_option("--config", state_->config,
                 "TOML file of options; its keys are the names of long flags; the command line takes precedence")
      ->type_name("FILE");
  app.option_defaults()->group("Options");
  app.footer("A switch without a --no- form is off by default. Flags may be written with hyphens or underscores.");
}

CommandLine::~CommandLine() = default;

Device device_from_string(const std::string& text) {
  if (text == "auto" || text == "cpu") return {};
  if (text == "cuda") return Device::gpu(0);
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : "";
  if (number.empty() || number.size() > 3 || number.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError("--device " + text + ": use auto, cpu, cuda or cuda:N");
  return Device::gpu(std::stoi(number));
}

CLI::App& CommandLine::app() { return state_->app; }

void CommandLine::add_common(CommonOptions& options, unsigned which) {
  CLI::App& app = state_->app;
  state_->common = &options;
  const std::string group = "Common";
  if (which & kThreads) {
    limit(app.add_option("--threads", options.threads, "CPU threads; 0 = all cores that this process may use"),
          WholeRange{0, 1024})
        ->capture_default_str()
        ->group(group);
  }
  if (which & kDevice) {
    app.add_option("--device", options.device,
                   "Where to compute: cpu, or an NVIDIA GPU; auto = cpu [auto, cpu, cuda, cuda:N with N 0 to 999]")
        ->capture_default_str()
        ->type_name("NAME")
        ->group(group);
  }
  if (which & kSeed) {
    limit(app.add_option("--seed", options.seed, "Seed of all random numbers; equal seeds give equal results"), kSeeds)
        ->capture_default_str()
        ->group(group);
  }
  if (which & kDataDir) {
    app.add_option("--data-dir", options.data_dir,
                   "Folder of the named data sets (empty: $MOLGRAPH_DATA, else the user's cache folder)")
        ->type_name("DIR")
        ->group(group);
  }
  if (which & kAtomLimit) {
    limit(app.add_option("--max-atoms", options.max_atoms,
                         "Largest number of atoms; larger molecules get the status too_large"),
          WholeRange{1, kMaxAtoms})
        ->capture_default_str()
        ->group(group);
  }
}

void CommandLine::add_table(TableFlags& flags) {
  CLI::App& app = state_->app;
  const std::string group = "Input";
  choose(
      app.add_option("--format", flags.format,
                     "Format of the table; auto: by the suffix (without .gz), of standard input by the first lines; a "
                     "CSV may have tabs or semicolons"),
      {"auto", "csv", "tsv", "smi", "sdf"})
      ->capture_default_str()
      ->group(group);
  app.add_flag("--header", flags.table.header,
               "The first line contains column names (without --header and --no-header: detected)")
      ->group(group);
  app.add_flag("--no-header", flags.table.no_header,
               "The first line is data; the columns are named smiles, column_2, column_3, ...")
      ->group(group);
  app.add_option("-s,--smiles-column", flags.table.smiles_column,
                 "Column of SMILES (empty: smiles or canonical_smiles in any case, another common name, or a column "
                 "whose cells are SMILES; the log names it)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--id-column", flags.table.id_column,
                 "Column of ids (empty: id, idx or name in any case, else the row number)")
      ->type_name("NAME")
      ->group(group);
}

void CommandLine::add_help_all(std::vector<std::string> advanced_groups) {
  state_->advanced_groups = std::move(advanced_groups);
  state_->app.add_flag("--help-all", state_->help_all, "Show all options and exit")->group("Common");
}

void CommandLine::parse(const std::vector<std::string>& arguments) {
  State& state = *state_;
  std::vector<std::string> all = checked_flags(state.app, arguments);
  state.named = options_named_in(state.app, all);
  for (const CLI::Option* option : state.named) {
    const bool all_options = option->check_lname("help-all");
    if (option->check_lname("help") || all_options) {
      if (!all_options) hide_groups(state.app, state.advanced_groups);
      write_stdout("Example:\n  " + state.example + "\n\n" + state.app.help());
      throw EndProgram{};
    }
    if (option->check_lname("version")) {
      write_stdout(state.name + " (" + version_text() + ")\n");
      throw EndProgram{};
    }
  }
  try {
    if (const std::string file = config_file_in(all); !file.empty()) {
      add_parsed_options(state.app, all, state.named);
      const auto more = arguments_of_config(state.app, file, state.named);
      // Inserted in front, because a bare "--" on the command line ends the options.
      all.insert(all.begin(), more.begin(), more.end());
    }
    std::reverse(all.begin(), all.end());  // CLI11 takes them from the back
    state.app.parse(all);
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> unexpected = state.app.remaining();
    throw UsageError(error.what() + (unexpected.empty() ? "" : "; '" + unexpected.front() + "' follows no flag"));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (state.verbose && state.quiet) throw UsageError("-v and -q cannot be combined");
  if (state.verbose) spdlog::set_level(spdlog::level::debug);
  if (state.quiet) {
    spdlog::set_level(spdlog::level::warn);
    silence_progress();
  }
  if (state.common == nullptr) return;
  (void)device_from_string(state.common->device);
}

void log_errors_only() {
  spdlog::set_level(spdlog::level::err);
  silence_progress();
}

bool CommandLine::given(const std::string& option) const {
  const CLI::Option* found = state_->app.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

bool CommandLine::named(const std::string& option) const {
  const CLI::Option* found = state_->app.get_option_no_throw(option);
  return std::find(state_->named.begin(), state_->named.end(), found) != state_->named.end();
}

bool CommandLine::quiet() const { return state_->quiet; }

const std::string& CommandLine::config_file() const { return state_->config; }

}  // namespace molgraph
