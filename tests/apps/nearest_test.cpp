// Nearest-row search, compared with an exhaustive search.
#include "apps/scoring/nearest_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace molgraph {
namespace {

std::vector<float> random_rows(std::size_t count, std::size_t width, unsigned seed) {
  std::mt19937 draw(seed);
  std::normal_distribution<float> normal(3, 1);  // far from the origin, where |a|^2 - 2 a.b + |b|^2 loses digits
  std::vector<float> rows(count * width);
  for (float& value : rows) value = normal(draw);
  return rows;
}

Neighbour exhaustive_search(const std::vector<float>& rows, const float* query, std::size_t width) {
  Neighbour best{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t r = 0; r < rows.size() / width; ++r) {
    double square = 0;
    for (std::size_t c = 0; c < width; ++c) square += std::pow(static_cast<double>(query[c]) - rows[r * width + c], 2);
    if (std::sqrt(square) < best.distance) best = {std::sqrt(square), r};
  }
  return best;
}

TEST(NearestRows, MatchesExhaustiveSearch) {
  for (const std::size_t width : {16u, 80u, 33u}) {
    for (const std::size_t count : {1u, 1023u, 1024u, 2500u}) {
      const std::vector<float> rows = random_rows(count, width, 1), queries = random_rows(130, width, 2);
      NearestRows nearest(width);
      for (std::size_t r = 0; r < count; ++r) nearest.add({rows.data() + r * width, width});
      nearest.finish();
      const auto found = nearest.find(queries);
      ASSERT_EQ(found.size(), 130u);
      for (std::size_t q = 0; q < found.size(); ++q) {
        const Neighbour expected = exhaustive_search(rows, queries.data() + q * width, width);
        EXPECT_NEAR(found[q].distance, expected.distance, 1e-4 * expected.distance) << width << " " << count;
        if (found[q].index != expected.index) continue;  // another row at almost the same distance
        EXPECT_DOUBLE_EQ(found[q].distance, expected.distance);
      }
    }
  }
}

TEST(NearestRows, EqualRowsHaveDistanceZero) {
  const std::vector<float> rows = random_rows(3000, 80, 3);
  NearestRows nearest(80);
  for (std::size_t r = 0; r < 3000; ++r) nearest.add({rows.data() + r * 80, 80});
  nearest.finish();
  const auto found = nearest.find(rows);
  for (std::size_t r = 0; r < 3000; ++r) {
    EXPECT_EQ(found[r].distance, 0);
    EXPECT_EQ(found[r].index, r);
  }
  EXPECT_TRUE(nearest.find({}).empty());
}

}  // namespace
}  // namespace molgraph
