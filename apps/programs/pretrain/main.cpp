// molgraph-pretrain: a model learns the descriptors of a corpus of molecules and becomes a start for molgraph-train.
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
