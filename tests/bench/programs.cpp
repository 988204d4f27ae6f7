#include "tests/bench/programs.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef MOLGRAPH_BENCH_RDKIT
#include <GraphMol/ROMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#endif

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <thread>

#include "apps/scoring/predictor.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "attention/engine.hpp"
#include "featurize/descriptors/calculator.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "featurize/smiles/smiles.hpp"
#include "graphormer/architecture.hpp"
#include "tests/bench/machine.hpp"
#include "tests/bench/models.hpp"

extern char** environ;

namespace molgraph::bench {
#ifdef MOLGRAPH_BENCH_RDKIT
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMolecules = 2048;  // per round inside this process
constexpr std::size_t kFileRows = 20000;

/// A temporary folder. The destructor removes it.
struct Scratch {
  fs::path path = fs::temp_directory_path() / ("molgraph_bench_" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

double median_seconds(int rounds, const std::function<void()>& work) {
  std::vector<double> seconds;
  work();  // warm-up
  for (int r = 0; r < rounds; ++r) {
    const auto start = Clock::now();
    work();
    seconds.push_back(seconds_since(start));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

struct Cost {
  double seconds = 0, megabytes = 0;  ///< wall time; largest resident size
};

/// The largest resident size so far, in MB. (The value of wait4() also includes this process before exec.)
double peak_megabytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

/// Runs a program to its end; throws if it fails.
Cost run_program(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int out : {1, 2}) posix_spawn_file_actions_addopen(&actions, out, "/dev/null", O_WRONLY, 0);
  const auto start = Clock::now();
  pid_t child = 0;
  if (::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) != 0)
    throw std::runtime_error("cannot start " + arguments[0]);
  posix_spawn_file_actions_destroy(&actions);
  Cost cost;
  std::atomic<bool> running = true;
  std::thread watcher([&] {
    for (; running; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
      cost.megabytes = std::max(cost.megabytes, peak_megabytes(child));
  });
  int status = 0;
  ::waitpid(child, &status, 0);
  cost.seconds = seconds_since(start);
  running = false;
  watcher.join();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(arguments[0] + " failed");
  return cost;
}

Cost median_run(int rounds, const std::vector<std::string>& arguments) {
  std::vector<Cost> costs;
  for (int r = 0; r < rounds; ++r) costs.push_back(run_program(arguments));
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.seconds < b.seconds; });
  return costs[costs.size() / 2];
}

/// Times of descriptors and fingerprints of parsed molecules, then the mean time per molecule of each step.
void measure_descriptors(std::span<const std::string> smiles, int rounds, std::vector<Figure>& figures) {
  std::vector<std::unique_ptr<RDKit::ROMol>> molecules;
  for (const std::string& text : smiles) molecules.emplace_back(RDKit::SmilesToMol(text));
  std::erase(molecules, nullptr);
  const auto count = static_cast<double>(molecules.size());
  const DescriptorCalculator calculator(rdkit_data_dir() + "/Data/FragmentDescriptors.csv");
  std::vector<double> values(descriptor_names().size());
  std::vector<std::uint8_t> counts(kFingerprintBins);
  figures.push_back({"descriptors, one core", "us/molecule", 1e6 / count * median_seconds(rounds, [&] {
                                                               for (const auto& molecule : molecules)
                                                                 calculator.descriptors(*molecule, values);
                                                             })});
  figures.push_back({"fingerprint, one core", "us/molecule", 1e6 / count * median_seconds(rounds, [&] {
                                                               for (const auto& molecule : molecules)
                                                                 morgan_fingerprint(*molecule, counts);
                                                             })});
  std::vector<Figure> steps;
  for (const auto& molecule : molecules) {
    const auto times = calculator.time_steps(*molecule);
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (steps.size() == k) steps.push_back({"  " + std::string(times[k].step), "us/molecule"});
      steps[k].value += 1e6 / count * times[k].seconds;
    }
  }
  figures.insert(figures.end(), steps.begin(), steps.end());
}

}  // namespace
#endif

