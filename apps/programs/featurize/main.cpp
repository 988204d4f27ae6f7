// molgraph-featurize: converts a table or a named data set to an HDF5 store of featurised molecules.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/programs/featurize/featurize.hpp"
#include "apps/programs/shell/option_values.hpp"
#include "apps/programs/shell/program.hpp"
#include "datasets/catalogue/catalogue.hpp"

namespace molgraph {
namespace {

/// Values of the command line that need conversion.
struct Flags {
  CommonOptions common;
  TableFlags table;
  std::string features, descriptors, standardize, duplicates, task, split;
  std::vector<double> split_sizes{0.8, 0.1, 0.1};
};

void add_data_options(CLI::App& app, FeaturizeOptions& options, Flags& flags) {
  app.add_option("-i,--data-path,data", options.load.paths,
                 "CSV, TSV, SMI or SDF (also .gz; - is standard input), or the name of a data set; two or three "
                 "tables: train [valid] test")
      ->required()
      ->expected(1, 3)
      ->type_name("IN");
  app.add_option("-o,--output", options.output, "Store to write")->required()->type_name("STORE.h5");
  choose(app.add_option("--features", flags.features,
                        "Atom and bond features: molgraph (10 atom and 4 bond columns), ogb (9 and 3) or zinc (1 and "
                        "1) (empty: those of the data set, else molgraph)"),
         {"molgraph", "ogb", "zinc"});
  choose(app.add_option("--descriptors", flags.descriptors,
                        "Store RDKit's 2-D descriptors of every molecule as input of the head (empty: rdkit for your "
                        "own tables with numbers to predict and at most 50,000 rows)"),
         {"none", "rdkit"});
  app.add_option("--descriptor-columns", options.load.input_columns,
                 "Numeric columns to store as input of the head; they are not targets")
      ->type_name("NAME");
  choose(app.add_option("--standardize", flags.standardize,
                        "parent: remove salts and solvents and neutralise charges (empty: none). Models that are "
                        "trained on the store do the same in scoring"),
         {"none", "parent"});
  app.add_flag("--no-pairs", options.no_pairs, "Do not store the distances; readers compute them again");
  app.add_option("--target-columns", options.load.target_columns,
                 "Columns to learn, or all (empty: at most 20 columns of numbers or of yes and no, without "
                 "identifiers, years, constants and descriptors)")
      ->type_name("NAME");
  choose(app.add_option(
             "--duplicates", flags.duplicates,
             "Molecules in several rows: merge into one row with the mean or median of each target (classes: "
             "the majority; a tie is missing); keep all rows, in one set of the split; drop all but the first "
             "row (empty: mean for your own table with targets, or keep with --descriptor-columns; otherwise all "
             "rows unchanged)"),
         {"mean", "median", "keep", "drop"});
  choose(app.add_option("-t,--task-type", flags.task,
                        "Kind of the targets (empty: detected; only 0 and 1, or yes and no, are classification)"),
         {"regression", "classification", "binary", "multiclass", "mixed"});
  app.add_option("--positive", options.load.positive,
                 "Classification: the label of class 1, if the labels are words other than yes and no or similar")
      ->type_name("LABEL");
  app.add_option("--weight-column", options.load.weight_column,
                 "Column with the weight of each row in training, 0 or more")
      ->type_name("NAME");
  app.add_option("--subset", options.load.subset,
                 "Subset of a named data set: zinc 12k or full, pcqm4mv2 partial or sample")
      ->type_name("NAME");
  limit(app.add_option("--limit", options.load.limit, "Use only this many molecules; 0 = all"), kMoleculeLimits)
      ->capture_default_str();
  choose(app.add_option("--split-type", flags.split,
                        "Split to store; time and order: the last rows are the test set (empty: the split of the "
                        "source, if it has one)"),
         {"published", "random", "scaffold", "scaffold-balanced", "group", "time", "order", "predefined"});
  limit(
      app.add_option("--split-sizes", flags.split_sizes, "Shares of training, validation and test set of a new split"),
      kSplitShares)
      ->expected(3)
      ->capture_default_str();
  app.add_option("--splits-column", options.load.splits_column, "Column with train, val, test")->type_name("NAME");
  app.add_option("--group-column", options.load.group_column,
                 "--split-type group: rows with the same cell stay in one set")
      ->type_name("NAME");
  app.add_option("--time-column", options.load.time_column, "--split-type time: column of numbers or dates")
      ->type_name("NAME");
  app.add_option("--splits-file", options.load.splits_file,
                 "JSON list of {\"train\", \"val\", \"test\"} with row numbers from 0")
      ->type_name("FILE");
  app.add_option("--rejected", options.rejected,
                 "Write rejected rows to this CSV (also .gz): row, status, reason, smiles")
      ->type_name("FILE");
  app.add_option("--repeated", options.repeated,
                 "Write duplicate molecules and how they were merged to this CSV (also .gz)")
      ->type_name("FILE");
  app.add_flag("--strict", options.load.strict, "Stop with exit code 3 at the first rejected row, without a store");
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
  CommandLine line("molgraph-featurize", "Converts molecules to an HDF5 store that molgraph-train reads without RDKit.",
                   "molgraph-featurize assay.csv -o assay.h5 --split-type scaffold --rejected bad_rows.csv");
  add_data_options(line.app(), options, flags);
  line.add_table(flags.table);
  line.add_common(flags.common, kThreads | kSeed | kDataDir | kAtomLimit);
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
  load.table_descriptors = DescriptorSet::rdkit;  // as in molgraph-train
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
