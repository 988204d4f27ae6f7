"""Measures accuracy for tables x splits x seeds x methods. docs/development/accuracy.md describes the measurements.

python3 scripts/accuracy run                    runs the panel with all methods; does not repeat finished runs
python3 scripts/accuracy run --set tdc --methods today --seeds 0
python3 scripts/accuracy table                  shows validation results; --final shows test results
python3 scripts/accuracy splits                 writes the splits of the panel to docs/development/accuracy/splits.csv
"""

import argparse
import os
import pathlib
import signal
import sys

import splits as split_rules
import summary
from methods import Places, read_methods
from runs import Results, run
from tables import Catalogue, Problem

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--set", default="panel", help="tables of this set: panel, assays, larger, tdc, moleculeace (default: panel)")
    common.add_argument("--tables", nargs="+", metavar="TABLE", help="only these tables")
    common.add_argument("--splits", nargs="+", metavar="SPLIT", help="scaffold, scaffold-balanced, random, official (default: the set's)")
    common.add_argument("--seeds", nargs="+", type=int, metavar="N", help="default: 0, 1, ... (number: tables.toml)")
    common.add_argument("--methods", nargs="+", metavar="METHOD", help="methods of methods.toml, in this order (default: all)")
    common.add_argument(
        "--results",
        type=pathlib.Path,
        default=ROOT / "docs" / "development" / "accuracy",
        metavar="DIR",
        help="folder of peers.csv and molgraph.csv (default: docs/development/accuracy)",
    )
    common.add_argument(
        "--tables-file",
        type=pathlib.Path,
        default=HERE / "tables.toml",
        metavar="FILE",
        help="description of the tables (default: scripts/accuracy/tables.toml)",
    )
    common.add_argument(
        "--methods-file",
        type=pathlib.Path,
        default=HERE / "methods.toml",
        metavar="FILE",
        help="description of the methods (default: scripts/accuracy/methods.toml)",
    )
    common.add_argument(
        "--data",
        type=pathlib.Path,
        default=os.environ.get("MOLGRAPH_DATA"),
        metavar="DIR",
        help="folder of the tables' files (default: $MOLGRAPH_DATA)",
    )
    common.add_argument(
        "--bin",
        type=pathlib.Path,
        default=ROOT / "build" / "release" / "bin",
        metavar="DIR",
        help="molgraph's programs (default: build/release/bin)",
    )
    common.add_argument(
        "--peers-python",
        default=os.environ.get("ACCURACY_PEERS_PYTHON", "python3"),
        metavar="PYTHON",
        help="a Python with the peers' packages (default: $ACCURACY_PEERS_PYTHON, else python3)",
    )
    common.add_argument("--threads", type=int, default=1, help="threads of every method (default: 1)")
    common.add_argument(
        "--final",
        action="store_true",
        help="show test results instead of validation results, which are for choices (assays: always test results)",
    )
    runs = commands.add_parser("run", parents=[common], help="run everything that is not finished, then show the table")
    runs.add_argument(
        "--work",
        type=pathlib.Path,
        default=ROOT / "build" / "accuracy",
        metavar="DIR",
        help="folder for predictions, logs and new splits (default: build/accuracy)",
    )
    runs.add_argument("--keep", action="store_true", help="keep the trained models in this folder")
    runs.add_argument(
        "--again", action="store_true", help="repeat runs of a method with the same name but other flags, or on other rows"
    )
    runs.add_argument("--dry-run", action="store_true", help="only list the runs")
    table = commands.add_parser("table", parents=[common], help="show the table of finished runs")
    table.add_argument(
        "--against", nargs="+", metavar="METHOD", help="peers for the ratios (default: all of methods.toml)"
    )
    table.add_argument(
        "--write",
        type=pathlib.Path,
        metavar="FILE",
        help="write the table between '<!-- accuracy SET -->' and '<!-- end -->' of this Markdown file",
    )
    commands.add_parser("splits", parents=[common], help="write the set's splits to splits.csv in the folder of the results")
    return parser.parse_args()


