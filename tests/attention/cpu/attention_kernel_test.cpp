// The attention kernel of one molecule and its gradient: every model's terms on every molecule of the case table.
#include "attention/formula/attention.hpp"
#include "attention/formula/molecule.hpp"
#include "tests/attention/cpu/kernel_checks.hpp"
#include "tests/support/attention_cases.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

/// The arrays of a case in the kernel's layout: head-innermost, channel x*H + h, H padded. Numbers that are not set are
/// NaN.
class KernelCall {
 public:
  KernelCall(const AttentionCase& c, const cpu::Kernels& kernels)
      : c_(c), kernels_(kernels), heads_(cpu::padded_heads(c.heads)), inner_(heads_ * c.head_width),
        stride_(cpu::padded(inner_) + 16) {}

  AttentionResult<float> run() {
    const std::size_t n = c_.tokens, pairs = n * n;
    const std::vector<float> q = by_head(c_.q, n, stride_), k = by_head(c_.k, n, stride_),
                             v = by_head(c_.v, n, stride_);
    const std::vector<float> query_rows = by_head(c_.query_rows, c_.relations, inner_),
                             key_rows = by_head(c_.key_rows, c_.relations, inner_);
    const std::vector<float> value_rows = by_head(c_.value_rows, c_.relations, inner_), gate = by_pair(c_.gate);
    const std::vector<float> walk_query = by_head(c_.walk_query, c_.steps, inner_),
                             walk_key = by_head(c_.walk_key, c_.steps, inner_),
                             walk_value = by_head(c_.walk_value, c_.steps, inner_);
    const std::vector<float> walks = arranged(false), walks_by_key = arranged(true);
    std::vector<float> bias = by_pair(c_.bias);
    std::vector<std::uint16_t> relation, key_relation;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        relation.push_back(static_cast<std::uint16_t>(c_.relation[c_.pair(i, j)]));
        key_relation.push_back(static_cast<std::uint16_t>(c_.key_relation(i, j)));
        if (!c_.masked.empty() && c_.masked[c_.pair(i, j)] != 0)
          std::fill_n(bias.data() + c_.pair(i, j) * heads_, heads_, cpu::kForbidden);
      }
    std::vector<std::uint8_t> bits(pairs * heads_ / 8 + 8, 0);
    for (std::size_t h = 0; h < c_.heads && !c_.kept.empty(); ++h)
      for (std::size_t p = 0; p < pairs; ++p)
        if (c_.kept[h * pairs + p] != 0)
          bits[(p * heads_ + h) / 8] = static_cast<std::uint8_t>(bits[(p * heads_ + h) / 8] | 1 << h % 8);
    constexpr std::size_t kGuard = 64;
    constexpr float kGuardValue = 12345;
    const std::size_t needed = kernels_.attention_scratch(n, heads_, c_.relations, c_.steps, true);
    std::vector<float> scratch(needed + kGuard, kUnset), softmax(pairs * heads_, kUnset);
    std::fill(scratch.begin() + static_cast<std::ptrdiff_t>(needed), scratch.end(), kGuardValue);
    std::vector<float> z(c_.queries * stride_, kUnset);
    const auto pointer = [](const std::vector<float>& x) { return x.empty() ? nullptr : x.data(); };
    cpu::Attention g{.tokens = n,
                     .heads = heads_,
                     .head_width = c_.head_width,
                     .queries = c_.queries,
                     .scale = c_.scale,
                     .q = q.data(),
                     .k = k.data(),
                     .v = v.data(),
                     .stride = stride_,
                     .bias = pointer(bias),
                     .gate = pointer(gate),
                     .keep = {},
                     .relations = c_.relations,
                     .relation = relation.data(),
                     .key_relation = key_relation.data(),
                     .query_rows = pointer(query_rows),
                     .key_rows = pointer(key_rows),
                     .value_rows = pointer(value_rows),
                     .key_by_row = c_.key_term == KeyTerm::row,
                     .steps = c_.steps,
                     .walks = pointer(walks),
                     .walks_by_key = pointer(walks_by_key),
                     .walk_query = pointer(walk_query),
                     .walk_key = pointer(walk_key),
                     .walk_value = pointer(walk_value),
                     .softmax = softmax.data(),
                     .z = z.data(),
                     .z_stride = stride_,
                     .scratch = scratch.data()};
    if (!c_.kept.empty()) g.keep = {bits.data(), c_.keep_scale};
    kernels_.attention(g);
    AttentionResult<float> r;
    r.z = back_from_heads(z, c_.queries, stride_);

