#include "apps/training/baselines/booster.hpp"

#include <xgboost/c_api.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "datasets/system/readable.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using Json = nlohmann::json;

void check(int status) {
  if (status != 0) throw RunError(std::string("XGBoost: ") + XGBGetLastError());
}

/// An XGBoost DMatrix.
class Matrix {
 public:
  Matrix(const FeatureRows& features, const LabelledRows& rows) {
    std::vector<std::size_t> offset{0};
    std::vector<unsigned> column;
    std::vector<float> value;
    for (const std::size_t row : rows.rows) {
      for (std::size_t k = features.offset[row]; k < features.offset[row + 1]; ++k) {
        column.push_back(features.column[k]);
        value.push_back(features.value[k]);
      }
      offset.push_back(column.size());
    }
    check(XGDMatrixCreateFromCSREx(offset.data(), column.data(), value.data(), offset.size(), value.size(),
                                   features.width, &handle_));
    check(XGDMatrixSetFloatInfo(handle_, "label", rows.labels.data(), rows.labels.size()));
    if (!rows.weights.empty())
      check(XGDMatrixSetFloatInfo(handle_, "weight", rows.weights.data(), rows.weights.size()));
  }
  ~Matrix() { XGDMatrixFree(handle_); }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  DMatrixHandle handle() const { return handle_; }

 private:
  DMatrixHandle handle_ = nullptr;
};

