#include "apps/programs/score/nearest.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "apps/programs/batch/batch_run.hpp"
#include "attention/cpu/kernels/kernels.hpp"
#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::size_t kColumns = 1024;  // rows of a block: its products with a window stay in the second-level cache
constexpr std::size_t kQueries = 64;    // at a time
constexpr float kLowest = std::numeric_limits<float>::lowest();

/// A sink that keeps embeddings instead of writing them.
class Keep : public RowSink<Embedding> {
 public:
  explicit Keep(TrainingMolecules& molecules) : molecules_(molecules) {}
  void write(const RowWindows& windows, const DoneWindow<Embedding>& done) override {
    for (std::size_t i = 0; i < done.results.size(); ++i) {
      if (done.results[i].status != RowStatus::ok) continue;
      molecules_.rows.add(done.results[i].values);
      molecules_.ids.push_back(windows.id(done.window, i));
    }
  }
  void finish() override {}

 private:
  TrainingMolecules& molecules_;
};

void embed_store(const std::string& path, const Predictor& predictor, int threads, TrainingMolecules& molecules) {
  const MoleculeSet set = Store(path).load();
  constexpr std::int64_t kPiece = 256;
  std::vector<Embedding> embeddings(set.smiles.size());
  parallel_for(set.size(), kPiece, threads, [&](std::int64_t begin, std::int64_t end) {
    if (const int signal = stop_requested()) throw Stopped{signal};
    std::vector<std::string> texts;
    for (std::int64_t g = begin; g < end; ++g) texts.push_back(set.smiles[static_cast<std::size_t>(g)]);
    auto some = predictor.embed(texts);
    std::move(some.begin(), some.end(), embeddings.begin() + begin);
  });
  for (std::size_t g = 0; g < embeddings.size(); ++g) {
    if (embeddings[g].status != RowStatus::ok) continue;
    molecules.rows.add(embeddings[g].values);
    molecules.ids.push_back(set.id[g]);
  }
}

}  // namespace

NearestRows::NearestRows(std::size_t width) : width_(width) {}

void NearestRows::add(std::span<const float> row) {
  assert(row.size() == width_);
  rows_.insert(rows_.end(), row.begin(), row.end());
  if (size() % kColumns == 0) pack_block();
}

void NearestRows::finish() {
  if (size() > blocks_.size() * kColumns) pack_block();
}

/// The rows that are in no block yet.
void NearestRows::pack_block() {
  const std::size_t first = blocks_.size() * kColumns, count = size() - first;
  Block& block = blocks_.emplace_back();
  std::vector<float> columns(width_ * kColumns);
  block.bias.assign(kColumns, kLowest);
  for (std::size_t r = 0; r < count; ++r) {
    const float* row = rows_.data() + (first + r) * width_;
    double square = 0;
    for (std::size_t c = 0; c < width_; ++c) {
      columns[c * kColumns + r] = row[c];
      square += static_cast<double>(row[c]) * row[c];
    }
    block.bias[r] = static_cast<float>(-square / 2);
  }
  block.packed.resize(columns.size());
  cpu::pack_weights(columns.data(), width_, kColumns, block.packed.data());
}

double NearestRows::distance(const float* query, std::size_t row) const {
  double square = 0;
  for (std::size_t c = 0; c < width_; ++c) {
    const double difference = static_cast<double>(query[c]) - rows_[row * width_ + c];
    square += difference * difference;
  }
  return std::sqrt(square);
}

std::vector<Neighbour> NearestRows::find(std::span<const float> queries) const {
  assert(!blocks_.empty() && queries.size() % width_ == 0);
  const std::size_t count = queries.size() / width_;
  std::vector<Neighbour> found(count, {std::numeric_limits<double>::infinity(), 0});
  std::vector<float> products(kQueries * kColumns);
  for (std::size_t q = 0; q < count; q += kQueries) {
    const std::size_t some = std::min(kQueries, count - q);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      cpu::Gemm product{.a = queries.data() + q * width_,
                        .a_stride = width_,
                        .rows = some,
                        .depth = width_,
                        .weights = blocks_[b].packed.data(),
                        .columns = kColumns,
                        .bias = blocks_[b].bias.data(),
                        .y = products.data(),
                        .y_stride = kColumns,
                        .accumulate = false,
                        .soon = {}};
      cpu::kernels().gemm(product);
      for (std::size_t k = 0; k < some; ++k) {
        const float* row = products.data() + k * kColumns;
        const std::size_t best = b * kColumns + static_cast<std::size_t>(std::max_element(row, row + kColumns) - row);
        const double exact = distance(queries.data() + (q + k) * width_, best);
        if (exact < found[q + k].distance) found[q + k] = {exact, best};
      }
    }
  }
  return found;
}

TrainingMolecules embed_training_molecules(const std::string& path, const Predictor& predictor, int threads) {
  TrainingMolecules molecules{NearestRows(static_cast<std::size_t>(predictor.embedding_width({}))), {}};
  if (is_meant_as_store(path)) {
    embed_store(path, predictor, threads, molecules);
  } else {
    BatchOptions options;
    options.common.threads = threads;
    options.inputs = {path};
    Keep keep(molecules);
    run_batch<Embedding>(
        options, "Embedding training molecules", {InputTables(options.inputs, options.table.options())}, {},
        [&](const RowWindow& window) {
          return window.mol_blocks ? predictor.embed_mol_blocks(window.molecules) : predictor.embed(window.molecules);
        },
        keep);
  }
  if (molecules.ids.empty()) throw DataError(path + ": not one molecule to be near to");
  molecules.rows.finish();
  return molecules;
}

}  // namespace molgraph
