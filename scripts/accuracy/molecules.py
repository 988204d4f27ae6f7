"""SMILES on standard input, one per line -> JSON {"canonical": [...], "scaffold": [...]}. Runs where RDKit is. What this
RDKit cannot read is a molecule by its text, with a scaffold of its own: whether a method predicts it is up to the method.
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
