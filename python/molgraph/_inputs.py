"""Conversion of any container of molecules to lists of SMILES, and of tables to arrays of numbers."""
import itertools
import os
from typing import Any, Iterable, Iterator, List, Union

import numpy as np

from molgraph import _core

Path = Union[str, "os.PathLike[str]"]
WINDOW = 65536  # rows of an iterator that are in memory at a time


def paths_of(runs: Union[Path, Iterable[Path]]) -> List[str]:
    """One or several paths as a list of texts."""
    return [os.fspath(run) for run in ([runs] if isinstance(runs, (str, os.PathLike)) else runs)]


def is_stream(values: Any) -> bool:
    """True for iterators and generators, which can be read only once."""
    return hasattr(values, "__next__")


def is_arrow(table: Any) -> bool:
    """True for a pyarrow Table or RecordBatch."""
    return type(table).__module__.split(".")[0] == "pyarrow" and hasattr(table, "schema")


def names_of(table: Any) -> List[Any]:
    """Column names of a dictionary, a DataFrame, or an Arrow table or record batch."""
    return list(table.schema.names if is_arrow(table) else table.keys())


def texts_of(values: Any, first: int = 0) -> List[str]:
    """Returns the SMILES of a list, tuple, numpy array, pandas Series or Arrow array (also any object with
    ``__arrow_c_stream__``); missing values (None, NaN, NA) become "", molecules of RDKit their SMILES.

    Raises TypeError for a single string or a dictionary, for a table with more than one column, and for any other
    value; the message gives its index, where ``first`` is that of values[0].
    """
    shape = getattr(values, "shape", None)
    if isinstance(values, dict):
        raise TypeError("SMILES must be passed as a list: table[column], not table")
    if isinstance(values, (str, bytes)) or shape == ():
        raise TypeError("SMILES must be passed as a list: [smiles], not smiles")
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise TypeError(f"the table must have one column of SMILES, not {shape[1]}")
        values = values.column(0) if is_arrow(values) else values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
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
        if type(value) is not str or not value.isascii():
            values[place] = _text_of(value, first + place)
    return values


def _text_of(value: Any, place: int) -> str:
    if isinstance(value, str):  # may be numpy.str_, or contain half of a surrogate pair
        return str(value).encode(errors="surrogatepass").decode(errors="replace")
    if _is_missing(value):
        return ""
    if type(value).__module__.startswith("rdkit.") and hasattr(value, "GetNumBonds"):
        from rdkit.Chem import MolToSmiles

        return MolToSmiles(value)
    raise TypeError(f"SMILES {place}: must be a string, not {type(value).__name__} {value!r:.40}")


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


def windows_of(values: Iterable[Any], rows: int = WINDOW) -> Iterator[List[str]]:
    """Yields lists of at most ``rows`` SMILES. Raises TypeError like texts_of, and ValueError if rows < 1."""
    if rows < 1:
        raise ValueError(f"rows must be 1 or more, not {rows}")
    stream = iter(values if is_stream(values) else texts_of(values))
    for first in itertools.count(0, rows):
        some = list(itertools.islice(stream, rows))
        if not some:
            return
        yield texts_of(some, first)


def numbers_of(table: Any, names: List[str]) -> np.ndarray:
    """Returns columns of a dictionary, a DataFrame or an Arrow table as float32 [n, columns]; missing values are NaN.

    Numbers too large for float32 become infinite. Raises UsageError if a column is missing or not unique, and DataError
    if a value is not a number (texts of numbers are accepted).
    """
    known = names_of(table)
    columns = []
    for name in names:  # as in molgraph-score, an exact match precedes a match in any case
        found = [other for other in known if other == name] or [
            other for other in known if str(other).strip().lower() == name.strip().lower()]
        if len(found) != 1:
            what = "is not unique" if found else "is missing"
            raise _core.UsageError(f"column '{name}' {what}; the model reads {', '.join(names)}")
        columns.append(_floats_of(table[found[0]], name))
    return np.column_stack(columns)


def with_nan(values: Any) -> np.ndarray:
    """Returns an array in which the masked values of a masked array are NaN."""
    if isinstance(values, np.ma.MaskedArray):
        kind = object if values.dtype.kind in "OU" else float
        return np.ma.filled(values.astype(kind), np.nan)
    return np.asarray(values)


def _floats_of(values: Any, name: str) -> np.ndarray:
    try:
        if hasattr(values, "to_pylist"):  # decodes dictionaries of Arrow
            values = values.to_pylist()
        elif hasattr(values, "iloc"):
            values = values.to_numpy()
        if not isinstance(values, np.ma.MaskedArray):
            values = np.asarray(values)
        if values.dtype.kind in "mM":
            raise TypeError("dates and durations are not numbers")
        values = with_nan(values)
        if values.dtype.kind in "OU":
            values = [np.nan if _is_missing(value) or isinstance(value, str) and not value.strip() else value
                      for value in values]
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise _core.DataError(f"column '{name}': {error}") from None
