"""Shared fixtures: a table of SMILES and a small run on it, trained once."""
import os
import subprocess

import pytest

import molgraph
from molgraph.programs import path_of

TINY = dict(epochs=2, layers=2, width=16, ffn=16, heads=2, threads=1, start="none", quiet=True, seed=3)
ENDS = ["O", "N", "c1ccccc1", "C1CC1", "C(=O)O", "c1ccncc1", "Cl", "S", "C#N", "C=C"]


def chain(k):
    return "C" * (1 + k // len(ENDS) % 20) + ENDS[k % len(ENDS)]


def tiny(**more):
    """Options of a training run that takes a second."""
    options = dict(TINY, **more)
    options["from"] = options.pop("start")
    return options


def program(name, *arguments, **options):
    return subprocess.run([path_of(name), *map(str, arguments)], capture_output=True, text=True, check=True, **options)


def pytest_sessionfinish(session, exitstatus):
    """Exit code 77, which ctest shows as skipped, if all tests of a file were skipped."""
    if exitstatus in (0, 5) and not session.config.pluginmanager.get_plugin("terminalreporter").stats.get("passed"):
        session.exitstatus = 77


@pytest.fixture(scope="session")
def molecules():
    return [chain(k) for k in range(400)]


@pytest.fixture(scope="session")
def table(tmp_path_factory, molecules):
    path = tmp_path_factory.mktemp("data") / "chains.csv"
    rows = [f"{smiles},{len(smiles) * 0.25 - k % 3}" for k, smiles in enumerate(molecules)]
    path.write_text("smiles,y\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory, table):
    """A run with labels in the applicability domain, calibration and a blend."""
    return molgraph.train(table, tmp_path_factory.mktemp("runs") / "run", **tiny(
        split_sizes=[0.7, 0.2, 0.1], domain_labels=True, duplicates="keep"))