    const std::size_t forward =
        kernels_.attention_scratch(n, heads_, c_.relations, c_.steps, false);  // a prediction does not keep the softmax
    std::vector<float> alone(z.size(), kUnset), small(forward + kGuard, kUnset);
    std::fill(small.begin() + static_cast<std::ptrdiff_t>(forward), small.end(), kGuardValue);
    cpu::Attention prediction = g;
    prediction.softmax = nullptr;
    prediction.z = alone.data();
    prediction.scratch = small.data();
    kernels_.attention(prediction);
    EXPECT_EQ(back_from_heads(alone, c_.queries, stride_), r.z);
    EXPECT_EQ(std::count(small.begin() + static_cast<std::ptrdiff_t>(forward), small.end(), kGuardValue),
              std::ptrdiff_t{kGuard});

    std::fill_n(scratch.begin(), needed, kUnset);
    const std::vector<float> dz = by_head(c_.dz, c_.queries, stride_);
    std::vector<float> dq(n * stride_, kUnset), dk(n * stride_, kUnset), dv(n * stride_, kUnset);
    std::vector<float> dbias(bias.size()), dgate(gate.size()), dquery_rows(query_rows.size()),
        dkey_rows(key_rows.size()), dvalue_rows(value_rows.size()), dwalk_query(walk_query.size()),
        dwalk_key(walk_key.size()), dwalk_value(walk_value.size());
    const auto target = [](std::vector<float>& x) { return x.empty() ? nullptr : x.data(); };
    kernels_.attention_gradient(g, {.dz = dz.data(),
                                    .dz_stride = stride_,
                                    .dq = dq.data(),
                                    .dk = dk.data(),
                                    .dv = dv.data(),
                                    .dbias = target(dbias),
                                    .dgate = target(dgate),
                                    .dquery_rows = target(dquery_rows),
                                    .dkey_rows = target(dkey_rows),
                                    .dvalue_rows = target(dvalue_rows),
                                    .dwalk_query = target(dwalk_query),
                                    .dwalk_key = target(dwalk_key),
                                    .dwalk_value = target(dwalk_value)});
    EXPECT_EQ(std::count(scratch.begin() + static_cast<std::ptrdiff_t>(needed), scratch.end(), kGuardValue),
              std::ptrdiff_t{kGuard});
    r.dq = back_from_heads(dq, c_.queries, stride_);
    r.dk = back_from_heads(dk, n, stride_);
    r.dv = back_from_heads(dv, n, stride_);
    r.dquery_rows = back_from_heads(dquery_rows, c_.relations, inner_);
    r.dkey_rows = back_from_heads(dkey_rows, c_.relations, inner_);
    r.dvalue_rows = back_from_heads(dvalue_rows, c_.relations, inner_);
    r.dwalk_query = back_from_heads(dwalk_query, c_.steps, inner_);
    r.dwalk_key = back_from_heads(dwalk_key, c_.steps, inner_);
    r.dwalk_value = back_from_heads(dwalk_value, c_.steps, inner_);
    r.dbias = back_from_pairs(dbias);
    r.dgate = back_from_pairs(dgate);
    return r;
  }

 private:
  std::vector<float> by_head(const std::vector<float>& x, std::size_t rows, std::size_t stride) const {
    if (x.empty()) return {};
    std::vector<float> y(rows * stride, 0.0f);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t h = 0; h < c_.heads; ++h)
        for (std::size_t d = 0; d < c_.head_width; ++d)
          y[r * stride + d * heads_ + h] = x[r * c_.width() + h * c_.head_width + d];
    return y;
  }
  std::vector<float> arranged(bool by_key) const {
    const std::size_t n = c_.tokens;
    std::vector<float> out(kernels_.walk_floats(n, heads_, c_.steps)), walks(c_.walks.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t t = 0; t < c_.steps; ++t) walks[(t * n + j) * n + i] = c_.walks[c_.pair(i, j) * c_.steps + t];
    kernels_.arrange_walks(walks.data(), c_.tokens, heads_, c_.steps, by_key, out.data());
    return out;
  }
  std::vector<float> back_from_heads(const std::vector<float>& y, std::size_t rows, std::size_t stride) const {
    if (y.empty()) return {};
    std::vector<float> x(rows * c_.width());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t h = 0; h < c_.heads; ++h)
        for (std::size_t d = 0; d < c_.head_width; ++d)
          x[r * c_.width() + h * c_.head_width + d] = y[r * stride + d * heads_ + h];
    return x;
  }
  std::vector<float> by_pair(const std::vector<float>& x) const {
    const std::size_t pairs = c_.tokens * c_.tokens;
    std::vector<float> y(x.empty() ? 0 : pairs * heads_, 0.0f);
    for (std::size_t h = 0; h < c_.heads && !x.empty(); ++h)
      for (std::size_t p = 0; p < pairs; ++p) y[p * heads_ + h] = x[h * pairs + p];
    return y;
  }
  std::vector<float> back_from_pairs(const std::vector<float>& y) const {
    const std::size_t pairs = c_.tokens * c_.tokens;
    std::vector<float> x(y.empty() ? 0 : pairs * c_.heads);
    for (std::size_t h = 0; h < c_.heads && !y.empty(); ++h)
      for (std::size_t p = 0; p < pairs; ++p) x[h * pairs + p] = y[p * heads_ + h];
    return x;
  }

  const AttentionCase& c_;
  const cpu::Kernels& kernels_;
  std::size_t heads_, inner_, stride_;
};

