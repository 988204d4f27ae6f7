// Kernels on rows, on the emulated GPU: residual sums, dropout and LayerNorm in memory and on a product's accumulators,
// sums into tables, AdamW, losses.
#include <gtest/gtest.h>

#include "attention/cuda/kernels/loss.cuh"
#include "attention/cuda/kernels/optimizer.cuh"
#include "attention/cuda/kernels/product.cuh"
#include "attention/cuda/norm_sums.cuh"
#include "attention/cuda/table_gradients.cuh"
#include "attention/spec/options.hpp"
#include "attention/spec/random.hpp"
#include "tests/cuda/device_arrays.hpp"
#include "tests/support/errors.hpp"

namespace molgraph::test {
namespace {

constexpr int kRows = 40;
constexpr double kDropout = 0.2;

/// A residual sum and its LayerNorm, forward and backward, in plain loops.
template <class T>
struct PlainNorm {
  std::vector<T> sum, normed, dx, dweight, dbias;

  PlainNorm(int width, const std::vector<float>& x, const std::vector<float>& branch, const std::vector<float>& keep,
            const std::vector<float>& weight, const std::vector<float>& bias, const std::vector<float>& dy) {
    const auto w = static_cast<std::size_t>(width);
    dweight.resize(w), dbias.resize(w);
    for (std::size_t first = 0; first < x.size(); first += w) {
      T mean = 0, square = 0, total = 0, product = 0;
      for (std::size_t k = first; k < first + w; ++k)
        sum.push_back(static_cast<T>(x[k]) + static_cast<T>(keep[k]) * static_cast<T>(branch[k])), mean += sum[k];
      mean /= static_cast<T>(width);
      for (std::size_t k = first; k < first + w; ++k) square += (sum[k] - mean) * (sum[k] - mean);
      const T scale = 1 / std::sqrt(square / static_cast<T>(width) + static_cast<T>(kLayerNormEpsilon));
      for (std::size_t k = first; k < first + w; ++k) {
        const T unit = (sum[k] - mean) * scale, slope = static_cast<T>(dy[k]) * static_cast<T>(weight[k - first]);
        normed.push_back(unit * static_cast<T>(weight[k - first]) + static_cast<T>(bias[k - first]));
        total += slope, product += slope * unit;
        dweight[k - first] += static_cast<T>(dy[k]) * unit, dbias[k - first] += static_cast<T>(dy[k]);
      }
      for (std::size_t k = first; k < first + w; ++k) {
        const T unit = (sum[k] - mean) * scale, slope = static_cast<T>(dy[k]) * static_cast<T>(weight[k - first]);
        dx.push_back(scale * (slope - total / static_cast<T>(width) - unit * product / static_cast<T>(width)));
      }
    }
  }
};

/// Compares arrays with those of the plain loops.
template <class T>
void add(Errors& errors, const std::vector<double>& expected, const std::vector<T>& got,
         const std::vector<float>& plain) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) errors.add(expected[k], got[k], plain[k]);
}

