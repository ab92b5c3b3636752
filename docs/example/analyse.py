"""Estimates the effect of a micro-randomised treatment from the folder of an export.

Weighted and centred least squares (Boruvka and others, 2018): the outcome on a
constant, the day of the study and the treatment less its share, over the decision
points at which people were available, with a variance that is robust to what the
points of one person have in common.
"""
import importlib.util
import math
import os
import sys


def load_module(folder):
    spec = importlib.util.spec_from_file_location("load", os.path.join(folder, "load.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def invert(matrix):
    size = len(matrix)
    rows = [list(row) + [float(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(rows[i][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [value / scale for value in rows[column]]
        for i in range(size):
            if i != column:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column])]
    return [row[size:] for row in rows]


def estimate_effect(decisions):
    """Returns points, people, the effect and its standard error."""
    points = [d for d in decisions if d["availability"] and d["outcome"] is not None]
    share = sum(d["rand_prob"] for d in points) / len(points)
    last = max(d["day_in_study"] for d in points)
    rows = []
    for d in points:
        treated, p = d["intervention"], d["rand_prob"]
        weight = share / p if treated else (1 - share) / (1 - p)
        rows.append((d["participant"], weight, [1, d["day_in_study"] / last - 0.5, treated - share], d["outcome"]))
    size = 3
    normal = [[sum(w * x[a] * x[b] for _, w, x, _ in rows) for b in range(size)] for a in range(size)]
    right = [sum(w * x[a] * y for _, w, x, y in rows) for a in range(size)]
    bread = invert(normal)
    fit = [sum(bread[a][b] * right[b] for b in range(size)) for a in range(size)]
    scores = {}
    for person, w, x, y in rows:
        residual = y - sum(f * v for f, v in zip(fit, x))
        scores[person] = scores.get(person, 0) + w * residual * sum(b * v for b, v in zip(bread[-1], x))
    people = len(scores)
    error = math.sqrt(sum(s * s for s in scores.values()) * people / (people - size))
    return len(points), people, fit[-1], error


if __name__ == "__main__":
    load = load_module(sys.argv[1])
    load.check_files()
    points, people, effect, error = estimate_effect(load.load_table("decisions"))
    low, high = effect - 2 * error, effect + 2 * error
    print(f"{points} decision points of {people} people: effect {effect:.3f}, 95 % about {low:.3f} to {high:.3f}")
