import pickle

import numpy as np
import pytest
from conftest import chain

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

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
    with pytest.raises(ValueError, match="2 molecules and 1 labels"):
        model.fit(["C", "CC"], [1.0])


def test_unreadable_molecules():
    model = regressor().fit(SMILES, LENGTHS)
    some, labels = ["bad(", *SMILES[:40]], LENGTHS[:41]
    with pytest.warns(UserWarning, match="1 of 41 molecules have no prediction; molecule 0: invalid_smiles"):
        predicted = model.predict(some)
    assert np.isnan(predicted[0]) and np.array_equal(predicted[1:], model.predict(SMILES[:40]))
    with pytest.warns(UserWarning, match="1 of 41 molecules are left out of training; molecule 0: invalid_smiles"):
        left_out = regressor().fit(some, labels)
    assert np.array_equal(left_out.predict(SMILES), regressor().fit(some[1:], labels[1:]).predict(SMILES))
    for action in (lambda one: one.fit(some, labels), lambda one: one.fit(SMILES, LENGTHS).predict(some)):
        with pytest.raises(ValueError, match="molecule 0: invalid_smiles"):
            action(regressor(on_invalid="raise"))
    with pytest.raises(ValueError, match="on_invalid: 'drop': must be 'nan' or 'raise'"):
        regressor(on_invalid="drop").fit(SMILES, LENGTHS)
    classes = molgraph.MolgraphClassifier(epochs=1, threads=1, options=dict(OPTIONS, descriptors="none"))
    classes.fit(SMILES, LENGTHS > 8)
    with pytest.warns(UserWarning):
        assert classes.predict(some).tolist() == [None, *classes.predict(SMILES[:40])]


def test_sample_weights():
    labels = np.where(np.arange(120) % 2 == 0, 0.0, 10.0)  # nothing in the molecules predicts them
    low = regressor().fit(SMILES, labels, sample_weight=np.where(labels == 0, 1.0, 0.01)).predict(SMILES)
    high = regressor().fit(SMILES, labels, sample_weight=np.where(labels == 0, 0.01, 1.0)).predict(SMILES)
    assert low.mean() < high.mean() - 2
    with pytest.raises(ValueError, match="120 molecules and 1 weights"):
        regressor().fit(SMILES, LENGTHS, sample_weight=[1.0])
    with pytest.raises(ValueError, match="weights are all zero"):
        regressor().fit(SMILES, LENGTHS, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match="-1"):
        regressor().fit(SMILES, LENGTHS, sample_weight=-np.ones(120))


def test_intervals():
    model = regressor(interval=0.8).fit(SMILES, LENGTHS)
    before, scorer = model.predict(SMILES), model._scorer()
    bounds, predicted = model.predict_interval(SMILES), model.predict(SMILES)
    assert np.array_equal(predicted, before) and model._scorer() is scorer, "one predictor for all levels"
    assert bounds.shape == (120, 2) and (bounds[:, 0] < predicted).all() and (predicted < bounds[:, 1]).all()
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_interval(SMILES), bounds)
    two = regressor(interval=0.8).fit(SMILES, np.column_stack([LENGTHS, -LENGTHS]))
    assert two.predict_interval(SMILES[:3]).shape == (3, 2, 2)
    with pytest.raises(molgraph.UsageError, match="needs interval"):
        regressor().fit(SMILES, LENGTHS).predict_interval(SMILES)
    with pytest.raises(molgraph.UsageError, match="this model has no intervals: interval was None in fit"):
        regressor().fit(SMILES, LENGTHS).set_params(interval=0.8).predict_interval(SMILES)
    with pytest.raises(molgraph.UsageError, match="^this model has no intervals with a coverage of 0.999: "):
        model.set_params(interval=0.999).predict_interval(SMILES)
    with pytest.raises(NotFittedError):
        regressor(interval=0.8).predict_interval(SMILES)


def test_embedder(tmp_path):
    embedder = molgraph.MolgraphEmbedder(threads=1)
    with pytest.raises(NotFittedError):
        embedder.get_feature_names_out()
    vectors = embedder.fit_transform(SMILES)
    assert vectors.shape == (120, 80) and vectors.dtype == np.float32
    assert embedder.get_feature_names_out().tolist() == [f"molgraph_{k}" for k in range(80)]
    assert np.array_equal(pickle.loads(pickle.dumps(embedder)).transform(SMILES), vectors)
    ridge = make_pipeline(clone(embedder), Ridge()).fit(SMILES, LENGTHS)
    assert ridge.score(SMILES, LENGTHS) > 0.9
    regressor().fit(SMILES, LENGTHS).save_run(str(tmp_path / "run"))
    own = molgraph.MolgraphEmbedder(str(tmp_path / "run"), pooling="mean", layers=(0, -1), threads=1)
    expected = molgraph.Predictor(tmp_path / "run").embed(SMILES, "mean", (0, -1))
    assert np.array_equal(own.fit_transform(SMILES), expected) and len(own.get_feature_names_out()) == 32
    with pytest.warns(UserWarning, match="1 of 2 molecules have no embedding"):
        assert np.isnan(embedder.transform(["C", "bad("])[1]).all()
    frame = embedder.set_output(transform="pandas").transform(SMILES)
    assert frame.columns[0] == "molgraph_0" and len(frame) == 120


def test_fitted_model_is_pickled_saved_and_cloned(tmp_path):
    model = regressor().fit(SMILES, LENGTHS)
    expected = model.predict(SMILES)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(SMILES), expected)
    model.save_run(str(tmp_path / "run"))
    assert np.array_equal(molgraph.Predictor(tmp_path / "run").predict(SMILES).values[:, 0], expected)
    saved = molgraph.Predictor(tmp_path / "run", domain=True)
    assert saved.predict(SMILES[:2]).domain is not None and saved.explain(SMILES[:1]).status.tolist() == ["ok"]
    assert "missing" not in saved.describe()
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
