"""The Python code of the README, of docs/guide/python.md and of the notebook, each run from top to bottom."""
import json
import pathlib
import re

import pytest

import molgraph

ROOT = pathlib.Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
PAGE = GUIDE / "python.md"


def pieces_of(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)


def test_the_readme_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    rows = [f"{'C' * (1 + k % 30)}{'ONSF'[k % 4]},{k % 30 - k % 4}" for k in range(120)]
    (tmp_path / "my_assay.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    train = molgraph.train
    monkeypatch.setattr(molgraph, "train", lambda *data: train(*data, epochs=1, quiet=True))
    (piece,) = pieces_of(ROOT / "README.md")
    exec(compile(piece, "README.md", "exec"), {})
    output = capsys.readouterr().out
    assert "'rmse': " in output and "y_pred" in output and "y_low" in output


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    pieces = pieces_of(PAGE)
    assert len(pieces) >= 7
    session = {}
    for piece in pieces:
        exec(compile(piece, str(PAGE), "exec"), session)
    output = capsys.readouterr().out
    for expected in ("['ok' 'ok' 'invalid_smiles']", "(10, 9) (2, 18)", "runs/nothing: no such run directory"):
        assert expected in output
    assert session["vectors"].shape == (160, 16) and len(session["mean"]) == 4


def test_the_notebook_runs(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    pytest.importorskip("IPython")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    rows = [f"{'C' * (1 + k % 30)}{'ONSF'[k % 4]},{k % 30 - k % 4}" for k in range(120)]
    (tmp_path / "esol.csv").write_text("\n".join(["smiles,measured log solubility in mols per litre", *rows]) + "\n")
    train = molgraph.train
    monkeypatch.setattr(molgraph, "train", lambda *data, **options: train(*data, epochs=1, **options))
    session, source = {}, (GUIDE / "tour.py").read_text()
    exec(compile(source, "tour.py", "exec"), session)
    assert session["vectors"].shape[0] == 120 and (tmp_path / "drawings" / "1.svg").exists()
    cells = json.loads((GUIDE / "tour.ipynb").read_text())["cells"]
    code = ["# %%\n" + "".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == source.count("# %%\n") and all(cell in source for cell in code)
