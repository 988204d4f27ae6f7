"""Models with scikit-learn's interface, for comparisons, pipelines and searches. Needs scikit-learn."""
import io
import os
import shutil
import tempfile
import warnings
import zipfile
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted
except ImportError as missing:
    raise ImportError("molgraph's estimators need scikit-learn: pip install scikit-learn") from missing

from molgraph import _core
from molgraph._inputs import texts_of, windows_of
from molgraph.molecules import featurize
from molgraph.prediction import Predictions, Predictor
from molgraph.programs import shipped_weights
from molgraph.training import train

_OTHER_FILES = ("run.json", "config.toml", "results.csv", "domain.safetensors", "explanation.safetensors")


def _report_invalid(status: np.ndarray, reason: Sequence[str], on_invalid: str, effect: str) -> None:
    """Warns about rows that are not ok or, with on_invalid="raise", raises DataError."""
    if on_invalid not in ("nan", "raise"):
        raise _core.UsageError(f"on_invalid: {on_invalid!r}: must be 'nan' or 'raise'")
    bad = np.flatnonzero(status != "ok")
    if len(bad) == 0:
        return
    first = f"molecule {bad[0]}: {status[bad[0]]}: {reason[bad[0]]}"
    if on_invalid == "raise":
        raise _core.DataError(first)
    warnings.warn(f"{len(bad)} of {len(status)} molecules {effect}; {first}", UserWarning, stacklevel=4)


def _set_molecule_tags(tags: Any) -> Any:
    tags.input_tags.two_d_array = False
    tags.input_tags.one_d_array = True
    tags.input_tags.string = True
    return tags


