// The formula on numbers that can be checked by hand. formula_reference_test.cpp compares whole models with the
// reference.
#include <gtest/gtest.h>

#include <cmath>

#include "attention/formula/attention.hpp"
#include "attention/formula/layers.hpp"
#include "attention/formula/model.hpp"
#include "attention/formula/node_input.hpp"
#include "attention/formula/node_positions.hpp"
#include "attention/formula/pair_states.hpp"
#include "attention/formula/pair_terms.hpp"
#include "tests/support/cases.hpp"

namespace molgraph::test {
namespace {

using formula::AttentionTerms;
using formula::Grid;
using formula::Matrix;
using formula::Molecule;
using formula::PairClasses;

Matrix matrix(std::int64_t rows, std::int64_t columns, const std::vector<double>& values) {
  Matrix m(rows, columns);
  m.values = values;
  return m;
}

/// Two tokens; pair (i, j) has topology class i + 2 j and edge class 1 - i.
PairClasses two_tokens() {
  PairClasses classes{Grid<int>(2, 2), Grid<int>(2, 2), Grid<char>(2, 2)};
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      classes.topology(i, j) = i + 2 * j;
      classes.edge(i, j) = 1 - i;
    }
  return classes;
}

// One head of width 4: alpha = 1/2. Only the first channel of q and k is in use.
const Matrix kQuery = matrix(2, 4, {2, 0, 0, 0, 4, 0, 0, 0});
const Matrix kKey = matrix(2, 4, {1, 0, 0, 0, 3, 0, 0, 0});
const Matrix kValue = matrix(2, 4, {1, 10, 0, 0, 2, 20, 0, 0});

/// A table of one channel: row r has values[r] there.
Matrix table(const std::vector<double>& values) {
  Matrix m(static_cast<std::int64_t>(values.size()), 4);
  for (std::size_t r = 0; r < values.size(); ++r) m(static_cast<std::int64_t>(r), 0) = values[r];
  return m;
}

std::vector<double> scores(const AttentionTerms& terms) {
  return formula::attention_scores(kQuery, kKey, two_tokens(), terms, 0).values;
}

TEST(FormulaAttention, ScoresTermByTerm) {
  using Values = std::vector<double>;
  AttentionTerms terms;
  EXPECT_EQ(scores(terms), (Values{1, 3, 2, 6}));  // q_i k_j / 2
  terms.score_terms = 4;
  EXPECT_EQ(scores(terms), (Values{0.5, 1.5, 1, 3}));
  terms = {};
  terms.tables.spatial = matrix(4, 1, {10, 20, 30, 40});  // by class i + 2 j, outside alpha
  EXPECT_EQ(scores(terms), (Values{11, 33, 22, 46}));
  terms.tables.spatial = matrix(2, 1, {10, 20});  // the classes above 1 share its row
  EXPECT_EQ(scores(terms), (Values{11, 23, 22, 26}));
  terms = {};
  terms.bias = {matrix(2, 2, {0.25, 0, 0, -1})};
  EXPECT_EQ(scores(terms), (Values{1.25, 3, 2, 5}));
  terms = {};
  terms.tables.topology_query = table({1, 2, 3, 4});  // q_i PQ[i + 2 j] / 2
  EXPECT_EQ(scores(terms), (Values{1 + 1, 3 + 3, 2 + 4, 6 + 8}));
  terms.tables.position_bias = matrix(1, 4, {100, 0, 0, 0});  // v PQ[i + 2 j] / 2
  EXPECT_EQ(scores(terms), (Values{52, 156, 106, 214}));
  terms = {};
  terms.tables.edge_query = table({1, 2});  // q_i EQ[1 - i] / 2
  EXPECT_EQ(scores(terms), (Values{1 + 2, 3 + 2, 2 + 2, 6 + 2}));
  terms = {};
  terms.tables.content_bias = matrix(1, 4, {2, 0, 0, 0});  // u k_j / 2
  EXPECT_EQ(scores(terms), (Values{2, 6, 3, 9}));
  terms = {};
  terms.tables.topology_key = table({1, 2, 3, 4});
  EXPECT_EQ(scores(terms), (Values{1 + 0.5, 3 + 4.5, 2 + 1, 6 + 6}));  // k_j PK[i + 2 j] / 2
  terms.key_term = KeyTerm::row;
  EXPECT_EQ(scores(terms), (Values{1 + 0.5, 3 + 1.5, 2 + 3, 6 + 6}));  // k_i PK[i + 2 j] / 2
  terms.key_term = KeyTerm::reverse;
  EXPECT_EQ(scores(terms), (Values{1 + 0.5, 3 + 3, 2 + 1.5, 6 + 6}));  // k_j PK[j + 2 i] / 2
  terms = {.key_term = KeyTerm::reverse};
  terms.tables.edge_key = table({2, 4});
  EXPECT_EQ(scores(terms), (Values{1 + 2, 3 + 3, 2 + 2, 6 + 3}));  // k_j EK[1 - j] / 2
}

TEST(FormulaAttention, WeightsAndValues) {
  // Scores ln 3 and 0 in row 0, ln 3 and ln 9 in row 1: softmax 3/4, 1/4 and 1/4, 3/4.
  const double ln3 = std::log(3.0);
  const Matrix a = formula::softmax(matrix(2, 2, {ln3, 0, ln3, 2 * ln3}));
  const double quarter[4] = {0.75, 0.25, 0.25, 0.75};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(a.values[k], quarter[k], 1e-15);
  AttentionTerms terms;
  terms.gate = {matrix(2, 2, {2, 4, 0, -4})};
  terms.dropout = {matrix(2, 2, {1, 2, 2, 0})};
  const Matrix w = formula::attention_weights(matrix(2, 2, {0.75, 0.25, 0.25, 0.75}), terms, 0);
  EXPECT_EQ(w.values, (std::vector<double>{1.5, 2, 0, 0}));  // not renormalised

  // With queries of zero all weights are 1/2; values 1 and 2, 10 and 20 in two channels.
  terms = {};
  const Matrix zero(2, 4);
  Matrix z = formula::attention_head(zero, kKey, kValue, two_tokens(), terms, 0);
  EXPECT_EQ(z.values, (std::vector<double>{1.5, 15, 0, 0, 1.5, 15, 0, 0}));
  terms.tables.topology_value = table({1, 2, 3, 4});
  terms.tables.edge_value = table({100, 200});
  z = formula::attention_head(zero, kKey, kValue, two_tokens(), terms, 0);
  EXPECT_EQ(z(0, 0), 1.5 + (1 + 3) / 2.0 + 200);
  EXPECT_EQ(z(1, 0), 1.5 + (2 + 4) / 2.0 + 100);
}

TEST(FormulaAttention, PairStates) {
  const double ln3 = std::log(3.0);
  formula::Parameters parameters(ParameterList({{.name = "L.pair_states.bias", .shape = {1, 2}},
                                                {.name = "L.pair_states.value", .shape = {2, 4}},
                                                {.name = "L.pair_states.update", .shape = {2, 2}},
                                                {.name = "L.pair_states.update_bias", .shape = {2}}}));
  parameters.at("L.pair_states.bias").values = {ln3, 0};
  parameters.at("L.pair_states.value").values = {0, 0, 1, 0, 0, 0, 0, 1};
  parameters.at("L.pair_states.update").values = {2, 0, 0, 3};  // a row for scores, a row for weights
  parameters.at("L.pair_states.update_bias").values = {0.5, -1};
  const std::vector<Matrix> states{matrix(2, 2, {1, 0, 1, 2}), matrix(2, 2, {5, 6, 7, 8})};
  AttentionTerms terms;
  formula::add_pair_states(states, parameters, "L.", terms);

  // With queries of zero, the scores are ln 3 times the first element: weights 3/4, 1/4 and 1/4, 3/4.
  const Matrix zero(2, 4);
  const Matrix z = formula::attention_head(zero, kKey, zero, two_tokens(), terms, 0);
  const double expected[8] = {0, 0, 0.75, 5.25, 0, 0, 1.75, 7.75};
  for (std::size_t c = 0; c < 8; ++c) EXPECT_NEAR(z.values[c], expected[c], 1e-14);

  const std::vector<Matrix> next = formula::next_pair_states(zero, kKey, two_tokens(), terms, parameters, "L.");
  const double one = ln3 / (1 + ln3 / 4), two = 2 * ln3 / (1 + ln3 / 2);  // the scores ln 3 and 2 ln 3, bounded
  const double first[4] = {1.5 + 2 * one, 0.5, 1.5 + 2 * one, 2.5 + 2 * two};
  const double second[4] = {5 - 1 + 9, 6 - 1 + 3, 7 - 1 + 3, 8 - 1 + 9};  // 3 times 4 a
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_NEAR(next[0].values[p], first[p], 1e-14);
    EXPECT_NEAR(next[1].values[p], second[p], 1e-14);
  }
}

