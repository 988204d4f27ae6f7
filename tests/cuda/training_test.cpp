// Training on the device, compared with the same updates by the reference and AdamW in float64: losses, clipping, decay
// and moving average. A resumed run must end with the same bits. Linked twice, like parity_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <thread>

#include "tests/cuda/gpu_model.hpp"
#include "tests/models/engine_checks.hpp"

namespace molgraph::test {
namespace {

using cuda::why_unusable;
using torch::Tensor;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint64_t kSeed = 77;
const std::vector<std::vector<std::int64_t>> kBatches{{0, 1, 2, 3, 4}, {5, 3, 1, 0, 2}, {4, 5},
                                                      {1, 2, 3, 4, 5}, {0, 4, 5, 2, 1}, {3, 0}};

std::vector<MolecularGraph> molecules() {
  std::vector<MolecularGraph> graphs;
  for (unsigned k = 0; k < 5; ++k) graphs.push_back(random_graph(5 + 3 * static_cast<int>(k), k));
  graphs.push_back(graph_of(1, {}));
  return graphs;
}

std::unique_ptr<GraphModel> make_graphormer() {
  EncoderOptions e{.layers = 2, .width = 16, .ffn = 16, .heads = 4};
  e.terms.bias = true, e.untie_virtual = false, e.gate.enabled = true;
  ModelOptions options = graphormer_architecture().defaults;
  options.encoder = e, options.max_distance = 4, options.max_degree = 4, options.path_hops = 3, options.outputs = 3;
  return std::make_unique<GraphModel>(options);
}
std::unique_ptr<GraphModel> make_grpe() {
  EncoderOptions e{.layers = 2, .width = 16, .ffn = 16, .heads = 4};
  e.terms = {false, true, true, true, true, true, true};
  ModelOptions options = grpe_architecture().defaults;
  options.encoder = e, options.max_distance = 3, options.perturb_noise = 0.2, options.outputs = 3;
  return std::make_unique<GraphModel>(options);
}

/// The cases of shape_cases() that need additional work per token or pair.
std::vector<PlanCase> shapes_in_training() {
  std::vector<PlanCase> cases;
  for (PlanCase& c : shape_cases()) {
    if (c.name != "sum_readout" && c.name != "mean_readout" && c.name != "degree_scaler" && c.name != "walks_alone" &&
        c.name != "walks_of_many_heads" && c.name != "walks_of_narrow_heads" && c.name != "paths_and_rings" &&
        c.name != "paths_alone")
      continue;
    c.options.outputs = 3;
    cases.push_back(std::move(c));
  }
  return cases;
}

double rate(std::size_t update) { return 1e-2 / (1.0 + static_cast<double>(update)); }
bool exempt(const std::string& name) { return name.ends_with("bias"); }
bool frozen(const std::string& name) { return name == "head.linear.bias"; }

struct Case {
  Loss loss;
  int targets;
  double clip, average;
  std::vector<float> target;  ///< [molecules, targets]
};

std::vector<float> targets_of(Loss loss) {
  if (loss == Loss::ce) return {0, 2, 1, kNaN, 2, 0};
  std::vector<float> all;
  for (int k = 0; k < 18; ++k)
    all.push_back(k % 7 == 3          ? kNaN
                  : loss == Loss::bce ? static_cast<float>(k % 2)
                                      : 0.7f * static_cast<float>(k % 5) - 1);
  return all;
}
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Loss loss : {Loss::mse, Loss::huber, Loss::bce, Loss::ce})
    all.push_back({loss, loss == Loss::ce ? 1 : 3, loss == Loss::mse ? 0.5 : 0.0, loss == Loss::huber ? 0.8 : 0.0,
                   targets_of(loss)});
  all[0].target.assign(18, 0.5f);
  for (std::size_t k = 9; k < 12; ++k) all[0].target[k] = kNaN;  // molecule 3 has no label
  return all;
}
const std::vector<float> kShift{0.5f, -1, 0}, kScale{2, 1, 0.5f};

Tensor loss_of(const Case& c, const Tensor& scaled, const Tensor& target, std::int64_t* count) {
  namespace F = torch::nn::functional;
  const Tensor present = target.isnan().logical_not(), filled = target.nan_to_num(0);
  *count = present.sum().item<std::int64_t>();
  if (c.loss == Loss::ce)
    return (F::cross_entropy(scaled, filled.select(1, 0).to(torch::kInt64),
                             F::CrossEntropyFuncOptions().reduction(torch::kNone)) *
            present.select(1, 0))
        .sum();
  const Tensor expected = (filled - torch::tensor(kShift)) / torch::tensor(kScale);
  if (c.loss == Loss::bce)
    return (F::binary_cross_entropy_with_logits(scaled, filled.to(scaled.scalar_type()),
                                                F::BinaryCrossEntropyWithLogitsFuncOptions().reduction(torch::kNone)) *
            present)
        .sum();
  if (c.loss == Loss::mse) return ((scaled - expected).square() * present).sum();
  return (F::huber_loss(scaled, expected.to(scaled.scalar_type()), F::HuberLossFuncOptions().reduction(torch::kNone)) *
          present)
      .sum();
}

