"""Training, validation and test rows of a table. All methods get the same split.

  scaffold   Murcko scaffolds (Bemis and Murcko 1996), largest groups first, ties in reverse order of the table. The
             groups fill 80 % for training, then 10 % for validation; a group that does not fit goes to the next set
             (as in DeepChem and OGB). The seed changes only the methods.
  scaffold-balanced
             Murcko scaffolds. Groups with more than a twentieth of the rows come first and go to training if they fit.
             The others, in an order drawn with the seed, fill 80 % for training, 10 % for validation, and the test set
             (as in chemprop).
  random     molecules ordered by the SHA-256 of "SEED/canonical SMILES", 80/10/10; rows of a molecule stay in one set.
  official   the test set of the table. The validation set, an eighth of the rest, is drawn with the seed: whole
             molecules or whole scaffolds ("valid" in tables.toml), skipping those that do not fit.

Scaffolds and canonical SMILES need RDKit (molecules.py in the peers' environment). A split is made once and stored:
splits of the panel in docs/development/accuracy/splits.csv, so that neither RDKit's version nor this code can change
them unnoticed, others in the work folder. A split is stored as one digit per row: 0 train, 1 valid, 2 test.
"""

import csv
import hashlib
import json
import pathlib
import subprocess

from tables import Problem, Table

COLUMNS = ["table", "split", "seed", "sha256", "parts"]
HERE = pathlib.Path(__file__).parent


def grouped(keys: list[str]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for row, key in enumerate(keys):
        groups.setdefault(key, []).append(row)
    return groups


def drawn(groups: dict[str, list[int]], seed: int) -> list[list[int]]:
    return [groups[key] for key in sorted(groups, key=lambda key: hashlib.sha256(f"{seed}/{key}".encode()).digest())]


def filled(groups: list[list[int]], size: int) -> str:
    """Assigns whole groups: training up to 80 % of the rows, then validation up to 90 % in total; the rest is test."""
    parts = ["2"] * size
    train, valid = 0, 0
    for rows in groups:
        part = "2"
        if train + len(rows) <= 0.8 * size:
            train, part = train + len(rows), "0"
        elif train + valid + len(rows) <= 0.9 * size:
            valid, part = valid + len(rows), "1"
        for row in rows:
            parts[row] = part
    return "".join(parts)


def scaffold(scaffolds: list[str]) -> str:
    groups = grouped(scaffolds).values()
    return filled(sorted(groups, key=lambda rows: (len(rows), rows[0]), reverse=True), len(scaffolds))


def scaffold_balanced(scaffolds: list[str], seed: int) -> str:
    rows_of = drawn(grouped(scaffolds), seed)
    large = [rows for rows in rows_of if len(rows) > 0.05 * len(scaffolds)]
    return filled(large + [rows for rows in rows_of if rows not in large], len(scaffolds))


def random(canonical: list[str], seed: int) -> str:
    parts = ["2"] * len(canonical)
    done = 0
    for rows in drawn(grouped(canonical), seed):
        part = "0" if done < 0.8 * len(parts) else "1" if done < 0.9 * len(parts) else "2"
        for row in rows:
            parts[row] = part
        done += len(rows)
    return "".join(parts)


def official(table: Table, keys: list[str], seed: int) -> str:
    if not table.official:
        raise Problem(f"table '{table.name}' has no official split")
    parts = ["2" if part == "test" else "0" for part in table.official]
    wanted = parts.count("0") / 8
    valid = 0
    for rows in drawn(grouped(keys), seed):
        rows = [row for row in rows if parts[row] == "0"]
        if rows and valid + len(rows) <= wanted:
            valid += len(rows)
            for row in rows:
                parts[row] = "1"
    return "".join(parts)


def molecule_keys(table: Table, python: str) -> tuple[list[str], list[str]]:
    """Canonical SMILES and Murcko scaffold of every row."""
    try:
        done = subprocess.run(
            [python, str(HERE / "molecules.py")], input="\n".join(table.smiles) + "\n", capture_output=True, text=True
        )
    except OSError as error:
        raise Problem(f"{python}: {error.strerror}; --peers-python names a Python with RDKit") from None
    if done.returncode != 0:
        raise Problem(
            f"table '{table.name}': {done.stderr.strip().splitlines()[-1]} (--peers-python names a Python with "
            "RDKit)"
        )
    keys = json.loads(done.stdout)
    return keys["canonical"], keys["scaffold"]


class Splits:
    def __init__(self, kept: pathlib.Path, work: pathlib.Path, python: str):
        """kept: a file that is only read; work: a file that is read and to which new splits are appended."""
        self.kept, self.work, self.python = kept, work, python
        self.known: dict[tuple[str, str, int], dict[str, str]] = {}
        self.keys: dict[str, tuple[list[str], list[str]]] = {}
        for path in (work, kept):
            if path.is_file():
                with open(path, newline="") as file:
                    for row in csv.DictReader(file):
                        self.known[row["table"], row["split"], int(row["seed"])] = row

    def get(self, table: Table, split: str, seed: int) -> str:
        """The digits of a split. The scaffold split is the same for all seeds (seed 0)."""
        seed = 0 if split == "scaffold" else seed
        found = self.known.get((table.name, split, seed))
        if found is None:
            found = self._make(table, split, seed)
        if found["sha256"] != table.sha256():
            raise Problem(f"the {split} split of '{table.name}' was made for other rows than those of the file")
        for digit, name in zip("012", ("train", "valid", "test")):
            if digit not in found["parts"]:
                raise Problem(f"the {split} split of '{table.name}' (seed {seed}) has an empty {name} set")
        return found["parts"]

    def _make(self, table: Table, split: str, seed: int) -> dict[str, str]:
        if table.name not in self.keys:
            self.keys[table.name] = molecule_keys(table, self.python)
        canonical, scaffolds = self.keys[table.name]
        if split == "scaffold":
            parts = scaffold(scaffolds)
        elif split == "scaffold-balanced":
            parts = scaffold_balanced(scaffolds, seed)
        elif split == "random":
            parts = random(canonical, seed)
        elif split == "official":
            parts = official(table, scaffolds if table.valid == "scaffold" else canonical, seed)
        else:
            raise Problem(f"there is no split '{split}'; use scaffold, scaffold-balanced, random or official")
        row = dict(zip(COLUMNS, (table.name, split, str(seed), table.sha256(), parts)))
        self.known[table.name, split, seed] = row
        write(self.work, [row])
        return row


def write(path: pathlib.Path, rows: list[dict[str, str]]) -> None:
    """Appends the rows; a new file gets a header."""
    new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(rows)