// Once with the branch in memory, and once with the branch in the accumulators of its product with the unit matrix.
TEST(CudaRowsKernels, ResidualSumDropoutAndLayerNorm) {
  for (const int width : {2, 3, 10, 16, 31, 64, 80, 81, 160, 300}) {
    const auto count = static_cast<std::size_t>(kRows * width);
    Numbers01 numbers(static_cast<unsigned>(width));
    const std::vector<float> x = numbers.many(count), branch = numbers.many(count), dy = numbers.many(count);
    const std::vector<float> weight = numbers.many(static_cast<std::size_t>(width)),
                             bias = numbers.many(static_cast<std::size_t>(width));
    // Rows are tokens of one molecule.
    std::vector<std::uint16_t> draws(count);
    const RandomStream stream{.seed = 5, .step = 1, .row = 9, .layer = 1, .site = RandomSite::ffn_residual};
    random_draws(stream, static_cast<std::int64_t>(count), draws.data());
    const std::uint32_t threshold = dropout_threshold(kDropout);
    std::vector<float> keep;
    for (const std::uint16_t draw : draws)
      keep.push_back(draw < threshold ? 0.0f : static_cast<float>(dropout_scale(threshold)));
    std::vector<cuda::TokenPlace> tokens;
    for (int r = 0; r < kRows; ++r) tokens.push_back({stream.row, static_cast<std::uint32_t>(r), 0});
    const PlainNorm<double> expected(width, x, branch, keep, weight, bias, dy);
    const PlainNorm<float> plain(width, x, branch, keep, weight, bias, dy);

    for (const bool fused : {false, true}) {
      if (fused && width > (width % 80 == 0 ? 80 : 64)) continue;
      DeviceArrays device;
      const cuda::Dropout dropout = cuda::dropout_at(device.put(std::vector{draw_key(stream.seed, stream.step, 0)}),
                                                     stream.layer, stream.site, kDropout);
      cuda::ResidualNorm<float> p{.rows = kRows,
                                  .width = width,
                                  .x = device.put(x),
                                  .branch = device.put(branch),
                                  .dropout = dropout,
                                  .token = device.put(tokens),
                                  .weight = device.put(weight),
                                  .bias = device.put(bias),
                                  .sum = device.unset<float>(count),
                                  .statistics = device.unset<float2>(kRows),
                                  .normed = device.unset<float>(count),
                                  .normed32 = device.unset<float>(count)};
      std::vector<float> unit(static_cast<std::size_t>(width * width), 0.0f);
      for (int k = 0; k < width; ++k) unit[static_cast<std::size_t>(k * width + k)] = 1;
      const auto as_product = [&](const std::vector<float>& rows) {
        return cuda::Product<float>{.a = device.put(rows),
                                    .a_row = width,
                                    .b = device.put(unit),
                                    .b_column = width,
                                    .rows = kRows,
                                    .columns = width,
                                    .depth = width};
      };
      cuda::NormSums sums(nullptr);
      sums.begin(1, fused ? 1 : cuda::norm_parts(kRows), width);
      auto *dweight = device.unset<float>(static_cast<std::size_t>(width)),
           *dbias = device.unset<float>(static_cast<std::size_t>(width));
      cuda::NormGradient<float> g{.rows = kRows,
                                  .width = width,
                                  .sum = p.sum,
                                  .dy = device.put(dy),
                                  .weight = p.weight,
                                  .statistics = p.statistics,
                                  .dx = device.put(std::vector<float>(count, 1.0f)),
                                  .accumulate = true,
                                  .parts = sums.next(dweight, dbias),
                                  .dropped = device.unset<float>(count),
                                  .dropout = dropout,
                                  .token = p.token};
      if (fused) {
        cuda::Product<float> forward = as_product(branch), back = as_product(dy);
        forward.norm = p;
        back.norm_gradient = g;
        cuda::multiply<float>(nullptr, Precision::fp32, forward);
        cuda::multiply<float>(nullptr, Precision::fp32, back);
      } else {
        cuda::residual_norm(nullptr, p);
        cuda::norm_gradient(nullptr, g, cuda::norm_parts(kRows));
      }
      sums.run();
      Errors sum, normed, dx, of_weight, of_bias;
      add(sum, expected.sum, DeviceArrays::get(p.sum, count), plain.sum);
      add(normed, expected.normed, DeviceArrays::get(p.normed, count), plain.normed);
      const std::vector<float> slope = DeviceArrays::get(g.dx, count), dropped = DeviceArrays::get(g.dropped, count);
      for (std::size_t k = 0; k < count; ++k) dx.add(1 + expected.dx[k], slope[k], 1 + plain.dx[k]);
      add(of_weight, expected.dweight, DeviceArrays::get(dweight, static_cast<std::size_t>(width)), plain.dweight);
      add(of_bias, expected.dbias, DeviceArrays::get(dbias, static_cast<std::size_t>(width)), plain.dbias);
      const std::string name = "width " + std::to_string(width) + (fused ? " after a product" : "");
      sum.expect_small(name + ", sums");
      normed.expect_small(name + ", LayerNorm");
      dx.expect_small(name + ", gradient");
      of_weight.expect_small(name + ", gradient of the gain");
      of_bias.expect_small(name + ", gradient of the bias");
      for (std::size_t k = 0; k < count; ++k) ASSERT_EQ(dropped[k], keep[k] * slope[k]) << name << ", " << k;
      EXPECT_EQ(DeviceArrays::get(p.normed, count), DeviceArrays::get(p.normed32, count));
    }
  }
}

