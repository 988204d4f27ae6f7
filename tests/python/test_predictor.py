import csv
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import chain, program, tiny

import molgraph


@pytest.fixture(scope="module")
def predictor(run):
    return molgraph.Predictor(run, threads=2)


def test_predictions_equal_molgraph_score(run, predictor, tmp_path):
    smiles = [chain(k) for k in range(1500)] + ["bad(", ""]
    (tmp_path / "in.smi").write_text("".join(text + "\n" for text in smiles[:-1]))
    program("molgraph-score", "-m", run.path, "-i", tmp_path / "in.smi", "-o", tmp_path / "out.csv", "--interval", "0.9",
            "--domain")
    rows = [line.split(",") for line in (tmp_path / "out.csv").read_text().splitlines()]
    head, rows = rows[0], rows[1:]
    whole = molgraph.Predictor(run, threads=2, interval=0.9, domain=True).predict(smiles)
    assert set(whole.columns()) < set(head)
    assert len(rows) == 1501 and len(whole) == 1502
    for column, values in (("y_pred", whole.values[:, 0]), ("y_low", whole.low[:, 0]), ("y_high", whole.high[:, 0]),
                           ("domain_similarity", whole.domain.similarity),
                           ("domain_percentile", whole.domain.percentile)):
        cells = [row[head.index(column)] for row in rows]
        assert cells[1500] == "" and np.isnan(values[1500])
        # A table contains the fewest digits that identify the float32 value.
        assert np.array_equal(values[:1500].astype(np.float32), np.array(cells[:1500], dtype=np.float32)), column
    assert [row[head.index("status")] for row in rows] == list(whole.status[:-1])
    assert whole.status[1500:].tolist() == ["invalid_smiles", "empty"]
    assert "(" in whole.reason[1500] or "SMILES" in whole.reason[1500]
    known = whole.domain.nearest[0]
    assert molgraph.Predictor(run, domain=True).training_molecules()["smiles"][known] == \
        rows[0][head.index("domain_smiles")]


def test_all_containers_of_smiles_give_equal_predictions(predictor, molecules):
    pandas = pytest.importorskip("pandas")
    values = predictor.predict(molecules).values
    assert not np.isnan(values).any()
    for form in (tuple(molecules), np.array(molecules), np.array(molecules, dtype=object), np.array(molecules)[:, None],
                 pandas.Series(molecules, index=range(7, 407)), pandas.DataFrame({"any": molecules}),
                 iter(molecules), (one for one in molecules)):
        assert np.array_equal(predictor.predict(form).values, values)
    missing = ["CCO", None, float("nan"), np.float32("nan"), pandas.NA]
    for form in (missing, pandas.Series(missing), pandas.Series(missing, dtype=object)):
        assert predictor.predict(form).status.tolist() == ["ok", *["empty"] * 4]
    frame = pandas.DataFrame({"smiles": molecules, "key": range(400)})  # the model has no input columns
    assert np.array_equal(predictor.predict(frame["smiles"], frame).values, values)


def test_invalid_inputs_fail(predictor):
    with pytest.raises(TypeError, match="as a list"):
        predictor.predict("CCO")
    with pytest.raises(TypeError, match="as a list"):
        predictor.predict(np.array("CCO"))
    with pytest.raises(TypeError, match="table\\[column\\], not table"):
        predictor.predict({"smiles": ["CCO"]})
    assert predictor.predict(["CCO", "C\ud800"]).status.tolist() == ["ok", "invalid_smiles"]
    with pytest.raises(TypeError, match="SMILES 1: must be a string, not int 5"):
        predictor.predict(["CCO", 5])
    with pytest.raises(TypeError, match="SMILES 3: must be a string, not int 5"):
        list(predictor.predict_windows(iter(["C", "C", "C", 5]), rows=2))
    with pytest.raises(TypeError, match="the table must have one column of SMILES, not 2"):
        predictor.predict(np.array([["C", "CC"]]))
    with pytest.raises(TypeError, match="as a list"):
        next(predictor.predict_windows("CCO"))
    with pytest.raises(ValueError, match="rows must be 1 or more"):
        next(predictor.predict_windows(["CCO"], rows=0))
    assert len(next(predictor.predict_windows(np.array([["CCO"], ["C"]]))).values) == 2


