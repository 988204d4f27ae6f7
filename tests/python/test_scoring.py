"""Files, Parquet, and batches for Ray and Spark."""
import csv
import pickle
import shutil

import numpy as np
import pytest
from conftest import chain, program, tiny

import molgraph


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """1,000 molecules, two of them unreadable, as CSV and, if pyarrow is installed, as Parquet in three row groups."""
    folder = tmp_path_factory.mktemp("library")
    rows = [[k, chain(k), k % 7, "kept"] for k in range(998)] + [[998, "bad(", 1, "kept"], [999, "", 2, "kept"]]
    with open(folder / "library.csv", "w", newline="") as file:
        csv.writer(file).writerows([["key", "SMILES", "number", "status"], *rows])
    return folder


@pytest.fixture(scope="module")
def parquet_library(library):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = list(zip(*read(library / "library.csv", header=False)))
    table = pyarrow.table({"key": pyarrow.array(map(int, columns[0]), pyarrow.int32()), "SMILES": columns[1],
                           "number": pyarrow.array(map(float, columns[2])),
                           "status": pyarrow.array([value or None for value in columns[3]]).dictionary_encode()})
    parquet.write_table(table, library / "library.parquet", row_group_size=400)
    return library / "library.parquet"


def read(path, header=True):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return [dict(zip(rows[0], row)) for row in rows[1:]] if header else rows[1:]


def as_numbers(cells):
    return np.array([float(cell) if cell else np.nan for cell in cells], dtype=np.float32)


@pytest.fixture(scope="module")
def scored(run, library):
    """The output of molgraph-score."""
    program("molgraph-score", "-m", run.path, "-i", library / "library.csv", "-o", library / "scored.csv", "--interval",
            "0.9")
    return read(library / "scored.csv")


def check(columns, scored):
    """Compares columns with the output of molgraph-score."""
    assert len(scored) == len(columns["SMILES"]) == 1000
    for name in ("y_pred", "y_low", "y_high"):
        assert np.array_equal(np.asarray(columns[name], dtype=np.float32), as_numbers([row[name] for row in scored]),
                              equal_nan=True), name
    for name in ("molgraph_status", "reason"):
        assert list(columns[name]) == [row[name] for row in scored], name
    assert list(map(int, columns["key"])) == list(range(1000)) and set(columns["status"]) == {"kept"}


def test_score_file_equals_the_program(run, library, scored, capfd):
    molgraph.score_file(run, library / "library.csv", library / "again.csv", interval=0.9, threads=1)
    assert (library / "again.csv").read_text() == (library / "scored.csv").read_text()
    assert "warning: 1,000 rows" in capfd.readouterr().err
    (library / "one.smi").write_text("CCO\n")
    molgraph.score_file([run, run], library / "one.smi", library / "quiet.csv", quiet=True)
    assert capfd.readouterr().err == ""
    assert read(library / "quiet.csv")[0]["y_std"] == "0"
    with pytest.raises(molgraph.FileError, match="no-such.csv"):
        molgraph.score_file(run, library / "no-such.csv", library / "out.csv")
    with pytest.raises(molgraph.UsageError, match="both files must be Parquet"):
        molgraph.score_file(run, library / "library.csv", library / "out.parquet")


def test_parquet_is_scored_with_all_columns(run, parquet_library, library, scored, monkeypatch):
    from pyarrow import parquet

    monkeypatch.setattr("molgraph.scoring.ROWS", 300)  # more than one window in a row group
    molgraph.score_file(run, parquet_library, library / "scored.parquet", interval=0.9, threads=2)
    table = parquet.read_table(library / "scored.parquet")
    assert table.schema.names == ["key", "SMILES", "number", "status", "y_pred", "y_low", "y_high", "molgraph_status",
                                  "reason"]
    before = parquet.read_table(parquet_library)
    assert table.select(before.schema.names).equals(before)
    assert str(table.schema.field("y_pred").type) == "double"
    check(table.to_pydict(), scored)
    assert not (library / "scored.parquet.part").exists()


def test_parquet_is_embedded(run, parquet_library, library):
    from pyarrow import parquet

    molgraph.embed_file(run, parquet_library, library / "vectors.parquet", pooling="mean", layer=np.int64(-1), quiet=True)
    table = parquet.read_table(library / "vectors.parquet")
    vectors = np.stack(table["embedding"].to_numpy(zero_copy_only=False))
    expected = molgraph.Predictor(run).embed(table["SMILES"], "mean")
    assert vectors.dtype == np.float32 and np.array_equal(vectors, expected, equal_nan=True)
    assert table["molgraph_status"].to_pylist()[-2:] == ["invalid_smiles", "empty"]
    molgraph.embed_file(run, library / "library.csv", library / "vectors.npy", pooling="mean", quiet=True)
    assert np.array_equal(np.load(library / "vectors.npy"), expected, equal_nan=True)