TEST(CudaRowsKernels, SumsIntoTables) {
  constexpr int kEntries = 700, kTable = 9, kSlices = 3;
  for (const int width : {1, 8, 80, 130}) {
    for (const RelationTable::Row by :
         {RelationTable::Row::topology, RelationTable::Row::edge, RelationTable::Row::all}) {
      Numbers01 numbers(static_cast<unsigned>(width));
      const std::vector<float> from = numbers.many(static_cast<std::size_t>(kEntries * width));
      std::vector<std::uint32_t> classes;
      for (std::uint32_t e = 0; e < kEntries; ++e)
        classes.push_back(e % 31 == 0
                              ? cuda::kNoClass
                              : relation_word(e * e % (kTable + 2), e % kTable));  // larger rows count as the last
      const auto size = static_cast<std::size_t>(kTable * width);
      DeviceArrays device;
      cuda::TableGradients tables(nullptr);
      auto* out = device.put(std::vector<float>(kSlices * size, 0.0f));
      tables.add({.from = device.put(from),
                  .entries = kEntries,
                  .width = width,
                  .rows = by == RelationTable::Row::all ? 1 : kTable,
                  .slices = kSlices,
                  .slice_stride = static_cast<std::int64_t>(size),
                  .out = out,
                  .classes = device.put(classes),
                  .by = by,
                  .last_row = kTable - 1});
      tables.run();
      std::vector<double> expected(size);
      std::vector<float> plain(size), got(size);
      for (std::size_t e = 0; e < kEntries; ++e) {
        if (classes[e] == cuda::kNoClass) continue;
        const std::uint32_t of = by == RelationTable::Row::topology ? topology_of(classes[e])
                                 : by == RelationTable::Row::edge   ? edge_of(classes[e])
                                                                    : 0;
        const std::size_t row = std::min<std::size_t>(of, kTable - 1) * static_cast<std::size_t>(width);
        for (std::size_t c = 0; c < static_cast<std::size_t>(width); ++c)
          expected[row + c] += from[e * static_cast<std::size_t>(width) + c],
              plain[row + c] += from[e * static_cast<std::size_t>(width) + c];
      }
      const std::vector<float> parts = DeviceArrays::get(out, kSlices * size);
      for (std::size_t k = 0; k < kSlices * size; ++k) got[k % size] += parts[k];
      Errors errors;
      add(errors, expected, got, plain);
      errors.expect_small("width " + std::to_string(width));
    }
  }
}

