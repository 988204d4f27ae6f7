#include "attention/cuda/cuda_engine.hpp"
#include "attention/cuda/device_model.cuh"
#include "attention/cuda/encoder_back.cuh"
#include "attention/cuda/head.cuh"
#include "attention/cuda/node_input.cuh"

namespace molgraph {
namespace cuda {
namespace {

/// The parts of a model, in the order of computation. `E`, the type that products read: float or Bf16.
template <class E>
class ModelOf : public DeviceModel {
 public:
  ModelOf(const ModelPlan& plan, int number, Precision precision)
      : DeviceModel(plan, number), tokens_(plan_, stream_), bias_(TermFills::bias, plan_, parameters_, stream_),
        gate_(TermFills::gate, plan_, parameters_, stream_), node_input_(plan_, parameters_, stream_),
        encoder_(plan_, parameters_, precision, stream_), head_(plan_, parameters_, stream_) {}

  void derive() override {
    const auto size = static_cast<std::size_t>(parameters_.size());
    if constexpr (!std::is_same_v<E, float>)
      round_to(stream_, weights_.data(), rounded_.sized(size), parameters_.size());
    const WeightView<E> w = view();
    bias_.derive(w);
    gate_.derive(w);
    encoder_.derive(w);
  }

  const float* forward(const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws,
                       const float* perturbation, bool keep) override {
    const WeightView<E> w = view();
    pass_ = {.set = &set,
             .batch = &batch,
             .tokens = &tokens_,
             .classes = classes_.sized(static_cast<std::size_t>(batch.relations)),
             .draws = draws,
             .keep = keep,
             .bias = &bias_,
             .gate = &gate_};
    launch(stream_, gather_classes_kernel, static_cast<unsigned>(batch.molecules), kTableThreads, 0, batch.molecule,
           set.classes(), batch.relations, classes_.data());
    tokens_.make(set, batch, draws);
    bias_.forward(w, pass_);
    gate_.forward(w, pass_);
    encoder_.forward(w, pass_, node_input_.forward(w, pass_, perturbation));
    return head_.forward(w, set, batch, draws, encoder_.states(-1));
  }
  const float* states(int layer) const override { return encoder_.states(layer); }

  const float* backward(const float* dscaled) override {
    const auto size = static_cast<std::size_t>(parameters_.size()) * static_cast<std::size_t>(slices_);
    clear(partial_.sized(size), size * sizeof(float), stream_);
    const WeightView<E> w = view();
    const BatchPlaces& batch = *pass_.batch;
    float* flow = flow_.sized(static_cast<std::size_t>(batch.rows) * static_cast<std::size_t>(plan_.encoder.width));
    head_.backward(w, batch, dscaled, flow);
    encoder_.backward(w, flow);
    bias_.backward(w, pass_);
    gate_.backward(w, pass_);
    node_input_.backward(w, pass_, flow);
    return flow;
  }

 private:
  WeightView<E> view() const {
    const E* rounded;
    if constexpr (std::is_same_v<E, float>) rounded = weights_.data();
    else rounded = rounded_.data();
    return {{weights_.data(), partial_.data(), slices_, parameters_.size()}, rounded};
  }

  Array<E> rounded_;
  TokenRows tokens_;
  PairSum bias_, gate_;
  NodeInput node_input_;
  Encoder<E> encoder_;
  Head head_;
  Array<std::uint32_t> classes_;
  Array<float> flow_;
  PassInput pass_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Engine> make_cuda_engine(const ModelPlan& plan, int number, Precision precision) {
  if (precision == Precision::bf16) return std::make_unique<cuda::ModelOf<cuda::Bf16>>(plan, number, precision);
  return std::make_unique<cuda::ModelOf<float>>(plan, number, precision);
}

}  // namespace molgraph
