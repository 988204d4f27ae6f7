#include "attention/cuda/parameters.hpp"

#include "attention/spec/terms.hpp"

namespace molgraph::cuda {
namespace {

constexpr std::int64_t kAlignment = 64;  // floats: rows that are read as vectors may begin at any parameter

TablePlaces tables(const Parameters& parameters, const std::string& owner, const std::vector<RelationTable>& all) {
  TablePlaces places{{}, parameters.offset(owner + "position_bias")};
  for (const RelationTable& table : all) {
    const Parameters::Placed& at = *parameters.find(owner + table.name);
    places.tables.push_back(
        {table, at.offset, table.row == RelationTable::Row::all ? 1 : static_cast<int>(at.spec->shape[0])});
  }
  return places;
}

}  // namespace

Parameters::Parameters(const ModelPlan& plan) : list_(parameters_of(plan)) {
  placed_.resize(list_.size());
  for (std::size_t k = 0; k < list_.size(); ++k)
    placed_[k] = {&*(list_.begin() + static_cast<std::ptrdiff_t>(k)), kNone, 0};
  const auto place = [this](const ParameterSpec& spec) {
    Placed& at = placed_[static_cast<std::size_t>(&spec - &*list_.begin())];
    at.offset = size_;
    at.size = spec.size();
    size_ += at.size;
  };
  const auto align = [this] { size_ = (size_ + kAlignment - 1) / kAlignment * kAlignment; };
  // Stores a layer's query, key and value as one matrix and one bias.
  for (int layer = 0; layer < plan.encoder.layers; ++layer)
    for (const char* kind : {".weight", ".bias"}) {
      for (const char* part : {"query", "key", "value"})
        place(list_.at(owner_prefix("encoder.", layer) + "attention." + part + kind));
      align();
    }
  for (const Placed& one : placed_) {
    if (one.offset != kNone) continue;
    place(*one.spec);
    align();
  }
}

const Parameters::Placed* Parameters::find(const std::string& name) const {
  const ParameterSpec* spec = list_.find(name);
  return spec == nullptr ? nullptr : &placed_[static_cast<std::size_t>(spec - &*list_.begin())];
}
std::int64_t Parameters::offset(const std::string& name) const {
  const Placed* at = find(name);
  return at == nullptr ? kNone : at->offset;
}

LinearPlace linear_place(const Parameters& parameters, const std::string& name, int in, int out) {
  return {parameters.offset(name + ".weight"), parameters.offset(name + ".bias"), in, out};
}
NormPlace norm_place(const Parameters& parameters, const std::string& name) {
  return {parameters.offset(name + ".weight"), parameters.offset(name + ".bias")};
}

const TablePlaces::One* TablePlaces::find(TermFills fills, RelationTable::Row row) const {
  for (const One& one : tables)
    if (one.table.fills == fills && one.table.row == row) return &one;
  return nullptr;
}

EncoderPlaces::EncoderPlaces(const Parameters& parameters, const EncoderOptions& o)
    : final_norm(norm_place(parameters, "encoder.final_norm")) {
  for (int k = 0; k < o.layers; ++k) {
    const std::string prefix = owner_prefix("encoder.", k);
    layers.push_back({norm_place(parameters, prefix + "attention_norm"), norm_place(parameters, prefix + "ffn_norm"),
                      linear_place(parameters, prefix + "attention.query", o.width, 3 * o.width),
                      linear_place(parameters, prefix + "attention.output", o.width, o.width),
                      linear_place(parameters, prefix + "ffn.linear1", o.width, o.ffn),
                      linear_place(parameters, prefix + "ffn.linear2", o.ffn, o.width),
                      parameters.offset(prefix + "attention.scale"),
                      parameters.offset(prefix + "attention.degree_scale")});
  }
  const auto owned = [&](bool per_layer, const std::vector<RelationTable>& all, std::vector<TablePlaces>& to) {
    for (int k = per_layer ? 0 : -1; k < (per_layer ? o.layers : 0); ++k)
      to.push_back(tables(parameters, owner_prefix("encoder.", k), all));
  };
  owned(!o.share_encodings, relation_tables(o), relations);
  owned(o.gate.per_layer, gate_tables(o), gates);
}

}  // namespace molgraph::cuda
