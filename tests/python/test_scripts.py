"""Parts of scripts/assay-corpus that decide which molecules and tasks the corpus contains."""
import gzip
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("rdkit")
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "assay-corpus"


@pytest.fixture(scope="module")
def corpus():
    loader = importlib.machinery.SourceFileLoader("assay_corpus", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("assay_corpus", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "one, other",
    [
        ("CC(=O)[O-].[Na+]", "CC(=O)O"),  # salt
        ("C[C@H](N)C(=O)O", "CC(N)C(O)=O"),  # stereochemistry
        ("[2H]C([2H])([2H])O", "CO"),  # isotopes
        ("Oc1ccccn1", "O=c1cccc[nH]1"),  # tautomers
    ],
)
def test_the_same_molecule(corpus, one, other):
    assert set(corpus.keys(one)) & set(corpus.keys(other))


def test_other_molecules(corpus):
    assert not set(corpus.keys("CCO")) & set(corpus.keys("CCN"))
    assert corpus.keys("not a molecule") == ("not a molecule",)


def test_tasks(corpus, tmp_path):
    path = tmp_path / "tasks.csv"
    path.write_text(
        "task,repo,family,kind,near_duplicate_of\n"
        "good,a/b,ADME,regression,\n"
        "other,c/d,ADME,binary,\n"
        "energy,a/b,QM,computed,\n"
        "colour,a/b,optical,regression,\n"
        "copy,a/b,ADME,regression,good\n"
        "mlsmr_herg:sid,a/b,toxicity,regression,\n"
    )
    assert corpus.wanted_tasks(path, "") == {"good", "other"}
    assert corpus.wanted_tasks(path, "c/d") == {"other"}
    with pytest.raises(corpus.Problem, match="no task of the repository 'e/f'"):
        corpus.wanted_tasks(path, "e/f")


def test_wrong_files(tmp_path):
    tasks, labels = tmp_path / "tasks.csv", tmp_path / "labels.csv"
    tasks.write_text("task,repo,family,kind,near_duplicate_of\ngood,a/b,ADME,regression,\n")
    labels.write_text("smiles,task\nCCO,good\n")

    def error_of(*files):
        run = [sys.executable, str(SCRIPT), *map(str, files), "--data", str(tmp_path)]
        done = subprocess.run(run, capture_output=True, text=True)
        assert done.returncode == 3
        return done.stderr

    out, missing, damaged = tmp_path / "out.csv", tmp_path / "missing.csv", tmp_path / "damaged.csv.gz"
    damaged.write_text("not gzipped")
    short, broken = tmp_path / "short.csv", tmp_path / "broken.csv.gz"
    short.write_text("smiles,task,value\nCCO,good,1\nCCN,good\n")
    content = bytearray(gzip.compress(b"smiles,task,value\n" + b"CCO,good,1\n" * 50))
    content[10] = 7  # an invalid type of block
    broken.write_bytes(bytes(content))
    assert error_of(missing, out, labels) == f"assay-corpus: {missing}: No such file or directory\n"
    assert error_of(tasks, out, labels) == f"assay-corpus: {labels}: has no column 'value'\n"
    assert error_of(tasks, out, damaged).startswith(f"assay-corpus: {damaged}: Not a gzipped file")
    assert error_of(tasks, out, short) == f"assay-corpus: {short}, line 3: has too few cells\n"
    assert error_of(tasks, out, broken).startswith(f"assay-corpus: {broken}: Error -3 while decompressing")
    absent = tmp_path / "absent" / "out.csv"
    assert error_of(tasks, absent, labels) == f"assay-corpus: {absent}: its folder does not exist\n"
    assert error_of(tasks, out, f"{labels}=e/f") == f"assay-corpus: {tasks}: has no task of the repository 'e/f'\n"
    assert not out.exists()


def test_output(corpus, tmp_path):
    out = tmp_path / "out.csv"
    corpus.write_table(out, ["smiles", "good"], [["CCO", "1"], ["CCN", ""]])
    assert out.read_text() == "smiles,good\nCCO,1\nCCN,\n"
    (tmp_path / "other.csv.part").mkdir()
    with pytest.raises(corpus.Problem, match="other.csv: Is a directory"):
        corpus.write_table(tmp_path / "other.csv", ["smiles"], [])
