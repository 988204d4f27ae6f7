#!/usr/bin/env python3
"""Writes the archives beside this file with PyTorch (made with 2.11): what torch.save makes of ordinary and odd state
dicts, and zip files that torch.save would not make. The tests read the results; they need no PyTorch."""
import argparse
import collections
import contextlib
import pathlib
import struct
import sys
import types
import warnings
import zipfile

import torch

HERE = pathlib.Path(__file__).resolve().parent


@contextlib.contextmanager
def fake_numpy():
    """Yields a maker of objects that pickle exactly as NumPy's arrays of int64 do; NumPy itself is not needed."""
    numpy, core, multiarray = (types.ModuleType(n) for n in ("numpy", "numpy.core", "numpy.core.multiarray"))

    class dtype:
        def __init__(self, *_):
            pass

        def __reduce__(self):
            return numpy.dtype, ("i8", False, True), (3, "<", None, None, None, -1, -1, 0)

        def __setstate__(self, _):
            pass

    class ndarray:
        def __reduce__(self):
            return multiarray._reconstruct, (numpy.ndarray, (0,), b"b"), (
                1, (len(self.rows),), dtype(), False, struct.pack(f"<{len(self.rows)}q", *self.rows))

    def _reconstruct(*_):
        pass

    for thing, module in ((dtype, numpy), (ndarray, numpy), (_reconstruct, multiarray)):
        thing.__module__, thing.__qualname__ = module.__name__, thing.__name__
        setattr(module, thing.__name__, thing)

    def array(rows):
        result = ndarray()
        result.rows = rows
        return result

    before = dict(sys.modules)
    sys.modules.update({m.__name__: m for m in (numpy, core, multiarray)})
    try:
        yield array
    finally:
        for name in ("numpy", "numpy.core", "numpy.core.multiarray"):
            sys.modules.pop(name)
            if name in before:
                sys.modules[name] = before[name]


def main():
    weights = collections.OrderedDict(
        {"layer.weight": torch.arange(6, dtype=torch.float32).view(2, 3), "layer.bias": torch.tensor([-1.0, 0.5])})
    torch.save(weights, HERE / "plain.pt")
    layer = torch.nn.Linear(3, 2)
    layer.load_state_dict({"weight": weights["layer.weight"], "bias": weights["layer.bias"]})
    model = torch.nn.Module()
    model.layer = layer
    optimizer = torch.optim.AdamW(model.parameters())
    layer(torch.ones(1, 3)).sum().backward()
    state = optimizer.state_dict()
    torch.save({"model": {f"layer.{k}": p for k, p in layer.named_parameters()}, "optimizer": state, "epoch": 3, "lr": 0.1,
                "name": "run", "done": True, "best": None, "sizes": [1, (2, 3)]}, HERE / "under_model.pt")
    torch.save({"state_dict": model.state_dict(), "shape": torch.Size([2, 3]), "dtype": torch.float32},
               HERE / "under_state_dict.pt")
    torch.save({"float64": torch.tensor([1.5, -2, 3e300], dtype=torch.float64),
                "float16": torch.tensor([1.5, -65504, 2 ** -24, float("inf"), float("nan"), -0.0], dtype=torch.float16),
                "bfloat16": torch.tensor([1.5, -3], dtype=torch.bfloat16), "int64": torch.tensor([-7, 2 ** 40]),
                "int32": torch.tensor([-8], dtype=torch.int32), "int16": torch.tensor([-300, 300], dtype=torch.int16),
                "int8": torch.tensor([-5, 100], dtype=torch.int8), "uint8": torch.tensor([200], dtype=torch.uint8),
                "bool": torch.tensor([True, False]), "scalar": torch.tensor(42.0), "empty": torch.zeros(0, 4)},
               HERE / "types.pt")
    whole = torch.arange(6, dtype=torch.float32).view(2, 3)
    torch.save({"whole": whole, "transposed": whole.t(), "column": whole[:, 1], "same": whole}, HERE / "views.pt")

    torch.save({"model": weights, "args": argparse.Namespace(lr=0.1)}, HERE / "with_namespace.pt")
    torch.save(layer, HERE / "whole_module.pt")
    torch.save(weights, HERE / "old_format.pt", _use_new_zipfile_serialization=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(layer), HERE / "script.pt")
    torch.save({"encoder": {"w": whole}, "step": 3}, HERE / "nested.pt")
    torch.save({"w": torch.zeros(1).expand(1000)}, HERE / "expanded.pt")

    # OGB-LSC's split_dict.pt, with tensors and as it is handed out, with NumPy's arrays.
    parts = {"train": [5, 0, 300, 2 ** 33], "valid": [1], "test-dev": [200, 3], "test-challenge": []}
    torch.save({name: torch.tensor(rows, dtype=torch.int64) for name, rows in parts.items()}, HERE / "split_tensors.pt")
    with fake_numpy() as array:
        torch.save({name: array(rows) for name, rows in parts.items()}, HERE / "split_arrays.pt")

    members = zipfile.ZipFile(HERE / "plain.pt")
    with zipfile.ZipFile(HERE / "deflated.pt", "w", zipfile.ZIP_DEFLATED) as out:
        for name in members.namelist():
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), members.read(name), zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(HERE / "bomb.pt", "w") as out:  # 16 MB in 16 kB
        for name in members.namelist():
            bomb = name.endswith("data/0")
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), bytes(1 << 24) if bomb else members.read(name),
                         zipfile.ZIP_DEFLATED if bomb else zipfile.ZIP_STORED)
    with warnings.catch_warnings(), zipfile.ZipFile(HERE / "doubled.pt", "w") as out:
        warnings.simplefilter("ignore")
        for name in [*members.namelist(), members.namelist()[0]]:
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), members.read(name))


if __name__ == "__main__":
    main()
