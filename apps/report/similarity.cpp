#include "apps/report/similarity.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <set>

#include "apps/scoring/moments.hpp"
#include "datasets/splits/splits.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/pair_relations.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kPiece = 16;

/// [T] standard deviation of the molecules' labels; 1 for classes and if it is 0.
std::vector<double> scales_of(const MoleculeSet& set, const std::vector<std::int64_t>& molecules) {
  const std::size_t targets = set.task.names.size();
  std::vector<double> scales(targets, 1);
  for (std::size_t t = 0; t < targets; ++t) {
    if (set.task.kind_of(t) != TaskKind::regression) continue;
    Moments labels;
    for (const std::int64_t g : molecules)
      if (const double label = set.exact_target(static_cast<std::size_t>(g) * targets + t); !std::isnan(label))
        labels.add(label);
    if (labels.deviation() > 0) scales[t] = labels.deviation();
  }
  return scales;
}

struct Judged {
  std::size_t part;  ///< 1 or 2
  std::int64_t row, molecule;
};

struct Candidate {
  Twins twins;
  double difference;
};

bool comes_before(const Candidate& a, const Candidate& b) {
  if (a.difference != b.difference) return a.difference > b.difference;
  if (a.twins.similarity != b.twins.similarity) return a.twins.similarity > b.twins.similarity;
  return std::array{a.twins.part_a, a.twins.row_a, a.twins.part_b, a.twins.row_b, a.twins.target} <
         std::array{b.twins.part_a, b.twins.row_a, b.twins.part_b, b.twins.row_b, b.twins.target};
}

std::vector<Twins> find_twins(const MoleculeSet& set, const std::vector<Judged>& judged,
                              const std::vector<Fingerprint>& fingerprints, int threads) {
  std::vector<std::int64_t> molecules;
  for (const Judged& one : judged) molecules.push_back(one.molecule);
  const CountIndex index = index_of(fingerprints);
  const std::vector<double> scale = scales_of(set, molecules);
  const std::size_t targets = scale.size();
  std::vector<Candidate> best;
  std::mutex mutex;
  parallel_for(static_cast<std::int64_t>(judged.size()), kPiece, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> similarity(judged.size());
    std::vector<Candidate> found;
    for (auto a = static_cast<std::size_t>(begin); a < static_cast<std::size_t>(end); ++a) {
      index.similarities(fingerprints[a].view(), similarity);
      for (std::size_t b = 0; b < a; ++b) {
        if (similarity[b] < kTwinSimilarity) continue;
        for (std::size_t t = 0; t < targets; ++t) {
          const double difference = std::abs(set.exact_target(static_cast<std::size_t>(molecules[a]) * targets + t) -
                                             set.exact_target(static_cast<std::size_t>(molecules[b]) * targets + t)) /
                                    scale[t];
          const bool classes = set.task.kind_of(t) != TaskKind::regression;
          if (classes ? !(difference > 0) : !(difference > 1)) continue;
          found.push_back({{judged[b].part, static_cast<std::size_t>(judged[b].row), judged[a].part,
                            static_cast<std::size_t>(judged[a].row), t, similarity[b]},
                           classes ? 1 : difference});
        }
      }
    }
    const std::lock_guard lock(mutex);
    best.insert(best.end(), found.begin(), found.end());
    std::ranges::sort(best, comes_before);
    if (best.size() > kTwinsKept) best.resize(kTwinsKept);
  });
  std::vector<Twins> twins;
  for (const Candidate& one : best) twins.push_back(one.twins);
  return twins;
}

}  // namespace

std::vector<Fingerprint> fingerprints_of(const MoleculeSet& set, const std::vector<std::int64_t>& molecules,
                                         int threads) {
  FeaturizerOptions options = set.featurizer;
  options.descriptors = DescriptorSet::none;
  const Featurizer featurizer(options, {.max_atoms = kMaxAtoms}, {.fingerprint = true});
  std::vector<Fingerprint> all(molecules.size());
  parallel_for(static_cast<std::int64_t>(molecules.size()), kPiece, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto g = static_cast<std::size_t>(molecules[static_cast<std::size_t>(i)]);
      const FeaturizeResult read = featurizer.smiles(set.smiles[g]);
      if (const auto* rejection = std::get_if<Rejection>(&read))
        throw DataError(set.source.file, set.row[g] + 1, "can no longer be read: " + rejection->reason, set.smiles[g]);
      Fingerprint& fingerprint = all[static_cast<std::size_t>(i)];
      const auto& bins = std::get<MolecularGraph>(read).fingerprint;
      for (std::size_t k = 0; k < bins.size(); ++k) {
        if (bins[k] == 0) continue;
        fingerprint.column.push_back(static_cast<std::uint32_t>(k));
        fingerprint.count.push_back(static_cast<float>(bins[k]));
      }
    }
  });
  return all;
}

CountIndex index_of(const std::vector<Fingerprint>& fingerprints) {
  std::vector<CountsView> views;
  for (const Fingerprint& one : fingerprints) views.push_back(one.view());
  return CountIndex(views);
}

void add_similarities(const MoleculeSet& set, const Split& split, std::uint64_t seed, int threads,
                      ReportRecord& record) {
  if (rdkit_version().empty() || split.train.empty() ||
      static_cast<std::int64_t>(split.valid.size() + split.test.size()) > kMaxJudged)
    return;
  const std::vector<std::int64_t> train = sample(split.train, kMaxCompared, seed);
  record.compared = static_cast<std::int64_t>(train.size());
  const std::set<std::int64_t> in_train(split.train.begin(), split.train.end());
  const CountIndex index = index_of(fingerprints_of(set, train, threads));
  std::vector<Judged> judged;
  std::vector<Fingerprint> fingerprints;
  for (const std::size_t p : {std::size_t{1}, std::size_t{2}}) {
    const std::vector<std::int64_t>& part = p == 1 ? split.valid : split.test;
    std::vector<double>& similarity = (p == 1 ? record.valid : record.test).similarity;
    const std::vector<Fingerprint> part_fingerprints = fingerprints_of(set, part, threads);
    similarity.assign(part.size(), 0);
    parallel_for(static_cast<std::int64_t>(part.size()), kPiece, threads, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> similarities(index.size());
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        index.similarities(part_fingerprints[i].view(), similarities);
        if (in_train.contains(part[i]))
          if (const auto self = std::ranges::find(train, part[i]); self != train.end())
            similarities[static_cast<std::size_t>(self - train.begin())] = 0;
        similarity[i] = *std::ranges::max_element(similarities);
      }
    });
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (in_train.contains(part[i])) continue;
      judged.push_back({p, static_cast<std::int64_t>(i), part[i]});
      fingerprints.push_back(part_fingerprints[i]);
    }
  }
  if (static_cast<std::int64_t>(judged.size()) > kMaxTwinCandidates) {
    std::vector<std::int64_t> indices(judged.size());
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int64_t>(i);
    std::vector<Judged> sampled;
    std::vector<Fingerprint> sampled_fingerprints;
    for (const std::int64_t i : sample(std::move(indices), kMaxTwinCandidates, seed)) {
      sampled.push_back(judged[static_cast<std::size_t>(i)]);
      sampled_fingerprints.push_back(fingerprints[static_cast<std::size_t>(i)]);
    }
    judged = std::move(sampled), fingerprints = std::move(sampled_fingerprints);
  }
  record.twins = find_twins(set, judged, fingerprints, threads);
}

}  // namespace molgraph
