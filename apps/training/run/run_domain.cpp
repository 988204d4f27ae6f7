#include "apps/training/run/run_domain.hpp"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "apps/scoring/domain_file.hpp"
#include "apps/scoring/predictor.hpp"
#include "apps/scoring/run_record.hpp"
#include "apps/training/loop/evaluate.hpp"
#include "apps/training/run/predictions.hpp"
#include "apps/training/run/pretraining.hpp"
#include "apps/training/run/run_directory.hpp"
#include "datasets/row_weights.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/ring_systems.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMoleculesAtOnce = 2048;
constexpr std::int64_t kMoleculesPerPiece = 16;

/// Weights of the model that computes the embeddings.
std::string first_model(const std::string& folder) {
  const RunDirectory directory{folder}, first{folder + "/model_0"};
  return fs::exists(directory.model()) ? directory.model() : first.model();
}

/// Axes of the largest variance (principal components) of `rows` [n, width]; sets center and projection.
void project(const std::vector<float>& rows, DomainSpace& space) {
  const auto width = static_cast<std::int64_t>(space.width), axes = static_cast<std::int64_t>(kMaxDomainAxes);
  const torch::NoGradGuard no_gradients;
  const torch::Tensor all = torch::from_blob(const_cast<float*>(rows.data()),
                                             {static_cast<std::int64_t>(rows.size()) / width, width}, torch::kFloat32);
  const torch::Tensor center = all.mean(0), centered = all - center;
  const torch::Tensor vectors = std::get<1>(torch::linalg_eigh(centered.t().mm(centered).to(torch::kFloat64)));
  const torch::Tensor largest = vectors.narrow(1, width - axes, axes).t().to(torch::kFloat32).contiguous();
  space.center.assign(center.data_ptr<float>(), center.data_ptr<float>() + width);
  space.projection.assign(largest.data_ptr<float>(), largest.data_ptr<float>() + axes * width);
}

/// The space of `rows` [n, width], with steps such that the largest number along each axis is stored as 127.
DomainSpace space_of(const std::vector<float>& rows, std::size_t width) {
  DomainSpace space{.width = width};
  if (width > kMaxDomainAxes) project(rows, space);
  const std::size_t axes = space.projection.empty() ? width : kMaxDomainAxes;
  std::vector<float> largest(axes, 0);
  for (std::size_t first = 0; first < rows.size(); first += width)
    for (std::size_t a = 0; a < axes; ++a)
      largest[a] = std::max(largest[a], std::abs(space.coordinate(&rows[first], a)));
  for (const float value : largest) space.step.push_back(value > 0 ? value / kMaxQuantised : 1.0F);
  return space;
}

/// Distances of evenly spaced molecules to their nearest neighbours, ascending.
std::vector<float> own_distances(const Domain& domain, int threads) {
  if (domain.size() < 2) return {};
  const DomainIndex index(domain);
  const std::size_t count = std::min(domain.size(), kMaxOwnDistances);
  std::vector<float> distances(count);
  parallel_for(static_cast<std::int64_t>(count), 64, threads, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::size_t> rows;
    for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k)
      rows.push_back(k * domain.size() / count);
    const std::vector<Neighbour> others = index.rows().find_others(rows);
    std::ranges::transform(others, distances.begin() + begin,
                           [](const Neighbour& other) { return static_cast<float>(other.distance); });
  });
  std::ranges::sort(distances);
  return distances;
}

/// Builds a domain from batches of molecules.
class DomainBuilder {
 public:
  DomainBuilder(const TrainRun& run, const std::string& weights, const FeaturizerOptions& featurizer)
      : run_(run), predictor_({weights}, {.threads = run.threads, .limits = limits(), .device = run.device}),
        featurizer_(without_descriptors(featurizer), limits(), {.fingerprint = true}) {}