TEST(CudaRowsKernels, UpdatesMatchTheFormulaBitwise) {
  constexpr std::size_t kSize = 2500;
  Numbers01 numbers(1);
  const std::vector<float> gradient = numbers.many(kSize);
  std::vector<float> mean = numbers.many(kSize), square = numbers.many(kSize), weight = numbers.many(kSize),
                     average = numbers.many(kSize);
  for (float& s : square) s *= s;
  std::vector<std::uint8_t> kind;
  for (std::size_t k = 0; k < kSize; ++k) kind.push_back(static_cast<std::uint8_t>(k % 3));
  const cuda::StepNumbers step{.adam = adam_step(1e-3, 7), .keep = adam_keep(1e-3, 0.1), .clip = 5, .average = 0.125f};
  double norm = 0;
  for (std::size_t k = 0; k < kSize; ++k) norm += kind[k] == 0 ? 0 : static_cast<double>(gradient[k]) * gradient[k];
  DeviceArrays device;
  const int blocks = static_cast<int>(cuda::blocks_for(kSize, cuda::kUpdateBlock));
  cuda::Update u{.size = kSize,
                 .partial = device.put(gradient),
                 .gradient = device.unset<float>(kSize),
                 .weight = device.put(weight),
                 .mean = device.put(mean),
                 .square = device.put(square),
                 .average = device.put(average),
                 .kind = device.put(kind),
                 .squares = device.unset<double>(static_cast<std::size_t>(blocks) + 1),
                 .numbers = device.put(std::vector{step}),
                 .targets = device.put(std::vector<double>{1})};
  cuda::launch(nullptr, cuda::sum_slices_kernel, static_cast<unsigned>(blocks), cuda::kUpdateThreads,
               cuda::kUpdateThreads * sizeof(double), u);
  cuda::launch(nullptr, cuda::clip_kernel, 1u, cuda::kUpdateThreads, cuda::kUpdateThreads * sizeof(double), u, blocks);
  cuda::launch(nullptr, cuda::adamw_kernel, static_cast<unsigned>(blocks), cuda::kUpdateThreads, 0, u, blocks);
  const auto clip = static_cast<float>(clip_factor(step.clip, std::sqrt(norm)));
  EXPECT_LT(clip, 1);
  for (std::size_t k = 0; k < kSize; ++k) {
    if (kind[k] == 0) continue;
    adam_update(step.adam, kind[k] == 2 ? step.keep : 1.0f, clip, gradient[k], mean[k], square[k], weight[k]);
    average[k] += step.average * (weight[k] - average[k]);
  }
  EXPECT_EQ(DeviceArrays::get(u.weight, kSize), weight);
  EXPECT_EQ(DeviceArrays::get(u.mean, kSize), mean);
  EXPECT_EQ(DeviceArrays::get(u.square, kSize), square);
  EXPECT_EQ(DeviceArrays::get(u.average, kSize), average);
}

TEST(CudaRowsKernels, LossesMatchTheFormula) {
  constexpr int kMolecules = 300, kTargets = 2;
  for (const Loss loss : {Loss::l1, Loss::mse, Loss::huber, Loss::bce, Loss::ce}) {
    const int classes = loss == Loss::ce ? 4 : 1, outputs = kTargets * classes;
    Numbers01 numbers(3);
    const std::vector<float> scaled = numbers.many(static_cast<std::size_t>(kMolecules * outputs));
    std::vector<float> target;
    std::vector<std::int8_t> bound;
    std::vector<float> weight;
    std::vector<std::int32_t> chosen;
    for (int e = 0; e < kMolecules * kTargets; ++e)
      target.push_back(e % 7 == 0          ? kUnset
                       : loss == Loss::ce  ? static_cast<float>(e % classes)
                       : loss == Loss::bce ? static_cast<float>(e % 2)
                                           : 2 * numbers.next());
    for (int e = 0; e < kMolecules * kTargets; ++e)
      bound.push_back(static_cast<std::int8_t>(e % 3 - 1)), weight.push_back(0.5f + static_cast<float>(e % 5));
    for (int b = 0; b < kMolecules; ++b) chosen.push_back(kMolecules - 1 - b);
    const bool limits = loss == Loss::l1 || loss == Loss::huber;  // the others: a null pointer, so exact labels
    const bool weighs = loss != Loss::l1 && loss != Loss::mse;
    const std::vector<float> shift{0.5f, -1}, scale{2, 0.5f};
    DeviceArrays device;
    auto* slope = device.unset<float>(scaled.size());
    auto *sums = device.put(std::vector<double>{0, 0}), *present = device.unset<double>(1);
    cuda::launch(nullptr, cuda::loss_kernel, 1u, cuda::kLossThreads, cuda::kLossThreads * sizeof(double),
                 cuda::LossTask{.loss = loss,
                                .molecules = kMolecules,
                                .targets = kTargets,
                                .outputs = outputs,
                                .scaled = device.put(scaled),
                                .target = device.put(target),
                                .shift = device.put(shift),
                                .scale = device.put(scale),
                                .weight = weighs ? device.put(weight) : nullptr,
                                .bound = limits ? device.put(bound) : nullptr,
                                .chosen = device.put(chosen),
                                .slope = slope,
                                .total = sums,
                                .present = present,
                                .numbers = device.put(std::vector{cuda::StepNumbers{}})});
    const std::vector<float> got = DeviceArrays::get(slope, scaled.size());
    double sum = 0, count = 0;
    for (const float t : target) count += std::isnan(t) ? 0 : 1;
    for (int b = 0; b < kMolecules; ++b)
      for (int t = 0; t < kTargets; ++t) {
        const auto cell = static_cast<std::size_t>(chosen[static_cast<std::size_t>(b)] * kTargets + t);
        const float label = target[cell];
        const float weighing = weighs ? weight[cell] : 1.0f;
        const int side = limits ? bound[cell] : 0;
        const auto first = static_cast<std::size_t>((b * kTargets + t) * classes);
        std::vector<float> own(static_cast<std::size_t>(classes), 0.0f);
        if (!std::isnan(label)) {
          const float share = static_cast<float>(1 / count) * weighing;
          if (loss == Loss::ce) {
            sum += weighing * cross_entropy(scaled.data() + first, classes, static_cast<int>(label), share, own.data());
          } else {
            const auto k = static_cast<std::size_t>(t);
            const float in_unit = loss == Loss::bce ? label : (label - shift[k]) / scale[k];
            sum += weighing * target_loss(loss, scaled[first], in_unit, side);
            own[0] = share * target_slope(loss, scaled[first], in_unit, side);
          }
        }
        for (int c = 0; c < classes; ++c)
          EXPECT_EQ(got[first + static_cast<std::size_t>(c)], own[static_cast<std::size_t>(c)]);
      }
    const std::vector<double> totals = DeviceArrays::get(sums, 2);
    EXPECT_NEAR(totals[0], sum, 1e-9 * sum);
    EXPECT_EQ(totals[1], count);
  }
}