TEST(FormulaAttention, MasksAndHeads) {
  PairClasses classes = two_tokens();
  classes.masked(0, 1) = classes.masked(1, 0) = classes.masked(1, 1) = 1;
  const Matrix z = formula::attention_head(kQuery, kKey, kValue, classes, {}, 0);
  EXPECT_EQ(z.values, (std::vector<double>{1, 10, 0, 0, 0, 0, 0, 0}));  // token 1 has no allowed key

  // Two heads of width 2: the second has zero queries, so its two weights are equal.
  const AttentionTerms two{.heads = 2};
  const Matrix value = matrix(2, 4, {0, 0, 1, 10, 0, 0, 2, 20});
  EXPECT_EQ(formula::attention(kQuery, kKey, value, two_tokens(), two).values,
            (std::vector<double>{0, 0, 1.5, 15, 0, 0, 1.5, 15}));
  EXPECT_DOUBLE_EQ(formula::attention_scores(kQuery, kKey, two_tokens(), two, 0)(0, 0), 2 / std::sqrt(2.0));
}

TEST(FormulaLayers, NormGeluLinear) {
  formula::Parameters p(ParameterList(
      std::vector<ParameterSpec>{{"n.weight", {2}}, {"n.bias", {2}}, {"l.weight", {1, 2}}, {"l.bias", {1}}}));
  p.at("n.weight").values = {2, 3};
  p.at("n.bias").values = {10, 20};
  const Matrix y = formula::layer_norm(matrix(1, 2, {4, 8}), p, "n");  // mean 6, variance 4
  EXPECT_DOUBLE_EQ(y(0, 0), 10 - 2 * 2 / std::sqrt(4 + 1e-5));
  EXPECT_DOUBLE_EQ(y(0, 1), 20 + 3 * 2 / std::sqrt(4 + 1e-5));
  p.at("l.weight").values = {2, -1};
  p.at("l.bias").values = {0.5};
  EXPECT_EQ(formula::linear(matrix(2, 2, {1, 1, 3, 0}), p, "l").values, (std::vector<double>{1.5, 6.5}));
  EXPECT_EQ(formula::gelu(0.0), 0);
  EXPECT_NEAR(formula::gelu(1.0), 0.8413447460685429, 1e-15);  // the normal distribution function at 1
  EXPECT_NEAR(formula::gelu(-1.0), -0.15865525393145707, 1e-15);
}