class AttentionKernel : public PerInstructionSet {};
MOLGRAPH_ON_EVERY_INSTRUCTION_SET(AttentionKernel);

TEST_P(AttentionKernel, EveryTermOnEveryMolecule) {
  for (const PlanCase& of : plan_cases()) {
    const ModelPlan plan = model_plan(of.options);
    const std::vector<MoleculeCase> molecules = molecule_cases(plan.features);
    const GraphBatch batch = batch_of_cases(molecules, {});
    AttentionErrors errors;
    for (std::size_t b = 0; b < molecules.size(); ++b) {
      const formula::Molecule molecule(batch, static_cast<std::int64_t>(b));
      for (const auto& [queries, drop] : {std::pair<std::size_t, bool>{0, false}, {0, true}, {1, true}}) {
        if (molecule.tokens() > 50 && (queries == 1 || of.options.encoder.share_encodings)) continue;  // saves time
        const AttentionCase c = attention_case(plan, molecule, queries, drop);
        errors.add(c, KernelCall(c, kernels()).run());
      }
    }
    errors.expect_small(of.name);
  }
}

// If every key of a row is masked, its output and its gradients are zero.
TEST_P(AttentionKernel, FullyMaskedRowIsZero) {
  const ModelPlan plan = model_plan(small_model(encoding_from_string("grpe")));
  const GraphBatch batch = batch_of_cases(molecule_cases(), {});
  AttentionCase c = attention_case(plan, formula::Molecule(batch, 3), 0, false);
  c.masked.assign(c.tokens * c.tokens, 0);
  c.bias = Numbers01(9).many(c.heads * c.tokens * c.tokens);
  std::fill_n(c.masked.begin() + static_cast<std::ptrdiff_t>(2 * c.tokens), c.tokens, 1);
  const AttentionResult<float> got = KernelCall(c, kernels()).run();
  for (std::size_t x = 0; x < c.width(); ++x) {
    EXPECT_EQ(got.z[2 * c.width() + x], 0);
    EXPECT_EQ(got.dq[2 * c.width() + x], 0);
  }
  AttentionErrors errors;
  errors.add(c, got);
  errors.expect_small("masked row");
}

// --- tests of the plain loops ---

formula::Matrix matrix(const std::vector<float>& x, std::size_t columns) {
  formula::Matrix m(static_cast<std::int64_t>(x.size() / columns), static_cast<std::int64_t>(columns));
  std::copy(x.begin(), x.end(), m.values.begin());
  return m;
}

