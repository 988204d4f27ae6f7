#!/usr/bin/env python3
"""Writes spellings.csv: alternative SMILES of molecules with every kind of stereochemistry, made with RDKit from PyPI.

Columns: molecule (its number), spelling, order (for every atom of the spelling, its index in the first spelling).
Usage: make_spellings.py > spellings.csv
"""
import random

from rdkit import Chem

MOLECULES = [
    "C[C@H](N)C(=O)O",                                            # one centre
    "C[C@@H](O)[C@H](F)Cl",                                       # two centres
    "CC(O)[C@H](N)C(=O)O",                                        # one of two centres is specified
    "O=C(O)[C@H](O)[C@@H](O)C(=O)O",                              # meso
    "C[C@H]1CC[C@@H](O)CC1",                                      # in a ring, pseudo-asymmetric
    "CC1CCC(O)CC1",                                               # the same, unspecified
    "F/C=C/Cl",
    "C/C=C\\C/C=C/C",
    "CC=CC",                                                      # unspecified
    "C/C(Cl)=N\\O",
    "CC(=O)O[C@H]1C[C@H]2CC[C@@H](C1)N2C",                        # a cage
    "C[S@](=O)c1ccccc1",
    "C[P@](=O)(OCC)c1ccccc1",
    "CN1CC[C@]23c4c5ccc(O)c4O[C@H]2[C@@H](O)C=C[C@H]3[C@H]1C5",   # morphine
    "C[C@]12CC[C@H]3[C@@H](CCC4=CC(=O)CC[C@]34C)[C@@H]1CC[C@@H]2O",
    "CC1(C)S[C@@H]2[C@H](NC(=O)Cc3ccccc3)C(=O)N2[C@H]1C(=O)O",    # penicillin G
    "C[C@H]([NH3+])C(=O)[O-].[Na+].[Cl-]",
    "[O-][N+](=O)c1ccc(/C=C/c2cc[n+](C)cc2)cc1",
    "c1ccc2c(c1)[nH]c1ncncc12",
    "[2H][C@H](C)O",                                              # a centre due to isotopes
    "C1C[N@@]2C[C@H]1C(F)C2",                                     # a nitrogen centre, fixed by a cage
    "C1=C/CCCCCC/1",                                              # E or Z in a ring
    "CC[C@H](C)[C@H](NC(=O)[C@@H](N)CO)C(=O)N[C@@H](Cc1c[nH]c2ccccc12)C(=O)O",
    "OC[C@H]1O[C@@H](O[C@H]2[C@H](O)[C@@H](O)[C@@H](O)O[C@@H]2CO)[C@H](O)[C@@H](O)[C@@H]1O",
    "*C[C@H](F)Cl",
]
SPELLINGS = 10


def main():
    print("molecule,spelling,order")
    for number, smiles in enumerate(MOLECULES):
        molecule = Chem.MolFromSmiles(smiles)
        Chem.rdBase.SeedRandomNumberGenerator(number + 1)
        first = None
        for k in range(SPELLINGS):
            if k == 0:
                spelling, order = smiles, list(range(molecule.GetNumAtoms()))
            else:
                spelling = Chem.MolToSmiles(molecule, canonical=False, doRandom=True)
                order = list(molecule.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"])
            print(f"{number},{spelling},{' '.join(map(str, order))}")


if __name__ == "__main__":
    main()
