// The whole training loop with its updates on the device: the same losses as on the CPU, checkpoints, and resuming with
// the same bits. Linked twice, like parity_test.cpp.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/training/loop/device_training.hpp"
#include "apps/training/loop/model_factory.hpp"
#include "apps/training/loop/optimizer.hpp"
#include "apps/training/loop/trainer.hpp"
#include "apps/training/run/run_training.hpp"
#include "attention/cuda/cuda_engine.hpp"
#include "attention/cuda/gpu/runtime.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/meeting.hpp"
#include "tests/models/engine_checks.hpp"

namespace molgraph::test {
namespace {

namespace fs = std::filesystem;

/// Two regression targets, or (`mixed`) a regression target and a binary target.
MoleculeSet molecule_set(bool mixed) {
  MoleculeSet set;
  set.task.names = {"y", "w"};
  if (mixed) set.task.set_kinds({TaskKind::regression, TaskKind::binary});
  for (unsigned k = 0; k < 14; ++k) {
    const MolecularGraph graph = random_graph(4 + static_cast<int>(k % 5), k);
    set.add(graph, k, std::to_string(k), "C",
            {static_cast<double>(k % 3), k % 4 == 0 ? std::nan("") : static_cast<double>(mixed ? k % 2 : k % 5)}, {},
            k % 5 == 1 ? std::vector<std::int8_t>{1, static_cast<std::int8_t>(mixed || k % 4 == 0 ? 0 : -1)}
                       : std::vector<std::int8_t>{},
            0.5f + static_cast<float>(k % 2));
  }
  return set;
}

class CudaLoop : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = cuda::why_unusable(0); !reason.empty()) GTEST_SKIP() << reason;
    folder_ = fs::path(testing::TempDir()) / ("molgraph_cuda_loop_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::shared_ptr<GraphModel> model() {
    EncoderOptions e{.layers = 2, .width = 16, .ffn = 16, .heads = 4};
    e.terms.bias = true, e.gate.enabled = true;
    torch::manual_seed(5);
    ModelOptions options = graphormer_architecture().defaults;
    options.encoder = e, options.max_distance = 4, options.max_degree = 4, options.path_hops = 3, options.outputs = 2;
    auto model = std::make_shared<GraphModel>(options);
    model->set_target_scaling(torch::tensor({1.0f, 2.0f}), torch::tensor({0.8f, 1.5f}));
    return model;
  }

  /// Trains `epochs` of 4 epochs and returns metrics.csv.
  std::string train_in(const std::string& name, bool on_device, std::int64_t epochs, bool resume,
                       const std::shared_ptr<Processes>& processes = std::make_shared<Processes>(),
                       std::shared_ptr<GraphModel> of = model()) const {
    const MoleculeSet set = molecule_set(mixed_);
    const Split split{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13}, {}};
    Trainable trainable{.module = of,
                        .pack = of->pack_options(),
                        .width = 16,
                        .target_shift = of->named_buffers()["target_shift"],
                        .target_scale = of->named_buffers()["target_scale"]};
    trainable.decay_exempt = [of](const std::string& parameter) { return !of->specs().at(parameter).decays(); };
    trainable.save = [of](const std::string& path) { torch::save(of->parameters(), path); };
    if (on_device) {
      DeviceSum sum;  // like NCCL's sum, but through the host
      if (!processes->is_single()) {
        sum = [processes](float* values, std::size_t size, DeviceStream stream) {
          std::vector<float> host(size);
          cuda::copy_to_host(host.data(), values, size * sizeof(float), stream);
          processes->sum(std::span(host));
          cuda::copy_to_device(values, host.data(), size * sizeof(float), stream);
          cuda::synchronize(stream);
        };
      }
      const auto boundary = std::make_shared<EngineBoundary>(*of, Device{.kind = Device::Kind::cuda});
      trainable.device = std::make_shared<DeviceTraining>(boundary, *of, set, trainable.decay_exempt, sum);
    } else {
      const auto engine = std::make_shared<EngineBoundary>(*of);
      trainable.run = [engine](const GraphBatch& batch, const ForwardMode&) { return engine->predict(batch); };
      trainable.gradients = [engine](const GraphBatch& batch, const ForwardMode& mode, const LossSlope& slope) {
        return engine->train(batch, mode, slope);
      };
      trainable.weights_changed = [engine] { engine->weights_changed(); };
    }
    TrainerOptions options{.batch_size = 3,
                           .epochs = epochs,
                           .total_steps = 16,
                           .warmup_steps = 2,
                           .lr = 3e-3,
                           .grad_clip = 1.0,
                           .ema = 0.5};
    if (mixed_) options.loss = Losses(Loss::huber, set.task), options.metric = Metric::loss;
    options.weights = LabelWeights(set, split.train, {.tasks = {1, 2}, .balance_tasks = true});
    options.seed = 9, options.folder = (folder_ / name).string(), options.identity = "a run";
    options.processes = processes;
    if (on_device) {
      EXPECT_GT(measure_step(trainable, set, split, options), 0);  // must not change the run
    }
    train(trainable, set, split, options, resume);
    std::ostringstream text;
    text << std::ifstream(options.folder + "/metrics.csv").rdbuf();
    return text.str();
  }
  /// Turns a finished run's checkpoint into that of an interrupted run.
  void mark_interrupted(const std::string& name) const {
    const std::string path = (folder_ / name / "checkpoints/last.safetensors").string();
    const std::shared_ptr<GraphModel> of = model();
    NamedTensors tensors;
    for (const auto& item : of->named_parameters()) tensors.emplace_back("model." + item.key(), item.value());
    for (const auto& item : of->named_buffers()) tensors.emplace_back("model." + item.key(), item.value());
    Optimizer(
        *of, [](const std::string&) { return false; }, 0.0)
        .append_state(tensors);
    WeightAverage(*of, 0.5).append_state(tensors);
    TrainerState state = read_checkpoint(path, "a run", tensors);
    state.finished = false;
    write_checkpoint(path, "a run", state, tensors);
  }
  std::string bytes(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / file, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
  bool mixed_ = false;
};

