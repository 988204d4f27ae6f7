#include "attention/cuda/model.hpp"

#include <optional>

#include "attention/cuda/engine.cuh"
#include "attention/cuda/front.cuh"

namespace molgraph::MOLGRAPH_CUDA {
namespace {

/// `E`: float, or Bf16 as what the products read.
template <class E>
class EngineOf : public Engine {
 public:
  EngineOf(const ModelPlan& plan, Math math, int number)
      : Engine(plan, number), rows_(plan_, stream_), node_(plan_, parameters_, stream_), encoder_(plan_, parameters_, math, stream_),
        head_(plan_, parameters_, stream_) {
    const EncoderOptions& o = plan_.encoder;
    const auto owner = [](bool per_layer, int k) { return per_layer ? "encoder.layers." + std::to_string(k) + "." : std::string("encoder."); };
    if (plan_.path_hops > 0) path_.emplace(plan_, parameters_, "path.", plan_.path_hops, bond_rows_, stream_);
    if (o.gate.enabled && o.gate.path_hops > 0)
      for (int k = 0; k < (o.gate.per_layer ? o.layers : 1); ++k)
        gate_path_.emplace_back(plan_, parameters_, owner(o.gate.per_layer, k) + "gate_path.", o.gate.path_hops, bond_rows_, stream_);
    if (o.terms.absolute_bias)
      for (int k = 0; k < (o.share_encodings ? 1 : o.layers); ++k)
        absolute_.emplace_back(plan_, parameters_, owner(!o.share_encodings, k) + "absolute.", stream_);
    spatial_.resize(o.terms.bias || o.terms.global_bias ? (o.share_encodings ? 1 : static_cast<std::size_t>(o.layers)) : 0);
    bias_.resize(absolute_.size());
    dbias_.resize(absolute_.empty() ? (path_ ? 1 : 0) : absolute_.size());
    dgate_.resize(gate_path_.size());
  }

  void derive() override {
    const auto size = static_cast<std::size_t>(parameters_.size());
    if constexpr (!std::is_same_v<E, float>) round_to(stream_, weights_.data(), rounded_.sized(size), parameters_.size());
    const WeightView<E> w = view();
    if (path_) path_->make_table(w);
    for (auto& path : gate_path_) path.make_table(w);
    const auto classes = static_cast<std::size_t>(plan_.classes.topology.count()) * static_cast<std::size_t>(plan_.encoder.heads);
    for (std::size_t k = 0; k < spatial_.size(); ++k) encoder_.make_spatial(w, k, spatial_[k].sized(classes));
  }

  const float* forward(const ResidentMolecules& set, const BatchPlaces& batch, const DrawKey* draws, const float* perturbation, bool keep) override {
    const WeightView<E> w = view();
    PassInput pass{.set = &set, .batch = &batch, .classes = classes_.sized(static_cast<std::size_t>(batch.relations)), .draws = draws, .keep = keep};
    launch(stream_, gather_classes_kernel, static_cast<unsigned>(batch.molecules), kTableThreads, 0, batch.molecule, set.classes(),
           batch.relations, classes_.data());
    rows_.make(set, batch, draws);
    const auto floats = static_cast<std::size_t>(batch.pairs) * static_cast<std::size_t>(plan_.encoder.heads);
    for (const auto& table : spatial_) pass.terms.spatial.push_back(table.data());
    const float* path = path_ ? path_->forward(pass) : nullptr;
    if (absolute_.empty() && path != nullptr) pass.terms.bias.push_back(path);
    for (std::size_t k = 0; k < absolute_.size(); ++k) {
      float* bias = bias_[k].sized(floats);
      if (path != nullptr) copy_on_device(bias, path, floats * sizeof(float), stream_);
      absolute_[k].forward(w, pass, rows_, path != nullptr, bias);
      pass.terms.bias.push_back(bias);
    }
    for (auto& gate : gate_path_) pass.terms.gate.push_back(gate.forward(pass));
    if (keep) {
      for (auto& slope : dbias_) pass.terms.dbias.push_back(slope.sized(floats));
      for (auto& slope : dgate_) pass.terms.dgate.push_back(slope.sized(floats));
    }
    const float* input = node_.forward(w, pass, rows_, perturbation);
    encoder_.forward(w, pass, input);
    pass_ = pass;
    return head_.forward(w, batch, encoder_.states(-1));
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
    for (std::size_t k = 0; k < absolute_.size(); ++k) absolute_[k].backward(w, dbias_[k].data());
    const auto pairs = static_cast<std::int64_t>(batch.pairs) * plan_.encoder.heads;
    if (path_) {
      for (std::size_t k = 1; k < dbias_.size(); ++k) add(stream_, dbias_[k].data(), dbias_[0].data(), pairs);
      path_->backward(w, dbias_[0].data());
    }
    for (std::size_t k = 0; k < gate_path_.size(); ++k) gate_path_[k].backward(w, dgate_[k].data());
    node_.backward(w, pass_, rows_, flow);
    return flow;
  }

 private:
  WeightView<E> view() const {
    const E* rounded;
    if constexpr (std::is_same_v<E, float>) rounded = weights_.data();
    else rounded = rounded_.data();
    return {weights_.data(), rounded, partial_.data(), slices_, parameters_.size()};
  }

  Array<E> rounded_;
  TokenRows rows_;
  NodeFront<E> node_;
  Encoder<E> encoder_;
  HeadBack<E> head_;
  std::optional<PathFront<E>> path_;
  std::vector<PathFront<E>> gate_path_;
  std::vector<AbsoluteFront<E>> absolute_;
  std::vector<Array<float>> spatial_, bias_, dbias_, dgate_;
  Array<std::uint32_t> classes_;
  Array<float> flow_;
  PassInput pass_;
};

}  // namespace

std::unique_ptr<Model> make_model(const ModelPlan& plan, Math math, int number) {
  if (math == Math::bf16) return std::make_unique<EngineOf<Bf16>>(plan, math, number);
  return std::make_unique<EngineOf<float>>(plan, math, number);
}

}  // namespace molgraph::MOLGRAPH_CUDA