def test_windows_and_threads_do_not_change_predictions(run, predictor):
    smiles = [chain(k) for k in range(700)] * 2
    whole = predictor.predict(smiles).values
    assert np.array_equal(molgraph.Predictor(run, threads=1).predict(smiles).values, whole)
    assert np.array_equal(np.concatenate([part.values for part in predictor.predict_windows(iter(smiles), 333)]), whole)
    assert np.array_equal(np.concatenate([predictor.predict([one]).values for one in smiles[:50]]), whole[:50])
    assert len(predictor.predict([])) == 0 and len(predictor.predict(iter([]))) == 0


def test_threads_share_one_predictor(predictor, molecules):
    expected = predictor.predict(molecules).values
    found = [None] * 4

    def work(k):
        found[k] = [predictor.predict(molecules).values for _ in range(5)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(values, expected) for some in found for values in some)


def test_forked_process_predicts_the_same(predictor, molecules):
    expected = predictor.predict(molecules).values
    inherited["predictor"] = predictor
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for values in pool.map(predict_in_a_fork, [molecules] * 4):
            assert np.array_equal(values, expected)


inherited = {}


def predict_in_a_fork(smiles):
    return inherited["predictor"].predict(smiles).values


def test_embeddings_equal_molgraph_embed(run, predictor, tmp_path):
    smiles = [chain(k) for k in range(300)]
    (tmp_path / "in.smi").write_text("".join(text + "\n" for text in smiles))
    program("molgraph-embed", "-m", run.path, "-i", tmp_path / "in.smi", "-o", tmp_path / "out.npy", "--pooling", "mean",
            "--layer", "1", "-1")
    vectors = predictor.embed(smiles + ["bad("], pooling="mean", layers=[1, -1])
    assert vectors.dtype == np.float32 and vectors.shape == (301, 32)
    assert np.array_equal(vectors[:-1], np.load(tmp_path / "out.npy"))
    assert np.isnan(vectors[-1]).all()
    assert predictor.embeddings(["bad("]).status.tolist() == ["invalid_smiles"]
    assert np.allclose(np.linalg.norm(predictor.embed(smiles[:5], l2=True), axis=1), 1)


def test_several_runs_form_an_ensemble(run, table, tmp_path):
    other = molgraph.train(table, tmp_path / "other", **tiny(seed=4, duplicates="keep"))
    both = molgraph.Predictor([run, other]).predict(["CCO", "CCN"])
    parts = [molgraph.Predictor(one).predict(["CCO", "CCN"]).values for one in (run, other)]
    assert np.allclose(both.values, np.mean(parts, axis=0)) and np.allclose(both.std, np.std(parts, axis=0))
    assert (both.std > 0).all()


def test_input_columns(tmp_path):
    rows = "".join(f"{chain(k)},{k % 7},{k % 7 + len(chain(k))}\n" for k in range(120))
    (tmp_path / "t.csv").write_text("smiles,dose,y\n" + rows)
    made = molgraph.train(tmp_path / "t.csv", tmp_path / "run",
                          **tiny(target_columns="y", descriptor_columns="dose", duplicates="keep", blend=False))
    predictor = molgraph.Predictor(made)
    assert predictor.input_columns == ["dose"]
    low, high = (predictor.predict(["CCO"], {"dose": [dose]}).values for dose in (0, 6))
    assert not np.array_equal(low, high)
    assert np.array_equal(predictor.predict(["CCO"], [[6.0]]).values, high)
    unknown = predictor.predict(["CCO"], [[np.nan]]).values  # not measured
    assert np.isfinite(unknown).all() and not np.array_equal(unknown, high)
    for same in (np.ma.array([[6.0]], mask=[[True]]), {"dose": np.ma.array([6.0], mask=[True])}, {"dose": [" "]}):
        assert np.array_equal(predictor.predict(["CCO"], same).values, unknown)
    assert np.array_equal(predictor.predict(["CCO"], {"Dose ": [6.0]}).values, high)  # as in molgraph-score
    assert np.array_equal(predictor.predict(["CCO"], {"dose": [6.0], "DOSE": [0.0]}).values, high)
    with pytest.raises(molgraph.UsageError, match="'dose' is not unique"):
        predictor.predict(["CCO"], {"Dose": [6.0], "DOSE": [0.0]})
    for call in (lambda: predictor.predict(["CCO"]), lambda: predictor.predict(iter(["CCO"])),
                 lambda: next(predictor.predict_windows(["CCO"])), lambda: predictor.explain(["CCO"])):
        with pytest.raises(molgraph.UsageError, match="the model reads dose"):
            call()
    assert predictor.explain(["CCO"], method="rollout").status.tolist() == ["ok"]  # does not use the columns
    for columns in ({"dose": [6, 2e39]}, {"dose": [6, np.inf]}, [[6], [-np.inf]]):
        found = predictor.predict(["CCO", "CCO"], columns)
        assert found.status.tolist() == ["ok", "invalid_input"] and found.reason[1] == "dose: infinite or too large"
        assert np.array_equal(found.values[:1], high) and np.isnan(found.values[1]).all()
    assert predictor.explain(["CCO"], [[np.inf]]).status.tolist() == ["invalid_input"]
    assert predictor.predict([], {"dose": []}).values.shape == (0, 1)
    with pytest.raises(molgraph.UsageError, match="must be a table or an array"):
        predictor.predict(["CCO"], [1, np.inf])
    with pytest.raises(molgraph.UsageError, match="'dose' is missing"):
        predictor.predict(["CCO"], {"doses": [1]})
    with pytest.raises(molgraph.UsageError, match="1 x 2 numbers"):
        predictor.predict(["CCO"], [[1, 2]])


