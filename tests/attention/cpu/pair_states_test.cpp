// Kernels of the states of pairs: values match plain loops in double precision, and gradients match their derivatives.
#include <cmath>
#include <functional>
#include <map>

#include "attention/spec/pair_states.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"

namespace molgraph::test {
namespace {

constexpr double kRelativeError = 2e-6;  // of sums of at most a few hundred products in float32

/// Arrays by name, row-major, without the kernels' padding and order of elements.
using Arrays = std::map<std::string, std::vector<double>>;

std::vector<float> in_float(const std::vector<double>& x) { return {x.begin(), x.end()}; }

struct StateSize {
  std::size_t tokens, queries, next_queries, heads, head_width, width, columns;
};

/// Two states that fill a vector of 16 with 8 heads; one state for more heads. The last sizes have one query, as in the
/// last layer of a model that reads only the virtual node.
const StateSize kSizes[] = {{1, 1, 1, 8, 10, 16, 0},     {7, 7, 7, 8, 10, 32, 3},     {23, 23, 23, 8, 10, 32, 14},
                            {12, 12, 12, 16, 3, 48, 16}, {11, 11, 11, 32, 2, 16, 20}, {13, 13, 1, 8, 4, 32, 5},
                            {13, 1, 0, 8, 4, 32, 0},     {9, 9, 0, 16, 5, 16, 0}};

/// One size's inputs, and the arrays of the kernels.
class StateCase {
 public:
  StateCase(const StateSize& size, const cpu::Kernels& kernels)
      : s_(size), kernels_(kernels), together_(kernels.states_at_once(size.heads)), random_(17) {}

  void expect_start() {
    const std::size_t n = s_.tokens, pairs = n * n;
    std::vector<std::uint16_t> relation(pairs);
    for (std::size_t p = 0; p < pairs; ++p) relation[p] = static_cast<std::uint16_t>(p * p % kRelations);
    Arrays in;
    fill(in, {{"rows", kRelations * s_.width},
              {"vectors", s_.columns * pairs},
              {"vector_weight", s_.columns * s_.width},
              {"bias_weight", s_.width * s_.heads}});
    const auto formula = [&](const Arrays& x) {
      Arrays out{{"e", zeros(s_.queries * n * s_.width)}, {"bias", zeros(s_.queries * n * s_.heads)}};
      for (std::size_t i = 0; i < s_.queries; ++i)
        for (std::size_t j = 0; j < n; ++j)
          for (std::size_t c = 0; c < s_.width; ++c) {
            double& e = out["e"][(i * n + j) * s_.width + c];
            e = x.at("rows")[relation[i * n + j] * s_.width + c];
            for (std::size_t t = 0; t < s_.columns; ++t)
              e += x.at("vectors")[(t * n + j) * n + i] * x.at("vector_weight")[t * s_.width + c];
            for (std::size_t h = 0; h < s_.heads; ++h)
              out["bias"][(i * n + j) * s_.heads + h] += e * x.at("bias_weight")[c * s_.heads + h];
          }
      return out;
    };
    const std::size_t padded = cpu::padded(s_.columns);
    const std::vector<float> rows = in_float(in["rows"]), vectors = in_float(in["vectors"]);
    std::vector<float> vector_weight = in_float(in["vector_weight"]);
    vector_weight.resize(padded * s_.width);
    const std::vector<float> bias_weight = together(in["bias_weight"], 1);
    std::vector<float> e(pairs * s_.width, kUnset), bias(pairs * s_.heads, kUnset), scratch(n * padded);
    const cpu::PairStart g{.tokens = n,
                           .queries = s_.queries,
                           .heads = s_.heads,
                           .width = s_.width,
                           .relation = relation.data(),
                           .rows = rows.data(),
                           .columns = s_.columns,
                           .vectors = vectors.data(),
                           .vector_weight = vector_weight.data(),
                           .e = e.data(),
                           .bias_weight = bias_weight.data(),
                           .bias = bias.data(),
                           .scratch = scratch.data()};
    kernels_.pair_start(g);
    const Arrays expected = formula(in);
    expect_close(expected.at("e"), e, "e");
    expect_close(expected.at("bias"), bias, "bias");

    Arrays slopes;
    fill(slopes, {{"e", s_.queries * n * s_.width}, {"bias", s_.queries * n * s_.heads}});
    std::vector<float> de = in_float(slopes["e"]), dbias = in_float(slopes["bias"]);
    std::vector<float> drows(rows.size()), dvector_weight(vector_weight.size()), dbias_weight(bias_weight.size());
    const std::vector<float> by_head = turned(in["bias_weight"], s_.width, s_.heads);
    kernels_.pair_start_gradient(g, {.dbias = dbias.data(),
                                     .bias_weight = by_head.data(),
                                     .de = de.data(),
                                     .drows = drows.data(),
                                     .dvector_weight = dvector_weight.data(),
                                     .dbias_weight = dbias_weight.data()});
    for (std::size_t p = s_.columns * s_.width; p < dvector_weight.size(); ++p) EXPECT_EQ(dvector_weight[p], 0.0f);
    dvector_weight.resize(s_.columns * s_.width);
    expect_gradients(formula, in, slopes,
                     {{"rows", drows},
                      {"vector_weight", dvector_weight},
                      {"bias_weight", turned(dbias_weight, s_.heads, s_.width)}});
  }

