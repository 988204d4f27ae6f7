"""Locations and entry points of the programs in the package."""
import importlib.metadata
import importlib.util
import os
import shutil
import signal
import sys
from typing import Dict, List, Tuple

from molgraph import _core

_BIN = os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), "bin")  # the package's own programs
NEED_TORCH = ("molgraph-train", "molgraph-pretrain", "molgraph-import")
TESTED_TORCH = ((2, 11), (2, 12))  # at least the first, below the second: the C++ interface changes in every version


def path_of(name: str, on_path: bool = True) -> str:
    """Path of a program: in the package, in the folder $MOLGRAPH_BIN or, with ``on_path``, on PATH.

    Raises FileError if it is not found.
    """
    given = os.environ.get("MOLGRAPH_BIN")
    for folder in [_BIN] + ([os.path.abspath(given)] if given else []):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(name) if on_path else None
    if found is None:
        raise _core.FileError(f"{name} is neither in the package nor in $MOLGRAPH_BIN" + (" nor on PATH" if on_path else ""))
    return found


def shipped_weights() -> str:
    """Path of the pre-trained weights that ship with molgraph: in $MOLGRAPH_PRETRAINED, else in the package.

    Raises FileError if they are missing.
    """
    package = os.path.join(os.path.dirname(_BIN), "share", "molgraph", "pretrained")
    path = os.path.join(os.environ.get("MOLGRAPH_PRETRAINED", package), "grpe-small.safetensors")
    if not os.path.isfile(path):
        raise _core.FileError(f"{path}: no such file")
    return path


def torch_version(text: str) -> Tuple[int, ...]:
    """"2.11.0+cpu" -> (2, 11)"""
    return tuple(int(part) for part in text.split("+")[0].split(".")[:2])


def environment_of(path: str) -> Dict[str, str]:
    """Environment for starting a program. The package's training programs find LibTorch in the package torch.

    Raises RunError if torch is missing or its version is untested.
    """
    environment = dict(os.environ)
    name = os.path.basename(path)
    if name not in NEED_TORCH or os.path.dirname(path) != _BIN:
        return environment
    low, high = ("%d.%d" % version for version in TESTED_TORCH)
    wanted = f"{name} needs the package torch: pip install 'torch>={low},<{high}'"
    found = importlib.util.find_spec("torch")
    if found is None or not found.submodule_search_locations:
        raise _core.RunError(wanted)
    version = importlib.metadata.version("torch")
    if not TESTED_TORCH[0] <= torch_version(version) < TESTED_TORCH[1]:
        raise _core.RunError(f"{wanted}; torch {version} is installed")
    torch = list(found.submodule_search_locations)[0]
    folders = [os.path.join(torch, "lib")]
    nvidia = os.path.join(os.path.dirname(torch), "nvidia")  # libraries that a GPU version of torch links
    if os.path.isdir(nvidia):
        folders += [os.path.join(nvidia, part, "lib") for part in sorted(os.listdir(nvidia))]
    before = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = ":".join(folders + ([before] if before else []))
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    return environment


def _replace_by(name: str, arguments: List[str]) -> None:
    try:
        path = path_of(name, on_path=False)  # PATH contains this entry point
        os.execve(path, [name] + arguments, environment_of(path))
    except (_core.FileError, _core.RunError, OSError) as error:
        sys.exit(f"{name}: error: {error}")


def main() -> None:
    """Entry point of every program: replaces this process with the program of the same name."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores SIGPIPE, and programs would inherit this
    _replace_by(os.path.basename(sys.argv[0]), sys.argv[1:])
