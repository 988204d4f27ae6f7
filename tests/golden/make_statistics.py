#!/usr/bin/env python3
"""Prints the numbers of tests/golden/statistics.hpp: metrics of small samples, computed with SciPy and scikit-learn.

Usage: make_statistics.py > statistics.hpp, then scripts/format
"""
import math

import numpy as np
from scipy import stats
from sklearn import metrics


def samples():
    """The samples, by a rule that the C++ test repeats: element i of a sequence is i * step modulo one."""
    n = 60
    fraction = lambda step: np.array([(i * step) % 1 for i in range(1, n + 1)])
    label = np.round(10 * fraction(0.6180339887498949)) / 2          # with ties
    value = label + 3 * (fraction(0.41421356237309515) - 0.5)
    value = np.round(value * 4) / 4                                  # also with ties
    truth = (fraction(0.7320508075688772) > 0.6).astype(int)
    score = np.round(np.clip(0.5 * truth + 0.6 * fraction(0.23606797749978969), 0, 1), 1)
    classes = np.floor(3 * fraction(0.7320508075688772)).astype(int)
    raw = np.stack([fraction(0.23606797749978969), fraction(0.41421356237309515), fraction(0.6180339887498949)], 1)
    raw[np.arange(n), classes] += 0.5
    return label, value, truth, score, classes, raw / raw.sum(1, keepdims=True)


label, value, truth, score, classes, probabilities = samples()
print("// Metrics computed with SciPy and scikit-learn by make_statistics.py.")
print("#pragma once\n\nnamespace molgraph::test {\n")


def show(name, number):
    print(f"inline constexpr double k{name} = {number!r};")


show("Mae", float(metrics.mean_absolute_error(label, value)))
show("Rmse", math.sqrt(metrics.mean_squared_error(label, value)))
show("R2", float(metrics.r2_score(label, value)))
show("Pearson", float(stats.pearsonr(label, value)[0]))
show("Spearman", float(stats.spearmanr(label, value)[0]))
show("Kendall", float(stats.kendalltau(label, value)[0]))
show("RocAuc", float(metrics.roc_auc_score(truth, score)))
show("PrAuc", float(metrics.average_precision_score(truth, score)))
show("Mcc", float(metrics.matthews_corrcoef(truth, score > 0.5)))
show("Brier", float(metrics.brier_score_loss(truth, score)))
show("ClassesMcc", float(metrics.matthews_corrcoef(classes, probabilities.argmax(1))))
show("ClassesAccuracy", float(metrics.accuracy_score(classes, probabilities.argmax(1))))
show("ClassesBrier", float(((probabilities - np.eye(3)[classes]) ** 2).sum(1).mean()))
print("\n}  // namespace molgraph::test")