def test_failures_leave_no_parquet_file(run, parquet_library, library, monkeypatch):
    import pyarrow
    from pyarrow import parquet

    out = library / "failed.parquet"
    with pytest.raises(molgraph.FileError, match="missing.parquet: no such file"):
        molgraph.score_file(run, library / "missing.parquet", out)
    (library / "text.parquet").write_text("not a table")
    with pytest.raises(molgraph.FileError, match="text.parquet to .*not a parquet file"):
        molgraph.score_file(run, library / "text.parquet", out)
    with pytest.raises(molgraph.UsageError, match="no column is named 'other'; the columns are key, SMILES"):
        molgraph.score_file(run, parquet_library, out, smiles_column="other")
    with pytest.raises(molgraph.UsageError, match="resume"):
        molgraph.score_file(run, parquet_library, out, resume=True)
    with pytest.raises(molgraph.UsageError, match="same file"):
        molgraph.score_file(run, parquet_library, parquet_library)
    parquet.write_table(pyarrow.table({"smiles": ["C"] * 3, "number": [None, None, 3]}), library / "numbers.parquet")
    monkeypatch.setattr("molgraph.scoring.ROWS", 2)
    with pytest.raises(molgraph.DataError, match="numbers.parquet, column 'number': SMILES 2: must be a string, not int"):
        molgraph.score_file(run, library / "numbers.parquet", out, smiles_column="number")
    with pytest.raises(molgraph.UsageError, match="must be files"):
        molgraph.score_file(run, "-", library / "out.csv")
    with pytest.raises(molgraph.FileError, match="out.parquet: no such folder"):
        molgraph.score_file(run, parquet_library, library / "no-such-folder" / "out.parquet")
    parquet.write_table(pyarrow.table({"a": ["C"]}), library / "unnamed.parquet")
    with pytest.raises(molgraph.UsageError, match="specify smiles_column"):
        molgraph.score_file(run, library / "unnamed.parquet", out)
    molgraph.score_file(run, library / "unnamed.parquet", library / "named.parquet", smiles_column="a")

    monkeypatch.setattr("molgraph.scoring.ROWS", 300)
    calls = []

    def fail(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(self, *arguments)

    original = molgraph.Predictor.predict
    monkeypatch.setattr(molgraph.Predictor, "predict", fail)
    with pytest.raises(KeyboardInterrupt):
        molgraph.score_file(run, parquet_library, out)
    assert len(calls) == 2 and not list(library.glob("failed.parquet*"))


def test_empty_parquet_file_keeps_the_columns(run, library):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"smiles": pyarrow.array([], pyarrow.string())}), library / "empty.parquet")
    molgraph.score_file(run, library / "empty.parquet", library / "scored-empty.parquet")
    table = parquet.read_table(library / "scored-empty.parquet")
    assert table.num_rows == 0 and table.schema.names == ["smiles", "y_pred", "status", "reason"]
    assert [str(table.schema.field(name).type) for name in table.schema.names] == ["string", "double", "string", "string"]


def test_columns_of_the_input_are_never_replaced(run):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"smiles": ["C"], "Status": ["a"], "molgraph_status": ["b"], "schema": ["c"]})
    for batch in (frame, pyarrow.Table.from_pandas(frame), {name: frame[name].to_numpy() for name in frame}):
        result = molgraph.BatchPredictor(run)(batch)
        names = list(result.schema.names if isinstance(result, pyarrow.Table) else result)
        assert names == [*frame.columns, "y_pred", "molgraph_molgraph_status", "reason"]
        assert [list(map(str, result[name])) for name in frame.columns] == [["C"], ["a"], ["b"], ["c"]]
    with pytest.raises(molgraph.UsageError, match="several columns are named 'smiles'"):
        molgraph.BatchPredictor(run)(pyarrow.Table.from_arrays([pyarrow.array(["C"])] * 2, ["smiles", "smiles"]))
    with pytest.raises(molgraph.UsageError, match="not list"):
        molgraph.BatchPredictor(run)(["C"])


def test_a_changed_run_is_loaded_again(run, tmp_path):
    pandas = pytest.importorskip("pandas")
    shutil.copytree(run.path, tmp_path / "run")
    predictor, frame = molgraph.BatchPredictor(tmp_path / "run"), pandas.DataFrame({"smiles": ["CCO"]})
    first = predictor.predictor
    assert predictor(frame)["status"].tolist() == ["ok"] and predictor.predictor is first
    shutil.rmtree(tmp_path / "run")
    shutil.copytree(run.path, tmp_path / "run", copy_function=shutil.copyfile)  # with the time of today
    assert predictor(frame)["status"].tolist() == ["ok"] and predictor.predictor is not first


