"""Training with molgraph-train as a function."""
import csv
import functools
import html
import json
import os
import re
import signal
import subprocess
import sys
from typing import Any, Dict, List

from molgraph import _core
from molgraph._inputs import Path
from molgraph.programs import environment_of, path_of

_ERRORS = {2: _core.UsageError, 3: _core.DataError, 4: _core.FileError}
_INTERRUPTED = 128 + signal.SIGINT


class Run:
    """A run directory and the contents of its files."""

    def __init__(self, path: Path):
        self.path = os.fspath(path)
        if not os.path.exists(os.path.join(self.path, "config.toml")):
            raise _core.FileError(f"{self.path}: not a run directory (config.toml is missing)")

    def __repr__(self) -> str:
        return f"Run({self.path!r})"

    def __fspath__(self) -> str:
        return self.path

    def _repr_html_(self) -> str:
        """The report, in notebooks."""
        if not os.path.exists(self.report):
            return f"<pre>{html.escape(repr(self))}</pre>"
        with open(self.report, encoding="utf-8") as file:
            page = html.escape(file.read())
        return f'<iframe srcdoc="{page}" width="100%" height="700" style="border: 0"></iframe>'

    @property
    def results(self) -> Dict[str, Dict[str, float]]:
        """Metrics of each set, for example ``results["test"]["rmse"]``; NaN for an undefined metric. Of folds, the mean
        over the folds, and their standard deviation as ``results["test"]["rmse deviation"]``."""
        results: Dict[str, Dict[str, float]] = {}
        for row in self._rows("results.csv"):
            suffix = {"mean": "", "deviation": " deviation"}.get(row.get("fold", "mean"))
            if suffix is not None:  # otherwise a single fold
                results.setdefault(row["part"], {})[row["metric"] + suffix] = float(row["value"] or "nan")
        return results

    @property
    def target_results(self) -> Dict[str, Dict[str, float]]:
        """Metrics of each target on the test set or, without one, on the validation set, for example
        ``target_results["logD"]["mae"]``; ``"labels"`` is the number of labels. Undefined metrics are missing. Empty
        for a run without a report."""
        targets = self.info.get("report", {}).get("targets", [])
        return {target["name"]: {"labels": target["labels"],
                                 **{key: of["value"] for key, of in target.items() if isinstance(of, dict)}}
                for target in targets}

    @property
    def history(self) -> Dict[str, List[float]]:
        """Columns of metrics.csv: epoch, step, lr, train_loss and validation metrics; NaN for missing values."""
        rows = self._rows("metrics.csv")
        return {name: [float(row[name] or "nan") for row in rows] for name in (rows[0] if rows else ())}

    @property
    def report(self) -> str:
        """The path of report.html."""
        return os.path.join(self.path, "report.html")

    @property
    def info(self) -> Dict[str, Any]:
        """The output of molgraph-info --json."""
        return json.loads(info_of(self.path, "--json"))

    def predictor(self, **options: Any):
        """Returns a :class:`molgraph.Predictor` of this run; ``options`` are passed to it."""
        from molgraph.prediction import Predictor

        return Predictor(self.path, **options)

    def _rows(self, name: str) -> List[Dict[str, str]]:
        path = os.path.join(self.path, name)
        if not os.path.exists(path):
            raise _core.FileError(f"{path} is missing: for an ensemble or folds, open a member (model_0, ...)"
                                  if os.path.isdir(os.path.join(self.path, "model_0")) else f"{path} is missing")
        with open(path, newline="") as file:
            return list(csv.DictReader(file))


def info_of(run: str, *flags: str) -> str:
    """The output of molgraph-info. Its errors are raised as UsageError, DataError, FileError or RunError."""
    return _output_of(path_of("molgraph-info"), run, *flags)


def _output_of(program: str, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace",
                          env=environment_of(program))
    if done.returncode != 0:
        raise _error(done.returncode, done.stderr.splitlines())
    return done.stdout


