// Hand-made trees, the tree file, and the blend of partner predictions with a model's predictions.
#include "apps/scoring/trees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "apps/scoring/tree_file.hpp"
#include "datasets/archives/safetensors.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/partner_fixtures.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kLogP = kFingerprintBins, kWeight = kFingerprintBins + 1;

/// A split with two leaves.
std::vector<TreeNode> stump(std::int32_t feature, float threshold, float left, float right, bool missing_left) {
  return {{.feature = feature, .threshold = threshold, .left = 1, .right = 2, .missing_left = missing_left},
          {.value = left},
          {.value = right}};
}

void add_tree(Trees& trees, std::vector<TreeNode> nodes) {
  const auto first = static_cast<std::int32_t>(trees.nodes.size());
  for (TreeNode& node : nodes) {
    if (node.feature >= 0) {
      node.left += first;
      node.right += first;
    }
    trees.nodes.push_back(node);
  }
  trees.tree_offset.push_back(static_cast<std::int64_t>(trees.nodes.size()));
}

void end_output(Trees& trees, double base, double scale) {
  trees.base.push_back(base);
  trees.scale.push_back(scale);
  trees.output_offset.push_back(static_cast<std::int64_t>(trees.tree_offset.size()) - 1);
}

/// y: two stumps (logp < 2, count of column 3 < 1.5). active: one tree (logp < 0, else weight < 300).
Trees two_targets() {
  Trees trees{.descriptors = {"logp", "weight"},
              .targets = {{.name = "y", .kind = TaskKind::regression, .share = 0.75},
                          {.name = "active", .kind = TaskKind::binary, .share = 0.5}},
              .forest = {false, false}};
  add_tree(trees, stump(kLogP, 2, -1, 1, false));
  add_tree(trees, stump(3, 1.5F, 10, 20, true));
  end_output(trees, 100, 0.5);
  add_tree(trees, {{.feature = kLogP, .threshold = 0, .left = 1, .right = 2},
                   {.value = -2},
                   {.feature = kWeight, .threshold = 300, .left = 3, .right = 4, .missing_left = true},
                   {.value = 0.5},
                   {.value = 3}});
  end_output(trees, 0.25, 1);
  return trees;
}

std::vector<float> row(float logp, float weight, float count3 = kNaN) {
  std::vector<float> numbers(kFingerprintBins + 2, kNaN);
  numbers[kLogP] = logp;
  numbers[kWeight] = weight;
  numbers[3] = count3;
  return numbers;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Trees, FollowThresholdsAndDirectionsOfMissingValues) {
  const Trees trees = two_targets();
  ASSERT_EQ(trees_problem(trees), "");
  const TreePredictor predictor(trees);
  double values[2];
  const auto expect = [&](const std::vector<float>& numbers, double y, double log_odds) {
    predictor.predict(numbers, values);
    EXPECT_DOUBLE_EQ(values[0], y);
    EXPECT_DOUBLE_EQ(values[1], sigmoid(log_odds));
  };
  expect(row(1.9F, 299), 100 + 0.5 * (-1 + 10), 0.25 + 0.5);     // count 3 is missing: left
  expect(row(2.0F, 300, 1), 100 + 0.5 * (1 + 10), 0.25 + 3);     // at the threshold: right
  expect(row(2.5F, kNaN, 2), 100 + 0.5 * (1 + 20), 0.25 + 0.5);  // weight is missing: left
  expect(row(kNaN, 400, 2), 100 + 0.5 * (1 + 20), 0.25 + 3);     // logp is missing: right
  expect(row(-0.5F, 400, 2), 100 + 0.5 * (-1 + 20), 0.25 - 2);
}

