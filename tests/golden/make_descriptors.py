#!/usr/bin/python3
"""Makes descriptors.csv.gz: RDKit's descriptors of 2,000 varied molecules, which featurize/descriptors must reproduce.

    tests/golden/make_descriptors.py FOLDER

It needs Debian's python3-rdkit (2022.09.3) and reads SMILES from the tables in FOLDER: pretrain/smiles.csv.gz, molhiv/molhiv.csv.gz,
moleculenet/*.csv, tables/*.csv.gz, zinc_full/zinc_full.csv.gz. The selection depends only on those files: after a list written by hand,
molecules are drawn by the hash of their text. Each table has a quota. Molecules with metals, isotopes, charges, radicals, unusual valences,
many fragments, explicit hydrogens, large rings or more than 100 atoms have further quotas.

The file is stored column by column, which compresses well. A header is followed by a line of SMILES and one line per descriptor with its
name and a value for each molecule (seven digits; "nan" if RDKit gives NaN or infinity or raises an exception). The last line is "crc32" of
the 2,048 counts of GetHashedMorganFingerprint(molecule, 2), each at most 255, as bytes. RDKit's Ipc is left out: it raises an exception
under numpy 1.24, and with numpy.float restored its value is wrong above 72 atoms. BCUT2D is "nan" if RemoveHs() removes atoms: RDKit then
mixes the matrices of two molecules.
"""

import csv
import glob
import gzip
import hashlib
import math
import os
import re
import sys
import zlib

from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, rdMolDescriptors

RDLogger.DisableLog("rdApp.*")
MOLECULES = 2000
HERE = os.path.dirname(os.path.abspath(__file__))

BY_HAND = """
C N O S P B F Cl I [H][H] [2H]O [2H]C [3H]Cl [2H]OC([2H])([2H])[2H] [13CH4] [14C] [15NH3] [18OH2] [Na+] [Cl-] [Na+].[Cl-] [K+].[OH-]
[U] [Tc] [Pt] [Fe+2] [He] [Xe] [BH4-] [AlH4-].[Li+] [SiH4] [PH4+] [NH4+].[NH4+].[O-]S(=O)(=O)[O-] [H+] [H-].[Na+] * *C C*C [1*]CC[2*]
[CH3] [CH2] [O][O] C[CH]C [N]=O O=[N+][O-] S(F)(F)(F)(F)(F)F P(Cl)(Cl)(Cl)(Cl)Cl FI(F)(F)(F)F O=[Xe](=O)=O C$C CC->[Cu]
[Cl-].[Cl-].[Pt+2] N->[Pt](Cl)(Cl)<-N C[Mg]Br C[Hg]C [Fe].C1=CC=CC1 C[Si](C)(C)C B1OB(O)OB(O)O1 C[Se]C C[Te]C [As](C)(C)C
[H]N=C [H]/N=C/C [H]/N=C(/C)C [H]/C(C)=C(/C)[H] [H][B-]1([H])OCCO1 [H][B-]([H])([H])[H] F[H-]F C1CC1 C1CCC1 C1CC2CC12 C12C3C4C1C5C2C3C45
C1C2CC3CC1CC(C2)C3 C1CC2(C1)CCC2 C1=CC2C=CC1C=C2 CC1CC1 CC12CC1C2 N1CC1 O1CC1 CN1CC1C S1CC1 C1=CC1 C1=NO1 Cc1nc2ccc1-c1nc-2n[nH]1 c1ccccc1 c1cc[nH]c1 c1ccoc1
c1ccsc1 [nH]1nnnc1 c1cc[n+]([O-])cc1 [O-][n+]1ccccc1 C[n+]1ccccc1 c1cnc2[nH]cnc2c1 O=c1cc[nH]cc1 C#C C#N [C-]#[O+] [N-]=[N+]=N CN=[N+]=[N-]
CN(=O)=O C[N+](=O)[O-] CS(=O)(=O)N CS(C)=O C[S+](C)[O-] OP(=O)(O)O OS(=O)(=O)O [O-]Cl(=O)(=O)=O CC(=O)[O-].[Na+] NCC(=O)O [NH3+]CC(=O)[O-]
F.F.F.F C(=O)OC.C(=O)OC.C(=O)OC c1ccc2ccccc2c1 c1ccc2c(c1)ccc1ccccc12 C1CCCCCCCCCCCCC1 N[C@@H](C)C(=O)O C/C=C/C C/C=C\\C F/C=C/F
CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC O=C=O S=C=S CN=C=O CN=C=S CSC#N N#N O=O O=S=O OO SS NN NO ClCl BrI
""".split()
LARGE = [
    "C" * 150,
    "OCC" * 60,
    "N" + "CC(=O)N" * 40 + "CC(=O)O",
    "c1ccc(cc1)" * 12 + "C",
    ".".join(["c1ccccc1"] * 90),  # more mappings of a benzene ring than RDKit's limit
    ".".join(["O"] * 130),
    "CC(C)(C)" * 45,
]

