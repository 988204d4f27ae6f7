// molgraph-pretrain: a model learns the descriptors of a corpus of molecules and becomes a start for molgraph-train.
#include "apps/programs/shell/program.hpp"
#include "apps/programs/train/train_program.hpp"
#include "apps/training/pretraining.hpp"

namespace molgraph {
namespace {

/// Flags of molgraph-train that mean nothing here: left out of the help, and refused if given (check_pretraining()).
const NamedFlags kHidden{"subset",
                         "data-dir",
                         "target-columns",
                         "task-type",
                         "positive",
                         "weight-column",
                         "descriptors",
                         "descriptor-columns",
                         "target-descriptors",
                         "censored",
                         "folds",
                         "recipe",
                         "ensemble-size",
                         "member-splits",
                         "quality",
                         "refit",
                         "baselines",
                         "blend",
                         "task-weights",
                         "task-balance",
                         "class-balance",
                         "scale-targets",
                         "mix-width"};

TrainProgram program() {
  return {
      .name = "molgraph-pretrain",
      .what =
          "Trains a graph transformer to predict the descriptors of a corpus of molecules; molgraph-train --from "
          "starts from it.",
      .example =
          "molgraph-pretrain corpus.smi.gz more.csv -o runs/pretrained\n"
          "  molgraph-train my_assay.csv --from runs/pretrained -o runs/my_assay",
      .data = "tables of the corpus (CSV, TSV, SMI, SDF, .gz), one behind the other, or a store that holds descriptors",
      .nothing_to_read = "what to learn from? Name the tables of the corpus: molgraph-pretrain corpus.smi.gz",
      .base = pretraining_defaults(),
      .hidden = kHidden,
      .by_molecules = true};
}

int body(const std::vector<std::string>& arguments) { return run_train_program(program(), arguments); }

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  molgraph::let_waiting_threads_sleep(argv);
  return molgraph::run_program(argc, argv, molgraph::body);
}
