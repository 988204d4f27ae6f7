import csv
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from conftest import chain, tiny

import molgraph
from molgraph.programs import path_of, torch_version
from molgraph.training import flags_of


def test_properties_of_a_run(run):
    with open(os.path.join(run.path, "results.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    assert run.results["test"]["mae"] == float(next(r["value"] for r in rows if (r["part"], r["metric"]) == ("test", "mae")))
    (target, of_target), = run.target_results.items()
    assert target == run.predictor(threads=1).task.names[0]
    assert of_target["labels"] > 0 and of_target["mae"] == pytest.approx(run.results["test"]["mae"], rel=1e-6)
    assert run.history["epoch"] == [1, 2] and run.history["valid_mae"][0] > 0
    assert run.info["task"] == "regression" and os.path.exists(run.report)
    assert run._repr_html_().startswith("<iframe srcdoc=\"&lt;!DOCTYPE html&gt;")
    assert run.predictor(threads=1).predict(["CCO"]).ok.all()


def test_training_on_a_data_frame(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"smiles": [chain(k) for k in range(80)], "active": ["yes", "no"] * 40})
    made = molgraph.train(frame, tmp_path / "deeper" / "run", **tiny(blend=False))
    assert made.predictor().task.kind == "binary" and (tmp_path / "deeper" / "run.csv").exists()
    before = (tmp_path / "deeper" / "run.csv").read_bytes()
    with pytest.raises(molgraph.FileError, match="run.csv: already exists with other rows"):
        molgraph.train(frame[:70], tmp_path / "deeper" / "run", **tiny(blend=False))
    with pytest.raises(molgraph.UsageError, match="already contains a run"):
        molgraph.train(frame, tmp_path / "deeper" / "run", **tiny(blend=False))
    assert (tmp_path / "deeper" / "run.csv").read_bytes() == before


def test_options_are_flags():
    train, score = path_of("molgraph-train"), path_of("molgraph-score")
    assert flags_of(train, {"batch_size": 32, "urpe": True, "blend": False, "lr": None, "lr_end": 1e-5}) == \
        ["--batch-size", "32", "--urpe", "--no-blend", "--lr-end", "1e-05"]
    assert flags_of(train, {"a": [1, 2], "b": np.array([0.5, 2]), "c": np.array(["x", "y"]), "d": np.int64(3)}) == \
        ["--a", "1", "2", "--b", "0.5", "2.0", "--c", "x", "y", "--d", "3"]
    assert flags_of(train, {"target_columns": [], "resume": False, "verbose": False, "domain": np.False_}) == \
        ["--no-domain"]
    assert flags_of(score, {"domain": False, "strict": False, "calibrate": False}) == ["--no-calibrate"]
    assert flags_of(train, {"blnd": False, "descriptors": False}) == ["--no-blnd", "--no-descriptors"]  # errors


def test_results_of_folds_are_means(table, tmp_path):
    made = molgraph.train(table, tmp_path / "run", **tiny(folds=3, blend=False, baselines=False, report=False))
    with open(tmp_path / "run" / "results.csv", newline="") as file:
        values = [float(row["value"]) for row in csv.DictReader(file)
                  if row["part"] == "test" and row["fold"] in ("fold 0", "fold 1", "fold 2")]
    assert len(values) == 3
    of_all = made.results["test"]
    assert of_all["mae"] == pytest.approx(sum(values) / 3, rel=1e-6)
    assert of_all == pytest.approx(made.info["results"]["test"], rel=1e-6) and "mae deviation" in of_all


def test_errors_of_the_program_become_exceptions(table, tmp_path):
    with pytest.raises(molgraph.UsageError, match="epoch"):
        molgraph.train(table, tmp_path / "run", epoch=1)
    with pytest.raises(molgraph.FileError, match="nothing.csv"):
        molgraph.train(tmp_path / "nothing.csv", tmp_path / "run", quiet=True)
    (tmp_path / "bad.csv").write_text("smiles,y\nC(,1\nC(,2\n")
    with pytest.raises(molgraph.DataError):
        molgraph.train(tmp_path / "bad.csv", tmp_path / "run", quiet=True)
    assert not (tmp_path / "run").exists()
    with pytest.raises(molgraph.FileError, match="not a run directory"):
        molgraph.Run(tmp_path)


def test_control_c_leaves_a_checkpoint_for_resume(table, tmp_path):
    options = tiny(epochs=400, blend=False, patience=0, baselines=False)
    script = textwrap.dedent(f"""
        import molgraph
        try:
            molgraph.train({str(table)!r}, {str(tmp_path / "run")!r}, **{options!r})
        except KeyboardInterrupt:
            print("interrupted")
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a background job of a shell ignores SIGINT
    checkpoint = tmp_path / "run" / "metrics.csv"
    while not checkpoint.exists() or checkpoint.read_text().count("\n") < 3:
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    assert (tmp_path / "run" / "checkpoints" / "last.safetensors").exists()
    assert checkpoint.read_text().count("\n") < 400
    resumed = molgraph.train(None, tmp_path / "run", resume=True, quiet=True)
    assert resumed.history["epoch"] == list(range(1, 401))


def test_programs_are_found(tmp_path, monkeypatch):
    own = tmp_path / "bin" / "molgraph-nothing"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOLGRAPH_BIN", "bin")
    assert path_of("molgraph-nothing") == str(own)
    monkeypatch.setenv("MOLGRAPH_BIN", "")
    monkeypatch.setenv("PATH", str(own.parent))
    assert path_of("molgraph-nothing") == str(own)
    with pytest.raises(molgraph.FileError, match="neither in the package nor in"):
        path_of("molgraph-nothing", on_path=False)  # an entry point would find itself


def test_torch_versions():
    assert torch_version("2.11.0+cpu") == (2, 11) and (2, 11) <= torch_version("2.11.1") < (2, 12)