std::vector<Figure> measure_programs(const LoadedData& loaded, const std::string& data, const std::string& programs,
                                     int threads, int rounds) {
#ifdef MOLGRAPH_BENCH_RDKIT
  std::vector<Figure> figures;
  const Scratch scratch;
  const std::string model_file = scratch.path / "model.safetensors", one = scratch.path / "one.csv",
                    many = scratch.path / "many.csv";
  ModelConfig config;
  config.featurizer = loaded.set.featurizer;
  config.model = graphormer_architecture().defaults;
  config.encoder().gate.enabled = true;
  config.task.names = {"y"};
  config.task.units = {""};
  save_model(model_file, *molgraph::make_model(config, 0), config);

  const std::size_t count = std::min(kMolecules, loaded.set.smiles.size());
  const std::vector<std::string> all(loaded.set.smiles.begin(), loaded.set.smiles.end());
  const std::span<const std::string> smiles(all.data(), count);
  const auto per_molecule = [&](double seconds) { return 1e6 * seconds / static_cast<double>(count); };
  const auto rate = [&](double seconds) { return static_cast<double>(count) / seconds; };

  const Featurizer featurizer(config.featurizer);
  figures.push_back({"RDKit parse, one core", "us/molecule", per_molecule(median_seconds(rounds, [&] {
                       for (const std::string& text : smiles) delete RDKit::SmilesToMol(text);
                     }))});
  figures.push_back({"featurise, one core", "us/molecule", per_molecule(median_seconds(rounds, [&] {
                       for (const std::string& text : smiles) (void)featurizer.smiles(text);
                     }))});
  measure_descriptors(smiles, rounds, figures);
  std::vector<std::int64_t> indices(count);
  for (std::size_t i = 0; i < count; ++i) indices[i] = static_cast<std::int64_t>(i);
  const PackOptions pack = molgraph::make_model(config, 0)->pack_options();
  figures.push_back({"pair relations + pack, one core", "us/molecule", per_molecule(median_seconds(rounds, [&] {
                       for (std::size_t i = 0; i + 64 <= count; i += 64)
                         make_batch(loaded.set, std::span(indices).subspan(i, 64), pack);
                     }))});
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    if (!why_unusable({}, precision).empty()) continue;
    const std::string name = to_string(precision);
    Predictor predictor({model_file}, {.threads = threads, .precision = precision});
    figures.push_back(
        {"SMILES to score, " + name, "molecules/s", rate(median_seconds(rounds, [&] { predictor.predict(smiles); }))});
    figures.push_back({"one SMILES, model loaded, " + name, "us",
                       1e6 * median_seconds(20 * rounds, [&] { predictor.predict(smiles.first(1)); })});
  }

  const std::string score = programs + "/molgraph-score", train = programs + "/molgraph-train",
                    out = scratch.path / "out.csv";
  // A default run of a table: a transformer of 12 layers with trees and a Gaussian process.
  const std::string table = scratch.path / "table.csv", run = scratch.path / "default";
  {
    std::ofstream rows(table);
    rows << "smiles,y\n";
    for (std::size_t i = 0; i < count; ++i)
      rows << smiles[i] << "," << loaded.set.exact_target(i * loaded.set.task.names.size()) << "\n";
  }
  run_program({train, table, "--epochs", "1", "--threads", std::to_string(threads), "-o", run});
  Predictor blend({run}, {.threads = threads});
  figures.push_back({"SMILES to score, default run of " + std::to_string(count) + " molecules", "molecules/s",
                     rate(median_seconds(rounds, [&] { blend.predict(smiles); }))});

  std::ofstream(one) << "smiles\n" << smiles[0] << "\n";
  {
    std::ofstream rows(many);
    rows << "smiles\n";
    for (std::size_t i = 0; i < kFileRows; ++i) rows << loaded.set.smiles[i % loaded.set.smiles.size()] << "\n";
  }
  const auto score_file = [&](const std::string& file) {
    return std::vector<std::string>{
        score, "-m", model_file, "-i", file, "-o", out, "--threads", std::to_string(threads)};
  };
  const Cost one_run = median_run(rounds, score_file(one)), many_run = run_program(score_file(many));
  figures.push_back({"molgraph-score, one SMILES, cold", "ms", 1e3 * one_run.seconds});
  figures.push_back({"molgraph-score, one SMILES, peak memory", "MB", one_run.megabytes});
  figures.push_back(
      {"molgraph-score, 20,000 rows, whole program", "rows/s", static_cast<double>(kFileRows) / many_run.seconds});
  figures.push_back({"molgraph-score, 20,000 rows, peak memory", "MB", many_run.megabytes});
  const Cost training = run_program({train, data, "--model", "graphormer", "--urpe", "--batch-size", "256", "--steps",
                                     "40", "--threads", std::to_string(threads), "-o", scratch.path / "run"});
  figures.push_back({"molgraph-train, 40 steps of 256, peak memory", "MB", training.megabytes});
  return figures;
#else
  (void)loaded, (void)data, (void)programs, (void)threads, (void)rounds;
  return {};
#endif
}

}  // namespace molgraph::bench
