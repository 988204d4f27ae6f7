"""The programs that come with the package: where they are, and their entry points."""
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
TESTED_TORCH = ((2, 11), (2, 12))  # from the first, below the second: the C++ interface changes with every version


def path_of(name: str, on_path: bool = True) -> str:
    """The program of that name: the package's own, that in the folder $MOLGRAPH_BIN, or (``on_path``) one on PATH.

    Raises FileError where there is none.
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


def torch_version(text: str) -> Tuple[int, ...]:
    """"2.11.0+cpu" -> (2, 11)"""
    return tuple(int(part) for part in text.split("+")[0].split(".")[:2])


def environment_of(path: str) -> Dict[str, str]:
    """The environment to start a program in: one of the package that trains finds LibTorch in the package torch.

    Raises RunError where torch is missing or of a version that was not tested.
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
        raise _core.RunError(f"{wanted}; here is torch {version}")
    torch = list(found.submodule_search_locations)[0]
    folders = [os.path.join(torch, "lib")]
    nvidia = os.path.join(os.path.dirname(torch), "nvidia")  # what a torch for GPUs itself links
    if os.path.isdir(nvidia):
        folders += [os.path.join(nvidia, part, "lib") for part in sorted(os.listdir(nvidia))]
    before = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = ":".join(folders + ([before] if before else []))
    environment.setdefault("OMP_WAIT_POLICY", "passive")
    return environment


def _replace_by(name: str, arguments: List[str]) -> None:
    try:
        path = path_of(name, on_path=False)  # this entry point is on PATH itself
        os.execve(path, [name] + arguments, environment_of(path))
    except (_core.FileError, _core.RunError, OSError) as error:
        sys.exit(f"{name}: error: {error}")


def main() -> None:
    """Entry point of every program: the one that this is called as takes this process's place."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and programs would inherit that
    _replace_by(os.path.basename(sys.argv[0]), sys.argv[1:])
