#include "apps/scoring/molecule_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <variant>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

std::int64_t tokens_of(const FeaturizeResult& result) { return std::get<MolecularGraph>(result).num_atoms() + 1; }

}  // namespace

Batches make_batches(const std::vector<FeaturizeResult>& molecules, std::int64_t pairs_per_batch) {
  Batches batches;
  for (std::size_t i = 0; i < molecules.size(); ++i) {
    if (std::holds_alternative<MolecularGraph>(molecules[i])) batches.order.push_back(i);
  }
  std::stable_sort(batches.order.begin(), batches.order.end(),
                   [&](std::size_t a, std::size_t b) { return tokens_of(molecules[a]) < tokens_of(molecules[b]); });
  batches.offset.push_back(0);
  std::int64_t pairs = 0;
  for (std::size_t k = 0; k < batches.order.size(); ++k) {
    const std::int64_t tokens = tokens_of(molecules[batches.order[k]]);
    if (pairs > 0 && pairs + tokens * tokens > pairs_per_batch) {
      batches.offset.push_back(k);
      pairs = 0;
    }
    pairs += tokens * tokens;
  }
  if (!batches.order.empty()) batches.offset.push_back(batches.order.size());
  return batches;
}

DistinctRows::DistinctRows(std::span<const std::string> all, std::span<const float> numbers, std::size_t per_row) {
  if (!numbers.empty() && numbers.size() != all.size() * per_row)
    throw UsageError("the model requires " + std::to_string(per_row) + " input columns; " +
                     std::to_string(numbers.size()) + " values do not match a molecule count of " +
                     std::to_string(all.size()));
  std::unordered_map<std::string, std::size_t> seen;
  seen.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string key = all[i];
    const float* row = numbers.data() + i * per_row;
    if (!numbers.empty()) key.append(1, '\0').append(reinterpret_cast<const char*>(row), per_row * sizeof(float));
    const auto [found, inserted] = seen.try_emplace(std::move(key), texts.size());
    text_index.push_back(found->second);
    if (!inserted) continue;
    texts.push_back(all[i]);
    if (numbers.empty()) columns.insert(columns.end(), per_row, std::numeric_limits<float>::quiet_NaN());
    else columns.insert(columns.end(), row, row + per_row);
  }
}

Pooling pooling_from_string(const std::string& text) {
  if (text == "token") return Pooling::token;
  if (text == "mean") return Pooling::mean;
  if (text == "sum") return Pooling::sum;
  if (text == "max") return Pooling::max;
  throw UsageError("pooling " + text + ": use token, mean, sum or max");
}

Precision precision_from_string(const std::string& text) {
  if (text == "fp32") return Precision::fp32;
  if (text == "tf32") return Precision::tf32;
  if (text == "bf16") return Precision::bf16;
  throw UsageError("precision " + text + ": use fp32, tf32 or bf16");
}

Pooling pooling_of(Pooling requested, const ModelConfig& config) {
  const Readout readout = config.encoder().readout;
  if (requested != Pooling::token || readout == Readout::virtual_node) return requested;
  return readout == Readout::sum ? Pooling::sum : Pooling::mean;
}

void pool(Pooling pooling, const float* rows, std::int64_t tokens, std::int64_t width, float* out) {
  if (pooling == Pooling::token) {
    std::copy_n(rows, width, out);
    return;
  }
  const std::int64_t atoms = tokens - 1;
  for (std::int64_t c = 0; c < width; ++c) {
    double sum = 0;
    float largest = rows[width + c];
    for (std::int64_t t = 1; t < tokens; ++t) {
      sum += rows[t * width + c];
      largest = std::max(largest, rows[t * width + c]);
    }
    if (pooling == Pooling::max) {
      out[c] = largest;
    } else {
      out[c] = static_cast<float>(pooling == Pooling::mean ? sum / static_cast<double>(atoms) : sum);
    }
  }
}

void scale_to_length_one(std::vector<float>& row) {
  const double square = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
  if (square > 0) {
    for (float& value : row) value = static_cast<float>(value / std::sqrt(square));
  }
}

}  // namespace molgraph
