"""Conversion of any container of molecules to lists of SMILES."""
import itertools
from typing import Any, Iterable, Iterator, List

WINDOW = 65536  # rows of an iterator that are in memory at a time


def is_stream(values: Any) -> bool:
    """True for iterators and generators, which can be read only once."""
    return iter(values) is values if hasattr(values, "__iter__") else False


def texts_of(values: Iterable[Any]) -> List[str]:
    """Returns the SMILES of a list, tuple, numpy array, pandas Series or Arrow array (also any object with
    ``__arrow_c_stream__``); missing values (None, NaN, NA) become "", molecules of RDKit their SMILES.

    Raises TypeError for a single string, for a table with more than one column, and for any other value; the message
    gives its index.
    """
    if isinstance(values, (str, bytes)):
        raise TypeError("SMILES must be passed as a list: [smiles], not smiles")
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise TypeError(f"the table must have one column of SMILES, not {shape[1]}")
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
    if hasattr(values, "to_pylist"):  # Arrow
        values = values.to_pylist()
    elif hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "__arrow_c_stream__") and not hasattr(values, "__iter__"):
        import pyarrow

        values = pyarrow.chunked_array(values).to_pylist()
    else:
        values = list(values)
    for place, value in enumerate(values):
        if type(value) is not str:
            values[place] = _text_of(value, place)
    return values


def _text_of(value: Any, place: int) -> str:
    if isinstance(value, str):  # numpy.str_
        return str(value)
    if value is None or type(value).__name__ == "NAType" or value != value:  # pandas.NA has no truth value
        return ""
    if type(value).__module__.startswith("rdkit.") and hasattr(value, "GetNumAtoms"):
        from rdkit.Chem import MolToSmiles

        return MolToSmiles(value)
    raise TypeError(f"SMILES {place}: must be a string, not {type(value).__name__} {value!r:.40}")


def windows_of(values: Iterable[Any], rows: int = WINDOW) -> Iterator[List[str]]:
    """Yields lists of at most ``rows`` SMILES. Raises TypeError like texts_of, and ValueError if rows < 1."""
    if rows < 1:
        raise ValueError(f"rows must be 1 or more, not {rows}")
    stream = iter(values if is_stream(values) else texts_of(values))
    while True:
        some = list(itertools.islice(stream, rows))
        if not some:
            return
        yield texts_of(some)
