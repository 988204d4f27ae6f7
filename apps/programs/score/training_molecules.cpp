#include "apps/programs/score/training_molecules.hpp"

#include <algorithm>

#include "apps/programs/batch/batch_run.hpp"
#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

/// A sink that collects embeddings in memory.
class EmbeddingCollector : public RowSink<Embedding> {
 public:
  explicit EmbeddingCollector(TrainingMolecules& molecules) : molecules_(molecules) {}
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
    auto block = predictor.embed(texts);
    std::move(block.begin(), block.end(), embeddings.begin() + begin);
  });
  for (std::size_t g = 0; g < embeddings.size(); ++g) {
    if (embeddings[g].status != RowStatus::ok) continue;
    molecules.rows.add(embeddings[g].values);
    molecules.ids.push_back(set.id[g]);
  }
}

}  // namespace

TrainingMolecules embed_training_molecules(const std::string& path, const Predictor& predictor, int threads) {
  TrainingMolecules molecules{NearestRows(static_cast<std::size_t>(predictor.embedding_width({}))), {}};
  if (is_meant_as_store(path)) {
    embed_store(path, predictor, threads, molecules);
  } else {
    BatchOptions options;
    options.common.threads = threads;
    options.inputs = {path};
    EmbeddingCollector collector(molecules);
    run_batch<Embedding>(
        options, "Embedding training molecules", {InputTables(options.inputs, options.table.options())}, {},
        [&](const RowWindow& window) {
          return window.mol_blocks ? predictor.embed_mol_blocks(window.molecules) : predictor.embed(window.molecules);
        },
        collector);
  }
  if (molecules.ids.empty()) throw DataError(path + ": contains no valid molecule");
  molecules.rows.finish();
  return molecules;
}

}  // namespace molgraph
