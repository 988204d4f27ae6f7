"""A run: a method on a split of a table with a seed. Its results are rows of a CSV, written when it is finished."""

import csv
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time

import metrics
from methods import Method, Task
from tables import Problem, Table

MOST_UNKNOWN = 0.1  # maximum fraction of validation rows without a prediction
# Names of the harness's metrics for `molgraph-train --metric`. For Spearman's correlation, training uses mae.
TRAINED_FOR = {"mae": "mae", "rmse": "rmse", "spearman": "mae", "roc_auc": "roc-auc", "ap": "ap"}

COLUMNS = [
    "table",
    "split",
    "seed",
    "metric",
    "method",
    "value",
    "valid_value",
    "n_test",
    "n_valid",
    "missing",
    "seconds",
    "cpu_seconds",
    "peak_mb",
    "threads",
    "rows",
    "version",
    "machine",
    "setting",
]


def machine() -> str:
    name = "unknown processor"
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


class Results:
    """A CSV of finished runs; several processes may append to it."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.rows: list[dict[str, str]] = []
        self.refresh()

    def refresh(self) -> None:
        if not self.path.is_file():
            return
        with open(self.path, newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != COLUMNS:
                raise Problem(f"{self.path}: the columns must be {', '.join(COLUMNS)}")
            self.rows = list(reader)

    def find(self, table: str, split: str, seed: int, method: str) -> list[dict[str, str]]:
        return [
            row
            for row in self.rows
            if (row["table"], row["split"], row["seed"], row["method"]) == (table, split, str(seed), method)
        ]

    def add(self, rows: list[dict[str, object]]) -> None:
        """Appends the rows of one run and removes earlier rows of the same run."""
        first = rows[0]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self.refresh()
            old = self.find(str(first["table"]), str(first["split"]), int(first["seed"]), str(first["method"]))
            new = self.path.with_name("." + self.path.name + ".new")
            with open(new, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows([row for row in self.rows if row not in old])
                writer.writerows(rows)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            self.refresh()
        finally:
            os.close(folder)


def write_inputs(task: Task, table: Table, parts: str) -> list[int]:
    """Writes fit.csv and rest.csv; returns the rows of rest.csv (validation and test)."""
    rest = [row for row, part in enumerate(parts) if part != "0"]
    with open(task.fit, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["smiles", "target", "part"])
        for row, part in enumerate(parts):
            if part != "2":
                value = table.target[row]
                text = str(int(value)) if table.kind == "classification" else repr(value)
                writer.writerow([table.smiles[row], text, "train" if part == "0" else "val"])
    with open(task.rest, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", "smiles"])
        writer.writerows([row, table.smiles[row]] for row in rest)
    return rest


def call(command: list[str], log: pathlib.Path, threads: int) -> tuple[float, float]:
    """Runs a command with its output in the log. Returns peak memory of its largest process [MB] and CPU time [s]."""
    environment = os.environ | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
    with open(log, "a") as file:
        file.write("$ " + " ".join(command) + "\n")
        file.flush()
        try:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment, start_new_session=True
            )
        except OSError as error:
            raise Problem(f"{command[0]}: {error.strerror}") from None
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # Ctrl-C and SIGTERM also stop the child process
            os.killpg(child.pid, signal.SIGTERM)
            os.waitpid(child.pid, 0)
            raise
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        raise Problem(f"{pathlib.Path(command[0]).name} ended with {child.returncode}: {lines[-1]} ({log})")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def score(table: Table, parts: str, rest: list[int], predicted: list[float | None], log: str) -> tuple[dict, int]:
    """Returns metric -> (test, valid), and the number of missing predictions, which are replaced by the training set's
    mean. If more than a tenth of the validation rows have no prediction, the validation metric is NaN; this happens
    for an ensemble whose members have different validation sets."""
    if len(predicted) != len(rest):
        raise Problem(f"{len(predicted)} predictions for {len(rest)} rows ({log})")
    train = [y for y, part in zip(table.target, parts) if part == "0"]
    mean = sum(train) / len(train)
    filled = [mean if p is None or p != p else p for p in predicted]
    missing = sum(1 for p in predicted if p is None or p != p)

    def of(part: str, metric: str, subset: bool = False) -> float:
        chosen = [
            (table.target[row], value)
            for row, value in zip(rest, filled)
            if parts[row] == part and (not subset or table.subset[row])
        ]
        unknown = sum(
            1
            for row, p in zip(rest, predicted)
            if parts[row] == part and p is None and (not subset or table.subset[row])
        )
        if not chosen or (part == "1" and unknown > MOST_UNKNOWN * len(chosen)):
            return float("nan")
        return metrics.ALL[metric]([y for y, _ in chosen], [p for _, p in chosen])

    result = {metric: (of("2", metric), of("1", metric)) for metric in table.metrics}
    if table.subset:
        result |= {"subset_" + metric: (of("2", metric, True), of("1", metric, True)) for metric in table.metrics}
    return result, missing


def digits(value: float) -> str:
    return "" if value != value else f"{value:.6g}"


def run(
    method: Method, table: Table, split: str, seed: int, parts: str, folder: pathlib.Path, keep: bool
) -> list[dict[str, object]] | None:
    """Returns the result rows; None if another process is executing this run. Writes predictions.csv and log.txt."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        for old in folder.iterdir():  # files of an interrupted run
            if old.name != "lock":
                shutil.rmtree(old) if old.is_dir() else old.unlink()
        task = Task(folder, table.kind, TRAINED_FOR[table.metrics[0]], seed)
        rest = write_inputs(task, table, parts)
        log = folder / "log.txt"
        begin = time.monotonic()
        costs = [call(command, log, method.places.threads) for command in method.commands(task)]
        seconds = time.monotonic() - begin
        predicted = method.predictions(task)
        held_out = method.valid_predictions(task)
        if held_out is not None:
            known = [row for row, part in enumerate(parts) if part != "2"]
            of_row = {known[at - 1]: value for at, value in held_out.items()}
            predicted = [of_row.get(row) if parts[row] == "1" else value for row, value in zip(rest, predicted)]
        values, missing = score(table, parts, rest, predicted, str(log))
        with open(folder / "predictions.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["row", "part", "target", "prediction"])
            writer.writerows(
                [row, "valid" if parts[row] == "1" else "test", table.target[row], value]
                for row, value in zip(rest, predicted)
            )
        if not keep:
            for old in folder.iterdir():
                if old.name not in ("lock", "predictions.csv", "log.txt"):
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
        return [
            {
                "table": table.name,
                "split": split,
                "seed": seed,
                "metric": metric,
                "method": method.name,
                "value": digits(test),
                "valid_value": digits(valid),
                "n_test": parts.count("2"),
                "n_valid": parts.count("1"),
                "missing": missing,
                "seconds": f"{seconds:.1f}",
                "cpu_seconds": f"{sum(cpu for _, cpu in costs):.1f}",
                "peak_mb": f"{max(peak for peak, _ in costs):.0f}",
                "threads": method.places.threads,
                "rows": table.sha256()[:12],
                "version": method.version(),
                "machine": machine(),
                "setting": method.setting(table.kind),
            }
            for metric, (test, valid) in values.items()
        ]