UNUSUAL = {  # kind: (number of molecules, predicate)
    "metal": (150, lambda m, s: any(a.GetAtomicNum() not in (1, 5, 6, 7, 8, 9, 14, 15, 16, 17, 34, 35, 53) for a in m.GetAtoms())),
    "element": (80, lambda m, s: any(a.GetAtomicNum() in (5, 14, 34) for a in m.GetAtoms())),
    "isotope": (40, lambda m, s: any(a.GetIsotope() for a in m.GetAtoms())),
    "charge": (150, lambda m, s: any(a.GetFormalCharge() for a in m.GetAtoms())),
    "radical": (40, lambda m, s: any(a.GetNumRadicalElectrons() for a in m.GetAtoms())),
    "valence": (60, lambda m, s: any(a.GetTotalValence() > 4 for a in m.GetAtoms())),
    "hydrogen": (40, lambda m, s: any(a.GetAtomicNum() == 1 for a in m.GetAtoms())),
    "fragments": (80, lambda m, s: s.count(".") > 1),
    "rings": (80, lambda m, s: m.GetRingInfo().NumRings() > 7),
    "macrocycle": (40, lambda m, s: any(len(r) > 11 for r in m.GetRingInfo().AtomRings())),
    "large": (40, lambda m, s: m.GetNumAtoms() > 100),
    "small": (60, lambda m, s: m.GetNumAtoms() < 6),
}


def smiles_of(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as table:
        for row in csv.DictReader(table):
            yield (row.get("smiles") or row.get("Drug") or "").strip()


def by_hash(texts):
    return sorted(set(t for t in texts if t), key=lambda t: hashlib.sha256(t.encode()).digest())


def choose(folder):
    tables = [f"{folder}/{name}" for name in ("pretrain/smiles.csv.gz", "molhiv/molhiv.csv.gz", "zinc_full/zinc_full.csv.gz")]
    tables += sorted(glob.glob(f"{folder}/moleculenet/*.csv")) + sorted(glob.glob(f"{folder}/tables/*.csv.gz"))
    drawn = {path: by_hash(smiles_of(path)) for path in tables}
    chosen = {s: Chem.MolFromSmiles(s) for s in BY_HAND + LARGE}
    assert all(m is not None for m in chosen.values()), [s for s, m in chosen.items() if m is None]

    def take(texts, count, accepts):
        for text in texts:
            if count == 0:
                return
            if text in chosen or "," in text:
                continue
            molecule = Chem.MolFromSmiles(text)
            if molecule is not None and molecule.GetNumAtoms() and accepts(molecule, text):
                chosen[text] = molecule
                count -= 1

    # Unusual molecules are in molhiv and the assay tables. Most kinds occur among 2,500 molecules per table.
    pool = by_hash([s for path in tables if "zinc" not in path for s in drawn[path][:2500]])
    bracketed = by_hash([s for path in tables for s in drawn[path] if re.search(r"\[\d|\[[A-Z][a-z]?\]|\[[CNO]\]|\[H\]", s)])
    for kind, (count, accepts) in UNUSUAL.items():
        take(bracketed if kind in ("metal", "isotope", "radical", "hydrogen") else pool, count, accepts)
    share = (MOLECULES - len(chosen)) // len(tables)
    for path in tables:
        take(drawn[path], share, lambda m, s: True)
    take(drawn[tables[0]], MOLECULES - len(chosen), lambda m, s: True)
    return chosen


def value_text(name, function, molecule):
    if name.startswith("BCUT2D") and Chem.RemoveHs(molecule).GetNumAtoms() != molecule.GetNumAtoms():
        return "nan"
    try:
        value = float(function(molecule))
    except Exception:
        return "nan"
    return f"{value:.7g}" if math.isfinite(value) else "nan"


def crc_text(molecule):
    counts = bytearray(2048)
    for bin_index, count in rdMolDescriptors.GetHashedMorganFingerprint(molecule, 2, 2048).GetNonzeroElements().items():
        counts[bin_index] = min(count, 255)
    return str(zlib.crc32(bytes(counts)))


def main():
    chosen = choose(sys.argv[1])
    rows = {"smiles": list(chosen)}
    for name, function in Descriptors.descList:
        if name != "Ipc":
            rows[name] = [value_text(name, function, molecule) for molecule in chosen.values()]
    rows["crc32"] = [crc_text(molecule) for molecule in chosen.values()]
    text = "row,a value for each molecule\n" + "".join(",".join([name] + values) + "\n" for name, values in rows.items())
    with open(f"{HERE}/descriptors.csv.gz", "wb") as out:
        out.write(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(chosen)} molecules, {len(rows) - 2} descriptors")


if __name__ == "__main__":
    main()
