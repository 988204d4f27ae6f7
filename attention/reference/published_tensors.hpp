// Published weights and ours: which rows of whose table are which. One list of links serves import and export.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attention/spec/model_options.hpp"
#include "featurize/graph/vocabulary.hpp"

namespace molgraph {

using StateDict = std::map<std::string, torch::Tensor>;

/// Part of one of our tensors and the published rows that it holds. Both are seen as matrices of `width` columns.
struct PublishedLink {
  std::string theirs;
  std::vector<std::int64_t> shape;  ///< of theirs
  std::int64_t width = 1;
  std::string ours;                ///< "": the published forward pass never reads it; exported as `fill`
  std::int64_t first = 0;          ///< row of ours where the part begins
  std::vector<std::int64_t> rows;  ///< published row of each row of the part; -1: there is none, ours is zero
  double fill = 0;
};

/// What shapes do not tell, or to overrule what they do.
struct PublishedImport {
  std::string origin;                ///< whose weights they are: PublishedCode::origin
  std::optional<Features> features;  ///< unset: by the size of the tables
  int heads = 0;                     ///< 0: by the tables, where they tell
  int path_hops = 0;                 ///< 0: 5 for ogb, 20 for zinc
  int max_distance = 0;              ///< 0: by the tables
  int spatial_pos_max = 0;           ///< 0: off
};

/// One layout of published weights.
struct PublishedCode {
  std::string origin;  ///< "graphormer-v1"
  /// The options of the model that gives the numbers of the published code. Throws FileError (beginning with `where`)
  /// if this is another layout, UsageError if a flag is missing, unknown here or contradicts the shapes.
  ModelOptions (*options)(const StateDict& state, const PublishedImport& import, const std::string& where);
  /// The links of a model that options() made.
  std::vector<PublishedLink> (*links)(const ModelOptions& options);
};

/// Builds the lists of links.
class PublishedLinks {
 public:
  /// The same numbers, whatever the shapes.
  void same(const std::string& theirs, const std::vector<std::int64_t>& shape, const std::string& ours);
  /// Rows of a table [`table_rows`, width].
  void rows(const std::string& theirs, std::int64_t table_rows, std::int64_t width, const std::string& ours,
            std::vector<std::int64_t> rows, std::int64_t first = 0);
  /// `.weight` [out, in] and `.bias` [out]; a LayerNorm is one with in = 0.
  void linear(const std::string& theirs, const std::string& ours, std::int64_t out, std::int64_t in);
  void unused(const std::string& theirs, const std::vector<std::int64_t>& shape, double fill = 0);
  const std::vector<PublishedLink>& all() const { return links_; }

  std::vector<PublishedLink> links_;
};

/// Names of the two layouts of an encoder block that published code has.
struct PublishedBlock {
  std::string attention_norm, ffn_norm, query, key, value, output, linear1, linear2;
};
/// Graphormer v1 and GRPE.
PublishedBlock plain_block();
/// Blocks and final norm of an encoder whose layers stand under `prefix` ("layers.").
void link_block(PublishedLinks& links, const PublishedBlock& names, const std::string& prefix, const EncoderOptions& e);

/// Embedding rows of categorical columns: `shift` + 512*column + value of every value, -1 beyond the table.
std::vector<std::int64_t> published_column_rows(const std::vector<int>& dims, int shift, std::int64_t table_rows);
/// The dims of a feature set's columns.
std::vector<int> atom_dims_of(Features features);
std::vector<int> bond_dims_of(Features features);

/// The size of dimension `dim` of a published tensor. Throws FileError (beginning with `where`) if it is not there.
std::int64_t published_size(const StateDict& state, const std::string& name, int dim, const std::string& where);
/// Number of K in names "PREFIX.K....", counted from 0.
int published_layers(const StateDict& state, const std::string& prefix);

/// Our tensors by name: all of `parameters`. Throws FileError naming every published tensor that is missing, surplus or
/// misshapen.
StateDict import_published(const StateDict& state, const std::vector<PublishedLink>& links,
                           const ParameterList& parameters, const std::string& where);

/// What to do where several of our rows are one published row: values must be equal, gradients add up.
enum class TiedRows : std::uint8_t { equal, sum };
/// The published tensors; rows that no row of ours holds are zero. Throws FileError naming tensors of ours that have no
/// place there, and tied rows that differ.
StateDict export_published(const StateDict& ours, const std::vector<PublishedLink>& links, TiedRows tied,
                           const std::string& where);

}  // namespace molgraph
