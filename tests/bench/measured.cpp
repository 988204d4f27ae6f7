#include "tests/bench/measured.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "attention/engine.hpp"
#include "datasets/archives/safetensors.hpp"

namespace molgraph::bench {
namespace {

/// The median of `x`, or the smallest value if `best`.
double typical(std::vector<double> x, bool best) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : x[best ? 0 : x.size() / 2];
}

std::size_t batch_size_of(const Case& c, const Options& o) {
  return static_cast<std::size_t>(c.width > 128 ? std::max(1, o.batch_size / 4) : o.batch_size);
}

/// Starts the PyTorch model of the same size. Null if it is not requested or does not exist.
std::unique_ptr<Peer> start_peer(const Case& c, const std::vector<TrainBatch>& batches, const Options& o, int threads) {
  if (!o.peer || !has_peer(c)) return nullptr;
  const std::string file =
      (std::filesystem::temp_directory_path() / ("molgraph-bench-" + std::to_string(::getpid()) + ".safetensors"))
          .string();
  write_batches(file, batches);
  auto peer = std::make_unique<Peer>(c, PeerOptions{o.peer_python, file, threads, o.compile_seconds, o.dropout});
  std::filesystem::remove(file);  // the peer has read it
  return peer;
}

}  // namespace

std::vector<TrainBatch> batches_of(const Case& c, const LoadedData& loaded, const Options& o) {
  const PackOptions pack = make_model(c, loaded.set.featurizer.features, o.dropout)->pack_options();
  const std::size_t size = batch_size_of(c, o);
  const std::span<const std::int64_t> train(loaded.split.train);
  std::vector<TrainBatch> batches;
  for (std::size_t first = 0; first + size <= train.size() && batches.size() < 4; first += size)
    batches.push_back(make_batch(loaded.set, train.subspan(first, size), pack));
  if (batches.empty())
    throw std::runtime_error(o.data + " has " + std::to_string(train.size()) + " training molecules, a batch has " +
                             std::to_string(size));
  return batches;
}

void write_batches(const std::string& path, const std::vector<TrainBatch>& batches) {
  std::vector<std::vector<std::int32_t>> keep;
  std::vector<TensorView> views;
  const auto add = [&](const std::string& name, const auto& values) {
    keep.emplace_back(values.begin(), values.end());
    views.push_back({name, DType::i32, {static_cast<std::int64_t>(values.size())}, nullptr});
  };
  std::vector<std::vector<float>> weights;
  for (std::size_t k = 0; k < batches.size(); ++k) {
    const GraphBatch& b = batches[k].graph;
    const std::string prefix = std::to_string(k) + ".";
    add(prefix + "token_offset", b.token_offset);
    add(prefix + "atoms", b.atoms);
    add(prefix + "degree", b.degree);
    add(prefix + "topology", b.topology);
    add(prefix + "edge", b.edge);
    add(prefix + "paths.pair", b.paths.pair);
    add(prefix + "paths.level_pairs", b.paths.level_pairs);
    add(prefix + "paths.target", b.paths.target);
    add(prefix + "paths.source", b.paths.source);
    add(prefix + "paths.bond", b.paths.bond);
    add(prefix + "paths.level_steps", b.paths.level_steps);
    weights.emplace_back(b.paths.weight.begin(), b.paths.weight.end());
  }
  for (std::size_t i = 0; i < views.size(); ++i) views[i].data = keep[i].data();
  for (std::size_t k = 0; k < weights.size(); ++k)
    views.push_back({std::to_string(k) + ".paths.weight",
                     DType::f32,
                     {static_cast<std::int64_t>(weights[k].size())},
                     weights[k].data()});
  write_safetensors(path, {}, views);
}

Measured::Measured(const Case& c, const LoadedData& loaded, const Machine& machine, const Options& o)
    : options_(o), case_(c), batches_(batches_of(c, loaded, o)), peer_(start_peer(c, batches_, o, machine.threads)) {
  const Features features = loaded.set.featurizer.features;
  const auto add = [&](bool wanted, Timing train, Timing infer, bool engine, int threads, Precision precision) {
    if (wanted)
      runners_.push_back({std::make_unique<Runner>(c, features, o.dropout, engine, threads, precision), train, infer});
  };
  const bool bf16 = why_unusable({}, Precision::bf16).empty();
  add(o.reference, kReferenceTrain, kReferenceInfer, false, machine.threads, Precision::fp32);
  add(true, kTrain, kInfer, true, machine.threads, Precision::fp32);
  add(o.scaling, kTrainAlone, kInferAlone, true, 1, Precision::fp32);
  add(bf16, kTrainBf16, kInferBf16, true, machine.threads, Precision::bf16);
  add(bf16 && o.scaling, kTrainBf16Alone, kInferBf16Alone, true, 1, Precision::bf16);
  const double flops = forward_flops(c, batches_[0].graph);
  floor_seconds_ = flops / (1e9 * (c.width > 128 ? machine.wide_gemm_gflops : machine.gemm_gflops));
}

void Measured::measure(int round) {
  const TrainBatch& batch = batches_[static_cast<std::size_t>(round + 1) % batches_.size()];
  const auto keep = [&](Timing timing, double seconds) {
    if (round >= 0) times_[timing].push_back(seconds);
  };
  if (options_.training)
    for (const Backend& b : runners_) keep(b.train, b.runner->train(batch));
  for (const Backend& b : runners_) keep(b.infer, b.runner->predict(batch));
  if (!peer_) return;
  for (const auto& [variant, seconds] : peer_->round(round + 1))
    for (std::size_t k = 0; k < 2 && round >= 0; ++k) peer_times_[variant][k].push_back(seconds[k]);
}

std::map<std::string, std::array<double, 2>> Measured::peers() const {
  std::map<std::string, std::array<double, 2>> rates;
  for (const auto& [variant, of] : peer_times_) rates[variant] = {rate_of(of[0]), rate_of(of[1])};
  return rates;
}

double Measured::ratio(Timing timing, const Measured& other_model, Timing other) const {
  const std::vector<double>&above = times_[timing], &below = other_model.times_[other];
  std::vector<double> ratios;
  for (std::size_t k = 0; k < std::min(above.size(), below.size()); ++k) ratios.push_back(above[k] / below[k]);
  return typical(ratios, false);
}

double Measured::rate_of(const std::vector<double>& seconds) const {
  const double one = typical(seconds, options_.best);
  return one > 0 ? static_cast<double>(batch_size_of(case_, options_)) / one : 0.0;
}

}  // namespace molgraph::bench
