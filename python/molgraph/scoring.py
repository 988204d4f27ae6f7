"""Scoring of files and of batches of tables: Parquet, Ray and Spark."""
import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union

import numpy as np

from molgraph import _core
from molgraph._inputs import texts_of
from molgraph.prediction import Predictor
from molgraph.programs import path_of
from molgraph.training import flags_of, run_program

Path = Union[str, "os.PathLike[str]"]
ROWS = 65536  # rows of a Parquet file that are in memory at a time
_COMMON_NAMES = ("smiles", "canonical_smiles")  # in any case, as in the programs
_loaded: Dict[Tuple[Any, ...], Predictor] = {}  # predictors of this process, for BatchPredictor


def score_file(run: Union[Path, List[Path]], input: Path, output: Path, **options: Any) -> None:
    """Scores a table with ``molgraph-score``: every row of ``input`` gives one row of ``output``, in order, with all
    its columns and the new ones.

    ``options`` are the program's flags (``interval=0.9``, ``domain=True``, ``resume=True``, ``threads=4``). If
    ``input`` and ``output`` end in ``.parquet``, the options are ``smiles_column`` (default: smiles or
    canonical_smiles) and those of :class:`Predictor`; 65,536 rows are in memory at a time. Needs pyarrow; shows
    progress if tqdm is installed. Raises UsageError, DataError, FileError or RunError.
    """
    if not _is_parquet(input, output):
        _run_on_file("molgraph-score", run, input, output, options)
        return
    smiles_column = options.pop("smiles_column", None)
    predictor = Predictor(run, **options)
    _map_parquet(input, output, smiles_column, lambda smiles, numbers: predictor.predict(smiles, numbers).columns(),
                 predictor.input_columns)


def embed_file(run: Path, input: Path, output: Path, **options: Any) -> None:
    """Embeds the molecules of a table with ``molgraph-embed``; ``options`` are the program's flags (``pooling="mean"``,
    ``layer=[-1, 6]``, ``l2=True``).

    If ``input`` and ``output`` end in ``.parquet``, the output has all columns of the input and the new ones
    ``embedding`` (a list of float32; NaN for invalid molecules), ``status`` and ``reason``. The options are then
    ``smiles_column``, ``pooling``, ``layers``, ``l2`` and those of :class:`Predictor`. Needs pyarrow; shows progress if
    tqdm is installed. Raises UsageError, DataError, FileError or RunError.
    """
    if not _is_parquet(input, output):
        _run_on_file("molgraph-embed", run, input, output, options)
        return
    smiles_column = options.pop("smiles_column", None)
    kind = {name: options.pop(name) for name in ("pooling", "layers", "l2") if name in options}
    predictor = Predictor(run, **options)

    def embed(smiles: List[str], _: Any) -> Dict[str, Any]:
        import pyarrow

        found = predictor.embeddings(smiles, **kind)
        width = found.values.shape[1]
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(found.values.reshape(-1)), width)
        return {"embedding": vectors, "status": found.status, "reason": found.reason}

    _map_parquet(input, output, smiles_column, embed, [])


def _is_parquet(input: Path, output: Path) -> bool:
    parquet = [os.fspath(path).endswith(".parquet") for path in (input, output)]
    if parquet[0] != parquet[1]:
        raise _core.UsageError(f"{os.fspath(input)}, {os.fspath(output)}: both files must be Parquet, or none")
    return parquet[0]


def _run_on_file(name: str, runs: Any, input: Path, output: Path, options: Dict[str, Any]) -> None:
    runs = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    quiet = options.pop("quiet", False)
    run_program([path_of(name), "--model", *map(os.fspath, runs), "--input", os.fspath(input), "--output",
                 os.fspath(output), *flags_of(options)] + (["--quiet"] if quiet else []))


def _map_parquet(input: Path, output: Path, smiles_column: Optional[str],
                 work: Callable[[List[str], Any], Dict[str, Any]], numbers: List[str]) -> None:
    """Writes OUTPUT.part, and renames it when it is complete."""
    import pyarrow
    from pyarrow import parquet

    input, output = os.fspath(input), os.fspath(output)
    try:
        file = parquet.ParquetFile(input)
    except FileNotFoundError:
        raise _core.FileError(f"{input}: no such file") from None
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise _core.FileError(f"{input}: not a Parquet file: {error}") from None
    part = output + ".part"
    writer = None
    try:
        with file, _progress(file.metadata.num_rows) as advance:
            column = smiles_column_of(file.schema_arrow.names, smiles_column, input)
            # An empty file still needs the schema of the new columns.
            batches = file.iter_batches(batch_size=ROWS) if file.metadata.num_rows else [
                pyarrow.RecordBatch.from_pylist([], schema=file.schema_arrow)]
            for batch in batches:
                table = pyarrow.Table.from_batches([batch])
                table = _with_columns(table, work(texts_of(table[column]), _numbers_of(table, numbers)))
                if writer is None:
                    writer = parquet.ParquetWriter(part, table.schema)
                writer.write_table(table)
                advance(len(batch))
        writer.close()
        os.replace(part, output)
    except BaseException:
        if writer is not None:
            writer.close()
            os.remove(part)
        raise


