#!/usr/bin/env python3
"""Writes a large table of real molecules to standard output. A share of its rows is broken, in ten ways.

    make_rows.py ROWS [--broken 0.01] [--seed 0] TABLE.csv[.gz] ... > rows.csv

Each TABLE has a column named smiles. Rows are drawn at random, so equal seeds give equal tables.
"""
import argparse
import csv
import gzip
import random
import sys

BROKEN = [
    lambda s: "",                            # empty
    lambda s: s + "(",                       # branch not closed
    lambda s: "C1" + s.replace("1", ""),     # ring not closed
    lambda s: s + "Xx",                      # not an element
    lambda s: "F(C)(C)" + s,                 # too many bonds
    lambda s: "not a molecule",
    lambda s: s + "\ufffd\u00e9",            # not ASCII
    lambda s: "C" * 2000,                    # too many atoms
    lambda s: s + ".c1cccc1",                # cannot be kekulised
    lambda s: s + ",surplus,cells",          # more cells than columns
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--broken", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    smiles = []
    for table in options.tables:
        opened = gzip.open(table, "rt") if table.endswith(".gz") else open(table)
        with opened as file:
            smiles += [row["smiles"] for row in csv.DictReader(file)]
    draw = random.Random(options.seed)
    out = sys.stdout
    out.write("id,smiles\n")
    for row in range(options.rows):
        text = smiles[int(draw.random() * len(smiles))]
        if draw.random() < options.broken:
            text = BROKEN[int(draw.random() * len(BROKEN))](text)
        out.write(f"M{row},{text}\n")


main()
