#include "attention/reference/published_tensors.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

using torch::Tensor;

constexpr std::int64_t kColumnRows = 512;  // rows per feature in the published tables

std::string shape_text(c10::IntArrayRef shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> first_rows(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::vector<std::string>& lines) {
  std::string text = where + ": " + what;
  for (const std::string& line : lines) text += "\n  " + line;
  throw FileError(text);
}

/// Rows of the part that have a published row: their indices in our tensor, and the published rows.
std::pair<Tensor, Tensor> stored_rows(const PublishedLink& link) {
  std::vector<std::int64_t> places, rows;
  for (std::size_t k = 0; k < link.rows.size(); ++k) {
    if (link.rows[k] < 0) continue;
    places.push_back(link.first + static_cast<std::int64_t>(k));
    rows.push_back(link.rows[k]);
  }
  return {torch::tensor(places, torch::kInt64), torch::tensor(rows, torch::kInt64)};
}

}  // namespace

void PublishedLinks::same(const std::string& theirs, const std::vector<std::int64_t>& shape, const std::string& ours) {
  links_.push_back({theirs, shape, count_of(shape), ours, 0, {0}});
}

void PublishedLinks::rows(const std::string& theirs, std::int64_t table_rows, std::int64_t width,
                          const std::string& ours, std::vector<std::int64_t> rows, std::int64_t first) {
  links_.push_back({theirs, {table_rows, width}, width, ours, first, std::move(rows)});
}

void PublishedLinks::linear(const std::string& theirs, const std::string& ours, std::int64_t out, std::int64_t in) {
  same(theirs + ".weight", in > 0 ? std::vector<std::int64_t>{out, in} : std::vector<std::int64_t>{out},
       ours + ".weight");
  same(theirs + ".bias", {out}, ours + ".bias");
}

void PublishedLinks::unused(const std::string& theirs, const std::vector<std::int64_t>& shape, double fill) {
  links_.push_back({theirs, shape, 1, "", 0, {}, fill});
}

PublishedBlock plain_block() {
  return {"self_attention_norm",
          "ffn_norm",
          "self_attention.linear_q",
          "self_attention.linear_k",
          "self_attention.linear_v",
          "self_attention.output_layer",
          "ffn.layer1",
          "ffn.layer2"};
}

void link_block(PublishedLinks& links, const PublishedBlock& names, const std::string& prefix,
                const EncoderOptions& e) {
  for (int k = 0; k < e.layers; ++k) {
    const std::string theirs = prefix + std::to_string(k) + ".", ours = "encoder.layers." + std::to_string(k) + ".";
    links.linear(theirs + names.attention_norm, ours + "attention_norm", e.width, 0);
    links.linear(theirs + names.ffn_norm, ours + "ffn_norm", e.width, 0);
    links.linear(theirs + names.output, ours + "attention.output", e.width, e.width);
    links.linear(theirs + names.linear1, ours + "ffn.linear1", e.ffn, e.width);
    links.linear(theirs + names.linear2, ours + "ffn.linear2", e.width, e.ffn);
    if (names.query != names.key) {
      links.linear(theirs + names.query, ours + "attention.query", e.width, e.width);
      links.linear(theirs + names.key, ours + "attention.key", e.width, e.width);
      links.linear(theirs + names.value, ours + "attention.value", e.width, e.width);
      continue;
    }
    // One matrix [3C, C] of query, key and value, as in torch.nn.MultiheadAttention.
    std::int64_t first = 0;
    for (const char* part : {"query", "key", "value"}) {
      std::vector<std::int64_t> rows = first_rows(e.width);
      for (auto& row : rows) row += first;
      links.rows(theirs + names.query + "_weight", 3 * e.width, e.width, ours + "attention." + part + ".weight", rows);
      links.links_.push_back(
          {theirs + names.query + "_bias", {3 * e.width}, 1, ours + "attention." + part + ".bias", 0, rows});
      first += e.width;
    }
  }
}

std::vector<std::int64_t> published_column_rows(const std::vector<int>& dims, int shift, std::int64_t table_rows) {
  std::vector<std::int64_t> rows;
  for (std::size_t column = 0; column < dims.size(); ++column) {
    for (int value = 0; value < dims[column]; ++value) {
      const std::int64_t row = value + shift + kColumnRows * static_cast<std::int64_t>(column);
      rows.push_back(row < table_rows ? row : -1);
    }
  }
  return rows;
}

std::vector<int> atom_dims_of(Features features) {
  const FeatureShape& shape = feature_shape(features);
  return {shape.atom_dims.begin(), shape.atom_dims.begin() + shape.atom_columns};
}

