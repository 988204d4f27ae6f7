// The attention kernels on the emulated GPU: every model's terms on every molecule of the case table, forward and
// backward, with a warp, with half a warp and with arrays in global memory.
#include <gtest/gtest.h>

#include "attention/cuda/kernels/attention_gradient.cuh"
#include "attention/formula/molecule.hpp"
#include "attention/spec/random.hpp"
#include "tests/cuda/device_arrays.hpp"
#include "tests/support/attention_cases.hpp"

namespace molgraph::test {
namespace {

constexpr RandomStream kStream{
    .seed = 11, .step = 3, .row = 7, .layer = 2, .site = RandomSite::attention_weights, .ascent = 1};
constexpr double kDropout = 0.2;

/// Drops the same weights as the device.
void drop(AttentionCase& c) {
  const std::size_t count = c.heads * c.tokens * c.tokens;
  std::vector<std::uint16_t> draws(count);
  random_draws(kStream, static_cast<std::int64_t>(count), draws.data());
  for (const std::uint16_t draw : draws) c.kept.push_back(draw >= dropout_threshold(kDropout));
  c.keep_scale = static_cast<float>(dropout_scale(dropout_threshold(kDropout)));
}

/// The arrays of a case in the kernels' layout: query, key and value in one row, pairs [head, key, query].
class KernelCall {
 public:
  explicit KernelCall(const AttentionCase& c) : c_(c), n_(c.tokens) {}

  /// `largest`: number of tokens of the launch's largest molecule.
  AttentionResult<float> run(std::size_t largest) {
    std::vector<std::uint16_t> relation(n_ * n_);
    std::vector<std::uint8_t> forbidden(c_.masked.empty() ? 0 : n_ * n_);
    std::vector<std::uint32_t> classes;
    for (std::size_t r = 0; r < c_.relations; ++r) classes.push_back(relation_word(static_cast<std::uint32_t>(r), 0));
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        relation[j * n_ + i] = static_cast<std::uint16_t>(c_.relation[c_.pair(i, j)]);
        if (!forbidden.empty()) forbidden[j * n_ + i] = static_cast<std::uint8_t>(c_.masked[c_.pair(i, j)]);
      }
    std::vector<float> qkv;
    for (std::size_t i = 0; i < n_; ++i)
      for (const auto* part : {&c_.q, &c_.k, &c_.v})
        qkv.insert(qkv.end(), part->begin() + static_cast<std::ptrdiff_t>(i * c_.width()),
                   part->begin() + static_cast<std::ptrdiff_t>((i + 1) * c_.width()));
    const DrawKey key = draw_key(kStream.seed, kStream.step, kStream.ascent);
    const std::vector<float> no_gate(c_.gate.empty() ? 0 : c_.relations * c_.heads, 0.0f);
    const cuda::Molecule molecule{.row = kStream.row,
                                  .tokens = static_cast<std::int32_t>(n_),
                                  .relations = static_cast<std::int32_t>(c_.relations),
                                  .longest = 0,
                                  .token = 0,
                                  .pair = 0,
                                  .relation = 0,
                                  .atom_at = 0,
                                  .pair_at = 0,
                                  .relation_at = 0};
    cuda::Attention<float> p{.molecules = device_.put(std::vector{molecule}),
                             .chosen = device_.put(std::vector<std::int32_t>{0, -1}),
                             .count = 2,
                             .heads = static_cast<int>(c_.heads),
                             .width = static_cast<int>(c_.head_width),
                             .max_tokens = static_cast<int>(largest),
                             .max_relations = static_cast<int>(c_.relations),
                             .scale = c_.scale,
                             .key_by_row = c_.key_term == KeyTerm::row,
                             .reversed = c_.key_term == KeyTerm::reverse,
                             .qkv = device_.put(qkv),
                             .relation = device_.put(relation),
                             .classes = device_.put(classes),
                             .forbidden = device_.put(forbidden)};
    p.tables.query.topology = device_.put(c_.query_rows);
    p.tables.key.topology = device_.put(c_.key_rows);
    p.tables.value.topology = device_.put(c_.value_rows);
    p.tables.gate = device_.put(no_gate);
    p.walks = {.query = device_.put(c_.walk_query),
               .key = device_.put(c_.walk_key),
               .value = device_.put(c_.walk_value),
               .steps = static_cast<int>(c_.steps),
               .probabilities = device_.put(walks_by_key())};
    p.pair_bias = device_.put(by_pair(c_.bias));
    p.pair_gate = device_.put(by_pair(c_.gate));
    if (!c_.kept.empty())
      p.dropout = cuda::dropout_at(device_.put(std::vector{key}), kStream.layer, kStream.site, kDropout);
    const std::size_t channels = n_ * c_.width(), rows = c_.relations * c_.width(), pairs = n_ * n_ * c_.heads,
                      steps = c_.steps * c_.width();
    p.z = device_.unset<float>(channels);
    cuda::attention(nullptr, p, scratch_);
    cuda::AttentionGradient<float> g{.dz = device_.put(c_.dz),
                                     .dqkv = device_.unset<float>(3 * channels),
                                     .first = true,
                                     .first_gate = true,
                                     .first_pair = true};
    const auto unset_if = [&](const std::vector<float>& x, std::size_t count) {
      return x.empty() ? nullptr : device_.unset<float>(count);
    };
    g.dquery_rows = unset_if(c_.query_rows, rows);
    g.dkey_rows = unset_if(c_.key_rows, rows);
    g.dvalue_rows = unset_if(c_.value_rows, rows);
    g.dwalk_query = unset_if(c_.walk_query, steps);
    g.dwalk_key = unset_if(c_.walk_key, steps);
    g.dwalk_value = unset_if(c_.walk_value, steps);
    g.dpair_bias = unset_if(c_.bias, pairs);
    g.dpair_gate = unset_if(c_.gate, pairs);
    g.dgate_rows = unset_if(c_.gate, c_.relations * c_.heads);
    cuda::attention_gradient(nullptr, p, g, scratch_);
    AttentionResult<float> r;
    r.z = DeviceArrays::get(p.z, channels);
    const std::vector<float> dqkv = DeviceArrays::get(g.dqkv, 3 * channels);
    for (std::size_t i = 0; i < n_; ++i)
      for (auto* part : {&r.dq, &r.dk, &r.dv})
        for (std::size_t x = 0; x < c_.width(); ++x)
          part->push_back(dqkv[3 * i * c_.width() + (part == &r.dk ? 1 : part == &r.dv ? 2 : 0) * c_.width() + x]);
    r.dquery_rows = DeviceArrays::get(g.dquery_rows, rows);
    r.dkey_rows = DeviceArrays::get(g.dkey_rows, rows);
    r.dvalue_rows = DeviceArrays::get(g.dvalue_rows, rows);
    r.dwalk_query = DeviceArrays::get(g.dwalk_query, steps);
    r.dwalk_key = DeviceArrays::get(g.dwalk_key, steps);
    r.dwalk_value = DeviceArrays::get(g.dwalk_value, steps);
    r.dbias = by_pair(DeviceArrays::get(g.dpair_bias, pairs));
    r.dgate = by_pair(DeviceArrays::get(g.dpair_gate, pairs));
    return r;
  }

