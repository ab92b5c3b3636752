"""Writes how near an embedding model finds facts to questions, for TestRecallByVectors.

    build/real/venv/bin/python eval/real/recall.py build/real/embed internal/memory/testdata
"""
import sys

import numpy as np

from serve import Embedder

embedder, folder = Embedder(sys.argv[1]), sys.argv[2]
with open(folder + "/recall.tsv") as f:
    rows = [line.rstrip("\n").split("\t") for line in f if line.startswith("en\t")]
with open(folder + "/recall_minilm.tsv", "w") as f:
    print("row", "median", "the nearest facts of the twenty rows around it, with their likeness", sep="\t", file=f)
    for start in range(0, len(rows), 20):
        facts = np.array([embedder.embed(text)[0] for row in rows[start : start + 20] for text in row[2:]])
        for i, row in enumerate(rows[start : start + 20]):
            likeness = np.clip(facts @ embedder.embed(row[1])[0], 0, 1)
            nearest = np.argsort(-likeness, kind="stable")[:30]
            print(start + i + 1, "%.3f" % np.median(likeness), *("%d:%.3f" % (j, likeness[j]) for j in nearest), sep="\t", file=f)
