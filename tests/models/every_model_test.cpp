// Gradients, symmetries, unusual molecules and a short training of every model.
#include "tests/models/every_model.hpp"

#include <gtest/gtest.h>

#include "attention/reference/encoder.hpp"
#include "attention/reference/node_input.hpp"
#include "attention/reference/relation_classes.hpp"
#include "tests/graphormer/model_checks.hpp"

namespace molgraph::test {
namespace {

constexpr double kSums = 1e-12;  // float64 sums of order one in a different order; relative if a prediction exceeds one

class EveryModel : public testing::TestWithParam<ModelCase> {
 protected:
  EveryModel() : model(make_model(GetParam())) { randomise(*model); }

  std::unique_ptr<GraphModel> model;
};

TEST_P(EveryModel, GradientsMatchFiniteDifferences) { expect_gradients(*model); }

TEST_P(EveryModel, InvariantUnderRenumbering) {
  // Every atom of these molecules is different, so that signs and bases of eigenvectors are determined. The solver's
  // error is divided by the gaps between eigenvalues.
  const bool eigenvectors = GetParam().encoding->position == NodePosition::laplacian;
  RecordProperty("largest", std::to_string(expect_renumbering_invariance(*model, eigenvectors ? 1e-10 : kSums)));
}

TEST_P(EveryModel, IndependentOfBatchComposition) { expect_batch_independence(*model, kSums); }

TEST_P(EveryModel, UnusualMoleculesGiveFiniteResults) { expect_unusual_molecules(*model); }

TEST_P(EveryModel, TrainingLowersTheLoss) {
  // Two classes: chains, and graphs with rings. Every encoding except `none` distinguishes them by their bonds; for
  // `none`, the atoms of the two classes differ.
  std::vector<MolecularGraph> graphs;
  std::vector<float> targets;
  for (unsigned k = 0; k < 24; ++k) {
    graphs.push_back(k % 2 == 0 ? chain_of(6 + static_cast<int>(k) / 2) : random_graph(8 + static_cast<int>(k) / 2, k));
    if (k % 2 == 1)
      for (std::size_t a = 0; a < graphs.back().atoms.size(); a += 9) graphs.back().atoms[a] = 7;
    targets.push_back(k % 2 == 0 ? -1.0f : 1.0f);
  }
  const std::unique_ptr<GraphModel> fresh = [&] {
    torch::manual_seed(3);
    return make_model(GetParam());
  }();
  const GraphBatch batch = batch_for(*fresh, graphs);
  const torch::Tensor expected = torch::tensor(targets).unsqueeze(1);
  torch::optim::AdamW optimizer(fresh->parameters(), torch::optim::AdamWOptions(5e-3));
  double first = 0, last = 0;
  for (std::uint32_t step = 0; step < 40; ++step) {
    const torch::Tensor loss =
        (fresh->run(batch, {.training = true, .seed = 1, .step = step}).scaled - expected).square().mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    (step == 0 ? first : last) = loss.item<double>();
  }
  EXPECT_LT(last, 0.5 * first);
  EXPECT_LT(last, 0.5) << "the loss of predicting the mean is 1";
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(every_model()),
                         [](const auto& instance) { return instance.param.name; });

/// One, two, ten and 24 channels per head.
TEST(HeadWidths, EveryEncodingHasFiniteGradients) {
  for (const Encoding& encoding : encodings()) {
    for (const int width : {1, 2, 10, 24}) {
      const auto model = make_model({"", &encoding, {.enabled = true}, false}, [&](EncoderOptions& e) {
        e.heads = 2;
        e.width = 2 * width;
        e.layers = 1;
      });
      randomise(*model, 0.2);
      model->zero_grad();
      model->run(batch_for(*model, assorted()), {}).values.sum().backward();
      for (const auto& item : model->named_parameters())
        EXPECT_TRUE(item->grad().defined() && item->grad().isfinite().all().item<bool>())
            << encoding.name << " " << item.key();
      // A LayerNorm of two channels leaves only signs, so that predictions may coincide. The symmetry must still hold.
      if (width > 1)
        expect_renumbering_invariance(*model, encoding.position == NodePosition::laplacian ? 1e-10 : kSums);
    }
  }
}

TEST(Laplacian, SignsAreRandomOnlyInTraining) {
  const Encoding& encoding = encoding_from_string("laplacian");
  const auto model = make_model({"", &encoding, {}, false}, [](EncoderOptions& e) {
    e.dropout = e.attention_dropout = e.activation_dropout = e.input_dropout = 0.0;
  });
  model->to(torch::kFloat64);
  randomise(*model);
  const auto states = [&](bool training, std::uint32_t step, std::int64_t row) {
    const torch::NoGradGuard no_grad;
    const GraphBatch batch = batch_for(*model, {random_graph(12, 2)}, {row});
    const torch::Tensor x =
        node_input(*model, model->plan(), batch, {});  // without GRPE's noise, which would mask the signs
    return Encoder(model->plan().encoder, *model, "encoder.", pair_terms(model->plan()))
        .forward(x, batch, relation_classes(batch, model->plan().classes),
                 {.training = training, .seed = 4, .step = step});
  };
  const torch::Tensor scored = states(false, 0, 0);
  EXPECT_TRUE(torch::equal(states(false, 1, 5), scored));
  EXPECT_TRUE(torch::equal(states(true, 1, 5), states(true, 1, 5)));
  int different = 0;
  for (std::uint32_t step = 0; step < 8; ++step)
    different += torch::equal(states(true, step, 0), states(true, step + 8, 0)) ? 0 : 1;
  EXPECT_GE(different, 5);  // five signs are equal by chance in one of 32 cases
  EXPECT_FALSE(torch::equal(states(true, 3, 1), states(true, 3, 2)) &&
               torch::equal(states(true, 4, 1), states(true, 4, 2)));
}

}  // namespace
}  // namespace molgraph::test
