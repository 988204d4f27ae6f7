// The command line of molgraph-pretrain.
#include "apps/programs/train/train_call.hpp"
#include "apps/training/run/pretraining.hpp"

namespace molgraph {
namespace {

/// Flags of molgraph-train that do not apply here: hidden in the help, a usage error if given (check_pretraining()).
const NamedFlags kHidden{"subset",
                         "data-dir",
                         "auxiliary-targets",
                         "log-targets",
                         "task-type",
                         "positive",
                         "weight-column",
                         "folds",
                         "calibration-size",
                         "calibrate",
                         "domain",
                         "domain-labels",
                         "descriptors",
                         "descriptor-columns",
                         "target-descriptors",
                         "recipe",
                         "ensemble-size",
                         "member-splits",
                         "out-of-fold",
                         "quality",
                         "refit",
                         "baselines",
                         "blend",
                         "task-weights",
                         "task-balance",
                         "class-balance",
                         "scale-targets",
                         "clip-labels",
                         "mix-width"};

}  // namespace

TrainProgram pretrain_program() {
  return {
      .name = "molgraph-pretrain",
      .what =
          "Trains a graph transformer to predict the descriptors of a corpus of molecules, and the measured labels\n"
          "in --target-columns. molgraph-train --from starts from the resulting weights.",
      .example =
          "molgraph-pretrain corpus.smi.gz more.csv -o runs/pretrained\n"
          "  molgraph-pretrain corpus.smi.gz assays.csv.gz --target-columns all -o runs/pretrained\n"
          "  molgraph-train my_assay.csv --from runs/pretrained -o runs/my_assay",
      .nothing_to_read = "no corpus is given. Name its tables: molgraph-pretrain corpus.smi.gz",
      .base = pretraining_defaults(),
      .hidden = kHidden,
      .by_molecules = true,
      .help = {
          {"data-path", "tables of the corpus (CSV, TSV, SMI, SDF, .gz), or a store with descriptors"},
          {"target-columns",
           "measured columns to learn in addition to the descriptors, or all of those with numbers or two classes "
           "(empty: none)"},
          {"split-type",
           "how to split; time and order: the last rows are the test set, and the rows before them the validation set"},
          {"duplicates",
           "molecules in several rows: keep all rows, in one set of the split; or drop all but the first row (empty: "
           "keep all rows, each in any set of the split)"},
          {"from",
           "start from the weights of a run; pretrained: from the weights that ship with molgraph (empty, or none: "
           "from scratch)"},
          {"epochs", "passes over the training set, instead of --molecules-seen; 0 = by --molecules-seen"},
          {"steps", "update steps, instead of --molecules-seen; 0 = by --molecules-seen"},
          {"layers", "blocks; 0 = by --size"}}};
}

}  // namespace molgraph
