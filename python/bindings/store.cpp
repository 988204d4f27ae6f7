#include "datasets/store/store.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "python/bindings/arrays.hpp"
#include "python/bindings/module.hpp"

namespace molgraph::python {
namespace {

using Texts = std::vector<std::string>;

/// A store. Molecules are read on first access.
class CoreStore {
 public:
  explicit CoreStore(const std::string& path) : store_(path) {}

  const StoreSummary& summary() const { return store_.summary(); }
  const MoleculeSet& set() {
    if (!set_) {
      std::optional<MoleculeSet> read;
      {
        const nb::gil_scoped_release free;
        read = store_.load();
      }
      if (!set_) set_ = std::move(read);  // another thread may have been first, and views of its arrays may exist
    }
    return *set_;
  }
  /// Returns atoms and bonds of all molecules, one after the other. They are unpacked on first access and kept.
  const MolecularGraph& rows() {
    if (!rows_) {
      const MoleculeSet& all = set();
      MolecularGraph rows;
      for (std::int64_t g = 0; g < all.size(); ++g) {
        const MolecularGraph one = MolecularGraph::copy_of(all.graph(g));
        rows.atoms.insert(rows.atoms.end(), one.atoms.begin(), one.atoms.end());
        rows.bond_atoms.insert(rows.bond_atoms.end(), one.bond_atoms.begin(), one.bond_atoms.end());
        rows.bonds.insert(rows.bonds.end(), one.bonds.begin(), one.bonds.end());
      }
      rows_ = std::move(rows);
    }
    return *rows_;
  }
  const FeatureShape& shape() const { return feature_shape(summary().featurizer.features); }
  /// Returns atoms [n, columns], bonds [m, columns] and bond_atoms [m, 2] of molecule g.
  nb::tuple graph(std::int64_t g) {
    MolecularGraph one = MolecularGraph::copy_of(set().graph(g));
    const auto atoms = static_cast<std::size_t>(one.num_atoms()), bonds = static_cast<std::size_t>(one.num_bonds());
    return nb::make_tuple(array_of(std::move(one.atoms), {atoms, static_cast<std::size_t>(shape().atom_columns)}),
                          array_of(std::move(one.bonds), {bonds, static_cast<std::size_t>(shape().bond_columns)}),
                          array_of(std::move(one.bond_atoms), {bonds, std::size_t{2}}));
  }
  /// Returns topology and edge [N, N] of molecule g.
  nb::tuple pairs(std::int64_t g) const {
    PairRelations pairs = store_.pairs(g);
    std::size_t n = 0;
    while (n * n < pairs.topology.size()) ++n;
    return nb::make_tuple(array_of(std::move(pairs.topology), {n, n}), array_of(std::move(pairs.edge), {n, n}));
  }

 private:
  Store store_;
  std::optional<MoleculeSet> set_;
  std::optional<MolecularGraph> rows_;
};

Texts texts_of(const TextList& list) { return {list.begin(), list.end()}; }

/// A view of a member of the set as rows of `columns` numbers.
template <class Number>
auto view(nb::handle self, const std::vector<Number>& values, std::size_t columns) {
  return view_of(values, {columns == 0 ? 0 : values.size() / columns, columns}, self);
}

MoleculeSet const& set_of(nb::handle self) { return nb::cast<CoreStore&>(self).set(); }

}  // namespace

void bind_store(nb::module_& module) {
  nb::class_<CoreStore>(module, "Store")
      .def(nb::init<const std::string&>(), nb::arg("path"))
      .def("__len__", [](const CoreStore& store) { return store.summary().molecules; })
      .def("graph", &CoreStore::graph, nb::arg("molecule"))
      .def("pairs", &CoreStore::pairs, nb::arg("molecule"))
      .def_prop_ro("features",
                   [](const CoreStore& store) { return std::string(to_string(store.summary().featurizer.features)); })
      .def_prop_ro("target_names", [](const CoreStore& store) { return store.summary().task.names; })
      .def_prop_ro("units", [](const CoreStore& store) { return store.summary().task.units; })
      .def_prop_ro("kind", [](const CoreStore& store) { return std::string(to_string(store.summary().task.kind)); })
      .def_prop_ro("input_names", [](const CoreStore& store) { return store.summary().input_names; })
      .def_prop_ro("atom_offset",
                   [](nb::handle self) {
                     const auto& offsets = set_of(self).atom_offset;
                     return view_of(offsets, {offsets.size()}, self);
                   })
      .def_prop_ro("bond_offset",
                   [](nb::handle self) {
                     const auto& offsets = set_of(self).bond_offset;
                     return view_of(offsets, {offsets.size()}, self);
                   })
      .def_prop_ro("atoms",
                   [](nb::handle self) {
                     auto& store = nb::cast<CoreStore&>(self);
                     return view(self, store.rows().atoms, static_cast<std::size_t>(store.shape().atom_columns));
                   })
      .def_prop_ro("bonds",
                   [](nb::handle self) {
                     auto& store = nb::cast<CoreStore&>(self);
                     return view(self, store.rows().bonds, static_cast<std::size_t>(store.shape().bond_columns));
                   })
      .def_prop_ro("bond_atoms",
                   [](nb::handle self) { return view(self, nb::cast<CoreStore&>(self).rows().bond_atoms, 2); })
      .def_prop_ro("row",
                   [](nb::handle self) {
                     const auto& rows = set_of(self).row;
                     return view_of(rows, {rows.size()}, self);
                   })
      .def_prop_ro(
          "targets",
          [](nb::handle self) {
            const MoleculeSet& set = set_of(self);
            const std::size_t molecules = set.row.size(), targets = set.task.names.size();
            std::vector<double> values(molecules * targets);
            for (std::size_t k = 0; k < values.size(); ++k) values[k] = set.target(k);
            return array_of(std::move(values), {molecules, targets});
          },
          nb::rv_policy::automatic)
      .def_prop_ro("inputs",
                   [](nb::handle self) {
                     const MoleculeSet& set = set_of(self);
                     return view(self, set.inputs, set.input_names.size());
                   })
      .def_prop_ro("ids", [](CoreStore& store) { return texts_of(store.set().id); })
      .def_prop_ro("smiles", [](CoreStore& store) { return texts_of(store.set().smiles); })
      .def_prop_ro("splits", [](CoreStore& store) {
        nb::dict all;
        for (const auto& [name, split] : store.set().splits) {
          nb::dict parts;
          parts["train"] = array_of(split.train, {split.train.size()});
          parts["valid"] = array_of(split.valid, {split.valid.size()});
          parts["test"] = array_of(split.test, {split.test.size()});
          all[nb::str(name.c_str())] = parts;
        }
        return all;
      });
}

}  // namespace molgraph::python
