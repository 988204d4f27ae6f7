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
      .data = "tables of the corpus (CSV, TSV, SMI, SDF, .gz), or a store with descriptors",
      .nothing_to_read = "no corpus is given. Name its tables: molgraph-pretrain corpus.smi.gz",
      .base = pretraining_defaults(),
      .hidden = kHidden,
      .by_molecules = true};
}

}  // namespace molgraph