TEST(CudaRowsKernels, EachTargetCanHaveItsOwnLoss) {
  const std::vector<Loss> losses{Loss::huber, Loss::bce, Loss::mse};
  const std::vector<float> scaled{0.5f, -1.5f, 2.0f, 3.0f, 0.25f, -1.0f}, target{2, 1, 0, 1, 0, kUnset},
      shift{1, 0, 0.5f}, scale{2, 1, 0.5f};
  DeviceArrays device;
  auto* slope = device.unset<float>(6);
  auto *sums = device.put(std::vector<double>{0, 0}), *present = device.unset<double>(1);
  cuda::launch(nullptr, cuda::loss_kernel, 1u, cuda::kLossThreads, cuda::kLossThreads * sizeof(double),
               cuda::LossTask{.loss = Loss::l1,
                              .losses = device.put(losses),
                              .molecules = 2,
                              .targets = 3,
                              .outputs = 3,
                              .scaled = device.put(scaled),
                              .target = device.put(target),
                              .shift = device.put(shift),
                              .scale = device.put(scale),
                              .chosen = device.put(std::vector<std::int32_t>{0, 1}),
                              .slope = slope,
                              .total = sums,
                              .present = present,
                              .numbers = device.put(std::vector{cuda::StepNumbers{}})});
  const std::vector<float> got = DeviceArrays::get(slope, 6);
  double sum = 0;
  for (std::size_t e = 0; e < 5; ++e) {
    const std::size_t t = e % 3;
    const float label = losses[t] == Loss::bce ? target[e] : (target[e] - shift[t]) / scale[t];
    sum += target_loss(losses[t], scaled[e], label);
    EXPECT_EQ(got[e], 0.2f * target_slope(losses[t], scaled[e], label)) << e;
  }
  EXPECT_EQ(got[5], 0);
  EXPECT_NEAR(DeviceArrays::get(sums, 2)[0], sum, 1e-6);
}

}  // namespace
}  // namespace molgraph::test
