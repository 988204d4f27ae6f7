#include "apps/scoring/placed_prediction.hpp"

#include "datasets/system/threads.hpp"

namespace molgraph {

constexpr std::int64_t kRowsPerPiece = 64;  // unit of work of a thread

void add_places(const DomainIndex& domain, const std::vector<FeaturizeResult>& molecules, int threads,
                std::vector<Prediction>& predictions) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    if (predictions[i].status == RowStatus::ok) rows.push_back(i);
  parallel_for(std::ssize(rows), kRowsPerPiece, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<DomainIndex::Query> queries;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::size_t i = rows[static_cast<std::size_t>(k)];
      const auto& graph = std::get<MolecularGraph>(molecules[i]);
      queries.push_back({graph.view(), graph.fingerprint, predictions[i].embedding});
    }
    const std::vector<DomainPlace> places = domain.places(queries);
    for (std::int64_t k = begin; k < end; ++k)
      predictions[rows[static_cast<std::size_t>(k)]].domain = places[static_cast<std::size_t>(k - begin)];
  });
}

}  // namespace molgraph