GraphBatch batch_of(const MolecularGraph& graph) { return batch_of_cases({{"", graph}}); }

TEST(FormulaMolecule, ClassesOfChainAndSingleAtom) {
  const GraphBatch batch = batch_of(molecule_of(Features::zinc, 4, {{0, 1}, {1, 2}}));  // bonds 0 and 1
  ClassRule rule = class_rule(Features::zinc, 1);
  rule.forbidden_distance = 2;
  const PairClasses classes = formula::pair_classes(Molecule(batch, 0), rule);
  // L = 1: FAR 2, UNREACHABLE 3, atom to virtual 4, virtual to atom 5, virtual 6. Bond ids 0..3, NO_EDGE 4, SELF 5,
  // VIRTUAL 6, 7.
  EXPECT_EQ(classes.topology.values,
            (std::vector<int>{6, 5, 5, 5, 5, 4, 0, 1, 2, 3, 4, 1, 0, 1, 3, 4, 2, 1, 0, 3, 4, 3, 3, 3, 0}));
  EXPECT_EQ(classes.edge.values,
            (std::vector<int>{7, 6, 6, 6, 6, 6, 5, 0, 4, 4, 6, 0, 5, 1, 4, 6, 4, 1, 5, 4, 6, 4, 4, 4, 5}));
  EXPECT_EQ(classes.masked.values,
            (std::vector<char>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0}));
}

