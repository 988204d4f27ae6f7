"""SMILES on standard input, one per line -> JSON {"canonical": [...], "scaffold": [...]}. Runs where RDKit is."""

import json
import sys

from rdkit import Chem, RDLogger
from rdkit.Chem.Scaffolds import MurckoScaffold

RDLogger.DisableLog("rdApp.*")
canonical, scaffold = [], []
for number, line in enumerate(sys.stdin, 1):
    molecule = Chem.MolFromSmiles(line.strip())
    if molecule is None:
        sys.exit(f"row {number}: RDKit cannot read '{line.strip()}'")
    canonical.append(Chem.MolToSmiles(molecule))
    scaffold.append(MurckoScaffold.MurckoScaffoldSmiles(mol=molecule, includeChirality=False))
json.dump({"canonical": canonical, "scaffold": scaffold}, sys.stdout)
