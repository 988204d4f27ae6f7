// urpe-tasks: tests which relative encodings can identify positions (Luo et al. 2022, section 5.1).
#include <ATen/Context.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/programs/shell/program.hpp"
#include "datasets/system/files.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "tests/theory/sequence_model.hpp"

namespace molgraph::theory {
namespace {

struct Call {
  std::string preset = "small", task = "all", encoding = "all", csv;
  std::int64_t length = 0, vocabulary = 0, steps = 0, batch_size = 0;
  double lr = 0;
  CommonOptions common;
};

TaskOptions options_of(const Call& call, const std::string& task, const std::string& encoding) {
  TaskOptions o = preset(call.preset);
  o.task = task_from_string(task);
  set_encoding(o, encoding);
  if (call.steps > 0) {
    o.warmup = o.warmup * call.steps / o.steps;
    o.steps = call.steps;
  }
  if (call.length > 0) o.length = call.length;
  if (call.vocabulary > 0) o.vocabulary = call.vocabulary;
  if (call.batch_size > 0) o.batch_size = call.batch_size;
  if (call.lr > 0) o.lr = call.lr;
  o.seed = call.common.seed;
  return o;
}

int body(const std::vector<std::string>& arguments) {
  Call call;
  CommandLine line("urpe-tasks", "Trains sequence models without absolute positions on URPE's synthetic tasks.",
                   "urpe-tasks\n  urpe-tasks --task position --encoding t5+urpe --steps 500");
  CLI::App& app = line.app();
  app.add_option("--preset", call.preset, "sizes: small (minutes on two cores) or paper (meant for a GPU)")
      ->check(CLI::IsMember(std::vector<std::string>{"small", "paper"}))
      ->capture_default_str();
  app.add_option("--task", call.task, "position (identification), even (token prediction) or all")
      ->check(CLI::IsMember(std::vector<std::string>{"position", "even", "all"}))
      ->capture_default_str();
  app.add_option("--encoding", call.encoding, "none, t5, t5+urpe or all")
      ->check(CLI::IsMember(std::vector<std::string>{"none", "t5", "t5+urpe", "all"}))
      ->capture_default_str();
  app.add_option("--length", call.length, "tokens of a sequence; 0 = the preset's")->capture_default_str();
  app.add_option("--vocabulary", call.vocabulary, "different tokens; 0 = the preset's (paper: 10, 1000 or 10000)")
      ->capture_default_str();
  app.add_option("--steps", call.steps, "updates; 0 = the preset's; warm-up in proportion")->capture_default_str();
  app.add_option("-b,--batch-size", call.batch_size, "sequences per update; 0 = the preset's")->capture_default_str();
  app.add_option("--lr", call.lr, "peak learning rate; 0 = the preset's")->capture_default_str();
  app.add_option("--csv", call.csv, "write the table here too");
  line.add_common(call.common, kThreads | kSeed);
  line.parse(arguments);
  if (call.length < 0 || call.vocabulary < 0 || call.steps < 0 || call.batch_size < 0 || call.lr < 0)
    throw UsageError("sizes must not be negative");
  at::globalContext().setDeterministicAlgorithms(true, true);
  torch::set_num_threads(thread_count(call.common.threads));

  const auto chosen = [](const std::string& word, std::vector<std::string> all) {
    return word == "all" ? all : std::vector<std::string>{word};
  };
  std::string csv = "task,encoding,token_accuracy,loss,seconds\n";
  std::printf("%-10s %-10s %14s %8s %8s\n", "task", "encoding", "token accuracy", "loss", "seconds");
  for (const std::string& task : chosen(call.task, {"position", "even"})) {
    for (const std::string& encoding : chosen(call.encoding, {"none", "t5", "t5+urpe"})) {
      const TaskOptions o = options_of(call, task, encoding);
      Progress progress(task + " " + encoding, "steps", o.steps);
      const TaskResult result = train_task(o, [&](std::int64_t step, double loss) {
        char note[32];
        std::snprintf(note, sizeof note, "loss %.4f", loss);
        progress.update(step, note);
        if (const int signal = stop_requested()) throw Stopped{signal};
      });
      std::printf("%-10s %-10s %13.2f%% %8.4f %8.1f\n", task.c_str(), encoding.c_str(), 100 * result.accuracy,
                  result.loss, result.seconds);
      std::fflush(stdout);
      char row[128];
      std::snprintf(row, sizeof row, "%s,%s,%.6f,%.6f,%.1f\n", task.c_str(), encoding.c_str(), result.accuracy,
                    result.loss, result.seconds);
      csv += row;
    }
  }
  if (!call.csv.empty()) write_file_atomically(call.csv, csv);
  return kExitDone;
}

}  // namespace
}  // namespace molgraph::theory

int main(int argc, char** argv) {
  molgraph::let_waiting_threads_sleep(argv);
  molgraph::catch_stop_signals();
  return molgraph::run_program(argc, argv, molgraph::theory::body);
}