  void expect_layer() {
    const std::size_t n = s_.tokens, pairs = n * n, channels = s_.heads * s_.head_width, states = s_.width;
    const bool is_last = s_.next_queries == 0;
    Arrays in;
    fill(in, {{"e", pairs * states},
              {"weights", pairs * s_.heads},
              {"scores", pairs * s_.heads},
              {"softmax", pairs * s_.heads},
              {"value", states * channels}});
    if (!is_last)
      fill(in, {{"update", 2 * s_.heads * states}, {"update_bias", states}, {"next_bias_weight", states * s_.heads}});
    const auto formula = [&](const Arrays& x) {
      Arrays out{{"z", zeros(s_.queries * channels)},
                 {"next", zeros(s_.next_queries * n * states)},
                 {"next_bias", zeros(s_.next_queries * n * s_.heads)}};
      for (std::size_t i = 0; i < s_.queries; ++i)
        for (std::size_t c = 0; c < states; ++c)
          for (std::size_t h = 0; h < s_.heads; ++h) {
            double read = 0;
            for (std::size_t j = 0; j < n; ++j)
              read += x.at("weights")[(i * n + j) * s_.heads + h] * x.at("e")[(i * n + j) * states + c];
            for (std::size_t u = 0; u < s_.head_width; ++u)
              out["z"][i * channels + u * s_.heads + h] += read * x.at("value")[c * channels + u * s_.heads + h];
          }
      for (std::size_t p = 0; p < s_.next_queries * n; ++p)
        for (std::size_t c = 0; c < states; ++c) {
          double& next = out["next"][p * states + c];
          next = x.at("e")[p * states + c] + x.at("update_bias")[c];
          for (std::size_t h = 0; h < s_.heads; ++h)
            next += bounded(x.at("scores")[p * s_.heads + h]) * x.at("update")[h * states + c] +
                    kPairWeight * x.at("softmax")[p * s_.heads + h] * x.at("update")[(s_.heads + h) * states + c];
          for (std::size_t h = 0; h < s_.heads; ++h)
            out["next_bias"][p * s_.heads + h] += next * x.at("next_bias_weight")[c * s_.heads + h];
        }
      return out;
    };
    const std::vector<float> e = in_float(in["e"]), weights = in_float(in["weights"]), scores = in_float(in["scores"]),
                             softmax = in_float(in["softmax"]), value = together(in["value"], s_.head_width),
                             update = in_float(in["update"]), update_bias = in_float(in["update_bias"]),
                             next_bias_weight = together(in["next_bias_weight"], 1);
    const std::size_t stride = cpu::padded(channels);
    std::vector<float> z = random_.many(s_.queries * stride);
    const std::vector<float> before = z;
    std::vector<float> read(s_.queries * states * s_.heads), next(pairs * states, kUnset);
    std::vector<float> next_bias(pairs * s_.heads, kUnset), scratch(4 * n * s_.heads + 2 * states * s_.heads);
    cpu::PairLayer g{.tokens = n,
                     .queries = s_.queries,
                     .heads = s_.heads,
                     .head_width = s_.head_width,
                     .next_queries = s_.next_queries,
                     .width = states,
                     .e = e.data(),
                     .weights = weights.data(),
                     .scores = scores.data(),
                     .softmax = softmax.data(),
                     .value = value.data(),
                     .read = read.data(),
                     .z = z.data(),
                     .z_stride = stride,
                     .scratch = scratch.data()};
    if (!is_last) {
      g.update = update.data(), g.update_bias = update_bias.data(), g.next = next.data();
      g.next_bias_weight = next_bias_weight.data(), g.next_bias = next_bias.data();
    }
    kernels_.pair_layer(g);
    const Arrays expected = formula(in);
    std::vector<float> added(s_.queries * channels);
    for (std::size_t i = 0; i < s_.queries; ++i)
      for (std::size_t c = 0; c < channels; ++c) added[i * channels + c] = z[i * stride + c] - before[i * stride + c];
    expect_close(expected.at("z"), added, "z");
    expect_close(expected.at("next"), next, "next");
    expect_close(expected.at("next_bias"), next_bias, "next_bias");

    Arrays slopes;
    fill(slopes, {{"z", s_.queries * channels},
                  {"next", s_.next_queries * n * states},
                  {"next_bias", s_.next_queries * n * s_.heads}});
    std::vector<float> dz(s_.queries * stride), de = in_float(slopes["next"]), dbias = in_float(slopes["next_bias"]);
    for (std::size_t i = 0; i < s_.queries; ++i)
      for (std::size_t c = 0; c < channels; ++c) dz[i * stride + c] = static_cast<float>(slopes["z"][i * channels + c]);
    de.resize(pairs * states, kUnset);  // without a next query, the gradient is not read
    std::vector<float> dweights(pairs * s_.heads), dscores(pairs * s_.heads, kUnset), dsoftmax = dscores;
    std::vector<float> dvalue(value.size()), dnext_bias_weight(next_bias_weight.size()), dupdate(update.size()),
        dupdate_bias(update_bias.size());
    const std::vector<float> next_by_head = turned(in["next_bias_weight"], states, s_.heads),
                             update_by_state = turned(in["update"], 2 * s_.heads, states);
    cpu::PairLayerGradient d{.dz = dz.data(),
                             .dz_stride = stride,
                             .de = de.data(),
                             .dweights = dweights.data(),
                             .dscores = dscores.data(),
                             .dsoftmax = dsoftmax.data(),
                             .dvalue = dvalue.data()};
    if (!is_last) {
      d.dnext_bias = dbias.data(), d.next_bias_weight = next_by_head.data(), d.update = update_by_state.data();
      d.dnext_bias_weight = dnext_bias_weight.data(), d.dupdate = dupdate.data(), d.dupdate_bias = dupdate_bias.data();
    }
    kernels_.pair_layer_gradient(g, d);
    std::map<std::string, std::vector<float>> got{{"e", de}, {"weights", dweights}, {"value", apart(dvalue)}};
    if (is_last) {
      EXPECT_TRUE(std::ranges::all_of(dscores, [](float x) { return std::isnan(x); })) << "written" << of_size();
    } else {
      got.insert({{"scores", dscores},
                  {"softmax", dsoftmax},
                  {"update", dupdate},
                  {"update_bias", dupdate_bias},
                  {"next_bias_weight", turned(dnext_bias_weight, s_.heads, states)}});
    }
    expect_gradients(formula, in, slopes, got);
  }

