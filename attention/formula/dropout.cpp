#include "attention/formula/dropout.hpp"

namespace molgraph::formula {

std::vector<std::uint16_t> Draws::draws(RandomSite site, int layer, std::int64_t count) const {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
  random_draws(
      {mode_.seed, mode_.step, static_cast<std::uint32_t>(row_), static_cast<std::uint32_t>(layer), site, mode_.ascent},
      count, values.data());
  return values;
}

Matrix Draws::dropout(RandomSite site, int layer, std::int64_t rows, std::int64_t columns, double p) const {
  Matrix factors(rows, columns, 1.0);
  const std::uint32_t threshold = dropout_threshold(p);  // p is rounded to multiples of 1/65536
  if (!mode_.training || threshold == 0) return factors;
  const std::vector<std::uint16_t> draw = draws(site, layer, rows * columns);
  for (std::size_t e = 0; e < draw.size(); ++e)
    factors.values[e] = draw[e] < threshold ? 0.0 : dropout_scale(threshold);
  return factors;
}

std::vector<Matrix> Draws::attention(int layer, int heads, std::int64_t n, double p) const {
  const Matrix all = dropout(RandomSite::attention_weights, layer, heads * n, n, p);  // element (h N + i) N + j
  std::vector<Matrix> by_head(static_cast<std::size_t>(heads), Matrix(n, n));
  for (int h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) by_head[static_cast<std::size_t>(h)](i, j) = all(h * n + i, j);
  return by_head;
}

Matrix Draws::noise(double width, std::int64_t rows, std::int64_t columns) const {
  Matrix values(rows, columns);
  if (!mode_.training || width == 0) return values;
  const std::vector<std::uint16_t> draw = draws(RandomSite::input_noise, 0, rows * columns);
  for (std::size_t e = 0; e < draw.size(); ++e) values.values[e] = noise_from_draw(width, draw[e]);
  return values;
}

Matrix Draws::signs(std::int64_t count) const {
  Matrix values(1, count, 1.0);
  if (!mode_.training) return values;
  const std::vector<std::uint16_t> draw = draws(RandomSite::laplacian_sign, 0, count);
  for (std::size_t c = 0; c < draw.size(); ++c) values.values[c] = draw[c] < 32768 ? 1.0 : -1.0;
  return values;
}

}  // namespace molgraph::formula
