import pickle

import numpy as np
import pytest
from conftest import chain

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402

import molgraph  # noqa: E402

SMILES = np.array([chain(k) for k in range(120)])
LENGTHS = np.array([float(len(one)) for one in SMILES])
OPTIONS = {"layers": 1, "width": 16, "ffn": 16, "heads": 2, "baselines": False, "blend": False, "from": "none",
           "duplicates": "keep"}


def regressor(**more):
    return molgraph.MolgraphRegressor(epochs=3, threads=1, options=dict(OPTIONS, descriptors="none"), **more)


def test_regression():
    model = regressor()
    with pytest.raises(NotFittedError):
        model.predict(SMILES)
    assert model.fit(SMILES, LENGTHS) is model
    predicted = model.predict(SMILES)
    assert predicted.shape == (120,) and np.isfinite(predicted).all() and -10 < model.score(SMILES, LENGTHS) <= 1
    assert np.array_equal(regressor().fit(SMILES[:, None], LENGTHS).predict(SMILES), predicted)
    assert not np.array_equal(regressor(random_state=1).fit(SMILES, LENGTHS).predict(SMILES), predicted)
    two = regressor().fit(SMILES, np.column_stack([LENGTHS, np.where(LENGTHS > 9, np.nan, LENGTHS)]))
    assert two.predict(SMILES[:3]).shape == (3, 2)
    with pytest.raises(ValueError, match="molecule 1: invalid_smiles"):
        model.predict(["CCO", "bad("])
    with pytest.raises(ValueError, match="invalid_smiles.*bad\\("):
        model.fit(list(SMILES[:40]) + ["bad("], LENGTHS[:41])
    with pytest.raises(ValueError, match="2 molecules and 1 labels"):
        model.fit(["C", "CC"], [1.0])


def test_fitted_model_is_pickled_saved_and_cloned(tmp_path):
    model = regressor().fit(SMILES, LENGTHS)
    expected = model.predict(SMILES)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(SMILES), expected)
    model.save_run(str(tmp_path / "run"))
    assert np.array_equal(molgraph.Predictor(tmp_path / "run").predict(SMILES).values[:, 0], expected)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "run_")


def test_classification():
    two = molgraph.MolgraphClassifier(epochs=3, threads=1, options=dict(OPTIONS, descriptors="none"))
    labels = np.array(["short", "long"])[(LENGTHS > 8).astype(int)]
    probabilities = two.fit(SMILES, labels).predict_proba(SMILES)
    assert two.classes_.tolist() == ["long", "short"] and np.allclose(probabilities.sum(axis=1), 1)
    assert set(two.predict(SMILES)) <= {"long", "short"}
    assert np.array_equal(two.predict(SMILES) == "short", probabilities[:, 1] > 0.5)
    three = clone(two).fit(SMILES, np.digitize(LENGTHS, [5, 9]))
    assert three.predict_proba(SMILES).shape == (120, 3) and np.allclose(three.predict_proba(SMILES).sum(axis=1), 1)
    with pytest.raises(ValueError, match="one class only"):
        two.fit(SMILES, np.zeros(120))


def test_grid_search_and_cross_validation():
    search = GridSearchCV(regressor(), {"epochs": [1, 2]}, cv=2).fit(SMILES, LENGTHS)
    assert search.best_params_["epochs"] in (1, 2) and search.predict(SMILES).shape == (120,)
    assert len(cross_val_score(regressor(), SMILES, LENGTHS, cv=2)) == 2