 private:
  static constexpr std::size_t kRelations = 5;
  using Formula = std::function<Arrays(const Arrays&)>;

  static std::vector<double> zeros(std::size_t count) { return std::vector<double>(count); }
  void fill(Arrays& arrays, const std::map<std::string, std::size_t>& sizes) {
    for (const auto& [name, size] : sizes) {
      const std::vector<float> numbers = random_.many(size);
      arrays[name].assign(numbers.begin(), numbers.end());
    }
  }
  /// [S, d, H] -> [S/G, d, H, G].
  std::vector<float> together(const std::vector<double>& x, std::size_t d) const {
    std::vector<float> out(x.size());
    const std::size_t per_state = d * s_.heads;
    for (std::size_t p = 0; p < x.size(); ++p)
      out[place(p / per_state, p % per_state, per_state)] = static_cast<float>(x[p]);
    return out;
  }
  /// [S/G, d, H, G] -> [S, d, H].
  std::vector<float> apart(const std::vector<float>& x) const {
    std::vector<float> out(x.size());
    const std::size_t per_state = s_.head_width * s_.heads;
    for (std::size_t p = 0; p < x.size(); ++p) out[p] = x[place(p / per_state, p % per_state, per_state)];
    return out;
  }
  std::size_t place(std::size_t state, std::size_t at, std::size_t per_state) const {
    return (state / together_ * per_state + at) * together_ + state % together_;
  }
  template <class Real>
  static std::vector<float> turned(const std::vector<Real>& x, std::size_t rows, std::size_t columns) {
    std::vector<float> out(x.size());
    if (x.empty()) return out;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = static_cast<float>(x[r * columns + c]);
    return out;
  }
  void expect_close(const std::vector<double>& expected, const std::vector<float>& got, const std::string& what) const {
    double largest = 0, error = 0;
    for (std::size_t p = 0; p < expected.size(); ++p) {
      largest = std::max(largest, std::abs(expected[p]));
      if (!(std::abs(expected[p] - got[p]) <= error)) error = std::abs(expected[p] - got[p]);
    }
    EXPECT_LE(error, kRelativeError * largest) << what << of_size();
  }
  /// Compares `got` with central differences of sum(slopes * formula) along a random direction of each array.
  void expect_gradients(const Formula& formula, const Arrays& in, const Arrays& slopes,
                        const std::map<std::string, std::vector<float>>& got) {
    constexpr double kStep = 1e-5;
    for (const auto& [name, gradient] : got) {
      ASSERT_EQ(gradient.size(), in.at(name).size()) << name << of_size();
      const std::vector<float> direction = random_.many(gradient.size());
      Arrays above = in, below = in;
      double along = 0;
      for (std::size_t p = 0; p < direction.size(); ++p) {
        above[name][p] += kStep * direction[p];
        below[name][p] -= kStep * direction[p];
        along += static_cast<double>(direction[p]) * gradient[p];
      }
      const Arrays high = formula(above), low = formula(below);
      double expected = 0, size = 0;
      for (const auto& [output, slope] : slopes)
        for (std::size_t p = 0; p < slope.size(); ++p) {
          const double change = slope[p] * (high.at(output)[p] - low.at(output)[p]) / (2 * kStep);
          expected += change;
          size += std::abs(change);
        }
      EXPECT_NEAR(along, expected, kRelativeError * size) << name << of_size();
    }
  }
  std::string of_size() const {
    return ", " + std::to_string(s_.tokens) + " tokens, " + std::to_string(s_.heads) + " heads, " +
           std::to_string(s_.width) + " states";
  }

  const StateSize s_;
  const cpu::Kernels& kernels_;
  const std::size_t together_;
  Numbers01 random_;
};

class PairStateKernels : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(PairStateKernels);

TEST_P(PairStateKernels, StartMatchesPlainLoops) {
  for (const StateSize& size : kSizes) StateCase(size, kernels()).expect_start();
}

TEST_P(PairStateKernels, LayerMatchesPlainLoops) {
  for (const StateSize& size : kSizes) StateCase(size, kernels()).expect_layer();
}

}  // namespace
}  // namespace molgraph::test