struct Trained {
  std::map<std::string, Tensor> weight, average;
  double loss = 0, count = 0;
};

// Updates in float64, with gradients by autograd.
Trained train_reference(GraphModel& model, const Case& c) {
  const std::vector<MolecularGraph> graphs = molecules();
  const Tensor target = torch::tensor(c.target).reshape({6, c.targets});
  Trained result;
  std::map<std::string, Tensor> mean, square;
  for (auto& item : model.named_parameters()) {
    mean[item.key()] = torch::zeros_like(item.value()), square[item.key()] = torch::zeros_like(item.value());
    result.average[item.key()] = item->detach().clone();
  }
  for (std::size_t u = 0; u < kBatches.size(); ++u) {
    std::vector<MolecularGraph> chosen;
    for (const std::int64_t k : kBatches[u]) chosen.push_back(graphs[static_cast<std::size_t>(k)]);
    std::int64_t count = 0;
    const GraphBatch batch = batch_for(model, chosen, kBatches[u]);
    const Tensor scaled =
        model.run(batch, {.training = true, .seed = kSeed, .step = static_cast<std::uint32_t>(u)}).scaled;
    const Tensor loss = loss_of(c, scaled, target.index_select(0, torch::tensor(kBatches[u])), &count);
    (loss / static_cast<double>(count)).backward();
    result.loss += loss.item<double>(), result.count += static_cast<double>(count);
    torch::NoGradGuard no_grad;
    double norm = 0;
    for (auto& item : model.named_parameters())
      if (!frozen(item.key()) && item->grad().defined()) norm += item->grad().square().sum().item<double>();
    const double factor = c.clip > 0 ? std::min(1.0, c.clip / (std::sqrt(norm) + 1e-6)) : 1.0,
                 t = static_cast<double>(u + 1);
    for (auto& item : model.named_parameters()) {
      const std::string& name = item.key();
      const Tensor g = item->grad().defined() ? item->grad() * factor : torch::zeros_like(item.value());
      if (!frozen(name)) {
        mean[name].mul_(0.9).add_(g, 0.1), square[name].mul_(0.999).add_(g.square(), 0.001);
        item->mul_(1 - rate(u) * (exempt(name) ? 0.0 : 0.05));
        item->sub_(rate(u) / (1 - std::pow(0.9, t)) * mean[name] /
                   (square[name].sqrt() / std::sqrt(1 - std::pow(0.999, t)) + 1e-8));
        result.average[name].lerp_(item.value(), 1 - c.average);
      }
      item->mutable_grad() = Tensor();
    }
  }
  for (auto& item : model.named_parameters()) result.weight[item.key()] = item->detach().clone();
  return result;
}

UpdateOptions options_of(const Case& c) {
  UpdateOptions o{
      .loss = c.loss, .targets = c.targets, .target = c.target, .shift = kShift, .scale = kScale, .weight_decay = 0.05};
  o.clip = c.clip, o.average = c.average, o.frozen = frozen, o.decay_exempt = exempt, o.seed = kSeed;
  return o;
}

// Tensors by name, with the shapes of the module's parameters.
class Named {
 public:
  explicit Named(GraphModel& model) {
    for (auto& item : model.named_parameters())
      of[item.key()] = torch::zeros_like(item.value()).detach().to(torch::kFloat32);
  }
  GradientLookup out() {
    return [this](const std::string& name) { return of.at(name).data_ptr<float>(); };
  }
  TensorLookup in() const {
    return [this](const std::string& name) -> const float* { return of.at(name).const_data_ptr<float>(); };
  }
  std::map<std::string, Tensor> of;
};

