// molgraph-featurize: a table or a named data set -> an HDF5 store of featurised molecules.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/programs/featurize/featurize.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/program.hpp"

namespace molgraph {
namespace {

/// What the command line gives, as words and numbers.
struct Flags {
  CommonOptions common;
  TableFlags table;
  std::string features, descriptors, standardize, duplicates, task, split;
  std::vector<double> split_sizes{0.8, 0.1, 0.1};
};

void add_data_options(CLI::App& app, FeaturizeOptions& options, Flags& flags) {
  app.add_option("-i,--data-path,data", options.load.paths,
                 "CSV, TSV, SMI or SDF (also .gz; - is standard input), or the name of a data set; two or three tables "
                 "are train, valid and test")
      ->required()
      ->expected(1, 3)
      ->type_name("IN");
  app.add_option("-o,--output", options.output, "The store to write")->required()->type_name("STORE.h5");
  choose(app.add_option("--features", flags.features,
                        "molgraph (10 atom and 4 bond columns), ogb (9 and 3) or zinc (1 and 1); else the data set's "
                        "own, else molgraph"),
         {"molgraph", "ogb", "zinc"});
  choose(app.add_option(
             "--descriptors", flags.descriptors,
             "Keep RDKit's 2-D descriptors of every molecule too, for heads that read them; by default for tables of "
             "your own with numbers to predict and at most 50,000 rows"),
         {"none", "rdkit"});
  app.add_option("--descriptor-columns", options.load.input_columns,
                 "Columns of numbers to keep for heads that read them; they are no targets")
      ->type_name("NAME");
  choose(app.add_option("--standardize", flags.standardize,
                        "parent: salts and solvents off and charges neutral; else none. Models trained on the store "
                        "score in the same way"),
         {"none", "parent"});
  app.add_flag("--no-pairs", options.no_pairs, "Leave the distances out; readers compute them again");
  app.add_option(
         "--target-columns", options.load.target_columns,
         "Columns to learn, or all; else those with numbers or with yes and no, but no identifiers, years, constants "
         "and descriptors, and at most 20")
      ->type_name("NAME");
  choose(app.add_option("--duplicates", flags.duplicates,
                        "Molecules in several rows: one row each by mean or median of each target (classes: majority, "
                        "a tie is blank); keep all rows, in one part of the split; drop all but the first row; else "
                        "mean for a table of one's own with targets, all rows as they are for any other"),
         {"mean", "median", "keep", "drop"});
  choose(app.add_option("-t,--task-type", flags.task,
                        "Kind of target; else by the values (only 0 and 1, yes and no = classification)"),
         {"regression", "classification", "binary", "multiclass", "mixed"});
  app.add_option("--positive", options.load.positive,
                 "Classification: the label that is 1, where two words do not say it themselves as yes and no do")
      ->type_name("LABEL");
  app.add_option("--weight-column", options.load.weight_column,
                 "Column of numbers of 0 or more: how much a row counts in training")
      ->type_name("NAME");
  app.add_option("--subset", options.load.subset,
                 "Part of a named data set: zinc 12k or full, pcqm4mv2 partial or sample")
      ->type_name("NAME");
  limit(app.add_option("--limit", options.load.limit, "Keep this many molecules; 0 = all"), kMoleculeLimits)
      ->capture_default_str();
  choose(
      app.add_option("--split-type", flags.split,
                     "Write this split (order: the last rows are the test part); else the source's own, if it has one"),
      {"published", "random", "scaffold", "scaffold-balanced", "group", "time", "order", "predefined"});
  limit(app.add_option("--split-sizes", flags.split_sizes, "Train, valid and test of a new split"), kSplitShares)
      ->expected(3)
      ->capture_default_str();
  app.add_option("--splits-column", options.load.splits_column, "Column that says train, valid or test")
      ->type_name("NAME");
  app.add_option("--group-column", options.load.group_column, "Split group: column whose equal cells stay in one part")
      ->type_name("NAME");
  app.add_option("--time-column", options.load.time_column, "Split time: column of numbers or dates")
      ->type_name("NAME");
  app.add_option("--splits-file", options.load.splits_file,
                 "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0")
      ->type_name("FILE");
  app.add_option("--rejected", options.rejected,
                 "CSV (also .gz) of the rows without a graph: row, status, reason, smiles")
      ->type_name("FILE");
  app.add_option("--repeated", options.repeated,
                 "CSV (also .gz) of the rows of molecules that stand in several, and what they became")
      ->type_name("FILE");
  app.add_flag("--strict", options.load.strict, "End with code 3 at the first row without a graph, without a store");
}

std::string data_set_list() {
  constexpr std::size_t kColumn = 14;
  std::string text = "Data sets:\n";
  for (const NamedDataset& set : named_datasets()) {
    std::string line = "  " + set.name;
    line.resize(std::max(kColumn, line.size() + 1), ' ');
    text += line + set.what + "\n";
  }
  return text;
}

FeaturizeOptions parse(const std::vector<std::string>& arguments) {
  FeaturizeOptions options;
  Flags flags;
  CommandLine line("molgraph-featurize", "Turns molecules into an HDF5 store that molgraph-train reads without RDKit.",
                   "molgraph-featurize assay.csv -o assay.h5 --split-type scaffold --rejected bad_rows.csv");
  add_data_options(line.app(), options, flags);
  line.add_table(flags.table);
  line.add_common(flags.common, kThreads | kSeed | kDataDir | kMaxAtoms);
  line.app().footer(data_set_list() + "\n" + line.app().get_footer());
  line.parse(arguments);
  options.config = line.config_file();
  LoadOptions& load = options.load;
  load.table = flags.table.options();
  load.data_dir = flags.common.data_dir;
  load.seed = flags.common.seed;
  load.threads = flags.common.threads;
  load.limits.max_atoms = flags.common.max_atoms;
  load.require_targets = false;
  load.table_descriptors = DescriptorSet::rdkit;  // as molgraph-train has them
  load.download = downloads_shown();
  if (!flags.task.empty()) load.task = task_kind_from_string(flags.task);
  if (!flags.standardize.empty()) load.standardize = standardize_from_string(flags.standardize);
  if (!flags.duplicates.empty()) load.duplicates = duplicates_from_string(flags.duplicates);
  if (!flags.features.empty()) load.features = features_from_string(flags.features);
  if (!flags.descriptors.empty())
    load.descriptors = flags.descriptors == "rdkit" ? DescriptorSet::rdkit : DescriptorSet::none;
  if (!flags.split.empty()) load.split = split_kind_from_string(flags.split);
  std::copy_n(flags.split_sizes.begin(), 3, load.split_sizes.begin());
  return options;
}

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  return molgraph::run_program(argc, argv,
                               [](const auto& arguments) { return molgraph::featurize(molgraph::parse(arguments)); });
}