def test_batches_of_every_kind(run, library, scored):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(library / "library.csv", dtype={"SMILES": str}, keep_default_na=False)
    predictor = pickle.loads(pickle.dumps(molgraph.BatchPredictor(run, interval=0.9)))
    result = predictor(frame)
    assert list(frame.columns) == ["key", "SMILES", "number", "status"], "the input must not change"
    check(result, scored)
    check(predictor({name: frame[name].to_numpy() for name in frame.columns}), scored)
    check(pandas.concat(predictor(iter([frame[:600], frame[600:]]))), scored)
    assert predictor.predictor is molgraph.BatchPredictor(run, interval=0.9).predictor, "a process loads a run once"
    few = molgraph.BatchPredictor(run, columns=["y_pred"])(frame)
    assert list(few.columns) == [*frame.columns, "y_pred"]
    with pytest.raises(molgraph.UsageError, match="there is no 'z_pred'; choose from y_pred, status, reason"):
        molgraph.BatchPredictor(run, columns=["z_pred"])(frame)
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(frame)
    check(predictor(table).to_pydict(), scored)
    batches = list(predictor(iter(table.to_batches(max_chunksize=300))))
    assert all(isinstance(batch, pyarrow.RecordBatch) for batch in batches) and len(batches) == 4
    check(pyarrow.Table.from_batches(batches).to_pydict(), scored)


def test_batches_pass_numeric_columns_to_the_model(tmp_path, molecules):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"smiles": molecules[:60], "logD": np.linspace(-1, 1, 60), "y": np.arange(60.0)})
    run = molgraph.train(frame, tmp_path / "run", **tiny(descriptor_columns=["logD"], blend=False))
    values = molgraph.BatchPredictor(run)(frame)["y_pred"].to_numpy()
    assert np.array_equal(values, molgraph.Predictor(run).predict(frame["smiles"], frame).values[:, 0])
    with pytest.raises(molgraph.UsageError, match="column 'logD' is missing"):
        molgraph.BatchPredictor(run)(frame[["smiles"]])
    pyarrow = pytest.importorskip("pyarrow")
    missing = pyarrow.table({"y": [1.0, 2.0], "smiles": ["C", "CC"], "logD": pyarrow.array([0.5, None])})
    expected = molgraph.Predictor(run).predict(["C", "CC"], np.array([[0.5], [np.nan]])).values[:, 0]
    for table in (missing, missing.set_column(2, "logD", missing["logD"].dictionary_encode()), missing.to_batches()[0],
                  pandas.DataFrame({"smiles": ["C", "CC"], "logD": pandas.array([0.5, pandas.NA], dtype=object)}),
                  {"smiles": ["C", "CC"], "logD": [0.5, None]}):
        assert np.array_equal(molgraph.BatchPredictor(run)(table)["y_pred"], expected)
    assert np.array_equal(molgraph.Predictor(run).predict(["C", "CC"], missing).values[:, 0], expected)
    for values in (np.array(["2026-11-26"], dtype="datetime64[ns]"), ["x"]):
        with pytest.raises(molgraph.DataError, match="column 'logD': "):
            molgraph.BatchPredictor(run)({"smiles": ["C"], "logD": values})
    twice = pyarrow.Table.from_arrays([pyarrow.array(["C"]), *[pyarrow.array([1.0])] * 2], ["smiles", "logD", "logD"])
    with pytest.raises(molgraph.UsageError, match="column 'logD' is not unique"):
        molgraph.BatchPredictor(run)(twice)


def test_classes_have_the_names_of_the_program(tmp_path, molecules):
    pandas = pytest.importorskip("pandas")
    labels = ["low", "middle", "high"]
    frame = pandas.DataFrame({"smiles": molecules[:90], "level": [labels[k % 3] for k in range(90)]})
    run = molgraph.train(frame, tmp_path / "run", **tiny(
        task_type="multiclass", target_columns=["level"], blend=False, out_of_fold=False))
    some = ["CCO", "bad(", "CCN"]
    (tmp_path / "some.csv").write_text("\n".join(["smiles", *some]) + "\n")
    program("molgraph-score", "-m", run.path, "-i", tmp_path / "some.csv", "-o", tmp_path / "out.csv")
    expected = read(tmp_path / "out.csv")
    columns = molgraph.Predictor(run).predict(some).columns()
    assert ["smiles", *columns] == list(expected[0])
    for name, values in columns.items():
        cells = [row[name] for row in expected]
        if "_prob_" in name:
            assert np.array_equal(values.astype(np.float32), as_numbers(cells), equal_nan=True)
        else:
            assert list(values) == cells