class CudaTraining : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_unusable(0); !reason.empty()) GTEST_SKIP() << reason;
  }
  static void load(ResidentTraining& engine, const GraphModel& model, std::size_t most_bytes = 0) {
    const std::vector<MolecularGraph> graphs = molecules();  // in two pieces, as data sets are read
    engine.add_molecules(batch_for(model, {graphs.begin(), graphs.begin() + 2}, {0, 1}));
    engine.add_molecules(batch_for(model, {graphs.begin() + 2, graphs.end()}, {2, 3, 4, 5}));
    EXPECT_EQ(engine.upload_molecules(most_bytes), most_bytes == 0);
  }
  template <class Make>
  static void expect_reference_updates(const std::string& name, const Make& make, const Case& c) {
    Pair pair = make_pair(make);
    const Trained expected = train_reference(*pair.reference, c);
    GpuModel gpu(*pair.engine);
    ResidentTraining& engine = gpu.resident();
    load(engine, *pair.engine);
    engine.start_training(options_of(c), 0);
    for (std::size_t u = 0; u < kBatches.size(); ++u) engine.step(kBatches[u], static_cast<std::uint32_t>(u), rate(u));
    const LossTotal total = engine.take_losses();
    EXPECT_EQ(total.count, expected.count);
    EXPECT_NEAR(total.sum, expected.loss, 2e-3 * std::abs(expected.loss));
    EXPECT_EQ(engine.take_losses().count, 0);
    // AdamW divides by the gradient's size. Where it is nearly zero, rounding decides the result. So the errors of all
    // weights are added up.
    Named averages(*pair.engine);
    if (c.average > 0) engine.read_state({.average = averages.out()});
    gpu.fetch_weights();
    double error = 0, size = 0, average_error = 0;
    for (auto& item : pair.engine->named_parameters()) {
      error += (item->to(torch::kFloat64) - expected.weight.at(item.key())).square().sum().item<double>();
      average_error += (averages.of.at(item.key()).to(torch::kFloat64) - expected.average.at(item.key()))
                           .square()
                           .sum()
                           .item<double>();
      size += expected.weight.at(item.key()).square().sum().item<double>();
    }
    EXPECT_LT(std::sqrt(error / size), 2e-3) << name << " loss " << static_cast<int>(c.loss);
    if (c.average > 0) {
      EXPECT_LT(std::sqrt(average_error / size), 2e-3);
    }
    EXPECT_TRUE(torch::equal(pair.engine->named_parameters()["head.linear.bias"].to(torch::kFloat64),
                             expected.weight.at("head.linear.bias")));
  }
};

TEST_F(CudaTraining, UpdatesMatchAdamW) {
  for (const Case& c : cases()) {
    expect_reference_updates("graphormer", make_graphormer, c);
    expect_reference_updates("grpe", make_grpe, c);
  }
  for (const PlanCase& shape : shapes_in_training())
    expect_reference_updates(
        shape.name, [&] { return std::make_unique<GraphModel>(shape.options); }, cases()[0]);
}

TEST_F(CudaTraining, ResumesBitIdentically) {
  const Case c = cases()[1];
  const auto train = [&](std::size_t stop) {  // at `stop`, a new engine takes over
    Pair pair = make_pair([] { return make_graphormer(); });
    Named mean(*pair.engine), square(*pair.engine), average(*pair.engine);
    auto gpu = std::make_unique<GpuModel>(*pair.engine);
    load(gpu->resident(), *pair.engine);
    gpu->resident().start_training(options_of(c), 0);
    for (std::size_t u = 0; u < kBatches.size(); ++u) {
      if (u == stop) {
        gpu->resident().read_state({mean.out(), square.out(), average.out()});
        gpu->fetch_weights();
        gpu = std::make_unique<GpuModel>(*pair.engine);
        load(gpu->resident(), *pair.engine);
        gpu->resident().start_training(options_of(c), static_cast<std::int64_t>(u),
                                       {mean.in(), square.in(), average.in()});
      }
      gpu->resident().step(kBatches[u], static_cast<std::uint32_t>(u), rate(u));
    }
    gpu->resident().swap_average();
    gpu->fetch_weights();
    return torch::cat([&] {
      std::vector<Tensor> all;
      for (auto& item : pair.engine->named_parameters()) all.push_back(item->detach().reshape(-1));
      return all;
    }());
  };
  const Tensor whole = train(100);
  EXPECT_TRUE(torch::equal(train(3), whole));
}

// A recording of the first training's updates would apply the first training's loss and average.
TEST_F(CudaTraining, RestartsWithNewOptions) {
  const std::vector<Case> all = cases();
  const auto train = [&](const std::vector<std::size_t>& chosen) {
    Pair pair = make_pair([] { return make_graphormer(); });
    GpuModel gpu(*pair.engine);
    load(gpu.resident(), *pair.engine);
    for (const std::size_t k : chosen) {
      gpu.weights_changed();  // start from the module's weights
      gpu.resident().start_training(options_of(all[k]), 0);
      for (std::uint32_t u = 0; u < 4; ++u) gpu.resident().step(kBatches[0], u, rate(u));
    }
    Named averages(*pair.engine);
    if (all[chosen.back()].average > 0) gpu.resident().read_state({.average = averages.out()});
    gpu.fetch_weights();
    std::vector<Tensor> values;
    for (auto& item : pair.engine->named_parameters()) {
      values.push_back(item->detach().reshape(-1));
      values.push_back(averages.of.at(item.key()).reshape(-1));
    }
    return torch::cat(values);
  };
  EXPECT_TRUE(torch::equal(train({0, 1}), train({1}))) << "another loss, with an average";
  EXPECT_TRUE(torch::equal(train({1, 2}), train({2}))) << "another loss, without an average";
}

