#include "tests/bench/gpu.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <span>

#include "attention/cuda/gpu/library_product.hpp"
#include "attention/reference/engine_boundary.hpp"
#include "attention/resident_training.hpp"
#include "tests/bench/machine.hpp"

namespace molgraph::bench {
namespace {

constexpr int kStepsPerRound = 50, kCopies = 20;
constexpr std::size_t kCopyBytes = std::size_t{1} << 30;

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

/// Mean seconds of one `work` over `repeats`, measured until the device has finished.
template <class Work, class Wait>
double timed(int repeats, const Work& work, const Wait& wait) {
  wait();
  const auto start = Clock::now();
  for (int k = 0; k < repeats; ++k) work(k);
  wait();
  return seconds_since(start) / repeats;
}

double copy_gbps() {
  cuda::Array<char> from, to;
  (void)from.sized(kCopyBytes);
  (void)to.sized(kCopyBytes);
  const cuda::Stream stream = cuda::make_stream();
  const auto wait = [&] { cuda::synchronize(stream); };
  const auto copy = [&](int) { cuda::copy_on_device(to.data(), from.data(), kCopyBytes, stream); };
  timed(2, copy, wait);
  const double seconds = timed(kCopies, copy, wait);
  cuda::destroy_stream(stream);
  return 2e-9 * static_cast<double>(kCopyBytes) / seconds;
}

/// TFLOP/s of a large product by cublasLt; 0 if cublasLt cannot be loaded.
double peak_tflops(Precision precision) {
  constexpr int kSize = 8192, kProducts = 10;
  constexpr auto kFactors = static_cast<std::size_t>(kSize) * kSize;
  cuda::ProductLibrary library(precision);
  cuda::Array<float> a, b, y;  // bf16 uses half of it
  const cuda::Stream stream = cuda::make_stream();
  // Numbers from 1 to 2, both as float and as bfloat16. With zeros, a GPU draws less power and is faster.
  std::vector<std::uint16_t> pattern(std::size_t{1} << 20);
  std::mt19937 random;
  for (std::uint16_t& bits : pattern) bits = static_cast<std::uint16_t>(0x3F80 | (random() & 0x7F));
  const std::size_t bytes = pattern.size() * sizeof pattern[0];
  for (char* to : {reinterpret_cast<char*>(a.sized(kFactors)), reinterpret_cast<char*>(b.sized(kFactors))})
    for (std::size_t at = 0; at < kFactors * sizeof(float); at += bytes)
      cuda::copy_to_device(to + at, pattern.data(), bytes, stream);
  const cuda::LibraryProduct product{.a = a.data(),
                                     .b = b.data(),
                                     .a_row = kSize,
                                     .a_depth = 1,
                                     .b_column = kSize,
                                     .b_depth = 1,
                                     .rows = kSize,
                                     .columns = kSize,
                                     .depth = kSize,
                                     .y = y.sized(kFactors)};
  bool done = true;
  const auto work = [&](int) { done = done && library.multiply(stream, product); };
  const auto wait = [&] { cuda::synchronize(stream); };
  timed(2, work, wait);
  const double seconds = timed(kProducts, work, wait);
  cuda::destroy_stream(stream);
  return done ? 2e-12 * kSize * static_cast<double>(kFactors) / seconds : 0.0;
}

nlohmann::json measure_case(const Case& c, Precision precision, const GpuOptions& o, const MoleculeSet& set,
                            const std::vector<std::int64_t>& molecules, double peak) {
  const auto size =
      std::min(static_cast<std::size_t>(c.width > 128 ? 4 * o.batch_size : o.batch_size), molecules.size());
  const std::unique_ptr<GraphModel> model = make_model(c, set.featurizer.features, o.dropout);
  EngineBoundary boundary(*model, {.kind = Device::Kind::cuda, .number = o.number}, precision);
  ResidentTraining& engine = *boundary.resident();
  const TrainBatch all = make_batch(set, molecules, boundary.pack_options());
  engine.add_molecules(all.graph);
  engine.upload_molecules();
  std::vector<std::vector<std::int64_t>> batches;
  for (std::size_t first = 0; first + size <= molecules.size(); first += size) {
    batches.emplace_back(size);
    for (std::size_t k = 0; k < size; ++k) batches.back()[k] = static_cast<std::int64_t>(first + k);
  }
  const double* targets = all.targets.const_data_ptr<double>();
  const std::int64_t columns = all.targets.size(1);
  UpdateOptions options{.targets = 1, .shift = {0}, .scale = {1}, .clip = 5};
  for (std::int64_t k = 0; k < all.targets.size(0); ++k)
    options.target.push_back(static_cast<float>(targets[k * columns]));
  engine.start_training(options, 0);
  std::uint32_t update = 0;
  const auto step = [&](int) {
    engine.step(batches[update % batches.size()], update, 1e-5);
    ++update;
  };
  const auto wait = [&] { (void)engine.take_losses(); };
  timed(4 * static_cast<int>(batches.size()), step, wait);  // allocates memory, then makes the recordings
  std::vector<float> scaled(molecules.size());
  const auto predict = [&](int) { engine.predict_resident(batches[update++ % batches.size()], scaled.data()); };
  std::vector<double> train, infer;
  for (int round = 0; round < o.rounds; ++round) {
    train.push_back(timed(kStepsPerRound, step, wait));
    infer.push_back(timed(kStepsPerRound, predict, [] {}));
  }
  const double train_ms = 1e3 * median(train), infer_ms = 1e3 * median(infer), count = static_cast<double>(size);
  nlohmann::json kernels = nlohmann::json::array();
  std::int64_t launches = 0;
  double busy = 0;
  for (const KernelTime& k : engine.profile_step(batches[0])) {
    kernels.push_back({{"name", k.name}, {"launches", k.launches}, {"milliseconds", k.milliseconds}});
    launches += k.launches;
    busy += k.milliseconds;
  }
  const double flops = forward_flops(c, all.graph), train_tflops = 3 * flops * count / train_ms / 1e9;
  std::printf(
      "%-18s %5s batch %4zu  step %7.3f ms  infer %7.3f ms  train %8.0f/s  infer %8.0f/s  %6.1f TFLOP/s (%.1f %% of "
      "the peak)  %4lld launches, %.3f ms one by one\n",
      c.name.c_str(), to_string(precision), size, train_ms, infer_ms, 1e3 * count / train_ms, 1e3 * count / infer_ms,
      train_tflops, peak > 0 ? 100 * train_tflops / peak : 0.0, static_cast<long long>(launches), busy);
  for (std::size_t k = 0; k < std::min<std::size_t>(kernels.size(), 8); ++k)
    std::printf("    %-60s %4lld launches %8.3f ms\n", kernels[k]["name"].get<std::string>().c_str(),
                kernels[k]["launches"].get<long long>(), kernels[k]["milliseconds"].get<double>());
  std::fflush(stdout);
  return {{"batch", size},
          {"train_ms", train_ms},
          {"infer_ms", infer_ms},
          {"train_per_second", 1e3 * count / train_ms},
          {"infer_per_second", 1e3 * count / infer_ms},
          {"train_tflops", train_tflops},
          {"share_of_peak", peak > 0 ? train_tflops / peak : 0.0},
          {"launches", launches},
          {"kernels", kernels}};
}

}  // namespace

void measure_gpu(const GpuOptions& o, const std::vector<Case>& cases, const MoleculeSet& set,
                 const std::vector<std::int64_t>& molecules, const std::function<void(const nlohmann::json&)>& report) {
  if (const std::string reason = cuda::why_unusable(o.number); !reason.empty()) throw DeviceError(reason);
  cuda::use_device(o.number);
  nlohmann::json all{{"gpu", cuda::device_name(o.number)}, {"copy_gbps", copy_gbps()}, {"dropout", o.dropout}};
  std::printf("%s, copy %.0f GB/s\n", all["gpu"].get<std::string>().c_str(), all["copy_gbps"].get<double>());
  std::vector<Precision> chosen;
  for (const Precision precision : {Precision::bf16, Precision::tf32, Precision::fp32})  // the most important first
    if (o.precision.empty() || o.precision == to_string(precision)) chosen.push_back(precision);
  std::map<Precision, double> peaks;
  for (const Precision precision : chosen) {
    all["peak_tflops"][to_string(precision)] = peaks[precision] = peak_tflops(precision);
    std::printf("  product of 8192, %s: %.0f TFLOP/s\n", to_string(precision), peaks[precision]);
  }
  report(all);
  for (const Case& c : cases)
    for (const Precision precision : chosen) {
      all["cases"][c.name][to_string(precision)] = measure_case(c, precision, o, set, molecules, peaks[precision]);
      report(all);
    }
}

}  // namespace molgraph::bench
