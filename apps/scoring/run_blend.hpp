// The partners of a run's model as scoring uses them: found beside the weights, fed with what the featuriser computes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/scoring/gaussian_process.hpp"
#include "apps/scoring/model_config.hpp"
#include "apps/scoring/trees.hpp"
#include "featurize/graph/molecular_graph.hpp"
#include "featurize/smiles/smiles.hpp"

namespace molgraph {

inline constexpr const char* kTreesPartner = "trees";  ///< in run.json
inline constexpr const char* kProcessPartner = "gaussian_process";

/// Files beside a model; "" = the run has no such partner.
struct PartnerFiles {
  std::string trees, process;
  bool operator==(const PartnerFiles&) const = default;
  bool any() const { return !trees.empty() || !process.empty(); }
};

/// The partners' files beside a model file of a run directory, of an ensemble's member beside the ensemble. Throws
/// FileError if the run's record (its own, or that of the ensemble or folds it is one of) says that there must be one
/// that is missing.
PartnerFiles partner_files_of(const std::string& weights);

class RunBlend {
 public:
  /// Throws FileError as read_trees() and read_process(), and for a descriptor that this program does not know.
  RunBlend(const PartnerFiles& files, const ModelConfig& config);

  /// What the partners add to a run's predictions of a molecule [outputs]: the sum of share * partner. `graph` has its
  /// fingerprint and descriptors; `columns` are the model's input_columns(), NaN = missing. Thread-safe.
  std::vector<double> others(const MolecularGraph& graph, std::span<const float> columns) const;
  /// `values` [outputs], what a model says of that molecule, become the run's.
  void mix(std::span<const double> others, double* values) const;
  /// The model's share in that output, 0 to 1; the partners have the rest.
  double own_share(std::size_t output) const { return own_[output]; }

 private:
  /// Numbers of one partner: its descriptors, then the columns; NaN = missing.
  struct Reader {
    std::vector<std::size_t> place;  ///< of each of its descriptors among descriptor_names()
    std::vector<float> numbers(const MolecularGraph& graph, std::span<const float> columns) const;
  };
  static Reader reader(const std::string& path, const std::vector<std::string>& descriptors,
                       const std::vector<std::string>& columns, const ModelConfig& config);

  std::optional<Trees> trees_;
  std::optional<ProcessPredictor> process_;
  Reader of_trees_, of_process_;
  std::vector<double> own_;  ///< [outputs] the model's share
};

/// The partners of each model, null = none; models with the same files share them. `config`: of any of the models,
/// which read the same inputs. The files read are added to `files`. Throws as RunBlend().
std::vector<std::shared_ptr<const RunBlend>> load_blends(const std::vector<PartnerFiles>& beside,
                                                         const ModelConfig& config, std::vector<std::string>& files);

/// What the partners add to the predictions of many molecules [molecules, outputs], by partners: runs may share them.
using PartnerRows = std::map<const RunBlend*, std::vector<double>>;
/// `blends`: of each run, null = none. `columns` [molecules, measured]. Rows without a graph are 0.
PartnerRows partner_rows(const std::vector<std::shared_ptr<const RunBlend>>& blends,
                         const std::vector<FeaturizeResult>& molecules, std::span<const float> columns,
                         std::size_t measured, std::size_t outputs, int threads);

}  // namespace molgraph
