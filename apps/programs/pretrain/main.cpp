// molgraph-pretrain: trains a model on the descriptors of a corpus, to give pre-trained weights for molgraph-train.
#include "apps/programs/shell/program.hpp"
#include "apps/programs/train/train_program.hpp"

namespace molgraph {
namespace {

int body(const std::vector<std::string>& arguments) { return run_train_program(pretrain_program(), arguments); }

}  // namespace
}  // namespace molgraph

int main(int argc, char** argv) {
  molgraph::let_waiting_threads_sleep(argv);
  return molgraph::run_program(argc, argv, molgraph::body);
}