// One molecule in five has label 1. A leaf's value is (frequency in the leaf - 0.2)/(0.2 * 0.8).
TEST(Trees, ForestsPredictTheMeanFrequencyInTheLeaves) {
  Trees trees{.targets = {{.name = "y"}, {.name = "active", .kind = TaskKind::binary}}, .forest = {false, true}};
  add_tree(trees, stump(0, 0.5F, 7, 9, true));
  end_output(trees, 100, 1);
  const auto value = [](float frequency) { return (frequency - 0.2F) / 0.16F; };
  for (const int column : {0, 1, 2, 3}) add_tree(trees, stump(column, 0.5F, value(0) / 4, value(1) / 4, true));
  end_output(trees, 0.2, 0.16);
  ASSERT_EQ(trees_problem(trees), "");
  const TreePredictor predictor(trees);
  std::vector<float> numbers(kFingerprintBins, kNaN);
  double values[2];
  for (const double expected : {0.01, 0.25, 0.5, 0.75, 0.99}) {  // 0 and 1 are limited
    predictor.predict(numbers, values);
    EXPECT_NEAR(values[1], expected, 1e-6);
    *std::ranges::find_if(numbers, [](float number) { return std::isnan(number); }) = 1;
  }
  EXPECT_EQ(values[0], 109);
}

TEST(Blend, ProbabilitiesAreAtLeastATenthOfTheFrequency) {
  EXPECT_DOUBLE_EQ(limited_probability(-0.5, 0.5), 0.01);
  EXPECT_DOUBLE_EQ(limited_probability(1.5, 0.5), 0.99);
  EXPECT_DOUBLE_EQ(limited_probability(0, 0.002), 0.0002);
  EXPECT_DOUBLE_EQ(limited_probability(1, 0.998), 0.9998);
  EXPECT_DOUBLE_EQ(limited_probability(0, 0), 1e-6);
}

TEST(Trees, ClassProbabilitiesAreASoftmax) {
  Trees trees{.targets = {{.name = "c", .kind = TaskKind::multiclass, .classes = 3}}, .forest = {false}};
  for (const float leaf : {1.0F, 0.0F, -1.0F}) {
    add_tree(trees, stump(0, 0.5F, 0, leaf, true));
    end_output(trees, 0, 2);
  }
  ASSERT_EQ(trees_problem(trees), "");
  std::vector<float> numbers(kFingerprintBins, kNaN);
  const TreePredictor predictor(trees);
  double values[3];
  predictor.predict(numbers, values);
  for (const double value : values) EXPECT_DOUBLE_EQ(value, 1.0 / 3);
  numbers[0] = 1;
  predictor.predict(numbers, values);
  const double total = std::exp(2.0) + 1 + std::exp(-2.0);
  EXPECT_DOUBLE_EQ(values[0], std::exp(2.0) / total);
  EXPECT_DOUBLE_EQ(values[2], std::exp(-2.0) / total);
}

/// Appends a random tree of at most `depth` levels below its root. Most branches end early.
std::int32_t grow(std::vector<TreeNode>& nodes, int depth, std::mt19937& random) {
  const auto at = static_cast<std::int32_t>(nodes.size());
  const auto number = [&] { return static_cast<float>(random() % 1000) / 250 - 2; };
  nodes.push_back({.value = number()});
  if (depth == 0 || (at > 0 && random() % 3 == 0)) return at;
  const std::int32_t left = grow(nodes, depth - 1, random), right = grow(nodes, depth - 1, random);
  nodes[static_cast<std::size_t>(at)] = {.feature = static_cast<std::int32_t>(random() % (kFingerprintBins + 2)),
                                         .threshold = number(),
                                         .left = left,
                                         .right = right,
                                         .missing_left = random() % 2 == 0};
  return at;
}

double leaf(const Trees& trees, std::int64_t root, const float* numbers) {
  auto at = static_cast<std::size_t>(root);
  while (trees.nodes[at].feature >= 0) {
    const TreeNode& node = trees.nodes[at];
    const float number = numbers[node.feature];
    const bool left = std::isnan(number) ? node.missing_left : number < node.threshold;
    at = static_cast<std::size_t>(left ? node.left : node.right);
  }
  return static_cast<double>(trees.nodes[at].value);
}