class _Molgraph(BaseEstimator):
    """Base class: training, and a fitted run that is stored in the object."""

    def __init__(self, quality: str = "default", epochs: Optional[int] = None, random_state: Optional[int] = 0,
                 validation_fraction: float = 0.1, on_invalid: str = "nan", threads: int = 0,
                 options: Optional[Dict[str, Any]] = None, verbose: bool = False):
        self.quality = quality
        self.epochs = epochs
        self.random_state = random_state
        self.validation_fraction = validation_fraction
        self.on_invalid = on_invalid
        self.threads = threads
        self.options = options
        self.verbose = verbose

    def _readable(self, X: Any, y: Any, weights: Any) -> "tuple[List[str], np.ndarray, Optional[np.ndarray]]":
        """SMILES, labels and weights of the molecules that can be read."""
        smiles, labels = texts_of(X), np.asarray(y)
        weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        for what, values in (("labels", labels), ("weights", weights)):
            if values is not None and len(values) != len(smiles):
                raise ValueError(f"{len(smiles)} molecules and {len(values)} {what}")
        if weights is not None and not weights.any():
            raise ValueError("the sample weights are all zero")
        status, reason = [], []
        for window in windows_of(smiles, 4096):
            read = featurize(window, "molgraph", threads=self.threads)
            status += read.status.tolist()
            reason += read.reason
        _report_invalid(np.array(status), reason, self.on_invalid, "are left out of training")
        ok = np.flatnonzero(np.array(status) == "ok")
        if len(ok) < 2:
            raise ValueError(f"at least two molecules are needed, but {len(ok)} sample is given")
        return [smiles[row] for row in ok], labels[ok], None if weights is None else weights[ok]

    def _fit(self, smiles: List[str], targets: Dict[str, List[str]], kind: str, weights: Optional[np.ndarray]) -> None:
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must be between 0 and 1, not {self.validation_fraction}")
        folder = tempfile.mkdtemp(prefix="molgraph-")
        try:
            table = os.path.join(folder, "train.csv")
            columns = dict(targets) if weights is None else {**targets, "weight": list(map(repr, weights.tolist()))}
            with open(table, "w", encoding="utf-8") as file:
                file.write("smiles," + ",".join(columns) + "\n")
                for cells in zip(smiles, *columns.values()):
                    quoted = cells[0].replace('"', '""')
                    file.write(",".join([f'"{quoted}"', *cells[1:]]) + "\n")
            options = {"quality": self.quality, "epochs": self.epochs, "threads": self.threads,
                       "split_type": "random", "report": False, "strict": True,
                       "out_of_fold": None if getattr(self, "interval", None) else False,
                       "weight_column": None if weights is None else "weight",
                       "split_sizes": [1 - self.validation_fraction, self.validation_fraction, 0],
                       "seed": 0 if self.random_state is None else self.random_state,
                       "target_columns": list(targets), "task_type": kind}
            options.update(self.options or {})
            train(table, os.path.join(folder, "run"), quiet=not self.verbose, **options)
            self._keep(os.path.join(folder, "run"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _keep(self, run: str) -> None:
        """Stores the files for scoring, domain, explanation and summary as bytes, which are pickled and copied with the
        object."""
        packed = io.BytesIO()
        predictor = Predictor(run, threads=self.threads)
        wanted = set(map(os.path.abspath, predictor.files))
        with zipfile.ZipFile(packed, "w") as archive:
            for folder, _, names in os.walk(run):
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.abspath(path) in wanted or name in _OTHER_FILES:
                        archive.write(path, os.path.relpath(path, run))
        self.run_ = packed.getvalue()
        self._predictor = predictor

    def _scorer(self) -> Predictor:
        if not hasattr(self, "run_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit first")
        if not hasattr(self, "_predictor"):
            with tempfile.TemporaryDirectory(prefix="molgraph-") as folder:
                zipfile.ZipFile(io.BytesIO(self.run_)).extractall(folder)
                self._predictor = Predictor(folder, threads=self.threads)
        return self._predictor

    def save_run(self, path: str) -> None:
        """Writes the fitted run to a directory for molgraph.Predictor and molgraph-score."""
        self._scorer()
        os.makedirs(path)
        zipfile.ZipFile(io.BytesIO(self.run_)).extractall(path)

    def _predictions(self, X: Any, interval: float = 0) -> Predictions:
        predictions = self._scorer().predict(texts_of(X), interval=interval)
        _report_invalid(predictions.status, predictions.reason, self.on_invalid, "have no prediction")
        return predictions

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_predictor"}

    def __sklearn_tags__(self):
        return _set_molecule_tags(super().__sklearn_tags__())


class MolgraphRegressor(RegressorMixin, _Molgraph):
    """Regression from SMILES or molecules of RDKit: ``MolgraphRegressor().fit(smiles, y).predict(smiles)``.

    - ``quality``: "fast", "default" or "best", as in molgraph-train
    - ``epochs``: None = chosen by molgraph-train
    - ``validation_fraction``: part of the molecules that selects the epoch and the shares of the blend
    - ``interval``: coverage of predict_interval, for example 0.9. Small tables then train five more models, whose
      out-of-fold errors calibrate the intervals
    - ``on_invalid``: "nan": molecules that cannot be read are left out of training and predicted as NaN, with a
      warning; "raise": they raise DataError (a ValueError)
    - ``threads``: 0 = all cores that this process may use
    - ``options``: further flags of molgraph-train
    - ``verbose``: show the program's progress

    Skewed positive targets, such as half-lives, are learned as logarithms: their predictions are medians rather than
    means (docs/reference/training.md, "Logarithmic targets"). ``options={"log_targets": "none"}`` turns this off.
    """

    def __init__(self, quality: str = "default", epochs: Optional[int] = None, random_state: Optional[int] = 0,
                 validation_fraction: float = 0.1, interval: Optional[float] = None, on_invalid: str = "nan",
                 threads: int = 0, options: Optional[Dict[str, Any]] = None, verbose: bool = False):
        super().__init__(quality, epochs, random_state, validation_fraction, on_invalid, threads, options, verbose)
        self.interval = interval

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MolgraphRegressor":
        """Trains. ``X``: [n] or [n, 1] SMILES; ``y``: [n] or [n, targets], NaN = missing label; ``sample_weight``:
        [n], 0 or more."""
        smiles, labels, weights = self._readable(X, y, sample_weight)
        labels = labels.astype(np.float64)
        self.one_target_ = labels.ndim == 1
        columns = labels.reshape(len(labels), -1)
        texts = [["" if np.isnan(one) else repr(float(one)) for one in column] for column in columns.T]
        self._fit(smiles, {f"y{k}": column for k, column in enumerate(texts)}, "regression", weights)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Returns [n], or [n, targets] if ``y`` had two dimensions."""
        values = self._predictions(X).values
        return values[:, 0] if self.one_target_ else values

    def predict_interval(self, X: Any) -> np.ndarray:
        """Returns lower and upper bounds [n, 2], or [n, targets, 2] if ``y`` had two dimensions, which contain the
        label with probability ``interval``. Raises UsageError if ``interval`` is None or was so in fit, or if the
        labels were too few."""
        self._scorer()
        if not self.interval:
            raise _core.UsageError("predict_interval needs interval, for example MolgraphRegressor(interval=0.9)")
        if "calibration.json" not in zipfile.ZipFile(io.BytesIO(self.run_)).namelist():
            raise _core.UsageError("this model has no intervals: interval was None in fit, or there were too few labels "
                                   "(verbose=True shows the reason)")
        try:
            found = self._predictions(X, self.interval)
        except _core.UsageError as error:
            if "too few labels" not in str(error):
                raise
            # the message of the error names a temporary folder
            raise _core.UsageError(f"this model has no intervals with a coverage of {self.interval}: there were too "
                                   "few labels") from None
        assert found.low is not None and found.high is not None
        bounds = np.stack([found.low, found.high], axis=-1)
        return bounds[:, 0] if self.one_target_ else bounds

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class MolgraphClassifier(ClassifierMixin, _Molgraph):
    """Classification from SMILES with two or more classes and any labels. Probabilities are calibrated, except with
    quality "best". The other options are those of MolgraphRegressor."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MolgraphClassifier":
        """Trains. ``X``: [n] or [n, 1] SMILES; ``y``: [n] labels; ``sample_weight``: [n], 0 or more."""
        smiles, labels, weights = self._readable(X, y, sample_weight)
        check_classification_targets(labels)
        encoder = LabelEncoder()
        numbers = encoder.fit_transform(labels)
        self.classes_ = encoder.classes_
        if len(self.classes_) < 2:
            raise ValueError(f"at least two classes are needed, but y contains one class only: {self.classes_[0]!r}")
        kind = "binary" if len(self.classes_) == 2 else "multiclass"
        self._fit(smiles, {"y": [str(number) for number in numbers]}, kind, weights)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Returns [n, classes] in the order of ``classes_``."""
        values = self._predictions(X).values  # first, because it raises NotFittedError
        return np.column_stack([1 - values[:, 0], values[:, 0]]) if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> np.ndarray:
        """Returns the most probable class of each molecule [n]; None if a molecule cannot be read."""
        probabilities = self.predict_proba(X)
        bad = np.isnan(probabilities[:, 0])
        classes: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        if bad.any():
            classes = classes.astype(object)
            classes[bad] = None
        return classes


class MolgraphEmbedder(TransformerMixin, BaseEstimator):
    """Embeddings of molecules as a transformer: [n] SMILES or molecules of RDKit to [n, layers * width] float32.

    - ``run``: a run directory or model.safetensors file; "pretrained" = the weights that ship with molgraph
    - ``pooling``, ``layers``, ``l2``: as in :meth:`molgraph.Predictor.embeddings`
    - ``on_invalid``: "nan": molecules that cannot be read give NaN and a warning; "raise": they raise DataError
    - ``threads``: 0 = all cores that this process may use
    """

    def __init__(self, run: str = "pretrained", pooling: str = "token", layers: Sequence[int] = (-1,), l2: bool = False,
                 on_invalid: str = "nan", threads: int = 0):
        self.run = run
        self.pooling = pooling
        self.layers = layers
        self.l2 = l2
        self.on_invalid = on_invalid
        self.threads = threads

    def fit(self, X: Any = None, y: Any = None) -> "MolgraphEmbedder":
        """Loads the weights; learns nothing from ``X``."""
        self._predictor = Predictor(shipped_weights() if self.run == "pretrained" else self.run, threads=self.threads)
        self.n_features_out_ = self._predictor.embed([], self.pooling, self.layers).shape[1]
        return self

    def transform(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "n_features_out_")
        if getattr(self, "_predictor", None) is None:
            self.fit()
        found = self._predictor.embeddings(texts_of(X), self.pooling, self.layers, self.l2)
        _report_invalid(found.status, found.reason, self.on_invalid, "have no embedding")
        return found.values

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Returns ["molgraph_0", "molgraph_1", ...]."""
        check_is_fitted(self, "n_features_out_")
        return np.array([f"molgraph_{k}" for k in range(self.n_features_out_)], dtype=object)

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_predictor"}

    def __sklearn_tags__(self):
        return _set_molecule_tags(super().__sklearn_tags__())
