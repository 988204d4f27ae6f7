"""The measured tables (tables.toml): files, target columns and metrics."""

import csv
import dataclasses
import gzip
import hashlib
import math
import pathlib
import tomllib

HIGHER_IS_BETTER = {"roc_auc", "ap", "spearman"}


class Problem(Exception):
    """An error that the user can fix; printed without a traceback."""


@dataclasses.dataclass
class Table:
    """One target of one file. Rows with an empty target are left out."""

    name: str
    set: str
    kind: str  # regression or classification
    metrics: list[str]  # the first one is compared
    smiles: list[str]
    target: list[float]  # classification: 0 or 1
    official: list[str] = dataclasses.field(default_factory=list)  # train or test of each row; empty: no official split
    subset: list[bool] = dataclasses.field(default_factory=list)  # rows whose error is also reported alone; or empty
    valid: str = "random"  # how the validation set of an official split is drawn: random or scaffold

    def sha256(self) -> str:
        """Hash of all molecules and values as read. A split is valid only for these rows."""
        text = "".join(f"{s}\t{y!r}\n" for s, y in zip(self.smiles, self.target))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass
class Set:
    name: str
    splits: list[str]
    seeds: int
    inner: bool = False  # contains no published test set, so all results may be used for choices


def open_text(path: pathlib.Path):
    if not path.is_file():
        raise Problem(f"{path}: no such file; --data names the folder of the tables")
    return gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="")


def read_rows(path: pathlib.Path) -> list[dict[str, str]]:
    with open_text(path) as file:
        return list(csv.DictReader(file))


def cell(row: dict[str, str], column: str, path: pathlib.Path) -> str:
    if row.get(column) is None:
        raise Problem(f"{path} has no column '{column}'")
    return row[column].strip()


def make_table(name: str, entry: dict, path: pathlib.Path, rows: list[dict[str, str]]) -> Table:
    table = Table(name, entry["set"], entry["kind"], list(entry["metrics"]), [], [], valid=entry.get("valid", "random"))
    for number, row in enumerate(rows, 1):
        if any(cell(row, column, path) != value for column, value in entry.get("where", {}).items()):
            continue
        text = cell(row, entry["target"], path)
        if not text:
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or (table.kind == "classification" and value not in (0, 1)):
            raise Problem(f"{path}, row {number}: '{text}' is not a {table.kind} target ({entry['target']})")
        table.smiles.append(cell(row, entry["smiles"], path))
        table.target.append(value)
        if "official" in entry:
            part = cell(row, entry["official"], path)
            table.official.append("test" if part == "test" else "train")
        if "subset" in entry:
            table.subset.append(cell(row, entry["subset"], path) == "1")
    if not table.smiles:
        raise Problem(f"{path}: no row for the table '{name}'")
    return table


class Catalogue:
    """tables.toml: [sets.NAME], [[table]] and [[family]] (many tables in one file, distinguished by a column)."""

    def __init__(self, description: pathlib.Path, data: pathlib.Path):
        with open(description, "rb") as file:
            content = tomllib.load(file)
        self.data = data
        self.sets = {name: Set(name, **values) for name, values in content["sets"].items()}
        self.entries: dict[str, dict] = {}
        for entry in content.get("table", []):
            self._add(entry["name"], entry)
        for family in content.get("family", []):
            for task, values in family["tasks"].items():
                entry = {k: v for k, v in family.items() if k not in ("tasks", "column")} | values
                entry["where"] = family.get("where", {}) | {family["column"]: task}
                self._add(family.get("prefix", "") + task, entry)
        self._files: dict[pathlib.Path, list[dict[str, str]]] = {}

    def _add(self, name: str, entry: dict) -> None:
        if name in self.entries:
            raise Problem(f"two tables have the name '{name}'")
        if entry["set"] not in self.sets:
            raise Problem(f"table '{name}': there is no set '{entry['set']}'")
        self.entries[name] = entry

    def names(self, set_name: str) -> list[str]:
        if set_name not in self.sets:
            raise Problem(f"there is no set '{set_name}' (the sets are {', '.join(self.sets)})")
        return [name for name, entry in self.entries.items() if entry["set"] == set_name]

    def load(self, name: str) -> Table:
        if name not in self.entries:
            raise Problem(f"there is no table '{name}'")
        entry = self.entries[name]
        path = self.data / entry["file"]
        if path not in self._files:
            self._files[path] = read_rows(path)
        return make_table(name, entry, path, self._files[path])