// Every batch has molecules of different sizes, which are similar enough for recordings to be reused.
TEST_F(CudaTraining, HostResidentMoleculesGiveIdenticalBits) {
  std::vector<std::pair<std::string, std::function<std::unique_ptr<GraphModel>()>>> models;
  for (const ModelCase& c : every_model()) models.emplace_back(c.name, [c] { return test::make_model(c); });
  for (const PlanCase& c : shapes_in_training())
    models.emplace_back(c.name, [c] { return std::make_unique<GraphModel>(c.options); });
  models.emplace_back("masked", [] {
    ModelOptions options = graphormer_architecture().defaults;
    options.encoder = {.layers = 2, .width = 12, .ffn = 10, .heads = 3}, options.spatial_pos_max = 3;
    return std::make_unique<GraphModel>(options);
  });
  for (const auto& [name, make] : models) {
    const auto train = [&, &create = make](std::size_t most_bytes) {
      torch::manual_seed(3);
      const std::unique_ptr<GraphModel> model = create();
      GpuModel gpu(*model);
      ResidentTraining& engine = gpu.resident();
      load(engine, *model, most_bytes);
      const std::size_t count = gpu.engine().outputs();
      const auto outputs = static_cast<int>(count);
      const std::vector<float> zeros(count, 0.0f), ones(count, 1.0f);
      UpdateOptions options{
          .targets = outputs, .target = std::vector<float>(6 * count, 0.5f), .shift = zeros, .scale = ones};
      engine.start_training(options, 0);
      for (const std::size_t u : {0u, 1u, 3u}) engine.step(kBatches[u], static_cast<std::uint32_t>(u), rate(u));
      Tensor last = torch::empty({2, outputs});
      engine.predict_resident(kBatches[2], last.data_ptr<float>());
      gpu.fetch_weights();
      std::vector<Tensor> all{last.reshape(-1)};
      for (auto& item : model->named_parameters()) all.push_back(item->detach().reshape(-1));
      return torch::cat(all);
    };
    EXPECT_TRUE(torch::equal(train(1), train(0))) << name;
  }
}

TEST_F(CudaTraining, PredictionsUseUpdatedWeights) {  // and updated arrays derived from weights
  const Case c = cases()[0];
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    Pair pair = make_pair([] { return make_graphormer(); });
    GpuModel gpu(*pair.engine, precision);
    load(gpu.resident(), *pair.engine);
    gpu.resident().start_training(options_of(c), 0);
    for (std::size_t u = 0; u < 3; ++u) gpu.resident().step(kBatches[u], static_cast<std::uint32_t>(u), rate(u));
    const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5};
    Tensor resident = torch::empty({6, 3});
    gpu.resident().predict_resident(all, resident.data_ptr<float>());
    gpu.fetch_weights();
    EXPECT_TRUE(
        torch::equal(resident, GpuModel(*pair.engine, precision).predict(batch_for(*pair.engine, molecules())).scaled));
  }
}

TEST_F(CudaTraining, PredictionsDoNotDependOnTheBatch) {
  Pair pair = make_pair([] { return make_graphormer(); });
  GpuModel gpu(*pair.engine);
  load(gpu.resident(), *pair.engine);
  const Tensor together = gpu.predict(batch_for(*pair.engine, molecules())).scaled;
  const std::vector<std::int64_t> numbers{5, 2, 3};
  Tensor resident = torch::empty({3, 3});
  gpu.resident().predict_resident(numbers, resident.data_ptr<float>());
  for (std::size_t k = 0; k < numbers.size(); ++k)
    EXPECT_TRUE(torch::equal(resident[static_cast<std::int64_t>(k)], together[numbers[k]])) << numbers[k];
}

TEST_F(CudaTraining, PredictsFromSeveralThreads) {
  Pair pair = make_pair([] { return make_grpe(); });
  GpuModel gpu(*pair.engine);
  const Tensor expected = gpu.predict(batch_for(*pair.engine, molecules())).scaled;
  Engine& engine = gpu.engine();
  std::vector<Tensor> got(3);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < got.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int repeat = 0; repeat < 3; ++repeat) {
          std::vector<MolecularGraph> graphs = molecules();
          graphs.erase(graphs.begin(), graphs.begin() + static_cast<std::ptrdiff_t>(t));
          got[t] = torch::empty({static_cast<std::int64_t>(graphs.size()), 3});
          engine.predict(batch_for(*pair.engine, graphs), got[t].data_ptr<float>());
        }
      });
    }
  }
  for (std::size_t t = 0; t < got.size(); ++t)
    EXPECT_TRUE(torch::equal(got[t], expected.slice(0, static_cast<std::int64_t>(t)))) << t;
}

}  // namespace
}  // namespace molgraph::test
