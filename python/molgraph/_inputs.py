"""Whatever holds SMILES as lists of texts."""
import itertools
from typing import Any, Iterable, Iterator, List

WINDOW = 65536  # rows of an iterator that are held at once


def is_stream(values: Any) -> bool:
    """True of iterators and generators: what can be gone through but once."""
    return iter(values) is values if hasattr(values, "__iter__") else False


def texts_of(values: Iterable[Any]) -> List[str]:
    """SMILES of a list, tuple, numpy array or pandas Series; missing ones (None, NaN, NA) become "".

    Raises TypeError for one text instead of several, for a table of more than one column, and for a value that is
    neither a text nor missing; the message names its place.
    """
    if isinstance(values, (str, bytes)):
        raise TypeError("SMILES are given as a list: [smiles], not smiles")
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[1] != 1:
            raise TypeError(f"one column of SMILES is needed, and the table has {shape[1]}")
        values = values.iloc[:, 0] if hasattr(values, "iloc") else values[:, 0]
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    for place, value in enumerate(values):
        if type(value) is not str:
            values[place] = _text_of(value, place)
    return values


def _text_of(value: Any, place: int) -> str:
    if isinstance(value, str):  # numpy.str_
        return str(value)
    if value is None or type(value).__name__ == "NAType" or value != value:  # pandas.NA has no truth value
        return ""
    raise TypeError(f"SMILES {place}: a text is needed, not {type(value).__name__} {value!r:.40}")


def windows_of(values: Iterable[Any], rows: int = WINDOW) -> Iterator[List[str]]:
    """Lists of at most ``rows`` SMILES, one after the other. Raises TypeError as texts_of, ValueError if rows < 1."""
    if rows < 1:
        raise ValueError(f"rows must be 1 or more, not {rows}")
    stream = iter(values if is_stream(values) else texts_of(values))
    while True:
        some = list(itertools.islice(stream, rows))
        if not some:
            return
        yield texts_of(some)