std::vector<double> numbers(const std::string& csv) {
  std::vector<double> all;
  std::istringstream words(csv.substr(csv.find('\n')));
  for (std::string word; std::getline(words, word, ',');) {
    std::istringstream lines(word);  // a line's last number and the next line's first
    for (double number; lines >> number;) all.push_back(number);
  }
  return all;
}

TEST_F(CudaLoop, MatchesTheCpu) {
  const std::vector<double> expected = numbers(train_in("cpu", false, 4, false)),
                            got = numbers(train_in("gpu", true, 4, false));
  ASSERT_EQ(expected.size(), 20u);  // epoch, step, lr, loss, metric
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2e-4 * std::abs(expected[k])) << k;
}

TEST_F(CudaLoop, MatchesTheCpuOnAMixedTask) {
  mixed_ = true;
  const std::vector<double> expected = numbers(train_in("cpu", false, 4, false)),
                            got = numbers(train_in("gpu", true, 4, false));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2e-4 * std::abs(expected[k])) << k;
}

TEST_F(CudaLoop, ResumesBitIdentically) {
  const std::string whole = train_in("whole", true, 4, false);
  train_in("parts", true, 2, false);
  mark_interrupted("parts");
  EXPECT_EQ(train_in("parts", true, 4, true), whole);
  EXPECT_EQ(bytes("parts/checkpoints/last.safetensors"), bytes("whole/checkpoints/last.safetensors"));
}

// Of a batch of three molecules, one process gets one and the other two. The last batch has one molecule, so one
// process gets none.
TEST_F(CudaLoop, TwoProcessesMatchOne) {
  const std::vector<double> expected = numbers(train_in("one", true, 4, false));
  const std::vector<std::shared_ptr<GraphModel>> models{model(), model()};
  run_together(2, [&](const std::shared_ptr<Processes>& processes) {
    train_in("two", true, 4, false, processes, models[static_cast<std::size_t>(processes->rank())]);
  });
  const std::vector<double> got = numbers(bytes("two/metrics.csv"));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2e-4 * std::abs(expected[k])) << k;
  const auto first = models[0]->parameters(), second = models[1]->parameters();
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_TRUE(torch::equal(first[k], second[k])) << k;
}

TEST_F(CudaLoop, TrainingRefusesPairStates) {
  TrainRun run;
  run.options.model.pair_state = 8;
  run.device = Device::gpu(0);
  try {
    run_training(run);
    ADD_FAILURE() << "no error";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()).find("--device cuda without --pair-state 0: "), 0u) << error.what();
  }
}

}  // namespace
}  // namespace molgraph::test
