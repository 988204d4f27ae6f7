"""Metrics of the predictions for a set; the same for every method."""

import math


def mae(target: list[float], predicted: list[float]) -> float:
    return sum(abs(y - p) for y, p in zip(target, predicted)) / len(target)


def rmse(target: list[float], predicted: list[float]) -> float:
    return math.sqrt(sum((y - p) ** 2 for y, p in zip(target, predicted)) / len(target))


def ranks(values: list[float]) -> list[float]:
    """Ranks from 1; ties get the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and values[order[end]] == values[order[begin]]:
            end += 1
        for at in order[begin:end]:
            result[at] = (begin + end + 1) / 2
        begin = end
    return result


def spearman(target: list[float], predicted: list[float]) -> float:
    """Pearson correlation of the ranks; NaN if one side is constant."""
    a, b = ranks(target), ranks(predicted)
    mean = (len(a) + 1) / 2
    aa = sum((x - mean) ** 2 for x in a)
    bb = sum((x - mean) ** 2 for x in b)
    ab = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return ab / math.sqrt(aa * bb) if aa > 0 and bb > 0 else math.nan


def roc_auc(target: list[float], predicted: list[float]) -> float:
    """Fraction of pairs in the right order; ties count half. NaN if there is only one class."""
    positive = sum(1 for y in target if y == 1)
    negative = len(target) - positive
    if positive == 0 or negative == 0:
        return math.nan
    of_positive = sum(rank for y, rank in zip(target, ranks(predicted)) if y == 1)
    return (of_positive - positive * (positive + 1) / 2) / (positive * negative)


def ap(target: list[float], predicted: list[float]) -> float:
    """Average precision: mean over the positives of the precision at their threshold; ties share a threshold."""
    positive = sum(1 for y in target if y == 1)
    if positive == 0 or positive == len(target):
        return math.nan
    pairs = sorted(zip(predicted, target), key=lambda pair: -pair[0])
    total, hits, begin = 0.0, 0, 0
    while begin < len(pairs):
        end = begin
        new = 0
        while end < len(pairs) and pairs[end][0] == pairs[begin][0]:
            new += pairs[end][1] == 1
            end += 1
        hits += new
        total += new * hits / end
        begin = end
    return total / positive


ALL = {"mae": mae, "rmse": rmse, "spearman": spearman, "roc_auc": roc_auc, "ap": ap}
