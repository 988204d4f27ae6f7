"""Scoring of files and of batches of tables: Parquet, Ray and Spark."""
import contextlib
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from molgraph import _core
from molgraph._inputs import Path, is_arrow, names_of, paths_of, texts_of
from molgraph.prediction import Predictor, arrow_of
from molgraph.programs import path_of
from molgraph.training import flags_of, run_program

ROWS = 65536  # rows of a Parquet file that are in memory at a time
_COMMON_NAMES = ("smiles", "canonical_smiles")  # in any case, as in the programs
_loaded: Dict[Tuple[Any, ...], Tuple[Any, Predictor]] = {}  # BatchPredictor: state of the files, and the predictor


def score_file(run: Union[Path, List[Path]], input: Path, output: Path, *, quiet: bool = False, **options: Any) -> None:
    """Scores a table with ``molgraph-score``: every row of ``input`` gives one row of ``output``, in order, with all
    its columns and the new ones.

    ``options`` are the program's flags (``interval=0.9``, ``domain=True``, ``resume=True``, ``threads=4``). If
    ``input`` and ``output`` end in ``.parquet``, the options are ``smiles_column`` (default: smiles or
    canonical_smiles) and those of :class:`Predictor`; 65,536 rows are in memory at a time, and pyarrow is needed.
    Progress goes to sys.stderr (Parquet: if tqdm is installed; ``quiet``: no progress). Raises UsageError, DataError,
    FileError or RunError.
    """
    if not _is_parquet(input, output):
        _run_on_file("molgraph-score", run, input, output, quiet, options)
        return
    smiles_column = options.pop("smiles_column", None)
    predictor = _predictor_of(run, options)
    _map_parquet(input, output, smiles_column, quiet, lambda smiles, table: predictor.predict(smiles, table).columns())


def embed_file(run: Path, input: Path, output: Path, *, quiet: bool = False, **options: Any) -> None:
    """Embeds the molecules of a table with ``molgraph-embed``; ``options`` are the program's flags (``pooling="mean"``,
    ``layer=[-1, 6]``, ``l2=True``).

    If ``input`` and ``output`` end in ``.parquet``, the output has all columns of the input and the new ones
    ``embedding`` (a list of float32; NaN for invalid molecules), ``status`` and ``reason``. The options are then
    ``smiles_column``, ``pooling``, ``layer``, ``l2`` and those of :class:`Predictor`; pyarrow is needed. ``quiet`` and
    errors are as in :func:`score_file`.
    """
    if not _is_parquet(input, output):
        _run_on_file("molgraph-embed", run, input, output, quiet, options)
        return
    smiles_column = options.pop("smiles_column", None)
    layers = options.pop("layer", [-1])
    kind: Dict[str, Any] = {name: options.pop(name) for name in ("pooling", "l2") if name in options}
    kind["layers"] = np.atleast_1d(layers).tolist()
    predictor = _predictor_of(run, options)

    def embed(smiles: List[str], _: Any) -> Dict[str, Any]:
        import pyarrow

        found = predictor.embeddings(smiles, **kind)
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(found.values.reshape(-1)), found.values.shape[1])
        return {"embedding": vectors, "status": found.status, "reason": found.reason}

    _map_parquet(input, output, smiles_column, quiet, embed)


def _is_parquet(input: Path, output: Path) -> bool:
    parquet = [os.fspath(path).lower().endswith(".parquet") for path in (input, output)]
    if parquet[0] != parquet[1]:
        raise _core.UsageError(f"{os.fspath(input)}, {os.fspath(output)}: both files must be Parquet, or none")
    if "-" in (os.fspath(input), os.fspath(output)):
        raise _core.UsageError("input and output must be files, not '-'")
    return parquet[0]


def _predictor_of(run: Any, options: Dict[str, Any]) -> Predictor:
    try:
        return Predictor(run, **options)
    except TypeError as error:  # an option that Predictor does not have
        raise _core.UsageError(f"Parquet files: {error}") from None


