#include "datasets/load_checks.hpp"

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

void reject_if(bool given, const std::string& flag, const std::string& why) {
  if (given) throw UsageError(flag + " would do nothing: " + why);
}

void reject_table_options(const TableOptions& table, bool columns_too, const std::string& why) {
  reject_if(table.format != TableFormat::automatic, "--format", why);
  reject_if(table.header, "--header", why);
  reject_if(table.no_header, "--no-header", why);
  reject_if(columns_too && !table.smiles_column.empty(), "--smiles-column", why);
  reject_if(columns_too && !table.id_column.empty(), "--id-column", why);
}

}  // namespace

void check_store_options(const LoadOptions& o) {
  reject_table_options(o.table, true, o.paths[0] + " is a store, not a table");
  reject_if(!o.weight_column.empty(), "--weight-column",
            o.paths[0] + " is a store, which already contains the weights; use the option to create the store");
  reject_if(!o.subset.empty(), "--subset", "it applies only to named data sets");
  reject_if(!o.data_dir.empty(), "--data-dir", "it applies only to named data sets");
  reject_if(o.duplicates.value_or(Duplicates::keep) != Duplicates::keep,
            "--duplicates " + std::string(to_string(o.duplicates.value_or(Duplicates::keep))),
            o.paths[0] + " is a store, whose rows are fixed; use the option to create the store");
  reject_if(o.duplicates.has_value() && !o.splits_file.empty(), "--duplicates",
            "--splits-file assigns each row to a set");
  reject_if(o.limits.max_atoms != FeaturizerLimits{}.max_atoms, "--max-atoms",
            o.paths[0] + " is a store, which is already featurised; use the option to create the store");
}

void check_plan_options(const LoadOptions& o, const SourcePlan& plan, bool named) {
  if (named) reject_table_options(o.table, plan.computed_label, "the files of '" + plan.name + "' have a known format");
  else reject_if(!o.data_dir.empty(), "--data-dir", "it applies only to named data sets");
  reject_if(o.duplicates.has_value() && !o.splits_file.empty(), "--duplicates",
            "--splits-file assigns each row to a set");
  if (!o.splits_file.empty()) return check_split_sizes(o, "--splits-file defines the split");
  const bool drawn = plan.split_name.starts_with("files") && plan.tables.size() == 2;  // valid is drawn from train
  check_split_sizes(o, plan.split_name.empty() || drawn ? ""
                       : plan.split_name == "files"     ? "the tables define the split"
                                                        : "the " + plan.split_name + " split is used");
}

void check_split_sizes(const LoadOptions& o, const std::string& fixed) {
  reject_if(!fixed.empty() && o.split_sizes != LoadOptions{}.split_sizes, "--split-sizes", fixed);
}

}  // namespace molgraph