 private:
  /// [head, query, key] to [head, key, query], and back.
  std::vector<float> by_pair(const std::vector<float>& x) const {
    std::vector<float> y(x.size());
    for (std::size_t h = 0; h < c_.heads && !x.empty(); ++h)
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) y[c_.pair(h, j, i)] = x[c_.pair(h, i, j)];
    return y;
  }

  /// [query, key, step] to [key, group, query, 4] (MoleculeArrays::pair_walks).
  std::vector<float> walks_by_key() const {
    const std::size_t groups = (c_.steps + 3) / 4;
    std::vector<float> y(c_.walks.empty() ? 0 : 4 * groups * n_ * n_);
    for (std::size_t i = 0; i < n_ && !y.empty(); ++i)
      for (std::size_t j = 0; j < n_; ++j)
        for (std::size_t t = 0; t < c_.steps; ++t)
          y[4 * ((j * groups + t / 4) * n_ + i) + t % 4] = c_.walks[c_.pair(i, j) * c_.steps + t];
    return y;
  }

  const AttentionCase& c_;
  std::size_t n_;
  DeviceArrays device_;
  cuda::Array<float> scratch_;
};

TEST(CudaAttentionKernel, EveryTermOnEveryMolecule) {
  for (const PlanCase& of : plain_cases()) {
    const ModelPlan plan = model_plan(of.options);
    const std::vector<MoleculeCase> molecules = molecule_cases(plan.features);
    const GraphBatch batch = batch_of_cases(molecules, {});
    AttentionErrors errors;
    for (std::size_t b = 0; b < molecules.size(); ++b) {
      const formula::Molecule molecule(batch, static_cast<std::int64_t>(b));
      for (const bool dropped : {false, true}) {
        const auto tokens = static_cast<std::size_t>(molecule.tokens());
        if (tokens > 50 && (dropped || of.options.encoder.share_encodings)) continue;  // saves time
        AttentionCase c = attention_case(plan, molecule, 0, false);
        if (dropped) drop(c);
        errors.add(c, KernelCall(c).run(tokens));  // up to 16 tokens: half a warp
        if (b == 3) {
          errors.add(c, KernelCall(c).run(32));
          errors.add(c, KernelCall(c).run(1 << 12));  // beyond shared memory
        }
      }
    }
    errors.expect_small(of.name);
  }
}

TEST(CudaAttentionKernel, FullyMaskedRowIsZero) {
  const ModelPlan plan = model_plan(small_model(encoding_from_string("grpe")));
  const GraphBatch batch = batch_of_cases(molecule_cases(), {});
  AttentionCase c = attention_case(plan, formula::Molecule(batch, 3), 0, false);
  c.masked.assign(c.tokens * c.tokens, 0);
  std::fill_n(c.masked.begin() + static_cast<std::ptrdiff_t>(2 * c.tokens), c.tokens, 1);
  const AttentionResult<float> got = KernelCall(c).run(c.tokens);
  for (std::size_t x = 0; x < c.width(); ++x) {
    EXPECT_EQ(got.z[2 * c.width() + x], 0);
    EXPECT_EQ(got.dq[2 * c.width() + x], 0);
  }
  AttentionErrors errors;
  errors.add(c, got);
  errors.expect_small("masked row");
}

}  // namespace
}  // namespace molgraph::test