/// z by attention/formula. Each relation is a separate topology class.
formula::Matrix formula_of(const AttentionCase& c) {
  const auto n = static_cast<std::int64_t>(c.tokens);
  formula::PairClasses classes{formula::Grid<int>(n, n), formula::Grid<int>(n, n), {}};
  classes.topology.values = c.relation;
  if (!c.masked.empty()) {
    classes.masked = formula::Grid<char>(n, n);
    classes.masked.values = c.masked;
  }
  formula::AttentionTerms terms{
      .heads = static_cast<int>(c.heads),
      .key_term = c.key_term,
      .score_terms = static_cast<int>(std::lround(1 / (c.scale * c.scale * static_cast<float>(c.head_width)))),
      .tables = {},
      .bias = {},
      .gate = {},
      .dropout = {}};
  terms.tables.topology_query = matrix(c.query_rows, c.width());
  terms.tables.topology_key = matrix(c.key_rows, c.width());
  terms.tables.topology_value = matrix(c.value_rows, c.width());
  terms.tables.walk_query = matrix(c.walk_query, c.width());
  terms.tables.walk_key = matrix(c.walk_key, c.width());
  terms.tables.walk_value = matrix(c.walk_value, c.width());
  for (std::size_t t = 0; t < c.steps; ++t) {
    terms.walks.emplace_back(n, n);
    for (std::size_t p = 0; p < c.tokens * c.tokens; ++p) terms.walks.back().values[p] = c.walks[p * c.steps + t];
  }
  const auto heads = [&](const auto& x, double factor) {
    std::vector<formula::Matrix> by_head;
    for (std::size_t h = 0; h < c.heads && !x.empty(); ++h) {
      by_head.emplace_back(n, n);
      for (std::size_t p = 0; p < c.tokens * c.tokens; ++p)
        by_head.back().values[p] = factor * x[h * c.tokens * c.tokens + p];
    }
    return by_head;
  };
  terms.bias = heads(c.bias, 1);
  terms.gate = heads(c.gate, 1);
  terms.dropout = heads(c.kept, c.keep_scale);
  return formula::attention(matrix(c.q, c.width()), matrix(c.k, c.width()), matrix(c.v, c.width()), classes, terms);
}

TEST(PlainAttention, MatchesTheFormula) {
  for (const PlanCase& of : plan_cases()) {
    const ModelPlan plan = model_plan(of.options);
    const GraphBatch batch = batch_of_cases(molecule_cases(plan.features), {});
    const AttentionCase c = attention_case(plan, formula::Molecule(batch, 3), 0, true);
    const AttentionResult<double> plain = plain_attention<double>(c);
    const formula::Matrix expected = formula_of(c);
    for (std::size_t i = 0; i < plain.z.size(); ++i)
      EXPECT_NEAR(plain.z[i], expected.values[i], 1e-6) << of.name;  // alpha is a float here
  }
}

// The derivative of sum(dz * z) along a random direction of each input, by the formula's central difference.
TEST(PlainAttention, GradientMatchesTheFormulasDerivative) {
  constexpr float kStep = 1.0f / 1024;
  for (const PlanCase& of : plan_cases()) {
    const ModelPlan plan = model_plan(of.options);
    const GraphBatch batch = batch_of_cases(molecule_cases(plan.features), {});
    const AttentionCase c = attention_case(plan, formula::Molecule(batch, 3), 0, true);
    const AttentionResult<double> r = plain_attention<double>(c);
    using Input = std::vector<float> AttentionCase::*;
    const std::vector<std::pair<Input, const std::vector<double>*>> inputs{{&AttentionCase::q, &r.dq},
                                                                           {&AttentionCase::k, &r.dk},
                                                                           {&AttentionCase::v, &r.dv},
                                                                           {&AttentionCase::query_rows, &r.dquery_rows},
                                                                           {&AttentionCase::key_rows, &r.dkey_rows},
                                                                           {&AttentionCase::value_rows, &r.dvalue_rows},
                                                                           {&AttentionCase::walk_query, &r.dwalk_query},
                                                                           {&AttentionCase::walk_key, &r.dwalk_key},
                                                                           {&AttentionCase::walk_value, &r.dwalk_value},
                                                                           {&AttentionCase::bias, &r.dbias},
                                                                           {&AttentionCase::gate, &r.dgate}};
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const auto& [input, gradient] = inputs[k];
      if ((c.*input).empty()) continue;
      const std::vector<float> direction = Numbers01(static_cast<unsigned>(k)).many((c.*input).size());
      double expected = 0, slope = 0;
      for (const float sign : {1.0f, -1.0f}) {
        AttentionCase moved = c;
        for (std::size_t i = 0; i < direction.size(); ++i) (moved.*input)[i] += sign * kStep * direction[i];
        const formula::Matrix z = formula_of(moved);
        for (std::size_t i = 0; i < c.dz.size(); ++i) expected += sign * z.values[i] * c.dz[i] / (2 * kStep);
      }
      for (std::size_t i = 0; i < direction.size(); ++i) slope += direction[i] * (*gradient)[i];
      EXPECT_NEAR(slope, expected, 2e-3 * (1 + std::abs(expected))) << of.name << ", input " << k;
    }
  }
}

}  // namespace
}  // namespace molgraph::test
