"""Featurised molecules from SMILES or from a store, for use in other models."""
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List

import numpy as np

from molgraph import _core
from molgraph._inputs import texts_of

UNREACHABLE = _core.UNREACHABLE  #: distance between atoms of different fragments
VIRTUAL = _core.VIRTUAL  #: distance from and to the virtual node, token 0


@dataclass(frozen=True)
class Molecule:
    """One molecule of a batch, with n atoms, m bonds and N = n + 1 tokens. The arrays are views."""

    atoms: np.ndarray  #: [n, atom columns] uint8
    bonds: np.ndarray  #: [m, bond columns] uint8
    bond_atoms: np.ndarray  #: [m, 2] uint16, each bond once
    topology: np.ndarray  #: [N, N] uint16: distance in bonds, UNREACHABLE or VIRTUAL; token 0 is the virtual node
    edge: np.ndarray  #: [N, N] uint8: bond id, 253 = no bond, 254 = the token itself, 255 = virtual

    @property
    def distances(self) -> np.ndarray:
        """[n, n] shortest-path distances between atoms; UNREACHABLE between fragments."""
        return self.topology[1:, 1:]


class _Molecules:
    """Molecules in a C++ object, which provides the attributes that the class annotates."""

    _core: Any

    def __len__(self) -> int:
        return len(self._core)

    def __getattr__(self, name: str) -> Any:
        if name in type(self).__annotations__:
            return getattr(self._core, name)
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    def __getitem__(self, place: int) -> Molecule:
        count = len(self)
        if not -count <= place < count:
            raise IndexError(f"molecule {place} of {count}")
        return self._molecule(place % count)


class Batch(_Molecules):
    """B packed molecules. The arrays are read-only views of the library's memory.

    ``atoms`` [A, columns], ``bonds`` [M, columns], ``bond_atoms`` [M, 2] atoms within the molecule, ``edge_index``
    [2, 2 M] over the whole batch (bond k is edges 2 k and 2 k + 1), ``atom_offset``, ``bond_offset`` and
    ``pair_offset`` [B + 1], ``topology`` and ``edge`` flat over all pairs, ``row`` [B] index of each molecule in the
    input, ``status`` and ``reason`` [inputs] for all input SMILES.
    """

    features: str
    atoms: np.ndarray
    bonds: np.ndarray
    bond_atoms: np.ndarray
    edge_index: np.ndarray
    atom_offset: np.ndarray
    bond_offset: np.ndarray
    pair_offset: np.ndarray
    topology: np.ndarray
    edge: np.ndarray
    row: np.ndarray
    reason: List[str]

    def __init__(self, core: Any):
        self._core = core
        self.status = np.array(_core.STATUS_WORDS)[core.status]

    def _molecule(self, b: int) -> Molecule:
        core = self._core
        atoms, bonds, pairs = (slice(*offset[b:b + 2]) for offset in
                               (core.atom_offset, core.bond_offset, core.pair_offset))
        tokens = atoms.stop - atoms.start + 1
        return Molecule(core.atoms[atoms], core.bonds[bonds], core.bond_atoms[bonds],
                        core.topology[pairs].reshape(tokens, tokens), core.edge[pairs].reshape(tokens, tokens))

    def __iter__(self) -> Iterator[Molecule]:
        return (self[b] for b in range(len(self)))

    @property
    def batch(self) -> np.ndarray:
        """[A] molecule of each atom."""
        return np.repeat(np.arange(len(self)), np.diff(self.atom_offset))

    @property
    def edge_attr(self) -> np.ndarray:
        """[2 M, columns] bond columns in the order of ``edge_index``."""
        return np.repeat(self.bonds, 2, axis=0)

    @property
    def path_steps(self) -> Dict[str, np.ndarray]:
        """Steps of all shortest paths, by level (docs/models/formula.md, section 3); empty without ``paths=True``."""
        return self._core.path_steps

    def to_torch(self) -> Dict[str, Any]:
        """Returns int64 tensors x [A, columns], edge_index [2, 2 M], edge_attr [2 M, columns], batch [A]. Needs
        torch."""
        import torch

        return {name: torch.from_numpy(np.array(value, dtype=np.int64)) for name, value in
                (("x", self.atoms), ("edge_index", self.edge_index), ("edge_attr", self.edge_attr),
                 ("batch", self.batch))}

    def to_pyg(self) -> Any:
        """Returns a torch_geometric Batch with one Data per molecule. Needs torch_geometric."""
        import torch
        from torch_geometric.data import Batch as PygBatch
        from torch_geometric.data import Data

        def tensor(values):
            return torch.from_numpy(np.asarray(values, dtype=np.int64))

        graphs = []
        for one in self:
            ends = one.bond_atoms.astype(np.int64)
            edges = np.stack([ends, ends[:, ::-1]], axis=1).reshape(-1, 2)
            graphs.append(Data(x=tensor(one.atoms), edge_index=tensor(edges.T.copy()),
                               edge_attr=tensor(np.repeat(one.bonds, 2, axis=0))))
        return PygBatch.from_data_list(graphs)


def featurize(smiles: Iterable[Any], features: str = "ogb", *, paths: bool = False, standardize: str = "none",
              threads: int = 0, max_atoms: int = 1024) -> Batch:
    """Converts SMILES to arrays, the inputs of molgraph's models, for use in other models.

    ``features``: "ogb" (9 atom and 3 bond columns of the Open Graph Benchmark), "zinc" or "molgraph";
    :func:`vocabulary` returns the column names. ``paths``: also compute the steps of all shortest paths.
    ``standardize``: "none" or "parent" (remove salts and solvents and neutralise charges). Invalid SMILES are left
    out and get a status and a reason.
    """
    return Batch(_core.featurize(texts_of(smiles), features, standardize, threads, max_atoms, paths))


def vocabulary(features: str = "ogb") -> Dict[str, Dict[str, int]]:
    """Returns the names of the atom and bond columns with the number of values of each."""
    atom_names, bond_names, atom_sizes, bond_sizes = _core.vocabulary(features)
    return {"atoms": dict(zip(atom_names.split(), atom_sizes)), "bonds": dict(zip(bond_names.split(), bond_sizes))}


class Store(_Molecules):
    """A store of molgraph-featurize. Molecules are read on first access and then kept in memory, in a compact form.

    ``store[g]`` unpacks one molecule. ``atoms``, ``bonds`` and ``bond_atoms`` unpack all molecules on first access.
    ``atoms``, ``bonds``, ``bond_atoms``, ``atom_offset``, ``bond_offset``, ``row`` as in :class:`Batch`; ``targets``
    [molecules, targets] float64, missing = NaN; ``inputs`` [molecules, numbers] with ``input_names``; ``ids``,
    ``smiles``, ``splits`` (name -> train, valid, test), ``target_names``, ``units``, ``kind``, ``features``.
    """

    features: str
    kind: str
    target_names: List[str]
    units: List[str]
    input_names: List[str]
    atoms: np.ndarray
    bonds: np.ndarray
    bond_atoms: np.ndarray
    atom_offset: np.ndarray
    bond_offset: np.ndarray
    row: np.ndarray
    targets: np.ndarray
    inputs: np.ndarray
    ids: List[str]
    smiles: List[str]
    splits: Dict[str, Dict[str, np.ndarray]]

    def __init__(self, path: str):
        self._core = _core.Store(str(path))

    def _molecule(self, g: int) -> Molecule:
        return Molecule(*self._core.graph(g), *self._core.pairs(g))
