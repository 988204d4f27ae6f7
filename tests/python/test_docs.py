"""The code of docs/guide/python.md, run from top to bottom as one session."""
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "python.md"


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    assert len(pieces) >= 7
    session = {}
    for piece in pieces:
        exec(compile(piece, str(PAGE), "exec"), session)
    output = capsys.readouterr().out
    for expected in ("['ok' 'ok' 'invalid_smiles']", "(10, 9) (2, 18)", "runs/nothing: no such run directory"):
        assert expected in output
    assert session["vectors"].shape == (160, 16) and len(session["mean"]) == 4