def flags_of(program: str, options: Dict[str, Any]) -> List[str]:
    """Converts options to flags of the program (a path): ``batch_size=32`` is ``--batch-size 32``, True is ``--name``,
    False is ``--no-name`` (nothing for a switch that can only be turned on), a list, array or Index is several values,
    None and empty lists are skipped."""
    flags: List[str] = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if hasattr(value, "tolist"):  # numpy and pandas
            value = value.tolist()
        if value is None or isinstance(value, (list, tuple)) and not value:
            continue
        if value is False:
            only_on = re.search(rf"--{re.escape(flag)}(  |$)", _help_of(program), re.MULTILINE)
            flags += [] if only_on else [f"--no-{flag}"]
        elif value is True:
            flags.append("--" + flag)
        else:
            flags += ["--" + flag] + [str(one) for one in (value if isinstance(value, (list, tuple)) else [value])]
    return flags


@functools.lru_cache(maxsize=None)
def _help_of(program: str) -> str:
    has_more = os.path.basename(program) in ("molgraph-train", "molgraph-pretrain")
    return _output_of(program, "--help-all" if has_more else "--help")


def train(data: Any, out: Path, *, quiet: bool = False, **options: Any) -> Run:
    """Trains a model with ``molgraph-train`` (docs/reference/training.md) and returns its run.

    ``data``: a table (CSV, TSV, SMI, SDF), a store, the name of a data set, a list of two or three tables, or a pandas
    DataFrame. A DataFrame is first written to OUT.csv, so that the run can be resumed and records its data (FileError
    if that file exists with other content).
    ``out``: the run directory. ``options`` are the program's flags (``molgraph-train --help-all``): ``epochs=60,
    target_columns=["logS"], ensemble_size=5, descriptors="none", blend=False``.

    Progress goes to sys.stderr (``quiet``: warnings only). Ctrl-C writes a checkpoint and then raises
    KeyboardInterrupt; ``train(None, out, resume=True)`` resumes the run. Errors of the program are raised as
    UsageError, DataError, FileError or RunError.
    """
    out = os.fspath(out)
    if hasattr(data, "to_csv"):
        table = out.rstrip("/") + ".csv"
        text = data.to_csv(index=False)
        if os.path.exists(table):
            with open(table, encoding="utf-8", newline="") as file:
                if file.read() != text:
                    raise _core.FileError(f"{table}: already exists with other rows; choose another name for the run")
        else:
            os.makedirs(os.path.dirname(os.path.abspath(table)), exist_ok=True)
            with open(table, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        data = table
    tables = data if isinstance(data, (list, tuple)) else [data]
    given = [] if options.get("resume") else [os.fspath(table) for table in tables]
    program = path_of("molgraph-train")
    run_program([program] + given + flags_of(program, {"output_dir": out, **options}) + (["--quiet"] if quiet else []))
    return Run(out)


def run_program(command: List[str]) -> None:
    """Runs a program in a separate process group, so that it receives each Ctrl-C once."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, errors="replace", start_new_session=True, env=environment_of(command[0]))
    assert child.stderr is not None
    said: List[str] = []
    interrupted = False
    with child.stderr:
        while True:
            try:
                for line in child.stderr:
                    said = said[-20:] + [line.rstrip()]
                    sys.stderr.write(line)
                code = child.wait()
                break
            except KeyboardInterrupt:
                child.send_signal(signal.SIGINT)  # writes a checkpoint and ends; a second signal ends it immediately
                interrupted = True
            except BaseException:
                child.terminate()  # its messages would not be read
                child.wait()
                raise
    if interrupted or code in (_INTERRUPTED, -signal.SIGINT):
        raise KeyboardInterrupt
    if code != 0:
        raise _error(code, said)


def _error(code: int, said: List[str]) -> Exception:
    """The program's last message as an exception."""
    start = max((k for k, line in enumerate(said) if ": error: " in line), default=0)
    text = "\n".join(said[start:]) or f"the program ended with code {code}"
    return _ERRORS.get(code, _core.RunError)(text.split(": error: ", 1)[-1])
