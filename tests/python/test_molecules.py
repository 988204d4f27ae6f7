import numpy as np
import pytest
from conftest import program

import molgraph
from molgraph.molecules import UNREACHABLE, VIRTUAL, vocabulary


def test_ethanol_and_salt_match_hand_calculation():
    batch = molgraph.featurize(["CCO", "bad(", "[Na+].[Cl-]"], features="ogb")
    assert len(batch) == 2 and batch.row.tolist() == [0, 2]
    assert batch.status.tolist() == ["ok", "invalid_smiles", "ok"] and batch.reason[1] != ""
    assert batch.atoms.shape == (5, 9) and batch.atoms[:, 0].tolist() == [5, 5, 7, 10, 16]  # atomic number - 1
    assert batch.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert batch.edge_attr.shape == (4, 3) and batch.batch.tolist() == [0, 0, 0, 1, 1]
    ethanol, salt = batch
    assert ethanol.distances.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert salt.distances.tolist() == [[0, UNREACHABLE], [UNREACHABLE, 0]]
    assert (ethanol.topology[0] == VIRTUAL).all() and ethanol.edge[1, 1] == 254 and ethanol.edge[1, 3] == 253
    assert batch[-1].bonds.shape == (0, 3) and ethanol.bond_atoms.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(IndexError):
        batch[2]


def test_views_copy_nothing_and_outlive_the_batch():
    batch = molgraph.featurize(["CCO"])
    atoms = batch.atoms
    assert not atoms.flags.owndata and not atoms.flags.writeable
    assert np.shares_memory(atoms, batch.atoms) and np.shares_memory(batch[0].atoms, atoms)
    expected = atoms.copy()
    del batch
    junk = [molgraph.featurize(["NNN"]) for _ in range(50)]
    assert np.array_equal(atoms, expected) and junk


def test_path_steps_of_ring():
    """Cyclobutane: two shortest paths between opposite atoms, each with weight 1/2."""
    steps = molgraph.featurize(["C1CCC1"], paths=True).path_steps
    assert len(steps["level_pairs"]) == 3 and np.diff(steps["level_pairs"]).tolist() == [8, 4]
    second = slice(*steps["level_steps"][1:3])
    assert steps["weight"][second].tolist() == [0.5] * 8
    assert len(molgraph.featurize(["C1CCC1"]).path_steps["pair"]) == 0


def test_feature_sets():
    for name, atoms, bonds in (("ogb", 9, 3), ("zinc", 1, 1), ("molgraph", 10, 4)):
        batch = molgraph.featurize(["CCO"], features=name)
        assert batch.features == name and batch.atoms.shape[1] == atoms and batch.bonds.shape[1] == bonds
        assert len(vocabulary(name)["atoms"]) == atoms and len(vocabulary(name)["bonds"]) == bonds
    with pytest.raises(molgraph.UsageError, match="gcn"):
        molgraph.featurize(["C"], features="gcn")
    assert len(molgraph.featurize([])) == 0
    assert molgraph.featurize(["CCO.Cl"], standardize="parent").atoms.shape[0] == 3


def test_store_equals_featurize(table, molecules, tmp_path):
    program("molgraph-featurize", table, "-o", tmp_path / "s.h5", "--features", "ogb", "--target-columns", "y",
            "--duplicates", "keep")
    store, batch = molgraph.Store(tmp_path / "s.h5"), molgraph.featurize(molecules)
    assert len(store) == 400 and store.target_names == ["y"] and store.kind == "regression"
    assert store.smiles[:3] == molecules[:3] and store.targets.shape == (400, 1)
    for name in ("atoms", "bonds", "bond_atoms", "atom_offset", "bond_offset"):
        assert np.array_equal(getattr(store, name), getattr(batch, name)), name
    assert np.shares_memory(store.atoms, store.atoms) and not store.atoms.flags.writeable
    for k in (0, 17, 399):
        for name in ("atoms", "bonds", "bond_atoms", "topology", "edge"):
            assert np.array_equal(getattr(store[k], name), getattr(batch[k], name)), name
    with pytest.raises(molgraph.FileError):
        molgraph.Store(table)
    with pytest.raises(AttributeError):
        store.nothing


def test_torch_and_pyg():
    torch = pytest.importorskip("torch")
    tensors = molgraph.featurize(["CCO", "CC"]).to_torch()
    assert tensors["x"].shape == (5, 9) and tensors["edge_index"].dtype == torch.int64
    pytest.importorskip("torch_geometric")
    batch = molgraph.featurize(["CCO", "CC"]).to_pyg()
    assert torch.equal(batch.edge_index, tensors["edge_index"]) and torch.equal(batch.x, tensors["x"])
    assert torch.equal(batch.edge_attr, tensors["edge_attr"]) and torch.equal(batch.batch, tensors["batch"])