class _progress:
    """A progress bar of tqdm on sys.stderr; nothing if tqdm is missing. As a context, it is a function of the number of
    finished rows."""

    def __init__(self, rows: int):
        try:
            from tqdm import tqdm

            self._bar = tqdm(total=rows, unit=" molecules", unit_scale=True)
        except ImportError:
            self._bar = None

    def __enter__(self) -> Callable[[int], Any]:
        return self._bar.update if self._bar is not None else lambda rows: None

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.close()


def smiles_column_of(names: Any, wanted: Optional[str], where: str) -> str:
    """The column of SMILES among ``names``. Raises UsageError if ``wanted`` or, without it, a common name is missing."""
    names = list(names)
    if wanted is not None:
        if wanted not in names:
            raise _core.UsageError(f"{where}: there is no column '{wanted}'; the columns are {', '.join(map(str, names))}")
        return wanted
    for common in _COMMON_NAMES:
        for name in names:
            if str(name).lower() == common:
                return name
    raise _core.UsageError(f"{where}: no column is named smiles or canonical_smiles: specify smiles_column; the columns "
                           f"are {', '.join(map(str, names))}")


def _numbers_of(table: Any, names: List[str]) -> Optional[Dict[str, np.ndarray]]:
    """The numeric input columns of the model, from a pandas or Arrow table or a dictionary."""
    if not names:
        return None
    missing = [name for name in names if name not in _names_of(table)]
    if missing:
        raise _core.UsageError(f"column '{missing[0]}' is missing; the model reads {', '.join(names)}")
    return {name: np.asarray(table[name], dtype=np.float32) for name in names}


def _names_of(table: Any) -> List[str]:
    """Column names of a dictionary, a pandas DataFrame, or an Arrow table or record batch."""
    return list(table.schema.names if hasattr(table, "schema") else table.keys())


def _new_names(names: Any, added: Any) -> Dict[str, str]:
    """Names for added columns: a name that exists already gets the prefix molgraph_, as in the programs."""
    return {name: "molgraph_" + name if name in names else name for name in added}


def _with_columns(table: Any, columns: Dict[str, Any]) -> Any:
    """A table of the same type with more columns: a dictionary of arrays, a pandas DataFrame, or an Arrow table."""
    added = {new: columns[name] for name, new in _new_names(_names_of(table), columns).items()}
    if isinstance(table, dict):
        return {**table, **added}
    if not hasattr(table, "schema"):
        return table.assign(**added)
    import pyarrow

    for name, values in added.items():
        table = table.append_column(name, values if isinstance(values, pyarrow.Array) else pyarrow.array(values))
    return table


class BatchPredictor:
    """Adds predictions to batches of a table, for Ray's ``map_batches`` and Spark's ``mapInPandas`` and ``mapInArrow``.

    A batch is a dictionary of numpy arrays, a pandas DataFrame or an Arrow table; the result has the same type, with
    the columns of :meth:`Predictions.columns`. For an iterator of batches, the result is an iterator. The object is
    picklable and small: each worker process loads the run from its path, once. The path must exist on every machine.

    - ``run``: one or several run directories or model.safetensors files
    - ``smiles_column``: the column of SMILES; None = smiles or canonical_smiles
    - ``columns``: the columns to add; None = all
    - ``threads``: per worker. The default is 1, because Ray and Spark start a worker for each core
    - ``options``: of :class:`Predictor` (``interval=0.9``, ``domain=True``, ...)

    >>> import ray
    >>> ray.data.read_parquet("library").map_batches(molgraph.BatchPredictor("runs/my_assay"))
    """

    def __init__(self, run: Any, smiles_column: Optional[str] = None, columns: Optional[List[str]] = None,
                 threads: int = 1, **options: Any):
        runs = [run] if isinstance(run, (str, os.PathLike)) else list(run)
        self._runs = [os.path.abspath(os.fspath(one)) for one in runs]
        self._smiles_column = smiles_column
        self._columns = columns
        self._options = {"threads": threads, **options}

    @property
    def predictor(self) -> Predictor:
        """The predictor of this process."""
        key = (*self._runs, *sorted(self._options.items()))
        if key not in _loaded:
            _loaded[key] = Predictor(self._runs, **self._options)
        return _loaded[key]

    def __call__(self, batch: Any) -> Any:
        if hasattr(batch, "__next__"):
            return self._each(batch)
        predictor = self.predictor
        smiles = batch[smiles_column_of(_names_of(batch), self._smiles_column, "BatchPredictor")]
        return _with_columns(batch, self._chosen(predictor.predict(
            texts_of(smiles), _numbers_of(batch, predictor.input_columns)).columns()))

    def _each(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield self(batch)

    def _chosen(self, columns: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
        if self._columns is None:
            return columns
        unknown = [name for name in self._columns if name not in columns]
        if unknown:
            raise _core.UsageError(f"columns: there is no '{unknown[0]}'; choose from {', '.join(columns)}")
        return {name: columns[name] for name in self._columns}

    def spark_schema(self, schema: Any) -> Any:
        """Returns the schema of the result for a Spark DataFrame with this ``schema``. Loads the run. Needs pyspark."""
        from pyspark.sql import types

        columns = self._chosen(self.predictor.predict([]).columns())
        kinds = {"f": types.DoubleType(), "b": types.BooleanType(), "i": types.LongType()}
        fields = [types.StructField(new, kinds.get(columns[name].dtype.kind, types.StringType()))
                  for name, new in _new_names(schema.names, columns).items()]
        return types.StructType([*schema.fields, *fields])