def test_bf16_or_fp32_with_a_warning(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predictor = molgraph.Predictor(run, precision="bf16")
    exact = molgraph.Predictor(run)
    assert exact.precision == "fp32" and predictor.precision == ("fp32" if caught else "bf16")
    smiles = ["CCO", "c1ccccc1O"]
    assert np.array_equal(predictor.predict(smiles).values, exact.predict(smiles).values) == bool(caught)
    assert all("fp32 is used" in str(one.message) for one in caught)


def test_errors_have_types_and_messages(run, tmp_path):
    with pytest.raises(molgraph.FileError, match="nothing"):
        molgraph.Predictor(tmp_path / "nothing")
    with pytest.raises(OSError):
        molgraph.Predictor([tmp_path / "nothing"])
    for options in ({"threads": -1}, {"threads": 1025}, {"max_atoms": 0}, {"max_atoms": 65534}):
        with pytest.raises(molgraph.UsageError, match=next(iter(options)) + ": must be"):
            molgraph.Predictor(run, **options)
    with pytest.raises(molgraph.UsageError, match="fp16"):
        molgraph.Predictor(run, precision="fp16")
    with pytest.raises(ValueError, match="must be cpu, cuda"):
        molgraph.Predictor(run, device="tpu")
    with pytest.raises(molgraph.UsageError):
        molgraph.Predictor(run).embed(["C"], pooling="median")


def test_to_pandas(predictor):
    pytest.importorskip("pandas")
    frame = predictor.predict(["CCO", "bad("]).to_pandas(["CCO", "bad("])
    assert frame.columns.tolist() == ["smiles", "y_pred", "status", "reason"]
    assert frame["status"].tolist() == ["ok", "invalid_smiles"] and frame["y_pred"].isna().tolist() == [False, True]


def test_explanations_equal_molgraph_score(run, predictor, tmp_path):
    smiles = ["CCO", "c1ccccc1CN", "bad(", "CCCCC#N"]
    (tmp_path / "in.csv").write_text("\n".join(["smiles", *smiles]) + "\n")
    program("molgraph-score", "-m", run.path, "-i", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--explain", "atoms")
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = predictor.explain(smiles)
    assert [len(one) for one in found.atoms] == [3, 8, 0, 6] and found.atoms[0].shape == (3, 1)
    assert found.status.tolist() == [row["status"] for row in rows]
    for k in (0, 1, 3):
        assert np.allclose(found.atoms[k][:, 0], np.array(rows[k]["y_atoms"].split(), dtype=float), rtol=1e-6)
        assert np.isclose(found.baseline[k, 0], float(rows[k]["y_baseline"]), rtol=1e-6)
    parts = [found.atoms[k].sum() for k in range(4)] + found.baseline[:, 0] + found.descriptors[:, 0] + found.blend[:, 0]
    assert np.allclose(parts - found.error[:, 0], found.prediction[:, 0], equal_nan=True)
    values = predictor.predict(smiles).values
    assert np.allclose(found.prediction, values, rtol=1e-4, equal_nan=True) and np.isnan(found.baseline[2, 0])
    assert found.complete[:, 0].tolist() == [True, True, False, True]
    rollout = predictor.explain(smiles, method="rollout")
    assert [one.shape for one in rollout.atoms] == [(3, 1), (8, 1), (0, 1), (6, 1)]
    assert np.isclose(rollout.atoms[1].sum(), 1) and (rollout.atoms[1] > 0).all()
    assert predictor.explain([]).atoms == []
    parts = predictor.explain(["OCc1ccccc1", "bad(", "CCO"], method="fragments")
    assert [one.tolist() for one in parts.fragment] == [[0, 0, 1, 1, 1, 1, 1, 1], [], [0, 0, 0]]
    whole, without = predictor.predict(["OCc1ccccc1", "c1ccccc1"]).values[:, 0]
    assert np.allclose(parts.atoms[0][:2, 0], whole - without) and len(np.unique(parts.atoms[0])) == 2
    assert np.isclose(parts.prediction[0, 0], whole) and np.isnan(parts.baseline).all() and np.isnan(parts.atoms[2]).all()
    assert [len(one) for one in found.fragment] == [0, 0, 0, 0]
    with pytest.raises(molgraph.UsageError, match="must be 'atoms', 'fragments' or 'rollout'"):
        predictor.explain(smiles, method="lime")


def test_to_arrow(predictor):
    pytest.importorskip("pyarrow")
    table = predictor.predict(["CCO", "bad("]).to_arrow(["CCO", "bad("])
    assert table.schema.names == ["smiles", "y_pred", "status", "reason"]
    assert table["status"].to_pylist() == ["ok", "invalid_smiles"]
    assert predictor.predict([]).to_arrow().schema == table.schema.remove(0)


def test_arrow_and_rdkit_containers(predictor, molecules):
    values = predictor.predict(molecules).values
    pyarrow = pytest.importorskip("pyarrow")

    class Stream:
        """An object that has only Arrow's interface, as results of other libraries do."""

        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.chunked_array([molecules]).__arrow_c_stream__(requested_schema)

    for form in (pyarrow.array(molecules), pyarrow.chunked_array([molecules[:9], molecules[9:]]), Stream(),
                 pyarrow.table({"any": molecules})):
        assert np.array_equal(predictor.predict(form).values, values)
    assert predictor.predict(pyarrow.array(["CCO", None])).status.tolist() == ["ok", "empty"]
    Chem = pytest.importorskip("rdkit.Chem")
    from_mols = predictor.predict([Chem.MolFromSmiles(one) for one in molecules]).values
    np.testing.assert_allclose(from_mols, values, rtol=1e-5)  # the canonical SMILES may have another order of atoms


@pytest.mark.parametrize("order", ["rdkit molgraph", "molgraph rdkit"])
def test_rdkit_in_the_same_process(run, predictor, order):
    """The module's own RDKit and that of the package rdkit do not affect each other, in both orders of import."""
    pytest.importorskip("rdkit")
    imports = {"rdkit": "from rdkit import Chem, RDLogger; RDLogger.DisableLog('rdApp.*'); Chem.MolFromSmiles('C')",
               "molgraph": f"import molgraph; predictor = molgraph.Predictor({run.path!r}); predictor.predict(['C'])"}
    code = "\n".join([*(imports[name] for name in order.split()), textwrap.dedent("""
        smiles = ["c1ccccc1C(=O)O", "C[C@H](N)O"]
        assert [Chem.MolToSmiles(Chem.MolFromSmiles(one)) for one in smiles] == ["O=C(O)c1ccccc1", "C[C@H](N)O"]
        assert Chem.MolFromSmiles("bad(") is None and predictor.predict(["bad("]).status[0] == "invalid_smiles"
        try:
            Chem.SanitizeMol(Chem.MolFromSmiles("CC(C)(C)(C)C", sanitize=False))
        except Chem.AtomValenceException:
            print("caught")
        print(repr(predictor.predict(smiles).values[:, 0].tolist()))
        """)])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    values = predictor.predict(["c1ccccc1C(=O)O", "C[C@H](N)O"]).values[:, 0].tolist()
    assert done.stdout.split("\n")[:2] == ["caught", repr(values)]


def test_data_of_another_rdkit_are_not_used(run, predictor, tmp_path):
    (tmp_path / "Data").mkdir()  # has no patterns, so that the descriptors of the blend could not be computed
    code = f"import molgraph; print(molgraph.Predictor({run.path!r}).predict(['CCO']).values[0, 0].item())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=dict(os.environ, RDBASE=str(tmp_path)))
    assert float(done.stdout) == predictor.predict(["CCO"]).values[0, 0]


def test_interval_of_a_call(run, predictor, molecules):
    def both(predictions):
        return np.hstack([predictions.low, predictions.high])

    narrow = molgraph.Predictor(run, threads=1, interval=0.5)
    wide = predictor.predict(molecules, interval=0.9)
    assert predictor.predict(molecules).low is None and narrow.predict(molecules, interval=0).high is None
    assert np.array_equal(both(narrow.predict(molecules, interval=0.9)), both(wide))
    assert np.array_equal(both(narrow.predict(molecules)), both(predictor.predict(molecules, interval=0.5)))
    assert np.array_equal(both(predictor.predict(iter(molecules), interval=0.9)), both(wide))
    parts = list(predictor.predict_windows(molecules, 150, interval=0.9))
    assert np.array_equal(np.vstack([both(part) for part in parts]), both(wide))
    assert (narrow.predict(molecules).high < wide.high).all() and np.array_equal(narrow.predict(molecules).values,
                                                                                 wide.values)
    for level in (-0.1, 0.4, 1, float("nan")):
        with pytest.raises(molgraph.UsageError, match="must be 0 .no interval. or from 0.5 to below 1"):
            molgraph.Predictor(run, interval=level)
        for smiles in (molecules, "CCO".split(), [], iter([])):
            with pytest.raises(molgraph.UsageError, match="must be 0"):
                predictor.predict(smiles, interval=level)
    with pytest.raises(molgraph.UsageError, match="too few labels"):
        predictor.predict(molecules, interval=0.99999)
    with pytest.raises(molgraph.UsageError, match="a single run"):
        molgraph.load([run.path, run.path], threads=1).predict(molecules, interval=0.9)


def test_logarithmic_target(tmp_path, molecules):
    table = tmp_path / "half_lives.csv"
    rows = [f"{smiles},{10 ** (len(smiles) / 10)!r}" for smiles in molecules]
    table.write_text("smiles,half_life\n" + "\n".join(rows) + "\n")
    found = molgraph.load(molgraph.train(table, tmp_path / "run", **tiny(report=False)), threads=1)
    assert found.task.logarithmic == [True] and "learned as logarithms" in found.describe()
    predictions, parts = found.predict(molecules[:20], interval=0.8), found.explain(molecules[:20])
    assert (0 < predictions.low).all() and (predictions.low < predictions.values).all()
    assert np.allclose(np.log10(predictions.values), parts.prediction, atol=1e-5)
    named = molgraph.train(table, tmp_path / "none", **tiny(report=False, log_targets=["none"]))
    assert molgraph.load(named, threads=1).task.logarithmic == [False]


def test_load_and_describe(run, predictor):
    both = molgraph.load([run.path, run.path], threads=1)
    assert both.targets == ["y"] and both.predict(["CCO"]).std[0, 0] == 0
    assert both.describe().count("y (regression)") == 2
    for text in (run.path, "y (regression)", "GRPE", "400 molecules", "mae"):
        assert text in predictor.describe(), predictor.describe()


def test_task(predictor):
    assert predictor.task.kind == "regression" and predictor.task.names == predictor.task.outputs == ["y"]


def test_memory_does_not_grow(predictor, molecules):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    some = molecules[:20] + ["bad("]
    for _ in range(200):
        predictor.predict(some), predictor.embed(some), molgraph.featurize(some).atoms
    before = resident()
    for _ in range(1000):
        predictor.predict(some), predictor.embed(some), molgraph.featurize(some).atoms
    assert resident() - before < 4 << 20


def test_control_c_ends_a_long_prediction(run):
    script = textwrap.dedent(f"""
        import molgraph
        predictor = molgraph.Predictor({run.path!r}, threads=1)
        smiles = ["C" * (20 + k % 50) + "c1ccccc1O" + "N" * (k // 50 % 40) for k in range(400000)]
        print("ready", flush=True)
        try:
            predictor.predict(smiles)
        except KeyboardInterrupt:
            print("interrupted")
    """)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a background job of a shell ignores SIGINT
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    began = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    assert time.monotonic() - began < 20


def test_importing_the_package_loads_neither_numpy_nor_the_library():
    script = "import sys, molgraph; print('numpy' in sys.modules, 'molgraph._core' in sys.modules, molgraph.__all__)"
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ).stdout
    assert output.startswith("False False ['Batch', ")
