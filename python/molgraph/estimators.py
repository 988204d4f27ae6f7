"""Models with scikit-learn's interface, for comparisons, pipelines and searches. Needs scikit-learn."""
import io
import os
import shutil
import tempfile
import zipfile
from typing import Any, Dict, List, Optional

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils.multiclass import check_classification_targets
except ImportError as missing:
    raise ImportError("MolgraphRegressor and MolgraphClassifier need scikit-learn: pip install scikit-learn") from missing

from molgraph import _core
from molgraph._inputs import texts_of
from molgraph.prediction import Predictor
from molgraph.training import train


class _Molgraph(BaseEstimator):
    """Base class: training, and a fitted run that is stored in the object."""

    def __init__(self, quality: str = "default", epochs: Optional[int] = None, random_state: Optional[int] = 0,
                 validation_fraction: float = 0.1, threads: int = 0, options: Optional[Dict[str, Any]] = None,
                 verbose: bool = False):
        self.quality = quality
        self.epochs = epochs
        self.random_state = random_state
        self.validation_fraction = validation_fraction
        self.threads = threads
        self.options = options
        self.verbose = verbose

    def _fit(self, smiles: List[str], targets: Dict[str, List[str]], kind: str) -> None:
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must be between 0 and 1, not {self.validation_fraction}")
        folder = tempfile.mkdtemp(prefix="molgraph-")
        try:
            table = os.path.join(folder, "train.csv")
            with open(table, "w", encoding="utf-8") as file:
                file.write("smiles," + ",".join(targets) + "\n")
                for cells in zip(smiles, *targets.values()):
                    quoted = cells[0].replace('"', '""')
                    file.write(",".join([f'"{quoted}"', *cells[1:]]) + "\n")
            options = {"quality": self.quality, "epochs": self.epochs, "threads": self.threads,
                       "split_type": "random", "report": False, "strict": True, "out_of_fold": False,
                       "split_sizes": [1 - self.validation_fraction, self.validation_fraction, 0],
                       "seed": 0 if self.random_state is None else self.random_state,
                       "target_columns": list(targets), "task_type": kind}
            options.update(self.options or {})
            train(table, os.path.join(folder, "run"), quiet=not self.verbose, **options)
            self._keep(os.path.join(folder, "run"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _keep(self, run: str) -> None:
        """Stores the files that scoring needs as bytes, which are pickled and copied with the object."""
        packed = io.BytesIO()
        predictor = Predictor(run, threads=self.threads)
        wanted = set(map(os.path.abspath, predictor.files))
        with zipfile.ZipFile(packed, "w") as archive:
            for folder, _, names in os.walk(run):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.abspath(path) in wanted or name in ("run.json", "config.toml"):
                        archive.write(path, os.path.relpath(path, run))
        self.run_ = packed.getvalue()
        self._predictor = predictor

    def _scorer(self) -> Predictor:
        if not hasattr(self, "run_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit first")
        if getattr(self, "_predictor", None) is None:
            with tempfile.TemporaryDirectory(prefix="molgraph-") as folder:
                zipfile.ZipFile(io.BytesIO(self.run_)).extractall(folder)
                self._predictor = Predictor(folder, threads=self.threads)
        return self._predictor

    def save_run(self, path: str) -> None:
        """Writes the fitted run to a directory for molgraph.Predictor and molgraph-score."""
        self._scorer()
        os.makedirs(path)
        zipfile.ZipFile(io.BytesIO(self.run_)).extractall(path)

    def _values(self, X: Any) -> np.ndarray:
        predictions = self._scorer().predict(texts_of(X))
        for row in np.flatnonzero(~predictions.ok)[:1]:
            raise _core.DataError(f"molecule {row}: {predictions.status[row]}: {predictions.reason[row]}")
        return predictions.values

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_predictor"}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags


def _paired(X: Any, y: Any) -> "tuple[List[str], np.ndarray]":
    smiles, labels = texts_of(X), np.asarray(y)
    if len(smiles) != len(labels):
        raise ValueError(f"{len(smiles)} molecules and {len(labels)} labels")
    if len(smiles) < 2:
        raise ValueError(f"at least two molecules are needed, but {len(smiles)} sample is given")
    return smiles, labels


class MolgraphRegressor(RegressorMixin, _Molgraph):
    """Regression from SMILES: ``MolgraphRegressor().fit(smiles, y).predict(smiles)``.

    ``y`` is [n] or [n, targets]; NaN = missing label. A fraction ``validation_fraction`` of the molecules is the
    validation set, which selects the epoch and the blend's shares. ``options`` are further flags of molgraph-train;
    ``{"out_of_fold": True}`` gives intervals for small tables, at several times the training time. Molecules that
    cannot be read raise DataError (a ValueError): clean the table first, or use molgraph.Predictor, which gives them
    a status.
    """

    def fit(self, X: Any, y: Any) -> "MolgraphRegressor":
        smiles, labels = _paired(X, y)
        labels = labels.astype(np.float64)
        self.one_target_ = labels.ndim == 1
        columns = labels.reshape(len(labels), -1)
        texts = [["" if np.isnan(one) else repr(float(one)) for one in column] for column in columns.T]
        self._fit(smiles, {f"y{k}": column for k, column in enumerate(texts)}, "regression")
        return self

    def predict(self, X: Any) -> np.ndarray:
        values = self._values(X)
        return values[:, 0] if self.one_target_ else values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class MolgraphClassifier(ClassifierMixin, _Molgraph):
    """Classification from SMILES with two or more classes and any labels. Probabilities are calibrated, except with
    quality "best". Everything else is as in MolgraphRegressor."""

    def fit(self, X: Any, y: Any) -> "MolgraphClassifier":
        smiles, labels = _paired(X, y)
        check_classification_targets(labels)
        encoder = LabelEncoder()
        numbers = encoder.fit_transform(labels)
        self.classes_ = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"at least two classes are needed, but y contains one class only: {self.classes_[0]!r}")
        kind = "binary" if len(self.classes_) == 2 else "multiclass"
        self._fit(smiles, {"y": [str(number) for number in numbers]}, kind)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """[n, classes] in the order of ``classes_``."""
        values = self._values(X)  # first, because it raises NotFittedError
        return np.column_stack([1 - values[:, 0], values[:, 0]]) if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]