TEST(Trees, ManyMoleculesGetTheLeavesOfAWalkFromTheRoot) {
  std::mt19937 random(5);
  Trees trees{.descriptors = {"logp", "weight"},
              .targets = {{.name = "a", .kind = TaskKind::regression}, {.name = "b", .kind = TaskKind::regression}},
              .forest = {false, false}};
  for (const int count : {30, 21}) {
    for (int t = 0; t < count; ++t) {
      std::vector<TreeNode> nodes;
      grow(nodes, t % 14, random);  // the first is a single leaf
      add_tree(trees, nodes);
    }
    end_output(trees, 0.5, 2);
  }
  ASSERT_EQ(trees_problem(trees), "");
  const TreePredictor predictor(trees);
  for (const std::size_t molecules : {1, 15, 16, 37}) {
    std::vector<float> rows(molecules * trees.features());
    for (float& number : rows) number = random() % 4 == 0 ? kNaN : static_cast<float>(random() % 1000) / 250 - 2;
    std::vector<double> values(molecules * 2);
    predictor.predict(rows, values.data());
    for (std::size_t k = 0; k < values.size(); ++k) {
      double sum = 0;
      for (auto t = static_cast<std::size_t>(trees.output_offset[k % 2]);
           t < static_cast<std::size_t>(trees.output_offset[k % 2 + 1]); ++t)
        sum += leaf(trees, trees.tree_offset[t], rows.data() + k / 2 * trees.features());
      EXPECT_EQ(values[k], 0.5 + 2 * sum) << molecules << " molecules, value " << k;
    }
  }
}

TEST(Blend, ModelHasTheShareThatPartnersLeave) {
  std::vector<BlendTarget> trees{{.name = "y", .share = 0.5},
                                 {.name = "c", .kind = TaskKind::multiclass, .classes = 2}};
  std::vector<BlendTarget> process = trees;
  process[0].share = 0.125;
  process[1].share = 0.25;
  const std::vector<double> tree_values{8, 0.1, 0.9}, process_values{-2, 0.4, 0.6};
  const std::vector<PartnerPrediction> both{{trees, tree_values}, {process, process_values}};
  double values[] = {4, 0.8, 0.2};
  blend_predictions(both, values);
  EXPECT_DOUBLE_EQ(values[0], 0.375 * 4 + 0.5 * 8 - 0.125 * 2);
  EXPECT_DOUBLE_EQ(values[1], 0.75 * 0.8 + 0.25 * 0.4);
  EXPECT_DOUBLE_EQ(values[1] + values[2], 1);
  blend_predictions({}, values);
  EXPECT_DOUBLE_EQ(values[1], 0.75 * 0.8 + 0.25 * 0.4);
}

TEST(Trees, ProblemsNameTheInvalidPart) {
  const auto problem = [](const std::function<void(Trees&)>& damage) {
    Trees trees = two_targets();
    damage(trees);
    return trees_problem(trees);
  };
  EXPECT_EQ(problem([](Trees& t) { t.nodes[0].left = 0; }),
            "node 0 of tree 0 has child 0, which is not a later node of its tree");
  EXPECT_EQ(problem([](Trees& t) { t.nodes[0].right = 3; }),
            "node 0 of tree 0 has child 3, which is not a later node of its tree");
  EXPECT_EQ(problem([](Trees& t) { t.nodes[8].left = 6; }),
            "node 2 of tree 2 has child 6, which is not a later node of its tree");
  EXPECT_EQ(problem([](Trees& t) { t.nodes[8].left = -5; }),
            "node 2 of tree 2 has child -5, which is not a later node of its tree");
  EXPECT_EQ(problem([](Trees& t) { t.nodes[3].feature = 2050; }), "node 0 of tree 1 uses column 2050 of 2050");
  EXPECT_EQ(problem([](Trees& t) { t.nodes[1].value = kNaN; }),
            "node 1 of tree 0 contains a number that is not finite");
  EXPECT_EQ(problem([](Trees& t) { t.tree_offset = {0, 3, 3, 11}; }), "tree 1 has no nodes");
  EXPECT_EQ(problem([](Trees& t) { t.tree_offset[1] = 7; }), "invalid offsets of the trees");
  EXPECT_EQ(problem([](Trees& t) { t.tree_offset.back() = 12; }), "invalid offsets of the trees");
  EXPECT_EQ(problem([](Trees& t) { t.tree_offset.clear(); }), "invalid offsets of the outputs");
  EXPECT_EQ(problem([](Trees& t) { t.output_offset = {0, 4, 3}; }), "invalid offsets of the outputs");
  EXPECT_EQ(problem([](Trees& t) { t.output_offset.pop_back(); }),
            "the targets have 2 outputs, but base (2), scale or output_offset has another size");
  EXPECT_EQ(problem([](Trees& t) { t.scale.push_back(1); }),
            "the targets have 2 outputs, but base (2), scale or output_offset has another size");
  EXPECT_EQ(problem([](Trees& t) { t.base[1] = std::numeric_limits<double>::infinity(); }),
            "the base or scale of output 1 is not finite");
  EXPECT_EQ(problem([](Trees& t) { t.targets[0].share = 1.5; }), "y has a share outside the range 0 to 1");
  EXPECT_EQ(problem([](Trees& t) { t.targets[0].share = std::numeric_limits<double>::quiet_NaN(); }),
            "y has a share outside the range 0 to 1");
  EXPECT_EQ(problem([](Trees& t) { t.targets[1].classes = 2; }), "active has 2 outputs");
  EXPECT_EQ(problem([](Trees& t) { t.forest.clear(); }), "forest has 0 entries for 2 targets");
  EXPECT_EQ(problem([](Trees& t) { t.forest[0] = true; }), "y has a forest but is not binary");
  EXPECT_EQ(problem([](Trees& t) { t.forest[1] = true; }), "");
}

