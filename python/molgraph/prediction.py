"""Predictions and embeddings from trained runs."""
import os
import warnings
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from molgraph import _core
from molgraph._inputs import WINDOW, Path, is_arrow, is_stream, numbers_of, paths_of, texts_of, windows_of, with_nan

_WORDS = np.array(_core.STATUS_WORDS)


@dataclass(frozen=True)
class Task:
    """The targets that a model predicts."""

    kind: str  #: "regression", "binary", "multiclass" or "mixed"
    names: List[str]  #: [targets]
    units: List[str]  #: [targets], "" = none or unknown
    kinds: List[str]  #: [targets]
    logarithmic: List[bool]  #: [targets] whether the model learned log10 of the labels; predictions have ``units``
    classes: int  #: of each target, multiclass only
    class_labels: List[str]  #: names of the classes; may be empty

    @property
    def outputs(self) -> List[str]:
        """Column names of :attr:`Predictions.values`: targets, or ``target=class`` for multiclass targets."""
        if self.kind != "multiclass":
            return list(self.names)
        labels = self.class_labels or [str(c) for c in range(self.classes)]
        return [f"{name}={label}" for name in self.names for label in labels]


class Domain(NamedTuple):
    """Applicability domain (docs/reference/domain.md); NaN, -1 or False for rows that are not ok."""

    similarity: np.ndarray  #: [n] Tanimoto similarity to the most similar training molecule, 0 to 1
    percentile: np.ndarray  #: [n] 0 to 100, among the training set's own distances in embedding space
    nearest: np.ndarray  #: [n] index of the most similar molecule in :meth:`Predictor.training_molecules`
    elements_seen: np.ndarray  #: [n] bool
    rings_seen: np.ndarray  #: [n] bool


@dataclass(frozen=True)
class Predictions:
    """Predictions for n molecules, in input order. Numbers are NaN if ``status`` is not "ok"."""

    task: Task
    values: np.ndarray  #: [n, outputs] float64 in the target's unit, or probabilities
    status: np.ndarray  #: [n] strings: "ok", "invalid_smiles", ...
    reason: List[str]  #: [n] why a row is not ok, else ""
    std: Optional[np.ndarray] = None  #: [n, outputs] standard deviation over the members of an ensemble
    low: Optional[np.ndarray] = None  #: [n, outputs] bounds of the prediction interval; NaN for classes
    high: Optional[np.ndarray] = None
    domain: Optional[Domain] = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def ok(self) -> np.ndarray:
        """[n] bool: True for rows with a prediction."""
        return self.status == "ok"

    def columns(self) -> Dict[str, np.ndarray]:
        """Returns the columns that molgraph-score adds to a table, each [n], with the same names: ``<target>_pred``,
        ``status``, ``reason`` and, if requested, ``<target>_std``, ``<target>_low`` and ``<target>_high`` (of numbers),
        and ``domain_similarity``, ``domain_percentile``, ``domain_elements_seen`` and ``domain_rings_seen``. For several classes, ``<target>_pred`` is the most
        probable class ("" for rows that are not ok)."""
        task, ok = self.task, self.ok
        columns: Dict[str, np.ndarray] = {}
        parts = {"_std": self.std, "_low": self.low, "_high": self.high}
        if task.kind != "multiclass":
            for k, name in enumerate(task.names):
                columns[name + "_pred"] = self.values[:, k]
                columns.update({name + suffix: part[:, k] for suffix, part in parts.items()
                                if part is not None and (suffix == "_std" or task.kinds[k] == "regression")})
        else:
            labels = np.array([*(task.class_labels or map(str, range(task.classes))), ""], dtype=object)
            for t, name in enumerate(task.names):
                part = slice(t * task.classes, (t + 1) * task.classes)
                best = np.where(ok, np.argmax(np.nan_to_num(self.values[:, part]), axis=1), -1)
                columns[name + "_pred"] = labels[best]
                for suffix, all_values in (("_prob_", self.values), ("_std_", self.std)):
                    if all_values is not None:
                        columns.update(zip((name + suffix + label for label in labels[:-1]), all_values[:, part].T))
        if self.domain is not None:
            columns.update({"domain_" + name: part for name, part in self.domain._asdict().items() if name != "nearest"})
        columns["status"], columns["reason"] = self.status, np.array(self.reason, dtype=object)
        return columns

    def to_pandas(self, smiles: Optional[Iterable[Any]] = None):
        """Returns a pandas DataFrame of :meth:`columns`; ``smiles`` is its first column. Needs pandas."""
        import pandas

        return pandas.DataFrame({**({} if smiles is None else {"smiles": texts_of(smiles)}), **self.columns()})

    def to_arrow(self, smiles: Optional[Iterable[Any]] = None):
        """Returns a pyarrow Table of :meth:`columns`; ``smiles`` is its first column. Needs pyarrow."""
        import pyarrow

        columns = {**({} if smiles is None else {"smiles": texts_of(smiles)}), **self.columns()}
        return pyarrow.table({name: arrow_of(values) for name, values in columns.items()})


