"""scikit-learn's own estimator checks. They pass rows of numbers, so the test converts each row to a molecule."""
import inspect

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.utils import estimator_checks  # noqa: E402

if "on_fail" not in inspect.signature(estimator_checks.check_estimator).parameters:
    pytest.skip("scikit-learn 1.6 or later has these checks", allow_module_level=True)
from sklearn.utils.validation import validate_data  # noqa: E402

import molgraph  # noqa: E402

TINY = {"layers": 1, "width": 16, "ffn": 16, "heads": 2, "baselines": False, "blend": False, "from": "none",
        "duplicates": "keep", "descriptors": "none"}


def molecules(rows):
    """A chain, nitrogens and oxygens, from the first number, the sum and the last number of each row."""
    return ["C" * (1 + int(abs(row[0]) * 5) % 15) + "N" * (1 + int(abs(row.sum()) * 3) % 2) +
            "O" * (1 + int(abs(row[-1]) * 7) % 3) for row in np.asarray(rows, dtype=float)]


class EstimatorOfRows:
    def __init__(self, epochs=1, random_state=0, threads=1):
        super().__init__(epochs=epochs, random_state=random_state, threads=threads)

    def fit(self, X, y, sample_weight=None):
        X, y = validate_data(self, X, y, multi_output=True, y_numeric=isinstance(self, molgraph.MolgraphRegressor))
        return super().fit(molecules(X), y, sample_weight)

    def _fit(self, *data):
        kept = dict(self.__dict__)
        self.options = TINY
        super()._fit(*data)
        self.options = kept["options"]

    def _predictions(self, X, interval=0):
        self._scorer()
        return super()._predictions(molecules(validate_data(self, X, reset=False)), interval)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = True, False, False
        for kind in (tags.regressor_tags, tags.classifier_tags):
            if kind is not None:
                kind.poor_score = True  # one epoch, and the molecules have little information on the rows
        return tags


class Regressor(EstimatorOfRows, molgraph.MolgraphRegressor):
    pass


class Classifier(EstimatorOfRows, molgraph.MolgraphClassifier):
    pass


EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data":
        "A row of weight 2 is not two rows: batches and the validation set are drawn row by row, and duplicates merge.",
}


@pytest.mark.parametrize("kind", [Regressor, Classifier])
@pytest.mark.filterwarnings("ignore")
def test_estimators_pass_scikit_learn_checks(kind):
    results = estimator_checks.check_estimator(kind(), on_fail=None, expected_failed_checks=EXPECTED_FAILURES)
    assert len(results) > 40
    assert [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"] == []
    for status in ("passed", "skipped", "xfail"):
        names = [one["check_name"] for one in results if one["status"] == status]
        print(kind.__name__, len(names), status, "" if status == "passed" else names)