TEST(FormulaPaths, TiesHopsAndRules) {
  // A square 0-1-2-3 with a tail 3-4. Bond types 0, 1, 2, 3 and 0; type values 1, 10, 100, 1000; hop weights 1 and 2.
  const GraphBatch batch = batch_of(molecule_of(Features::zinc, 5, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}}));
  const Matrix bond = matrix(4, 1, {1, 10, 100, 1000}), weight = matrix(2, 1, {1, 2});
  const Matrix mean = formula::path_values(Molecule(batch, 0), bond, weight, PathRule::mean)[0];
  EXPECT_DOUBLE_EQ(mean(1, 2), 1);
  EXPECT_DOUBLE_EQ(mean(1, 3), ((1 + 2 * 10) / 2.0 + (1000 + 2 * 100) / 2.0) / 2);  // via atom 1 and via atom 3
  EXPECT_DOUBLE_EQ(mean(3, 1),
                   ((10 + 2 * 1) / 2.0 + (100 + 2 * 1000) / 2.0) / 2);  // hops count from the query atom
  EXPECT_DOUBLE_EQ(mean(2, 5),
                   ((1 + 2 * 1000) / 2.0 + (10 + 2 * 100) / 2.0) / 2);  // three bonds, of which the first two count
  EXPECT_EQ(mean(1, 1), 0);
  EXPECT_EQ(mean(0, 3), 0);
  const Matrix single = formula::path_values(Molecule(batch, 0), bond, weight, PathRule::single)[0];
  EXPECT_DOUBLE_EQ(single(1, 3), (1 + 2 * 10) / 2.0);  // via the atom with the smaller index
  const GraphBatch salt = batch_of(molecule_of(Features::zinc, 2, {}));
  EXPECT_EQ(formula::path_values(Molecule(salt, 0), bond, weight, PathRule::mean)[0].values,
            std::vector<double>(9, 0.0));
}

TEST(FormulaPaths, BondIsMeanOfColumnsAndInputHeadComesFirst) {
  Matrix bond(13, 2);  // `ogb`: 5 + 6 + 2 rows
  bond(3, 0) = 3, bond(5 + 2, 0) = 30, bond(11 + 1, 0) = 300, bond(5 + 2, 1) = 6;
  const Matrix table = formula::hop_table(bond, matrix(2, 2, {1, 5, 7, 1000}), Features::ogb);
  const std::int64_t id = 12 * 3 + 2 * 2 + 1;  // mean (111, 2)
  EXPECT_DOUBLE_EQ(table(id, 0), 111 * 1 + 2 * 7);
  EXPECT_DOUBLE_EQ(table(id, 1), 111 * 5 + 2 * 1000);
}

TEST(FormulaPositions, WalksOnChainAndTriangleWithTail) {
  const GraphBatch row = batch_of(molecule_of(Features::zinc, 3, {{0, 1}, {1, 2}}));
  EXPECT_EQ(formula::random_walk(Molecule(row, 0), 4).values,
            (std::vector<double>{0, 0, 0, 0, 0, 0.5, 0, 0.5, 0, 1, 0, 1, 0, 0.5, 0, 0.5}));
  const GraphBatch ring = batch_of(molecule_of(Features::zinc, 5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}));
  const Matrix back = formula::random_walk(Molecule(ring, 0), 3);
  EXPECT_DOUBLE_EQ(back(1, 1), 1.0 / 4 + 1.0 / 6);  // via atom 1, or via atom 2, which has three bonds
  EXPECT_DOUBLE_EQ(back(1, 2), 1.0 / 6);            // around the ring in both directions
  EXPECT_EQ(back(5, 2), 0);                         // the single atom
}

TEST(FormulaPositions, EigenvectorsOfChainOfThreeAtoms) {
  const GraphBatch row = batch_of(molecule_of(Features::zinc, 3, {{0, 1}, {1, 2}}));
  const Matrix vectors = formula::laplacian(Molecule(row, 0), 2, formula::Draws({}, 0));
  const double r = std::sqrt(0.5);
  EXPECT_NEAR(std::abs(vectors(1, 0)), r, 1e-14);  // eigenvalue 1: (1, 0, -1)/sqrt 2
  EXPECT_NEAR(vectors(3, 0), -vectors(1, 0), 1e-14);
  EXPECT_NEAR(std::abs(vectors(2, 1)), r, 1e-14);  // eigenvalue 2: (1, -sqrt 2, 1)/2
  EXPECT_EQ(vectors(0, 0), 0);
}

TEST(FormulaGate, TableReluAndPath) {
  const GraphBatch batch = batch_of(molecule_of(Features::zinc, 2, {{0, 1}}));
  ModelOptions o = small_model(Features::zinc);
  o.encoder.heads = 1;
  o.encoder.gate = {.enabled = true, .path_hops = 1};
  ModelPlan plan = model_plan(o);
  formula::Parameters p(parameters_of(plan));
  for (int t = 0; t < 9; ++t) p.at("encoder.gate")(t, 0) = t - 2.5;
  p.at("encoder.gate_path.bond")(0, 0) = 3;
  p.at("encoder.gate_path.hop_weight")(0, 0) = 2;
  const Molecule molecule(batch, 0);
  const PairClasses classes = formula::pair_classes(molecule, plan.classes);
  EXPECT_EQ(formula::gate(molecule, classes, plan, p, 0)[0].values,
            (std::vector<double>{5.5, 4.5, 4.5, 3.5, -2.5, 4.5, 3.5, 4.5, -2.5}));
  plan.encoder.gate.relu = true;
  EXPECT_EQ(formula::gate(molecule, classes, plan, p, 0)[0].values,
            (std::vector<double>{5.5, 4.5, 4.5, 3.5, 0, 4.5, 3.5, 4.5, 0}));
}