def arrow_of(values: Any) -> Any:
    """A column as an Arrow array. Texts have the type string, also if there are none."""
    import pyarrow

    is_text = isinstance(values, list) or values.dtype.kind in "OU"
    return pyarrow.array(values, pyarrow.string() if is_text else None)


@dataclass(frozen=True)
class Embeddings:
    """Embeddings of n molecules, in input order; NaN if ``status`` is not "ok"."""

    values: np.ndarray  #: [n, layers * width] float32
    status: np.ndarray  #: [n] strings
    reason: List[str]  #: [n]


@dataclass(frozen=True)
class Explanations:
    """Contributions of atoms or fragments to the predictions for n molecules, in input order
    (docs/reference/explanation.md).

    For the method "atoms", prediction = baseline + the atoms' sum + descriptors + blend, in the target's unit, for
    logarithmic targets (:attr:`Task.logarithmic`) in log10 units, for classes in logits. For the method "fragments",
    ``atoms`` has the contribution of the atom's fragment: the prediction minus that of the molecule without it (NaN if
    nothing is left), and only ``prediction`` is set besides. Numbers are NaN if ``status`` is not "ok", and for the
    method "rollout".
    """

    atoms: List[np.ndarray]  #: [n] arrays [atoms, targets], in the order of the SMILES; "rollout": [atoms, 1], sum 1
    fragment: List[np.ndarray]  #: [n] arrays [atoms]: number of the atom's fragment; empty for other methods
    baseline: np.ndarray  #: [n, targets] prediction if each atom is the mean atom of the training set
    descriptors: np.ndarray  #: [n, targets] contribution of the head's numeric inputs
    blend: np.ndarray  #: [n, targets] contribution of the trees and the Gaussian process
    prediction: np.ndarray  #: [n, targets]
    error: np.ndarray  #: [n, targets] the sum minus the prediction
    status: np.ndarray  #: [n] strings
    complete: np.ndarray  #: [n, targets] bool: whether the error is small (at most 1 % of the explained difference)
    reason: List[str]  #: [n] why a row is not ok, else ""


def load(runs: Union[Path, Sequence[Path]], **options: Any) -> "Predictor":
    """Loads a run, or several runs as an ensemble. The same as ``Predictor(runs, **options)``."""
    return Predictor(runs, **options)


