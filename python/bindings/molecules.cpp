// Featurised molecules: flat arrays with the layout of the store and the engine, as numpy views without a copy.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <variant>

#include "datasets/system/threads.hpp"
#include "featurize/graph/graph_batch.hpp"
#include "featurize/smiles/smiles.hpp"
#include "python/bindings/arrays.hpp"
#include "python/bindings/interruptible.hpp"
#include "python/bindings/module.hpp"

namespace molgraph::python {
namespace {

using Texts = std::vector<std::string>;
constexpr std::int64_t kMoleculesPerPiece = 16;

/// Result of featurize(): the packed molecules that are ok, and their bonds.
struct Molecules {
  GraphBatch pack;
  std::vector<std::int64_t> bond_offset{0};  ///< [B + 1]
  std::vector<std::uint16_t> bond_atoms;     ///< [M, 2] atoms within the molecule
  std::vector<std::uint8_t> bonds;           ///< [M, bond_columns]
  std::vector<std::int64_t> edge_index;      ///< [2, 2 M] atoms of the batch: bond k is edges 2 k and 2 k + 1
  std::vector<std::uint8_t> status;          ///< [texts]
  Texts reason;                              ///< [texts]

  std::size_t size() const { return pack.row.size(); }
  const FeatureShape& shape() const { return feature_shape(pack.features); }
};

void add_bonds(const std::vector<GraphView>& graphs, Molecules& all) {
  const auto columns = static_cast<std::size_t>(all.shape().bond_columns);
  std::vector<std::int64_t> from, to;
  for (std::size_t b = 0; b < graphs.size(); ++b) {
    const GraphView& graph = graphs[b];
    const auto bonds = static_cast<std::size_t>(graph.num_bonds);
    all.bond_offset.push_back(all.bond_offset.back() + graph.num_bonds);
    for (std::size_t k = 0; k < bonds; ++k) all.bonds.insert(all.bonds.end(), graph.bonds[k], graph.bonds[k] + columns);
    for (std::size_t k = 0; k < 2 * bonds; ++k) {
      all.bond_atoms.push_back(static_cast<std::uint16_t>(graph.bond_atoms[k]));
      from.push_back(all.pack.atom_offset[b] + graph.bond_atoms[k]);
      to.push_back(all.pack.atom_offset[b] + graph.bond_atoms[k ^ 1]);
    }
  }
  all.edge_index = std::move(from);
  all.edge_index.insert(all.edge_index.end(), to.begin(), to.end());
}

Molecules featurize(const Texts& texts, const std::string& features, const std::string& standardize, int threads,
                    int max_atoms, bool paths) {
  FeaturizerOptions options;
  options.features = features_from_string(features);
  options.standardize = standardize_from_string(standardize);
  const Featurizer featurizer(options, {.max_atoms = max_atoms});
  Molecules all;
  all.status.resize(texts.size());
  all.reason.resize(texts.size());
  std::vector<FeaturizeResult> results(texts.size());
  interruptible([&](const std::atomic<bool>& stopped) {
    parallel_for(static_cast<std::int64_t>(texts.size()), kMoleculesPerPiece, threads,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end) && !stopped; ++i)
                     results[i] = featurizer.smiles(texts[i]);
                 });
    if (stopped) return;
    std::vector<GraphView> graphs;
    std::vector<std::int64_t> rows;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (const auto* rejection = std::get_if<Rejection>(&results[i])) {
        all.status[i] = static_cast<std::uint8_t>(rejection->status);
        all.reason[i] = rejection->reason;
      } else {
        graphs.push_back(std::get<MolecularGraph>(results[i]).view());
        rows.push_back(static_cast<std::int64_t>(i));
      }
    }
    all.pack = pack(graphs, rows, {.paths = paths});
    all.pack.features = options.features;  // needed if there are no molecules
    add_bonds(graphs, all);
  });
  return all;
}

/// Column names of a feature set, from the vocabulary.
nb::tuple vocabulary(const std::string& features) {
  const FeatureShape& shape = feature_shape(features_from_string(features));
  return nb::make_tuple(std::string(shape.atom_names), std::string(shape.bond_names),
                        std::vector<int>(shape.atom_dims.begin(), shape.atom_dims.begin() + shape.atom_columns),
                        std::vector<int>(shape.bond_dims.begin(), shape.bond_dims.begin() + shape.bond_columns));
}

