// The mapping between rows of published tensors and rows of ours. One list of links is used for import and export.
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

/// Part of one of our tensors and the published rows that it corresponds to. Both are treated as matrices with `width`
/// columns.
struct PublishedLink {
  std::string theirs;
  std::vector<std::int64_t> shape;  ///< of theirs
  std::int64_t width = 1;
  std::string ours;                ///< "": the published forward pass does not use the tensor; exported as `fill`
  std::int64_t first = 0;          ///< row of ours where the part begins
  std::vector<std::int64_t> rows;  ///< published row of each row of the part; -1: none, our row is zero
  double fill = 0;
};

/// Options that the tensors' shapes do not determine, or that override the shapes.
struct PublishedImport {
  std::string origin;                ///< code that the weights belong to: PublishedCode::origin
  std::optional<Features> features;  ///< unset: from the sizes of the tables
  int heads = 0;                     ///< 0: from the tables, if they determine it
  int path_hops = 0;                 ///< 0: 5 for ogb, 20 for zinc
  int max_distance = 0;              ///< 0: from the tables
  int spatial_pos_max = 0;           ///< 0: off
};

/// One layout of published weights.
struct PublishedCode {
  std::string origin;  ///< "graphormer-v1"
  /// The options of the model that reproduces the published code. Throws FileError (beginning with `where`) if the
  /// weights have another layout, UsageError if an option is missing, not supported or contradicts the shapes.
  ModelOptions (*options)(const StateDict& state, const PublishedImport& import, const std::string& where);
  /// The links for a model made by options().
  std::vector<PublishedLink> (*links)(const ModelOptions& options);
};

/// Builds a list of links.
class PublishedLinks {
 public:
  /// The same values in the same order; shapes may differ.
  void same(const std::string& theirs, const std::vector<std::int64_t>& shape, const std::string& ours);
  /// Rows of a table [`table_rows`, width].
  void rows(const std::string& theirs, std::int64_t table_rows, std::int64_t width, const std::string& ours,
            std::vector<std::int64_t> rows, std::int64_t first = 0);
  /// `.weight` [out, in] and `.bias` [out]; in = 0 for a LayerNorm.
  void linear(const std::string& theirs, const std::string& ours, std::int64_t out, std::int64_t in);
  void unused(const std::string& theirs, const std::vector<std::int64_t>& shape, double fill = 0);
  const std::vector<PublishedLink>& all() const { return links_; }

  std::vector<PublishedLink> links_;
};

/// Published names of the parts of an encoder block. There are two sets of names.
struct PublishedBlock {
  std::string attention_norm, ffn_norm, query, key, value, output, linear1, linear2;
};
/// Names in Graphormer v1 and GRPE.
PublishedBlock plain_block();
/// Links the blocks of an encoder; the published names of its layers begin with `prefix` ("layers.").
void link_block(PublishedLinks& links, const PublishedBlock& names, const std::string& prefix, const EncoderOptions& e);

/// Embedding rows of categorical columns: `shift` + 512*column + value for every value, -1 for rows beyond the table.
std::vector<std::int64_t> published_column_rows(const std::vector<int>& dims, int shift, std::int64_t table_rows);
/// Number of values of each column of a feature set.
std::vector<int> atom_dims_of(Features features);
std::vector<int> bond_dims_of(Features features);

/// The size of dimension `dim` of a published tensor. Throws FileError (beginning with `where`) if the tensor or the
/// dimension does not exist.
std::int64_t published_size(const StateDict& state, const std::string& name, int dim, const std::string& where);
/// Number of layers: consecutive K, from 0, in names "PREFIXK....".
int published_layers(const StateDict& state, const std::string& prefix);

/// Our tensors by name, one for each of `parameters`. Throws FileError that names every published tensor that is
/// missing, surplus or misshapen.
StateDict import_published(const StateDict& state, const std::vector<PublishedLink>& links,
                           const ParameterList& parameters, const std::string& where);

/// How to combine several of our rows that correspond to one published row: values must be equal, gradients are summed.
enum class TiedRows : std::uint8_t { equal, sum };
/// The published tensors; rows without a row of ours are zero. Throws FileError that names our tensors that the layout
/// does not have, and tied rows that differ.
StateDict export_published(const StateDict& ours, const std::vector<PublishedLink>& links, TiedRows tied,
                           const std::string& where);

}  // namespace molgraph