class Predictor:
    """Predicts with a run, or with several runs as an ensemble. Thread-safe.

    - ``runs``: one or several run directories or model.safetensors files
    - ``threads``: threads per call; 0 = all cores that this process may use
    - ``precision``: "fp32", "bf16" (used if the processor benefits from it, otherwise a warning is issued) or, on a
      GPU, "tf32"
    - ``device``: "cpu", "cuda" or "cuda:N"
    - ``interval``: coverage of the prediction interval [low, high], from 0.5 to below 1; 0 = no interval
    - ``domain``: whether to compute the applicability domain
    - ``calibrate``: False gives uncalibrated probabilities
    - ``max_atoms``: larger molecules get the status "too_large"

    Raises FileError (an OSError) for a missing or damaged run, and UsageError (a ValueError) for an option that the
    run or this machine does not support.
    """

    def __init__(self, runs: Union[Path, Sequence[Path]], threads: int = 0, precision: str = "fp32",
                 device: str = "cpu", *, interval: float = 0, domain: bool = False, calibrate: bool = True,
                 max_atoms: int = 1024):
        for name, value, low, high in (("threads", threads, 0, 1024), ("max_atoms", max_atoms, 1, 65533)):
            if not low <= value <= high:
                raise _core.UsageError(f"{name}: must be from {low} to {high}, not {value}")
        paths = paths_of(runs)
        self._options: Dict[str, Any] = dict(runs=[os.path.abspath(path) for path in paths], threads=threads,
                                             max_atoms=max_atoms, calibrate=calibrate)
        self._core = _core.Predictor(**{**self._options, "runs": paths}, precision=precision, gpu=_gpu_of(device),
                                     interval=interval, domain=domain, explain="")
        self._explainers: Dict[str, Any] = {}  # by method
        self.task = Task(**self._core.task)
        used, note = self._core.precision
        #: Precision of matrix products; a warning explains a difference from the requested one.
        self.precision: str = used
        if note:
            warnings.warn(note, RuntimeWarning, stacklevel=2)

    def predict(self, smiles: Iterable[Any], columns: Any = None, *, interval: Optional[float] = None) -> Predictions:
        """Predicts for a list, array, Series or iterator of SMILES. Invalid ones get a status and never raise.

        ``columns`` are the numeric input columns of the model (:attr:`input_columns`), if any: a DataFrame, Arrow table
        or dictionary with these names (other columns are ignored), or an array [n, columns]; NaN or a null = not
        measured. An iterator is read window by window and cannot be combined with ``columns``; all results are
        returned. ``interval`` is the coverage of the prediction interval for this call; None = as given to the Predictor.
        Ctrl-C interrupts the call.

        Raises UsageError if the run has no intervals with this coverage, or if the model has input columns that are not
        given. A row with an infinite number gets the status "invalid_input".
        """
        if is_stream(smiles):
            if columns is not None:
                raise TypeError("columns need a list of SMILES, not an iterator")
            self._numbers(None)  # the model may need columns
            parts = [self._core.predict(window, None, interval) for window in windows_of(smiles)]
            return self._predictions(_joined(parts) if parts else self._core.predict([], None, interval))
        numbers = self._numbers(columns)
        texts, infinite = self._without_infinite(texts_of(smiles), numbers)
        return self._predictions(_with_reasons(self._core.predict(texts, numbers, interval), infinite))

    def predict_windows(self, smiles: Iterable[Any], rows: int = WINDOW, *,
                        interval: Optional[float] = None) -> Iterator[Predictions]:
        """Yields predictions for ``rows`` molecules at a time, for inputs whose results do not fit in memory.
        ``interval`` as in :meth:`predict`. Raises UsageError if the model has input columns."""
        self._numbers(None)
        for window in windows_of(smiles, rows):
            yield self._predictions(self._core.predict(window, None, interval))

    def embed(self, smiles: Iterable[Any], pooling: str = "token", layers: Sequence[int] = (-1,), l2: bool = False,
              ) -> np.ndarray:
        """Returns float32 vectors [n, layers * width]; NaN for invalid SMILES. See :meth:`embeddings`."""
        return self.embeddings(smiles, pooling, layers, l2).values

    def embeddings(self, smiles: Iterable[Any], pooling: str = "token", layers: Sequence[int] = (-1,),
                   l2: bool = False) -> Embeddings:
        """Returns vectors with a status per row. ``pooling``: "token" (the head's input), "mean", "sum" or "max" over
        atoms; ``layers``: -1 = last, l = after block l, 0 = node input; ``l2``: scale each row to length 1."""
        windows = windows_of(smiles) if is_stream(smiles) else [texts_of(smiles)]
        parts = [self._core.embed(window, pooling, list(layers), l2) for window in windows]
        all_parts = _joined(parts) if parts else self._core.embed([], pooling, list(layers), l2)
        return Embeddings(all_parts["values"], _WORDS[all_parts["status"]], all_parts["reason"])

    def explain(self, smiles: Iterable[Any], columns: Any = None, method: str = "atoms") -> Explanations:
        """Attributes predictions to atoms or fragments, on the CPU in fp32. ``method``: "atoms" (integrated gradients),
        "fragments" (change of the prediction without each ring system, linker and side chain) or "rollout" (attention
        rollout). "atoms" takes ten to a hundred times as long as :meth:`predict`. ``columns`` as there. The first call
        of a method reads the run again.

        Raises UsageError for "atoms" if the run has no mean atom (imported and pre-trained runs), and if the model has
        input columns that are not given (except for "rollout", which does not use them).
        """
        if method not in ("atoms", "fragments", "rollout"):
            raise _core.UsageError(f"method: {method!r}: must be 'atoms', 'fragments' or 'rollout'")
        numbers = None if method == "rollout" else self._numbers(columns)
        if method not in self._explainers:
            self._explainers[method] = _core.Predictor(**self._options, precision="fp32", gpu=-1, interval=0,
                                                       domain=False, explain=method)
        texts, infinite = self._without_infinite(texts_of(smiles), numbers)
        parts = _with_reasons(self._explainers[method].explain(texts, numbers), infinite)
        offset = parts.pop("offset")[1:]
        atoms = np.split(parts.pop("atoms"), offset)[:-1]
        fragment = np.split(parts.pop("fragment"), offset if method == "fragments" else 0 * offset)[:-1]
        return Explanations(atoms, fragment, **{**parts, "status": _WORDS[parts["status"]],
                                      "complete": parts["complete"].astype(bool)})

    @property
    def targets(self) -> List[str]:
        """Names of the targets."""
        return list(self.task.names)

    def describe(self) -> str:
        """Returns what ``molgraph-info`` says about each run: data, model, metrics."""
        from molgraph.training import info_of

        return "\n".join(info_of(run) for run in self._options["runs"])

    @property
    def files(self) -> List[str]:
        """The files that predictions are computed from."""
        return self._core.files

    @property
    def input_columns(self) -> List[str]:
        """Names of the model's numeric input columns."""
        return self._core.input_columns

    def training_molecules(self) -> Optional[Dict[str, Any]]:
        """Returns ids, SMILES and true values [molecules, targets] of the training molecules that ``domain`` compares
        with; None if the run does not contain them (``--domain-labels``) or ``domain`` is False."""
        found: Any = self._core.training_molecules()
        return found

    def _predictions(self, parts: Dict[str, Any]) -> Predictions:
        domain = None
        if "similarity" in parts:
            domain = Domain(parts["similarity"], parts["percentile"], parts["nearest"],
                            parts["elements_seen"].astype(bool), parts["rings_seen"].astype(bool))
        return Predictions(self.task, parts["values"], _WORDS[parts["status"]], parts["reason"], parts.get("std"),
                           parts.get("low"), parts.get("high"), domain)

    def _numbers(self, columns: Any) -> Optional[np.ndarray]:
        names = self.input_columns
        is_table = is_arrow(columns) or hasattr(columns, "keys")
        if columns is None and names:
            raise _core.UsageError(f"columns: the model reads {', '.join(names)} (NaN = not measured)")
        if columns is None or is_table and not names:
            return None
        if is_table:
            return np.ascontiguousarray(numbers_of(columns, names))
        with np.errstate(over="ignore"):
            numbers = np.ascontiguousarray(with_nan(columns), dtype=np.float32)
        if numbers.ndim != 2:
            raise _core.UsageError(f"columns: must be a table or an array [n, {len(names)}], not one of {numbers.shape}")
        return numbers

    def _without_infinite(self, texts: List[str], numbers: Optional[np.ndarray]) -> Tuple[List[str], Dict[int, str]]:
        """Replaces the SMILES of rows with an infinite number by "". Returns also the reasons of these rows."""
        names, reasons = self.input_columns, {}
        if numbers is not None and numbers.shape == (len(texts), len(names)):
            reasons = {int(row): f"{names[column]}: infinite or too large"
                       for row, column in np.argwhere(np.isinf(numbers))}
        return [("" if row in reasons else text) for row, text in enumerate(texts)] if reasons else texts, reasons


def _gpu_of(device: str) -> int:
    """The index of the GPU; -1 = CPU."""
    name, _, number = device.partition(":")
    if device == "cpu":
        return -1
    if name != "cuda" or not (number or "0").isdigit():
        raise _core.UsageError(f"device: {device!r}: must be cpu, cuda or cuda:N")
    return int(number or "0")


def _with_reasons(parts: Dict[str, Any], reasons: Dict[int, str]) -> Dict[str, Any]:
    for row, reason in reasons.items():
        parts["status"][row], parts["reason"][row] = _core.STATUS_WORDS.index("invalid_input"), reason
    return parts


def _joined(parts: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {key: sum((part[key] for part in parts), []) if isinstance(value, list) else
            np.concatenate([part[key] for part in parts]) for key, value in parts[0].items()}