nb::dict path_steps(nb::handle self) {
  const PathSteps& paths = nb::cast<const Molecules&>(self).pack.paths;
  nb::dict all;
  all["pair"] = view_of(paths.pair, {paths.pair.size()}, self);
  all["level_pairs"] = view_of(paths.level_pairs, {paths.level_pairs.size()}, self);
  all["target"] = view_of(paths.target, {paths.target.size()}, self);
  all["source"] = view_of(paths.source, {paths.source.size()}, self);
  all["bond"] = view_of(paths.bond, {paths.bond.size()}, self);
  all["weight"] = view_of(paths.weight, {paths.weight.size()}, self);
  all["level_steps"] = view_of(paths.level_steps, {paths.level_steps.size()}, self);
  return all;
}

/// A property that returns a view of a member as rows of `columns` numbers.
template <class Number, class Member>
auto rows_of(Member member, int columns) {
  return [member, columns](nb::handle self) {
    const auto& all = nb::cast<const Molecules&>(self);
    const std::vector<Number>& values = member(all);
    const int width = columns > 0 ? columns : columns == 0 ? all.shape().atom_columns : all.shape().bond_columns;
    return view_of(values, {values.size() / static_cast<std::size_t>(width), static_cast<std::size_t>(width)}, self);
  };
}
template <class Number, class Member>
auto list_of(Member member) {
  return [member](nb::handle self) {
    const std::vector<Number>& values = member(nb::cast<const Molecules&>(self));
    return view_of(values, {values.size()}, self);
  };
}

}  // namespace

void bind_molecules(nb::module_& module) {
  module.def("featurize", &featurize, nb::arg("smiles"), nb::arg("features"), nb::arg("standardize"),
             nb::arg("threads"), nb::arg("max_atoms"), nb::arg("paths"));
  module.def("vocabulary", &vocabulary, nb::arg("features"));
  module.attr("UNREACHABLE") = kUnreachable;
  module.attr("VIRTUAL") = kVirtual;
  const auto field = [](auto member) {
    return [member](const Molecules& all) -> const auto& { return all.*member; };
  };
  const auto packed = [](auto member) {
    return [member](const Molecules& all) -> const auto& { return all.pack.*member; };
  };
  constexpr int kAtomColumns = 0, kBondColumns = -1;
  nb::class_<Molecules>(module, "Molecules")
      .def("__len__", &Molecules::size)
      .def_prop_ro("features", [](const Molecules& all) { return std::string(to_string(all.pack.features)); })
      .def_prop_ro("atoms", rows_of<std::uint8_t>(packed(&GraphBatch::atoms), kAtomColumns))
      .def_prop_ro("bonds", rows_of<std::uint8_t>(field(&Molecules::bonds), kBondColumns))
      .def_prop_ro("bond_atoms", rows_of<std::uint16_t>(field(&Molecules::bond_atoms), 2))
      .def_prop_ro("edge_index",
                   [](nb::handle self) {
                     const auto& index = nb::cast<const Molecules&>(self).edge_index;
                     return view_of(index, {2, index.size() / 2}, self);
                   })
      .def_prop_ro("atom_offset", list_of<std::int64_t>(packed(&GraphBatch::atom_offset)))
      .def_prop_ro("bond_offset", list_of<std::int64_t>(field(&Molecules::bond_offset)))
      .def_prop_ro("pair_offset", list_of<std::int64_t>(packed(&GraphBatch::pair_offset)))
      .def_prop_ro("topology", list_of<std::uint16_t>(packed(&GraphBatch::topology)))
      .def_prop_ro("edge", list_of<std::uint8_t>(packed(&GraphBatch::edge)))
      .def_prop_ro("row", list_of<std::int64_t>(packed(&GraphBatch::row)))
      .def_prop_ro("status", list_of<std::uint8_t>(field(&Molecules::status)))
      .def_prop_ro("reason", [](const Molecules& all) { return all.reason; })
      .def_prop_ro("path_steps", &path_steps);
}

}  // namespace molgraph::python