  /// Adds molecules. Returns false for each one that cannot be embedded, for example because an embedding is not
  /// finite.
  std::vector<bool> add(const std::vector<std::string>& smiles) {
    const std::vector<Embedding> embeddings = predictor_.embed(smiles);
    std::vector<FingerprintBits> bits(smiles.size());
    std::vector<std::vector<std::uint8_t>> kinds(smiles.size());
    std::vector<std::vector<std::uint64_t>> rings(smiles.size());
    std::vector<bool> added(smiles.size());
    parallel_for(static_cast<std::int64_t>(smiles.size()), kMoleculesPerPiece, run_.threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                     const FeaturizeResult result = featurizer_.smiles(smiles[i]);
                     const auto* graph = std::get_if<MolecularGraph>(&result);
                     if (graph == nullptr) continue;
                     bits[i] = bits_of(graph->fingerprint);
                     rings[i] = ring_systems(graph->view());
                     const auto columns = static_cast<std::size_t>(feature_shape(graph->features).atom_columns);
                     for (std::size_t a = 0; a < graph->atoms.size(); a += columns) kinds[i].push_back(graph->atoms[a]);
                   }
                 });
    for (std::size_t i = 0; i < smiles.size(); ++i) {
      added[i] = embeddings[i].status == RowStatus::ok && !kinds[i].empty();
      if (!added[i]) continue;
      rows_.insert(rows_.end(), embeddings[i].values.begin(), embeddings[i].values.end());
      domain_.bits.push_back(bits[i]);
      kinds_.insert(kinds[i].begin(), kinds[i].end());
      rings_.insert(rings[i].begin(), rings[i].end());
    }
    return added;
  }

  Domain finish() {
    const auto width = static_cast<std::size_t>(predictor_.embedding_width({}));
    domain_.space = space_of(rows_, width);
    domain_.embeddings.resize(domain_.size() * domain_.space.axes());
    for (std::size_t i = 0; i < domain_.size(); ++i)
      domain_.space.quantise(std::span(rows_).subspan(i * width, width),
                             domain_.embeddings.data() + i * domain_.space.axes());
    domain_.atom_kinds.assign(kinds_.begin(), kinds_.end());
    domain_.ring_systems.assign(rings_.begin(), rings_.end());
    if (domain_.size() > 0) domain_.own_distances = own_distances(domain_, run_.threads);
    return std::move(domain_);
  }

 private:
  FeaturizerLimits limits() const { return {.max_atoms = run_.options.data.max_atoms}; }
  static FeaturizerOptions without_descriptors(FeaturizerOptions of) {
    of.descriptors = DescriptorSet::none;
    return of;
  }

  const TrainRun& run_;
  Predictor predictor_;
  Featurizer featurizer_;
  Domain domain_;
  std::vector<float> rows_;  ///< [N, C] embeddings
  std::set<std::uint8_t> kinds_;
  std::set<std::uint64_t> rings_;
};

}  // namespace

std::vector<std::int64_t> learned_molecules(const LoadedData& data, const Split& split, bool with_valid) {
  if (!with_valid) return split.train;
  std::set<std::int64_t> learned(split.train.begin(), split.train.end());
  for (const std::int64_t g : split.valid)
    if (is_trainable(data, g)) learned.insert(g);
  return {learned.begin(), learned.end()};
}

bool stores_domain(const TrainRun& run, std::int64_t molecules) {
  return run.options.training.domain && molecules <= kMaxDomainMolecules && !is_pretraining(run.options);
}

void write_run_domain(const TrainRun& run, const std::string& folder, const MoleculeSet& set,
                      const std::vector<std::int64_t>& learned) {
  const std::string path = RunDirectory{folder}.domain();
  if (!stores_domain(run, std::ssize(learned))) {
    if (run.options.training.domain && std::ssize(learned) > kMaxDomainMolecules)
      run.control.note("No applicability domain for molgraph-score --domain: more than " +
                       with_thousands(kMaxDomainMolecules) + " training molecules");
    fs::remove(path);
    return;
  }
  if (rdkit_version().empty()) {
    run.control.note("No applicability domain for molgraph-score --domain: this program was built without RDKit");
    fs::remove(path);
    return;
  }
  DomainBuilder builder(run, first_model(folder), set.featurizer);
  std::vector<std::int64_t> kept;
  {
    const WorkInProgress work(run.control, kDomainWork, "molecules", std::ssize(learned));
    for (std::size_t first = 0; first < learned.size(); first += kMoleculesAtOnce) {
      run.control.stop_if_requested();
      std::vector<std::string> smiles;
      const std::size_t end = std::min(learned.size(), first + kMoleculesAtOnce);
      for (std::size_t k = first; k < end; ++k) smiles.push_back(set.smiles[static_cast<std::size_t>(learned[k])]);
      const std::vector<bool> added = builder.add(smiles);
      for (std::size_t k = first; k < end; ++k)
        if (added[k - first]) kept.push_back(learned[k]);
      work.advance(static_cast<std::int64_t>(end), std::ssize(learned));
    }
  }
  if (kept.empty()) {
    fs::remove(path);
    return;
  }
  Domain domain = builder.finish();
  const bool labels = run.options.training.domain_labels;
  if (labels) {
    domain.labels.emplace();
    for (const std::int64_t g : kept) {
      domain.labels->ids.push_back(set.id[static_cast<std::size_t>(g)]);
      domain.labels->smiles.push_back(set.smiles[static_cast<std::size_t>(g)]);
    }
    domain.labels->values = targets_of(set, kept);
    for (std::size_t at = 0; at < domain.labels->values.size(); ++at) {
      double& label = domain.labels->values[at];
      label = set.task.in_table_unit(at % set.task.names.size(), label);
    }
  }
  write_domain(path, domain, set.featurizer);
  run.control.note("The run stores fingerprints and embeddings of its " + with_thousands(std::ssize(kept)) +
                   " training molecules" + (labels ? ", with ids, SMILES and true values" : "") +
                   ", for molgraph-score --domain (--no-domain stores nothing)");
}

}  // namespace molgraph
