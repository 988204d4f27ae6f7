"""The methods as commands (methods.toml).

`program = "molgraph"` with `flags` (and `regression_flags`, `classification_flags`): molgraph-train of --bin on the
training and validation rows, then molgraph-score on the rows to predict. `command = [...]`: any program that trains on
{fit} and writes {out}. Neither has access to targets of the test set.
"""

import csv
import dataclasses
import pathlib
import re
import subprocess
import tomllib

from tables import Problem

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass
class Places:
    bin: pathlib.Path  # molgraph's programs
    peers_python: str  # a Python with the peers' packages
    threads: int


@dataclasses.dataclass
class Task:
    """One run, with its files in a folder. fit.csv: smiles, target, part (train, val); rest.csv: row, smiles."""

    folder: pathlib.Path
    kind: str  # regression or classification
    metric: str  # name in molgraph-train
    seed: int

    @property
    def fit(self) -> pathlib.Path:
        return self.folder / "fit.csv"

    @property
    def rest(self) -> pathlib.Path:
        return self.folder / "rest.csv"

    @property
    def out(self) -> pathlib.Path:
        return self.folder / "out.csv"


class Method:
    def __init__(self, name: str, entry: dict, places: Places):
        self.name, self.entry, self.places = name, entry, places
        self.peer = bool(entry.get("peer", False))
        self.past = bool(entry.get("past", False))  # finished runs of an earlier version; `run` leaves it out
        unknown = set(entry) - {
            "peer",
            "past",
            "program",
            "flags",
            "regression_flags",
            "classification_flags",
            "command",
            "version",
        }
        if unknown:
            raise Problem(f"method '{name}': unknown key '{sorted(unknown)[0]}'")
        if (entry.get("program") == "molgraph") == ("command" in entry):
            raise Problem(f"method '{name}' needs either program = \"molgraph\" or command = [...]")
        self._version = ""

    def setting(self, kind: str) -> str:
        """Flags or command that distinguish the method from others; stored with every result."""
        if "command" in self.entry:
            return " ".join(self.entry["command"])
        return " ".join(self.entry.get("flags", []) + self.entry.get(kind + "_flags", []))

    def _fill(self, words: list[str], task: Task | None) -> list[str]:
        values = {"python": self.places.peers_python, "here": str(HERE), "threads": str(self.places.threads)}
        if task is not None:
            values |= {
                "fit": str(task.fit),
                "rest": str(task.rest),
                "out": str(task.out),
                "kind": task.kind,
                "seed": str(task.seed),
                "metric": task.metric,
                "folder": str(task.folder),
            }

        def value(match: re.Match) -> str:
            if match[1] not in values:
                raise Problem(f"method '{self.name}': unknown placeholder {match[0]}")
            return values[match[1]]

        return [re.sub(r"\{(\w+)\}", value, word) for word in words]

    def commands(self, task: Task) -> list[list[str]]:
        if "command" in self.entry:
            return [self._fill(self.entry["command"], task)]
        threads = ["--threads", str(self.places.threads)]
        run = str(task.folder / "run")
        train = [
            str(self.places.bin / "molgraph-train"),
            str(task.fit),
            "-s",
            "smiles",
            "--target-columns",
            "target",
            "-t",
            task.kind,
            "--splits-column",
            "part",
            "--seed",
            str(task.seed),
            "-o",
            run,
        ]
        score = [
            str(self.places.bin / "molgraph-score"),
            "-m",
            run,
            "-i",
            str(task.rest),
            "-s",
            "smiles",
            "-o",
            str(task.folder / "scored.csv"),
        ]
        return [train + threads + self._fill(self.setting(task.kind).split(), task), score + threads]

    def predictions(self, task: Task) -> list[float | None]:
        """One prediction per row of rest.csv; None if the method gave none."""
        path, column = (
            (task.out, "prediction") if "command" in self.entry else (task.folder / "scored.csv", "target_pred")
        )
        values: list[float | None] = []
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if column not in row:
                    raise Problem(f"{path} has no column '{column}'")
                try:
                    values.append(float(row[column]))
                except ValueError:
                    values.append(None)
        return values

    def valid_predictions(self, task: Task) -> dict[int, float] | None:
        """Predictions for the validation set by a model that was not trained on it; key: row of fit.csv (from 1).
        None if `predictions` contains them."""
        if "command" in self.entry:
            return None
        path = task.folder / "run" / "valid_predictions.csv"
        if not path.is_file():
            raise Problem(f"{path} is missing: molgraph-train writes it")
        with open(path, newline="") as file:
            return {int(row["id"]): float(row["target_pred"]) for row in csv.DictReader(file) if row["target_pred"]}

    def version(self) -> str:
        """The program's version text; empty if the method has no command for it."""
        if not self._version and ("version" in self.entry or self.entry.get("program") == "molgraph"):
            own = [str(self.places.bin / "molgraph-train"), "--version"]
            command = self._fill(self.entry["version"], None) if "version" in self.entry else own
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except OSError as error:
                raise Problem(f"{command[0]}: {error.strerror}") from None
            if done.returncode != 0:
                last = (done.stderr.strip().splitlines() or [""])[-1]
                raise Problem(f"method '{self.name}': {' '.join(command)} ended with {done.returncode}: {last}")
            self._version = " ".join(done.stdout.split())
        return self._version


def read_methods(path: pathlib.Path, places: Places) -> dict[str, Method]:
    if not path.is_file():
        raise Problem(f"{path}: no such file")
    with open(path, "rb") as file:
        return {name: Method(name, entry, places) for name, entry in tomllib.load(file).items()}
