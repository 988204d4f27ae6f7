// The partners of a run's model in scoring: loaded from the files next to the weights, with inputs from the featuriser.
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

/// The partners' files; "" = the run has no such partner.
struct PartnerFiles {
  std::string trees, process;
  bool operator==(const PartnerFiles&) const = default;
  bool any() const { return !trees.empty() || !process.empty(); }
};

/// The partners' files in the folder of a model file or, for an ensemble member, in the folder of the ensemble. Throws
/// FileError if one is missing that run.json (of the run, or of the ensemble or folds that it belongs to) requires.
PartnerFiles partner_files_of(const std::string& weights);

class RunBlend {
 public:
  /// Throws FileError like read_trees() and read_process(), and for an unknown descriptor.
  RunBlend(const PartnerFiles& files, const ModelConfig& config);

  /// A molecule: its graph with fingerprint and descriptors, and its values of the model's input_columns(), NaN =
  /// missing.
  struct Molecule {
    const MolecularGraph* graph;
    std::span<const float> columns;
  };
  /// The partners' contributions to a run's predictions [molecules, outputs]: the sum of share * partner. If not null,
  /// `difficulty` [molecules, outputs] is filled as by ProcessPredictor::predict(), which the run must have.
  /// Thread-safe.
  std::vector<double> partner_contributions(std::span<const Molecule> molecules, double* difficulty = nullptr) const;
  bool has_process() const { return process_.has_value(); }
  /// Replaces `values` [outputs], a model's predictions of that molecule, by the run's predictions.
  void mix(std::span<const double> contribution, double* values) const;
  /// The model's share of that output, 0 to 1; the partners have the rest.
  double model_share(std::size_t output) const { return model_share_[output]; }

 private:
  /// Numeric inputs of one partner: its descriptors, then the columns; NaN = missing.
  struct InputReader {
    std::vector<std::size_t> descriptor_index;  ///< index of each of its descriptors in descriptor_names()
    /// Writes the descriptors, then the columns, to `numbers`.
    void read(const Molecule& molecule, float* numbers) const;
  };
  static InputReader make_reader(const std::string& path, const std::vector<std::string>& descriptors,
                                 const std::vector<std::string>& columns, const ModelConfig& config);

  std::optional<TreePredictor> trees_;
  std::optional<ProcessPredictor> process_;
  InputReader tree_inputs_, process_inputs_;
  std::vector<double> model_share_;  ///< [outputs]
};

/// The partners of each model, null = none; models with the same files share them. `config`: of any of the models, all
/// of which have the same inputs. Appends the files that it reads to `files`. Throws like RunBlend().
std::vector<std::shared_ptr<const RunBlend>> load_blends(const std::vector<PartnerFiles>& partner_files,
                                                         const ModelConfig& config, std::vector<std::string>& files);

/// What the partners contribute to the predictions of many molecules. Rows of molecules without a graph are 0.
struct PartnerRows {
  std::map<const RunBlend*, std::vector<double>> contribution;  ///< [molecules, outputs]; runs may share a RunBlend
  std::vector<double> difficulty;                               ///< [molecules, outputs] of a single run, if requested

  std::span<const double> difficulty_of(std::size_t molecule, std::size_t outputs) const {
    return difficulty.empty() ? std::span<const double>() : std::span(difficulty).subspan(molecule * outputs, outputs);
  }
};
/// `blends`: of each run, null = none. `columns` [molecules, measured].
PartnerRows partner_rows(const std::vector<std::shared_ptr<const RunBlend>>& blends,
                         const std::vector<FeaturizeResult>& molecules, std::span<const float> columns,
                         std::size_t measured, std::size_t outputs, bool with_difficulty, int threads);

}  // namespace molgraph
