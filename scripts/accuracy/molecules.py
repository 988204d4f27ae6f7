"""Reads SMILES from standard input, one per line, and writes JSON {"canonical": [...], "scaffold": [...]}. Needs RDKit.
For SMILES that this RDKit cannot read, the text itself is the canonical SMILES and the scaffold, because a method may
still be able to predict the molecule.
"""

import json
import sys

from rdkit import Chem, RDLogger
from rdkit.Chem.Scaffolds import MurckoScaffold

RDLogger.DisableLog("rdApp.*")
canonical, scaffold = [], []
for line in sys.stdin.read().splitlines():
    text = line.strip()
    molecule = Chem.MolFromSmiles(text)
    if molecule is None:
        canonical.append(text)
        scaffold.append(text)
        continue
    canonical.append(Chem.MolToSmiles(molecule))
    scaffold.append(MurckoScaffold.MurckoScaffoldSmiles(mol=molecule, includeChirality=False))
json.dump({"canonical": canonical, "scaffold": scaffold}, sys.stdout)