def _run_on_file(name: str, runs: Any, input: Path, output: Path, quiet: bool, options: Dict[str, Any]) -> None:
    program = path_of(name)
    run_program([program, "--model", *paths_of(runs), "--input", os.fspath(input), "--output", os.fspath(output),
                 *flags_of(program, options)] + (["--quiet"] if quiet else []))


def _map_parquet(input: Path, output: Path, smiles_column: Optional[str], quiet: bool,
                 work: Callable[[List[str], Any], Dict[str, Any]]) -> None:
    """Writes OUTPUT.part, and renames it when it is complete."""
    import pyarrow
    from pyarrow import parquet

    input, output = os.fspath(input), os.fspath(output)
    part = output + ".part"
    if not os.path.isdir(os.path.dirname(os.path.abspath(output))):
        raise _core.FileError(f"{output}: no such folder")
    if os.path.exists(input) and os.path.exists(output) and os.path.samefile(input, output):
        raise _core.UsageError(f"{output}: the output is the same file as the input")
    writer, first = None, 0
    try:
        with parquet.ParquetFile(input) as file, _progress(file.metadata.num_rows, quiet) as advance:
            column = smiles_column_of(file.schema_arrow.names, smiles_column, input)
            # An empty file still needs the schema of the new columns.
            for table in file.iter_batches(ROWS) if file.metadata.num_rows else [file.schema_arrow.empty_table()]:
                table = _with_columns(table, work(_smiles_of(table, column, input, first), table))
                first += table.num_rows
                if writer is None:
                    writer = parquet.ParquetWriter(part, table.schema)
                writer.write(table)
                advance(table.num_rows)
        assert writer is not None
        writer.close()
        os.replace(part, output)
    except BaseException as error:
        if writer is not None:
            with contextlib.suppress(Exception):
                writer.close()
            with contextlib.suppress(OSError):
                os.remove(part)
        if isinstance(error, FileNotFoundError) and not os.path.exists(input):
            raise _core.FileError(f"{input}: no such file") from None
        if isinstance(error, (pyarrow.ArrowException, OSError)) and not isinstance(error, _core.FileError):
            raise _core.FileError(f"{input} to {output}: {error}") from None
        raise