/// The same trees for two regression targets.
Trees two_numbers() {
  Trees trees = two_targets();
  trees.targets[1] = {.name = "z", .share = 0.5};
  return trees;
}

Task task_of_two_numbers() {
  Task task;
  task.names = {"y", "z"};
  task.units = {"", ""};
  return task;
}

class TreeFile : public ::testing::Test {
 protected:
  std::string path() const { return scratch_.file("trees.safetensors"); }
  Trees read() const { return read_trees(path(), task_of_two_numbers(), featurizer_); }
  std::string error_message() const {
    return testing::message_of<FileError>([&] { read(); });
  }
  /// Writes the file of two_numbers() and applies `change` to it.
  void rewrite(const std::function<void(SafetensorsFile&)>& change) const {
    write_trees(path(), two_numbers(), featurizer_);
    testing::rewrite(path(), change);
  }

  testing::ScratchFolder scratch_;
  FeaturizerOptions featurizer_;
};

TEST_F(TreeFile, RoundTripKeepsAllTrees) {
  write_trees(path(), two_numbers(), featurizer_);
  const Trees expected = two_numbers(), trees = read();
  EXPECT_EQ(trees.descriptors, expected.descriptors);
  EXPECT_EQ(trees.tree_offset, expected.tree_offset);
  EXPECT_EQ(trees.output_offset, expected.output_offset);
  EXPECT_EQ(trees.base, expected.base);
  EXPECT_EQ(trees.scale, expected.scale);
  EXPECT_EQ(trees.forest, expected.forest);
  ASSERT_EQ(trees.nodes.size(), expected.nodes.size());
  for (std::size_t i = 0; i < trees.nodes.size(); ++i) {
    const TreeNode &one = trees.nodes[i], &other = expected.nodes[i];
    EXPECT_EQ(std::tie(one.feature, one.threshold, one.value, one.left, one.right, one.missing_left),
              std::tie(other.feature, other.threshold, other.value, other.left, other.right, other.missing_left));
  }
  ASSERT_EQ(trees.targets.size(), 2u);
  EXPECT_EQ(trees.targets[0].share, 0.75);
  EXPECT_EQ(trees.targets[1].name, "z");
}

TEST_F(TreeFile, ForestsAreKept) {
  Task task = task_of_two_numbers();
  task.kind = TaskKind::binary;
  Trees trees = two_numbers();
  for (BlendTarget& target : trees.targets) target.kind = TaskKind::binary;
  trees.forest = {false, true};
  write_trees(path(), trees, featurizer_);
  EXPECT_EQ(read_trees(path(), task, featurizer_).forest, trees.forest);
  testing::rewrite(path(), [](SafetensorsFile& file) {
    std::string& about = file.metadata["molgraph.trees"];
    about.replace(about.find("\"forest\""), 8, "\"Forest\"");
  });
  EXPECT_NE(testing::message_of<FileError>([&] { read_trees(path(), task, featurizer_); }).find("damaged trees"),
            std::string::npos);
}