class Harness:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        if options.data is None:
            raise Problem("the folder of the tables is not set: use --data DIR or $MOLGRAPH_DATA")
        if options.threads < 1:
            raise Problem("--threads must be at least 1")
        self.catalogue = Catalogue(options.tables_file, options.data)
        places = Places(options.bin, options.peers_python, options.threads)
        self.all_methods = read_methods(options.methods_file, places)
        self.methods = {
            name: self.all_methods[name] for name in self._checked(options.methods, self.all_methods, "method")
        }
        self.tables = list(
            self._checked(options.tables, self.catalogue.names(options.set), f"table of '{options.set}'")
        )
        chosen = self.catalogue.sets[options.set]
        self.splits = options.splits or chosen.splits
        self.seeds = options.seeds or list(range(chosen.seeds))
        self.files = {True: Results(options.results / "peers.csv"), False: Results(options.results / "molgraph.csv")}

    @staticmethod
    def _checked(asked, known, what):
        for name in asked or []:
            if name not in known:
                raise Problem(f"there is no {what} '{name}'; choose from {', '.join(known)}")
        return asked or list(known)

    def _beside_results(self, name: str) -> pathlib.Path:
        """A file in the folder of the results or, if it is missing there, in docs/development/accuracy."""
        own = self.options.results / name
        return own if own.is_file() else ROOT / "docs" / "development" / "accuracy" / name

    def make_splits(self) -> None:
        path = self.options.results / "splits.csv"
        rules = split_rules.Splits(path, path, self.options.peers_python)
        for name in self.tables:
            table = self.catalogue.load(name)
            for split in self.splits:
                for seed in self.seeds:
                    parts = rules.get(table, split, seed)
                    print(f"{name} {split} {seed}: {parts.count('0')} {parts.count('1')} {parts.count('2')}")

    def _needed(self, table, split, seed, method) -> bool:
        self.files[method.peer].refresh()
        found = self.files[method.peer].find(table.name, split, seed, method.name)
        if not found:
            return True
        same = all(row["setting"] == method.setting(table.kind) and row["rows"] == table.sha256()[:12] for row in found)
        if not same and not self.options.again:
            raise Problem(
                f"{table.name}, {split}, seed {seed}: '{method.name}' was run with other flags, or on other rows "
                f"({self.files[method.peer].path}); give it another name, or use --again"
            )
        return not same

    def run_all(self) -> int:
        kept, made = self._beside_results("splits.csv"), self.options.work / "splits.csv"
        rules = split_rules.Splits(kept, made, self.options.peers_python)
        failed = 0
        for name in self.tables:
            table = self.catalogue.load(name)
            for split in self.splits:
                for seed in self.seeds:
                    for method in self.methods.values():
                        failed += not self._run_one(rules, table, split, seed, method)
        return failed

    def _run_one(self, rules, table, split, seed, method) -> bool:
        if method.past or not self._needed(table, split, seed, method):
            return True
        what = f"{table.name}, {split}, seed {seed}, {method.name}"
        if self.options.dry_run:
            print(what)
            return True
        parts = rules.get(table, split, seed)
        folder = self.options.work / table.name / f"{split}-{seed}" / method.name
        try:
            rows = run(method, table, split, seed, parts, folder, self.options.keep)
        except Problem as problem:
            print(f"accuracy: {what}: {problem}", file=sys.stderr, flush=True)
            return False
        if rows is None:
            print(f"accuracy: {what}: another process is running it", file=sys.stderr, flush=True)
            return True
        self.files[method.peer].add(rows)
        shown = ", ".join(f"{row['metric']} {row['valid_value']}" for row in rows)
        print(f"{what}: valid {shown}; {rows[0]['seconds']} s, {rows[0]['peak_mb']} MB", file=sys.stderr, flush=True)
        return True

    def table(self) -> str:
        rows = [row for file in self.files.values() for row in file.rows]
        peers = [name for name, method in self.all_methods.items() if method.peer]
        against = getattr(self.options, "against", None)
        request = summary.Request(
            set=self.options.set,
            tables=self.tables,
            splits=self.splits,
            seeds=self.seeds,
            methods=list(self.methods),
            against=self._checked(against, self.all_methods, "method") if against else peers,
            final=self.options.final or self.catalogue.sets[self.options.set].inner,
            metrics={name: self.catalogue.entries[name]["metrics"] for name in self.tables},
            subset=any("subset" in self.catalogue.entries[name] for name in self.tables),
            published=summary.read_published(self._beside_results("published.csv")),
        )
        return summary.markdown(request, rows)


def main() -> int:
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # "| head"
    try:
        harness = Harness(options)
        if options.command == "splits":
            harness.make_splits()
            return 0
        failed = harness.run_all() if options.command == "run" else 0
        if getattr(options, "dry_run", False):
            return 0
        text = harness.table()
        if getattr(options, "write", None):
            summary.write_into(options.write, options.set, text)
        else:
            print(text)
        if failed:
            print(f"accuracy: {failed} runs failed", file=sys.stderr)
        return 1 if failed else 0
    except Problem as problem:
        print(f"accuracy: {problem}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