@contextlib.contextmanager
def _progress(rows: int, quiet: bool) -> Iterator[Callable[[int], Any]]:
    """A progress bar of tqdm on sys.stderr, as a function of the number of new rows; does nothing if tqdm is missing."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda rows: None
        return
    with tqdm(total=rows, unit=" molecules", unit_scale=True, disable=quiet) as bar:
        yield bar.update


def smiles_column_of(names: Iterable[Any], wanted: Optional[str], where: str) -> str:
    """The column of SMILES among ``names``. Raises UsageError if ``wanted`` or, without it, a common name is missing."""
    names = list(names)
    found = [name for name in names if name == wanted] if wanted is not None else [
        name for common in _COMMON_NAMES for name in names if str(name).lower() == common]
    if not found:
        missing = "smiles or canonical_smiles: specify smiles_column" if wanted is None else repr(wanted)
        raise _core.UsageError(f"{where}: no column is named {missing}; the columns are {', '.join(map(str, names))}")
    if found.count(found[0]) > 1:
        raise _core.UsageError(f"{where}: several columns are named {found[0]!r}")
    return found[0]


def _smiles_of(table: Any, column: str, where: str, first: int = 0) -> List[str]:
    try:
        return texts_of(table[column], first)
    except TypeError as error:
        raise _core.DataError(f"{where}, column {column!r}: {error}") from None


def _new_names(names: Iterable[str], added: Iterable[str]) -> Dict[str, str]:
    """Names for added columns: as long as a column of that name exists, it gets the prefix molgraph_. Unlike the
    programs, this does not distinguish upper and lower case, because Spark does not."""
    taken = {str(name).lower() for name in names}
    new: Dict[str, str] = {}
    for name in added:
        new[name] = name
        while new[name].lower() in taken:
            new[name] = "molgraph_" + new[name]
        taken.add(new[name].lower())
    return new


def _with_columns(table: Any, columns: Dict[str, Any]) -> Any:
    """A table of the same type with more columns: a dictionary of arrays, a DataFrame, or an Arrow table."""
    added = {new: columns[name] for name, new in _new_names(names_of(table), columns).items()}
    if isinstance(table, dict):
        return {**table, **added}
    if not is_arrow(table):
        return table.assign(**added)
    import pyarrow

    for name, values in added.items():
        table = table.append_column(name, values if isinstance(values, pyarrow.Array) else arrow_of(values))
    return table


class BatchPredictor:
    """Adds predictions to batches of a table, for Ray's ``map_batches`` and Spark's ``mapInArrow`` and ``mapInPandas``.

    A batch is a dictionary of numpy arrays, a pandas DataFrame or an Arrow table; the result has the same type, with
    the columns of :meth:`Predictions.columns`. For an iterator of batches, the result is an iterator. The object is
    picklable and small: each worker process loads the run from its path, once (again if the run has changed). The path
    must exist on every machine. Prefer Arrow: Ray and Spark then leave your own columns as they are, while numpy and
    pandas change integers with missing values to floating-point numbers.

    - ``run``: one or several run directories or model.safetensors files
    - ``smiles_column``: the column of SMILES; None = smiles or canonical_smiles
    - ``columns``: the columns to add; None = all
    - ``threads``: per worker. The default is 1, because Ray and Spark start a worker for each core
    - ``options``: of :class:`Predictor` (``interval=0.9``, ``domain=True``, ...)

    >>> import ray
    >>> ray.data.read_parquet("library").map_batches(molgraph.BatchPredictor("runs/my_assay"), batch_format="pyarrow")
    """

    def __init__(self, run: Any, smiles_column: Optional[str] = None, columns: Optional[List[str]] = None,
                 threads: int = 1, **options: Any):
        self._runs = [os.path.abspath(path) for path in paths_of(run)]
        self._smiles_column = smiles_column
        self._columns = columns
        self._options = {"threads": threads, **options}

    @property
    def predictor(self) -> Predictor:
        """The predictor of this process."""
        key = (*self._runs, *sorted(self._options.items()))
        if key in _loaded and _loaded[key][0] == _state_of(_loaded[key][1].files):
            return _loaded[key][1]
        predictor = Predictor(self._runs, **self._options)
        _loaded[key] = (_state_of(predictor.files), predictor)
        return predictor

    def __call__(self, batch: Any) -> Any:
        if hasattr(batch, "__next__"):
            return self._each(batch)
        if not is_arrow(batch) and not hasattr(batch, "keys"):
            raise _core.UsageError(
                f"a batch must be a dictionary, a DataFrame or an Arrow table, not {type(batch).__name__}")
        column = smiles_column_of(names_of(batch), self._smiles_column, "BatchPredictor")
        found = self.predictor.predict(_smiles_of(batch, column, "BatchPredictor"), batch)
        return _with_columns(batch, self._chosen(found.columns()))

    def _each(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self(batch)

    def _chosen(self, columns: Dict[str, Any]) -> Dict[str, Any]:
        if self._columns is None:
            return columns
        unknown = [name for name in self._columns if name not in columns]
        if unknown:
            raise _core.UsageError(f"columns: there is no '{unknown[0]}'; choose from {', '.join(columns)}")
        return {name: columns[name] for name in self._columns}

    def spark_schema(self, schema: Any) -> Any:
        """Returns the schema of the result for a Spark DataFrame with this ``schema``. Loads the run. Needs pyspark."""
        from pyspark.sql import types

        no_columns = {name: [] for name in self.predictor.input_columns}
        columns = self._chosen(self.predictor.predict([], no_columns).columns())
        kinds = {"f": types.DoubleType(), "b": types.BooleanType(), "i": types.LongType()}
        fields = [types.StructField(new, kinds.get(columns[name].dtype.kind, types.StringType()))
                  for name, new in _new_names(schema.names, columns).items()]
        return types.StructType([*schema.fields, *fields])


def _state_of(files: List[str]) -> Tuple[Any, ...]:
    """Changes if a file is replaced or removed."""
    return tuple((os.stat(file).st_mtime_ns, os.stat(file).st_size) if os.path.exists(file) else None for file in files)
