"""Markdown tables from results: mean and standard deviation over seeds, ratios to the better peer, time and memory."""

import csv
import dataclasses
import math
import pathlib
import statistics
import textwrap

from tables import HIGHER_IS_BETTER, Problem

NAMES = {"rmse": "RMSE", "mae": "MAE", "roc_auc": "ROC-AUC", "ap": "AP", "spearman": "Spearman"}
LEAST_ERROR = 1e-3  # minimum of 1 - ROC-AUC, so that ratios are finite for perfect predictions


@dataclasses.dataclass
class Request:
    set: str
    tables: list[str]
    splits: list[str]
    seeds: list[int]
    methods: list[str]
    against: list[str]  # peers for the ratios
    final: bool  # test instead of validation
    metrics: dict[str, list[str]]  # metrics of each table; the first is compared
    subset: bool  # also the first metric on the subset (cliff molecules)
    published: list[dict[str, str]]


@dataclasses.dataclass
class Cell:
    """Results of a method on a table and a split, for all finished seeds."""

    values: list[float]
    seconds: list[float]
    cpu_seconds: list[float]
    peak_mb: list[float]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.values)

    def text(self) -> str:
        if len(self.values) == 1:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ± {statistics.stdev(self.values):.3f}"


def read_published(path: pathlib.Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def error(metric: str, value: float) -> float:
    """The error that ratios compare: RMSE and MAE themselves, and 1 - value for metrics where higher is better."""
    return max(1 - value, LEAST_ERROR) if metric in HIGHER_IS_BETTER else value


class View:
    """The cells of a request."""

    def __init__(self, request: Request, rows: list[dict[str, str]]):
        self.request = request
        column = "value" if request.final else "valid_value"
        self.cells: dict[tuple[str, str, str, str], Cell] = {}
        for row in rows:
            if row["table"] in request.tables and int(row["seed"]) in request.seeds and row[column]:
                key = (row["table"], row["split"], row["method"], row["metric"])
                cell = self.cells.setdefault(key, Cell([], [], [], []))
                cell.values.append(float(row[column]))
                cell.seconds.append(float(row["seconds"]))
                cell.cpu_seconds += [float(row["cpu_seconds"])] if row["cpu_seconds"] else []  # not always measured
                cell.peak_mb.append(float(row["peak_mb"]))

    def cell(self, table: str, split: str, method: str, metric: str | None = None) -> Cell | None:
        return self.cells.get((table, split, method, metric or self.request.metrics[table][0]))

    def complete(self, table: str, split: str, method: str) -> bool:
        cell = self.cell(table, split, method)
        return cell is not None and len(cell.values) == len(self.request.seeds)

    def shown(self) -> list[str]:
        """Requested methods that have results."""
        present = {key[2] for key in self.cells}
        return [method for method in self.request.methods if method in present]

    def best_peer(self, table: str, split: str) -> tuple[str, float] | None:
        """The peer with the smallest mean error among those with complete seeds."""
        metric = self.request.metrics[table][0]
        found = [
            (error(metric, self.cell(table, split, peer).mean), peer)
            for peer in self.request.against
            if self.complete(table, split, peer)
        ]
        return (min(found)[1], min(found)[0]) if found else None

    def ratio(self, table: str, split: str, method: str) -> float | None:
        best = self.best_peer(table, split)
        if best is None or not self.complete(table, split, method):
            return None
        return error(self.request.metrics[table][0], self.cell(table, split, method).mean) / best[1]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def results_part(view: View, split: str) -> list[str]:
    request, methods = view.request, view.shown()
    lines = [line(["table", "metric", *methods]), line(["---"] * (2 + len(methods)))]
    for table in request.tables:
        metric = request.metrics[table][0]
        cells = {method: view.cell(table, split, method) for method in methods}
        full = [
            error(metric, cell.mean) for method, cell in cells.items() if cell and view.complete(table, split, method)
        ]
        texts = []
        for method, cell in cells.items():
            text = cell.text() if cell else "-"
            if cell and not view.complete(table, split, method):
                text += f" ({len(cell.values)} of {len(request.seeds)})"
            elif cell and error(metric, cell.mean) == min(full):
                text = f"**{text}**"
            texts.append(text)
        lines.append(line([table, NAMES[metric], *texts]))
    return lines


def geometric_mean(values: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def ratios_part(view: View) -> list[str]:
    request, methods = view.request, view.shown()
    pairs = [(table, split) for split in request.splits for table in request.tables]
    lines = [line(["table", "split", "better peer", *methods]), line(["---"] * (3 + len(methods)))]
    ratios: dict[str, dict[tuple[str, str], float]] = {method: {} for method in methods}
    for table, split in pairs:
        best = view.best_peer(table, split)
        if best is None:
            continue
        texts = []
        for method in methods:
            value = view.ratio(table, split, method)
            if value is not None:
                ratios[method][table, split] = value
            texts.append("-" if value is None else f"{value:.3f}")
        absent = [peer for peer in request.against if not view.complete(table, split, peer)]
        note = best[0] + (f" (without {', '.join(absent)})" if absent else "")
        lines.append(line([table, split, note, *texts]))
    groups = [("geometric mean", split, lambda pair, split=split: pair[1] == split) for split in request.splits]
    if len(request.splits) > 1:
        groups.append(("geometric mean", "all", lambda pair: True))
    for name, split, belongs in groups:
        wanted = sum(1 for pair in pairs if belongs(pair))
        texts = []
        for method in methods:
            values = [value for pair, value in ratios[method].items() if belongs(pair)]
            text = f"**{geometric_mean(values):.3f}**" if values else "-"
            texts.append(text if len(values) in (0, wanted) else f"{text} ({len(values)} of {wanted})")
        lines.append(line([name, split, "", *texts]))
    return lines


def cost_part(view: View) -> list[str]:
    """One row per method: mean and maximum cost of a run."""
    request = view.request
    lines = [
        line(["method", "CPU seconds a run", "at most", "wall seconds a run", "at most", "peak memory [MB]", "runs"])
    ]
    lines.append(line(["---"] * 7))
    for method in view.shown():
        cells = [
            cell for table in request.tables for split in request.splits if (cell := view.cell(table, split, method))
        ]
        texts = []
        for seconds in ([s for c in cells for s in c.cpu_seconds], [s for c in cells for s in c.seconds]):
            texts += [f"{statistics.fmean(seconds):.0f}", f"{max(seconds):.0f}"] if seconds else ["-", "-"]
        peak = max(value for cell in cells for value in cell.peak_mb) if cells else 0
        lines.append(line([method, *texts, f"{peak:.0f}", str(sum(len(cell.values) for cell in cells))]))
    return lines


def published_part(view: View) -> list[str]:
    """Each table's first metric next to published values (test only)."""
    request, methods = view.request, view.shown()
    figures = {
        (row["table"], row["method"]): row["value"]
        for row in request.published
        if row["table"] in request.tables and row["metric"] == request.metrics[row["table"]][0]
    }
    others = list(dict.fromkeys(method for _, method in figures))
    lines = [
        line(["table", "metric", *methods, *(f"{name} (published)" for name in others)]),
        line(["---"] * (2 + len(methods) + len(others))),
    ]
    split = request.splits[0]
    for table in request.tables:
        texts = []
        for method in methods:
            cell = view.cell(table, split, method)
            partly = cell is not None and not view.complete(table, split, method)
            texts.append("-" if cell is None else cell.text() + (f" ({len(cell.values)})" if partly else ""))
        lines.append(
            line(
                [table, NAMES[request.metrics[table][0]], *texts, *(figures.get((table, name), "-") for name in others)]
            )
        )
    return lines


def mean_part(view: View) -> list[str]:
    """Mean over the set's tables, for all rows and for the subset; for the test set, next to published means."""
    request, split = view.request, view.request.splits[0]
    metric = request.metrics[request.tables[0]][0]
    wanted = [metric] + (["subset_" + metric] if request.subset else [])
    lines = [line(["method", f"mean {NAMES[metric]}", "on cliff molecules", "tables"]), line(["---"] * 4)]
    for method in view.shown():
        tables = [table for table in request.tables if view.cell(table, split, method)]
        texts = []
        for name in wanted:
            cells = [cell for table in tables if (cell := view.cell(table, split, method, name))]
            texts.append(f"{statistics.fmean(cell.mean for cell in cells):.3f}" if cells else "-")
        lines.append(line([method, *texts, f"{len(tables)} of {len(request.tables)}"]))
    figures: dict[str, dict[str, str]] = {}
    for row in request.published if request.final else []:
        if row["table"] == f"mean of {request.set}":
            figures.setdefault(row["method"], {})[row["metric"]] = row["value"]
    for name, values in figures.items():
        lines.append(line([name + " (published)", *(values.get(key, "-") for key in wanted), "all"]))
    return lines


def markdown(request: Request, rows: list[dict[str, str]]) -> str:
    view = View(request, rows)
    if not view.shown():
        return f"No results yet for {request.set}."
    part = "test set" if request.final else "validation set"
    threads = sorted({row["threads"] for row in rows if row["table"] in request.tables}, key=int)
    machines = sorted(
        {row["machine"] for row in rows if row["table"] in request.tables and row["method"] in view.shown()}
    )
    head = (
        f"Set `{request.set}`, {part}, seeds {', '.join(map(str, request.seeds))}; mean ± deviation (n - 1) over "
        f"seeds. Threads: {' or '.join(threads)}. Machine: {'; '.join(machines)}."
    )
    lines = [*textwrap.wrap(head, 120, break_long_words=False, break_on_hyphens=False), ""]
    if all(split == "official" for split in request.splits):
        if request.subset:
            lines += mean_part(view) + [""]
        if request.final and not request.subset:
            lines += published_part(view) + [""]
        else:
            lines += results_part(view, request.splits[0]) + [""]
    else:
        for split in request.splits:
            lines += [f"{split.capitalize()} split:", "", *results_part(view, split), ""]
        lines += [
            "Error (MAE or RMSE, 1 - ROC-AUC) divided by that of the better peer; below 1 is better than every peer:",
            "",
            *ratios_part(view),
            "",
        ]
    return "\n".join(lines + cost_part(view))


def write_into(path: pathlib.Path, name: str, text: str) -> None:
    begin, end = f"<!-- accuracy {name} -->", "<!-- end -->"
    content = path.read_text()
    head, found, tail = content.partition(begin)
    if not found or end not in tail:
        raise Problem(f"{path} has no '{begin}' that is followed by '{end}'")
    path.write_text(head + begin + "\n" + text.rstrip() + "\n" + end + tail.partition(end)[2])
