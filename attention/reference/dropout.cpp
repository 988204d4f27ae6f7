#include "attention/reference/dropout.hpp"

#include <ATen/Parallel.h>

namespace molgraph {
namespace {

using torch::Tensor;

// Converts draws to factors: out[e] = draw[e] < threshold ? 0 : scale.
template <class Scalar>
void to_factors(const std::uint16_t* draws, std::int64_t count, std::uint32_t threshold, Scalar scale, Scalar* out) {
  for (std::int64_t e = 0; e < count; ++e) out[e] = draws[e] < threshold ? Scalar(0) : scale;
}

std::int64_t tokens_of(const GraphBatch& batch, std::int64_t molecule) {
  return batch.token_offset[molecule + 1] - batch.token_offset[molecule];
}

}  // namespace

DropoutMasks::DropoutMasks(const GraphBatch& batch, const AttentionLayout& layout, const ForwardMode& mode,
                           const torch::TensorOptions& like)
    : batch_(batch), layout_(layout), mode_(mode), like_(like.requires_grad(false)) {}

RandomStream DropoutMasks::stream(std::int64_t molecule, int layer, RandomSite site) const {
  return {mode_.seed, mode_.step,  static_cast<std::uint32_t>(batch_.row[molecule]), static_cast<std::uint32_t>(layer),
          site,       mode_.ascent};
}

Tensor DropoutMasks::tokens(int layer, RandomSite site, std::int64_t channels, double p) const {
  const std::uint32_t threshold = dropout_threshold(p);
  if (!mode_.training || threshold == 0) return {};
  Tensor factors = torch::zeros({layout_.tokens, channels}, like_);
  AT_DISPATCH_FLOATING_TYPES(factors.scalar_type(), "dropout_tokens", [&] {
    const auto scale = static_cast<scalar_t>(dropout_scale(threshold));
    scalar_t* out = factors.mutable_data_ptr<scalar_t>();
    for (const TokenGroup& group : layout_.groups) {
      at::parallel_for(
          0, static_cast<std::int64_t>(group.molecules.size()), 4, [&](std::int64_t begin, std::int64_t end) {
            std::vector<std::uint16_t> draws(static_cast<std::size_t>(group.size * channels));
            for (std::int64_t slot = begin; slot < end; ++slot) {
              const std::int64_t molecule = group.molecules[slot], count = tokens_of(batch_, molecule) * channels;
              random_draws(stream(molecule, layer, site), count, draws.data());
              to_factors(draws.data(), count, threshold, scale,
                         out + (group.first_token + slot * group.size) * channels);
            }
          });
    }
  });
  return factors;
}

std::vector<Tensor> DropoutMasks::attention(int layer, int heads, double p) const {
  const std::uint32_t threshold = dropout_threshold(p);
  std::vector<Tensor> result;
  if (!mode_.training || threshold == 0) return result;
  for (const TokenGroup& group : layout_.groups) {
    const auto molecules = static_cast<std::int64_t>(group.molecules.size());
    const std::int64_t size = group.size;
    const Tensor factors = torch::zeros({heads, molecules, size * size}, like_);
    AT_DISPATCH_FLOATING_TYPES(factors.scalar_type(), "dropout_attention", [&] {
      const auto scale = static_cast<scalar_t>(dropout_scale(threshold));
      scalar_t* out = factors.mutable_data_ptr<scalar_t>();
      at::parallel_for(0, molecules, 4, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::uint16_t> draws(static_cast<std::size_t>(heads * size * size));
        for (std::int64_t slot = begin; slot < end; ++slot) {
          const std::int64_t molecule = group.molecules[slot], n = tokens_of(batch_, molecule);
          random_draws(stream(molecule, layer, RandomSite::attention_weights), heads * n * n, draws.data());
          for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < n; ++i)
              to_factors(draws.data() + (h * n + i) * n, n, threshold, scale,
                         out + ((h * molecules + slot) * size + i) * size);
        }
      });
    });
    result.push_back(factors);
  }
  return result;
}

Tensor molecule_dropout(const GraphBatch& batch, std::int64_t channels, RandomSite site, double p,
                        const ForwardMode& mode, const torch::TensorOptions& like) {
  const std::uint32_t threshold = dropout_threshold(p);
  if (!mode.training || threshold == 0) return {};
  Tensor factors = torch::empty({batch.size(), channels}, like.requires_grad(false));
  std::vector<std::uint16_t> draws(static_cast<std::size_t>(channels));
  AT_DISPATCH_FLOATING_TYPES(factors.scalar_type(), "molecule_dropout", [&] {
    const auto scale = static_cast<scalar_t>(dropout_scale(threshold));
    scalar_t* out = factors.mutable_data_ptr<scalar_t>();
    for (std::int64_t b = 0; b < batch.size(); ++b) {
      random_draws({mode.seed, mode.step, static_cast<std::uint32_t>(batch.row[b]), 0, site, mode.ascent}, channels,
                   draws.data());
      to_factors(draws.data(), channels, threshold, scale, out + b * channels);
    }
  });
  return factors;
}

Tensor input_noise(const GraphBatch& batch, std::int64_t channels, double width, const ForwardMode& mode,
                   const torch::TensorOptions& like, RandomSite site) {
  Tensor noise = torch::empty({batch.num_tokens(), channels}, like.requires_grad(false));
  AT_DISPATCH_FLOATING_TYPES(noise.scalar_type(), "input_noise", [&] {
    scalar_t* out = noise.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, batch.size(), 4, [&](std::int64_t begin, std::int64_t end) {
      std::vector<std::uint16_t> draws;
      for (std::int64_t b = begin; b < end; ++b) {
        draws.resize(static_cast<std::size_t>(tokens_of(batch, b) * channels));
        const RandomStream stream{mode.seed, mode.step, static_cast<std::uint32_t>(batch.row[b]), 0, site, mode.ascent};
        random_draws(stream, static_cast<std::int64_t>(draws.size()), draws.data());
        scalar_t* to = out + batch.token_offset[b] * channels;
        for (std::size_t e = 0; e < draws.size(); ++e) to[e] = static_cast<scalar_t>(noise_from_draw(width, draws[e]));
      }
    });
  });
  return noise;
}

}  // namespace molgraph