TEST_F(TreeFile, RejectsAnotherTaskFeaturiserOrVersion) {
  write_trees(path(), two_numbers(), featurizer_);
  Task other = task_of_two_numbers();
  other.names[1] = "x";
  EXPECT_THROW(read_trees(path(), other, featurizer_), FileError);
  other = task_of_two_numbers();
  other.kind = TaskKind::binary;
  EXPECT_THROW(read_trees(path(), other, featurizer_), FileError);
  FeaturizerOptions parent = featurizer_;
  parent.standardize = Standardize::parent;
  EXPECT_NE(testing::message_of<FileError>([&] {
              read_trees(path(), task_of_two_numbers(), parent);
            }).find("another featuriser"),
            std::string::npos);
  rewrite([](SafetensorsFile& file) {
    std::string& about = file.metadata["molgraph.trees"];
    about.replace(about.find("\"version\":1"), 11, "\"version\":3");
  });
  EXPECT_NE(error_message().find("has version 3; this program reads versions 1 to 2"), std::string::npos)
      << error_message();
}

TEST_F(TreeFile, DamageGivesAnErrorThatNamesTheFile) {
  EXPECT_NE(error_message().find(path()), std::string::npos);  // no file
  const auto number = [](const char* tensor, std::size_t at, auto value) {
    return [=](SafetensorsFile& file) {
      std::memcpy(file.tensors.at(tensor).bytes.data() + at * sizeof(value), &value, sizeof(value));
    };
  };
  const std::vector<std::pair<std::function<void(SafetensorsFile&)>, std::string>> cases{
      {number("left", 0, std::int32_t{0}), "has child 0"},
      {number("right", 6, std::int32_t{2'000'000'000}), "has child 2000000000"},
      {number("feature", 0, std::int32_t{1'000'000}), "uses column 1000000 of 2050"},
      {number("value", 1, kNaN), "not finite"},
      {number("threshold", 0, std::numeric_limits<float>::infinity()), "not finite"},
      {number("tree_offset", 1, std::int64_t{-1}), "invalid offsets"},
      {number("tree_offset", 3, std::int64_t{1} << 60), "invalid offsets"},
      {number("output_offset", 1, std::int64_t{100}), "invalid offsets"},
      {number("share", 0, 2.0), "share"},
      {[](SafetensorsFile& file) { file.tensors.erase("value"); }, "missing array value"},
      {[](SafetensorsFile& file) {
         file.tensors.at("value").shape = {11, 1};
       },
       "wrong type or shape"},
      {[](SafetensorsFile& file) { file.tensors.at("left").dtype = DType::f32; }, "wrong type or shape"},
      {[](SafetensorsFile& file) { file.tensors.at("base") = file.tensors.at("value"); }, "wrong type or shape"},
      {[](SafetensorsFile& file) {
         file.tensors.at("value").shape = {10};
         file.tensors.at("value").bytes.resize(40);
       },
       "differ in length"},
      {[](SafetensorsFile& file) { file.tensors.at("share").shape = {1}, file.tensors.at("share").bytes.resize(8); },
       "not one share"},
      {[](SafetensorsFile& file) { file.metadata["molgraph.trees"] = "{"; }, "damaged trees"},
      {[](SafetensorsFile& file) { file.metadata["molgraph.trees"] = "{\"version\": 1}"; }, "damaged trees"},
      {[](SafetensorsFile& file) { file.metadata.erase("molgraph.trees"); }, "contains no trees"},
  };
  for (const auto& [change, message] : cases) {
    rewrite(change);
    EXPECT_NE(error_message().find(path()), std::string::npos) << message;
    EXPECT_NE(error_message().find(message), std::string::npos) << message << ": " << error_message();
  }
  // The checksum detects a changed byte.
  write_trees(path(), two_numbers(), featurizer_);
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-3, std::ios::end);
  file.put('x');
  file.close();
  EXPECT_NE(error_message(), "");
}

}  // namespace
}  // namespace molgraph