/// Converts XGBoost's nodes of one tree to pre-order: a node, its left subtree, its right subtree.
std::vector<TreeNode> nodes_of(const Json& tree) {
  const Json &left = tree.at("left_children"), &right = tree.at("right_children"), &feature = tree.at("split_indices"),
             &number = tree.at("split_conditions"), &missing_left = tree.at("default_left");
  std::vector<TreeNode> nodes;
  struct Open {
    std::size_t node;     // XGBoost's index
    std::int32_t parent;  // our index, -1 = root
    bool is_left;
  };
  std::vector<Open> open{{0, -1, false}};
  while (!open.empty()) {
    const Open at = open.back();
    open.pop_back();
    const auto node_index = static_cast<std::int32_t>(nodes.size());
    if (at.parent >= 0) {
      TreeNode& parent = nodes[static_cast<std::size_t>(at.parent)];
      (at.is_left ? parent.left : parent.right) = node_index;
    }
    TreeNode node;
    const auto l = left.at(at.node).get<std::int64_t>(), r = right.at(at.node).get<std::int64_t>();
    if (l < 0) {
      node.value = number.at(at.node).get<float>();  // the leaf weight
    } else {
      node.feature = feature.at(at.node).get<std::int32_t>();
      node.threshold = number.at(at.node).get<float>();
      node.missing_left = missing_left.at(at.node).get<int>() != 0;
      open.push_back({static_cast<std::size_t>(r), node_index, false});
      open.push_back({static_cast<std::size_t>(l), node_index, true});
    }
    nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

struct Booster::State {
  LabelledRows bounded_rows;  ///< only if labels are censored
  Matrix train;
  std::unique_ptr<Matrix> valid;
  std::size_t outputs, trees_of_round;
  BoosterHandle booster = nullptr;
  int rounds = 0;

  State(const FeatureRows& features, const LabelledRows& train_rows, const LabelledRows& valid_rows,
        const BoosterOptions& o)
      : bounded_rows(train_rows.bounds.empty() ? LabelledRows{} : train_rows), train(features, train_rows),
        outputs(static_cast<std::size_t>(o.classes)), trees_of_round(outputs * static_cast<std::size_t>(o.forest)) {
    std::vector<DMatrixHandle> cached{train.handle()};  // XGBoost caches predictions for these
    if (!valid_rows.rows.empty()) {
      valid = std::make_unique<Matrix>(features, valid_rows);
      cached.push_back(valid->handle());
    }
    check(XGBoosterCreate(cached.data(), cached.size(), &booster));
    const auto set = [&](const char* name, const std::string& value) {
      check(XGBoosterSetParam(booster, name, value.c_str()));
    };
    set("verbosity", "0");
    set("nthread", "1");
    set("seed", std::to_string(o.seed % 2'147'483'647));
    set("tree_method", "hist");
    set("objective", o.kind == TaskKind::regression ? "reg:squarederror"
                     : o.kind == TaskKind::binary   ? "binary:logistic"
                                                    : "multi:softprob");
    if (o.kind == TaskKind::multiclass) set("num_class", std::to_string(o.classes));
    set("base_score", text("%.9g", o.base));
    set("eta", text("%.9g", o.lr));
    set("max_depth", std::to_string(o.depth));
    set("max_bin", std::to_string(o.bins));
    set("subsample", text("%.9g", o.rows));
    set("colsample_bynode", text("%.9g", o.columns));
    set("lambda", text("%.9g", o.l2));
    set("min_child_weight", text("%.9g", o.min_child_weight));
    set("num_parallel_tree", std::to_string(o.forest));
  }
  ~State() { XGBoosterFree(booster); }

  std::vector<float> margins(const Matrix& data) const {
    const bst_ulong* shape = nullptr;
    bst_ulong dimensions = 0;
    const float* values = nullptr;
    check(XGBoosterPredictFromDMatrix(
        booster, data.handle(),
        R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false})", &shape,
        &dimensions, &values));
    std::size_t count = 1;
    for (bst_ulong d = 0; d < dimensions; ++d) count *= shape[d];
    return {values, values + count};
  }

  /// Adds a round for the loss (margin - label)^2/2. Loss and derivatives are 0 if the margin satisfies a censored
  /// label.
  void add_bounded_round() {
    std::vector<float> slope = margins(train), curvature(slope.size());
    for (std::size_t i = 0; i < slope.size(); ++i) {
      slope[i] -= bounded_rows.labels[i];
      const bool kept = static_cast<float>(bounded_rows.bounds[i]) * slope[i] > 0;
      const float weight = kept ? 0 : bounded_rows.weights.empty() ? 1 : bounded_rows.weights[i];
      slope[i] *= weight;
      curvature[i] = weight;
    }
    check(XGBoosterBoostOneIter(booster, train.handle(), slope.data(), curvature.data(), slope.size()));
    ++rounds;
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

std::string xgboost_version() {
  int major = 0, minor = 0, patch = 0;
  XGBoostVersion(&major, &minor, &patch);
  return text("%d.%d.%d", major, minor, patch);
}

Booster::Booster(const FeatureRows& features, const LabelledRows& train, const LabelledRows& valid,
                 const BoosterOptions& options)
    : state_(std::make_unique<State>(features, train, valid, options)) {}

Booster::~Booster() = default;

void Booster::add_round() {
  if (state_->bounded_rows.bounds.empty())
    check(XGBoosterUpdateOneIter(state_->booster, state_->rounds++, state_->train.handle()));
  else state_->add_bounded_round();
}

std::vector<float> Booster::valid_margins() {
  return state_->valid ? state_->margins(*state_->valid) : std::vector<float>();
}

std::vector<std::vector<std::vector<TreeNode>>> Booster::trees(int rounds) {
  bst_ulong length = 0;
  const char* bytes = nullptr;
  check(XGBoosterSaveModelToBuffer(state_->booster, R"({"format": "ubj"})", &length, &bytes));
  std::vector<std::vector<std::vector<TreeNode>>> by_output(state_->outputs);
  try {
    const Json all = Json::from_ubjson(bytes, bytes + length);
    const Json& model = all.at("learner").at("gradient_booster").at("model");
    const Json &trees = model.at("trees"), &output = model.at("tree_info");
    const std::size_t tree_count = static_cast<std::size_t>(rounds) * state_->trees_of_round;
    for (std::size_t t = 0; t < tree_count; ++t)
      by_output.at(output.at(t).get<std::size_t>()).push_back(nodes_of(trees.at(t)));
  } catch (const nlohmann::json::exception& problem) {
    throw RunError(std::string("XGBoost ") + xgboost_version() +
                   " writes trees in an unknown format: " + problem.what());
  }
  return by_output;
}

}  // namespace molgraph