TEST(FormulaNodeInput, AtomsDegreesAndVirtualNode) {
  const GraphBatch batch =
      batch_of(molecule_of(Features::zinc, 3, {{0, 1}, {0, 2}}));  // types 0, 5, 10; degrees 2, 1, 1
  ModelOptions o = small_model(Features::zinc);
  o.encoder.width = 3;
  o.max_degree = 1;
  const ModelPlan plan = model_plan(o);
  formula::Parameters p(parameters_of(plan));
  p.at("node.virtual_node").values = {1, 2, 3};
  for (int r = 0; r < 28; ++r) p.at("node.atom")(r, 0) = r;
  p.at("in_degree")(1, 1) = 4;
  p.at("out_degree")(1, 2) = 5;
  const formula::Draws none({}, 0);
  EXPECT_EQ(formula::node_embedding(Molecule(batch, 0), plan, p, none).values,
            (std::vector<double>{1, 2, 3, 0, 4, 5, 5, 4, 5, 10, 4, 5}));
}

/// A model of one layer. All parameters are zero except those on one path from the virtual node to the head.
TEST(FormulaModel, OneLayerMatchesHandComputation) {
  const GraphBatch batch = batch_of(molecule_of(Features::zinc, 1, {}));
  ModelOptions o = small_model(Features::zinc);
  o.encoder = {.layers = 1, .width = 2, .ffn = 1, .heads = 1};
  o.outputs = 1;
  for (const bool post_ln : {false, true}) {
    o.encoder.post_ln = post_ln;
    const ModelPlan plan = model_plan(o);
    formula::Parameters p(parameters_of(plan));
    p.at("node.virtual_node").values = {3, 1};
    for (const char* norm : {"attention_norm", "ffn_norm"})
      p.at(std::string("encoder.layers.0.") + norm + ".weight").values = {1, 1};
    if (!post_ln) p.at("encoder.final_norm.weight").values = {2, 2};
    p.at("encoder.layers.0.attention.output.bias").values = {1, 1};  // attention adds (1, 1)
    p.at("encoder.layers.0.ffn.linear1.bias").values = {1};          // GELU(1) = 0.8413..., times (0, 2)
    p.at("encoder.layers.0.ffn.linear2.weight").values = {0, 2};
    p.at("head.linear.weight").values = {1, 0};
    p.at("head.linear.bias").values = {0.25};
    const double g = 2 * formula::gelu(1.0), epsilon = 1e-5;
    double expected = 0;
    if (post_ln) {
      const double x = 1 / std::sqrt(1 + epsilon);  // of (4, 2)
      const double half = (x - (-x + g)) / 2;       // of (x, -x + g)
      expected = half / std::sqrt(half * half + epsilon) + 0.25;
    } else {
      const double half = (4 - (2 + g)) / 2;  // of (4, 2 + g)
      expected = 2 * half / std::sqrt(half * half + epsilon) + 0.25;
    }
    EXPECT_NEAR(formula::predict(plan, batch, 0, p).at(0), expected, 1e-14) << post_ln;
  }
}

TEST(FormulaDropout, FactorsHaveTheExpectedMean) {
  const formula::Draws draws({.training = true, .seed = 4, .step = 1}, 7);
  const Matrix factors = draws.dropout(RandomSite::ffn_residual, 1, 100, 100, 0.25);
  double sum = 0;
  for (const double f : factors.values) {
    EXPECT_TRUE(f == 0 || f == 1 / 0.75);
    sum += f;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.03);
  EXPECT_EQ(draws.dropout(RandomSite::ffn_residual, 1, 2, 2, 0).values, std::vector<double>(4, 1.0));
  EXPECT_EQ(formula::Draws({}, 7).dropout(RandomSite::ffn_residual, 1, 2, 2, 0.5).values, std::vector<double>(4, 1.0));
}

}  // namespace
}  // namespace molgraph::test