std::vector<int> bond_dims_of(Features features) {
  const FeatureShape& shape = feature_shape(features);
  return {shape.bond_dims.begin(), shape.bond_dims.begin() + shape.bond_columns};
}

std::int64_t published_size(const StateDict& state, const std::string& name, int dim, const std::string& where) {
  const auto found = state.find(name);
  if (found == state.end()) {
    std::string names;
    for (const auto& item : state) {
      if (names.size() > 300) break;
      names += (names.empty() ? "" : ", ") + item.first;
    }
    throw FileError(where + ": no tensor '" + name + "', so the weights have another layout; their tensors: " + names +
                    " ...");
  }
  if (found->second.dim() <= dim)
    throw FileError(where + ": '" + name + "' has the wrong shape " + shape_text(found->second.sizes()));
  return found->second.size(dim);
}

int published_layers(const StateDict& state, const std::string& prefix) {
  int layers = 0;
  const auto any = [&](const std::string& start) {
    const auto at = state.lower_bound(start);
    return at != state.end() && at->first.starts_with(start);
  };
  while (any(prefix + std::to_string(layers) + ".")) ++layers;
  return layers;
}

StateDict import_published(const StateDict& state, const std::vector<PublishedLink>& links,
                           const ParameterList& parameters, const std::string& where) {
  std::vector<std::string> problems;
  std::set<std::string> known;
  StateDict ours;
  for (const ParameterSpec& spec : parameters) ours[spec.name] = torch::zeros(spec.shape, torch::kFloat32);
  for (const PublishedLink& link : links) {
    const bool first_time = known.insert(link.theirs).second;
    const auto found = state.find(link.theirs);
    if (found == state.end()) {
      if (!link.ours.empty() && first_time)
        problems.push_back("missing: " + link.theirs + " " + shape_text(link.shape));
      continue;
    }
    if (found->second.sizes() != c10::IntArrayRef(link.shape)) {
      if (first_time)
        problems.push_back("misshapen: " + link.theirs + " is " + shape_text(found->second.sizes()) + ", should be " +
                           shape_text(link.shape));
      continue;
    }
    if (link.ours.empty()) continue;
    const auto [places, rows] = stored_rows(link);
    Tensor target = ours.at(link.ours).view({-1, link.width});
    target.index_copy_(0, places, found->second.to(torch::kFloat32).reshape({-1, link.width}).index_select(0, rows));
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) problems.push_back("surplus: " + name + " " + shape_text(tensor.sizes()));
  }
  if (!problems.empty()) fail(where, "the weights do not fit this layout", problems);
  return ours;
}

StateDict export_published(const StateDict& ours, const std::vector<PublishedLink>& links, TiedRows tied,
                           const std::string& where) {
  StateDict theirs;
  std::map<std::string, Tensor> written;  // per published tensor: true for each row that is set
  std::set<std::string> used;
  std::vector<std::string> problems;
  for (const PublishedLink& link : links) {
    Tensor& target = theirs.try_emplace(link.theirs, Tensor()).first->second;
    if (!target.defined())
      target = torch::full(link.shape, tied == TiedRows::sum ? 0.0 : link.fill, ours.begin()->second.options());
    if (link.ours.empty()) continue;
    used.insert(link.ours);
    const auto [places, rows] = stored_rows(link);
    const Tensor values = ours.at(link.ours).reshape({-1, link.width}).index_select(0, places);
    Tensor table = target.view({-1, link.width});
    if (tied == TiedRows::sum) {
      table.index_add_(0, rows, values);
      continue;
    }
    Tensor& is_set = written.try_emplace(link.theirs, torch::zeros({table.size(0)}, torch::kBool)).first->second;
    for (std::int64_t k = 0; k < rows.size(0); ++k) {
      const std::int64_t row = rows[k].item<std::int64_t>();
      if (is_set[row].item<bool>() && !torch::equal(table[row], values[k]))
        problems.push_back("row " + std::to_string(row) + " of " + link.theirs + " corresponds to rows of " +
                           link.ours + " that differ");
      table[row].copy_(values[k]);
      is_set[row] = true;
    }
  }
  for (const auto& [name, tensor] : ours) {
    if (!used.contains(name))
      problems.push_back(name + " " + shape_text(tensor.sizes()) + " does not exist in the published layout");
  }
  if (!problems.empty()) fail(where, "cannot be written in the published layout", problems);
  return theirs;
}

}  // namespace molgraph
