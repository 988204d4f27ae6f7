"""The programs docs/guide/score_with_ray.py and score_with_spark.py on this machine: 200,000 molecules, and a worker
that is killed halfway. The results must equal those of molgraph-score."""
import csv
import importlib.util
import os
import pathlib
import shutil
import sys
import time

import numpy as np
import pytest
from conftest import chain, program

import molgraph

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide"
ROWS = 200000


def have(package):
    return importlib.util.find_spec(package) is not None


def large_of(key):
    """An integer that a floating-point number cannot represent, or a missing value."""
    return None if key % 10 == 0 else 2**60 + int(key)


@pytest.fixture(scope="module")
def library(tmp_path_factory, run):
    """A folder of eight Parquet files, and the predictions of molgraph-score."""
    folder = tmp_path_factory.mktemp("library")
    smiles = ["bad(" if k % 1000 == 7 else chain(k) for k in range(ROWS)]
    (folder / "parquet").mkdir()
    for part in range(8):
        keys = np.arange(part * ROWS // 8, (part + 1) * ROWS // 8)
        parquet.write_table(pyarrow.table({"key": keys, "smiles": [smiles[k] for k in keys],
                                           "large": [large_of(k) for k in keys]}),
                            folder / "parquet" / f"{part}.parquet", row_group_size=10000)
    (folder / "library.csv").write_text("smiles\n" + "\n".join(smiles) + "\n")
    program("molgraph-score", "-m", run.path, "-i", folder / "library.csv", "-o", folder / "scored.csv")
    with open(folder / "scored.csv", newline="") as file:
        return folder / "parquet", list(csv.DictReader(file))


def killed_once(run, marker):
    """A predictor that kills its process at molecule ROWS / 2, the first time."""
    path, middle = str(marker), ROWS // 2

    class Killed(molgraph.BatchPredictor):
        def __call__(self, batch):
            if not hasattr(batch, "__next__") and middle in np.asarray(batch["key"]) and not os.path.exists(path):
                open(path, "w").close()
                os.kill(os.getpid(), 9)
            return super().__call__(batch)

    return Killed(run)


def check(score, run, library, tmp_path, name):
    for predictor, out in ((molgraph.BatchPredictor(run), tmp_path / "plain"),
                           (killed_once(run, tmp_path / "killed"), tmp_path / "after-kill")):
        start = time.perf_counter()
        score(predictor, str(library[0]), str(out))
        print(f"{name}: {ROWS / (time.perf_counter() - start):.0f} rows per second, {out.name}")
        table = parquet.read_table(out).sort_by("key").to_pydict()
        assert table["key"] == list(range(ROWS)) and table["large"] == list(map(large_of, range(ROWS)))
        assert table["status"] == [row["status"] for row in library[1]]
        expected = np.array([float(row["y_pred"] or "nan") for row in library[1]], dtype=np.float32)
        assert np.array_equal(np.array(table["y_pred"], dtype=np.float32), expected, equal_nan=True)
    assert (tmp_path / "killed").exists()


def score_of(name):
    spec = importlib.util.spec_from_file_location(name, GUIDE / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.score


@pytest.mark.skipif(not have("ray"), reason="ray is missing")
def test_ray(run, library, tmp_path):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        check(score_of("score_with_ray"), run, library, tmp_path, "Ray")
    finally:
        ray.shutdown()


@pytest.mark.skipif(not have("pyspark") or not have("pandas") or shutil.which("java") is None,
                    reason="pyspark, pandas or Java is missing")
def test_spark(run, library, tmp_path, monkeypatch):
    from pyspark import sql

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    master = "local[2,4]"  # two threads; a task may fail three times
    spark = sql.SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
    try:
        check(score_of("score_with_spark"), run, library, tmp_path, "Spark")
        table = spark.read.parquet(str(library[0]))
        predictor = molgraph.BatchPredictor(run, columns=["y_pred"])
        frame = table.limit(500).mapInPandas(predictor, predictor.spark_schema(table.schema)).toPandas()
        assert list(frame.columns) == ["key", "smiles", "large", "y_pred"] and len(frame) == 500
    finally:
        spark.stop()
