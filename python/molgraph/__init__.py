"""Graph transformers for molecular property prediction.

    >>> import molgraph
    >>> run = molgraph.train("my_assay.csv", "runs/my_assay")
    >>> molgraph.load("runs/my_assay").predict(["CCO", "c1ccccc1"]).to_pandas()

Submodules are loaded on first use, so that ``import molgraph`` is fast.
"""
import importlib
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from molgraph._core import DataError, FileError, RunError, UsageError
    from molgraph.estimators import MolgraphClassifier, MolgraphEmbedder, MolgraphRegressor
    from molgraph.molecules import Batch, Molecule, Store, featurize
    from molgraph.prediction import Embeddings, Explanations, Predictions, Predictor, Task, load
    from molgraph.scoring import BatchPredictor, embed_file, score_file
    from molgraph.training import Run, train

    __version__: str

_HOMES = {
    "Predictor": "prediction", "Predictions": "prediction", "Embeddings": "prediction", "Task": "prediction",
    "Explanations": "prediction", "load": "prediction",
    "featurize": "molecules", "Batch": "molecules", "Molecule": "molecules", "Store": "molecules",
    "train": "training", "Run": "training",
    "score_file": "scoring", "embed_file": "scoring", "BatchPredictor": "scoring",
    "MolgraphRegressor": "estimators", "MolgraphClassifier": "estimators", "MolgraphEmbedder": "estimators",
    "FileError": "_core", "DataError": "_core", "UsageError": "_core", "RunError": "_core", "__version__": "_core",
}
_OPTIONAL = {"estimators": "sklearn"}  # submodule: optional package that it needs
__all__ = sorted(name for name, home in _HOMES.items()
                 if home not in _OPTIONAL or importlib.util.find_spec(_OPTIONAL[home]) is not None)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'molgraph' has no attribute '{name}'")
    value = getattr(importlib.import_module("molgraph." + _HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
