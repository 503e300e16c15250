"""A tree as JSON and named arrays, and back; a made-up one is refused before anything walks down it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import ModelFileError
from likely.models.tree.data import word_feature
from likely.models.tree.tree import LEAF, Feature, Surrogates, Tree
from likely.store.plain import from_plain, to_plain
from likely.store.statistics import Reader, Writer
from likely.table import level_key

FLAT = {"column": np.int32, "threshold": np.float64, "first_child": np.int32, "n_children": np.int32,
        "values": np.int64, "majority_branch": np.int32}  # fmt: skip
IN_FILE = {"majority_branch": "usual"}
"""Fields that have another name in the file."""

STAND_INS = {"column": np.int32, "threshold": np.float64, "low": np.int32, "high": np.int32, "values": np.int64}


def write_tree(tree: Tree, writer: Writer) -> dict[str, Any]:
    """Features in the document, nodes in arrays."""
    return {
        "missing": tree.missing,
        "features": [
            {
                "name": feature.name,
                "cuts": feature.cuts,
                "levels": None if feature.levels is None else [to_plain(level) for level in feature.levels],
                **({} if feature.word is None else {"word": list(feature.word)}),
            }
            for feature in tree.features
        ],
        "nodes": {IN_FILE.get(name, name): writer.put(getattr(tree, name)) for name in FLAT},
        "branches": writer.put(tree.branches),
        "counts": writer.put(tree.counts),
        "stand_in_starts": writer.put(tree.surrogates.starts),
        "stand_ins": {name: writer.put(getattr(tree.surrogates, name)) for name in STAND_INS},
    }


def read_tree(data: Any, reader: Reader, classes: NDArray[Any]) -> Tree:
    """The tree that `write_tree` wrote: every node has one parent, every place that it names exists."""
    features = tuple(_read_feature(entry) for entry in data["features"])
    if len({feature.name for feature in features}) != len(features):
        raise ModelFileError("its tree names a column twice")
    if data["missing"] not in ("weights", "surrogates"):
        raise ModelFileError("its tree treats gaps in a way that no tree does")
    counts = reader.counts(data["counts"], (None, len(classes)))
    n = len(counts)
    if not n or not len(classes) or not np.isfinite(counts.sum()):
        raise ModelFileError("its tree has no nodes, or more cases than can be counted")
    nodes = {name: reader.get(data["nodes"][IN_FILE.get(name, name)], (n,), kind) for name, kind in FLAT.items()}
    starts = reader.get(data["stand_in_starts"], (n + 1,), np.int64)
    stand_ins = {name: reader.get(data["stand_ins"][name], (None,), kind) for name, kind in STAND_INS.items()}
    branches = reader.get(data["branches"], (None,), np.int32)
    tree = Tree(
        classes, features, data["missing"], **nodes, branches=branches, counts=counts,
        surrogates=Surrogates(starts, **stand_ins), decided=None,
    )  # fmt: skip
    _check_shape(tree)
    _check_tests(tree)
    _check_stand_ins(tree)
    return tree


def _read_feature(entry: Any) -> Feature:
    name, cuts, levels, word = entry["name"], entry["cuts"], entry["levels"], entry.get("word")
    if not isinstance(name, str) or type(cuts) is not int or cuts < 0:
        raise ModelFileError("its tree has a column without a name")
    if levels is None:
        return Feature(name, None, cuts)
    values = tuple(from_plain(level) for level in levels)
    if len(set(map(level_key, values))) != len(values):
        raise ModelFileError(f"its tree names a value of {name!r} twice")
    return Feature(name, values, cuts) if word is None else _read_word(name, values, word)


def _read_word(name: str, values: tuple[Hashable, ...], word: Any) -> Feature:
    if not isinstance(word, list) or len(word) != 2 or not all(isinstance(part, str) for part in word):
        raise ModelFileError("its tree asks for a word that is none")
    feature = word_feature(*word)
    if (feature.name, feature.levels) != (name, values):
        raise ModelFileError("its tree asks for a word under another name")
    return feature


def _check_shape(tree: Tree) -> None:
    """Children in level order: each node but the root follows exactly one parent, which stands before it."""
    inner = tree.column >= 0
    n_children = np.where(inner, tree.n_children, 0)
    fair = (
        ((tree.column >= LEAF) & (tree.column < len(tree.features))).all()
        and (tree.n_children[~inner] == 0).all()
        and (tree.n_children[inner] >= 2).all()
        and int(n_children.astype(np.int64).sum()) == len(tree) - 1
    )
    if fair:
        firsts = 1 + np.cumsum(n_children.astype(np.int64)) - n_children
        fair = bool((tree.first_child[inner] == firsts[inner]).all()) and bool(
            (firsts > np.arange(len(tree)))[inner].all()
        )
    if not fair or ((tree.majority_branch < 0) | (tree.majority_branch >= tree.n_children))[inner].any():
        raise ModelFileError("its tree is none: nodes do not follow their parents")


def _check_tests(tree: Tree) -> None:
    numeric = np.array([feature.is_numeric for feature in tree.features], dtype=np.bool_)
    inner = np.flatnonzero(tree.column >= 0)
    cuts = inner[numeric[tree.column[inner]]]
    if not np.isfinite(tree.threshold).all() or (tree.n_children[cuts] != 2).any():
        raise ModelFileError("its tree has a cut that is no cut")
    for node in inner[~numeric[tree.column[inner]]]:
        _check_map(tree, int(tree.values[node]), int(tree.column[node]), int(tree.n_children[node]))


def _check_stand_ins(tree: Tree) -> None:
    own = tree.surrogates
    n = len(own.column)
    alike = all(len(array) == n for array in (own.threshold, own.low, own.high, own.values))
    if not alike or own.starts[0] != 0 or own.starts[-1] != n or (np.diff(own.starts) < 0).any():
        raise ModelFileError("its stand-ins do not fit its nodes")
    if n and not ((own.column >= 0) & (own.column < len(tree.features))).all():
        raise ModelFileError("its tree has a stand-in on a column that does not exist")
    if not np.isfinite(own.threshold).all():
        raise ModelFileError("its tree has a stand-in that is no cut")
    nodes = np.repeat(np.arange(len(tree)), np.diff(own.starts))
    for k, node in enumerate(nodes):
        most = int(tree.n_children[node])
        if tree.features[own.column[k]].is_numeric:
            if not (0 <= own.low[k] < most and 0 <= own.high[k] < most):
                raise ModelFileError("its tree has a stand-in that leads nowhere")
        else:
            _check_map(tree, int(own.values[k]), int(own.column[k]), most)


def _check_map(tree: Tree, start: int, column: int, n_branches: int) -> None:
    """The branches of all values lie within the array, and each within the node's children."""
    width = len(tree.features[column].levels or ())
    branches = tree.branches[start : start + width] if start >= 0 else tree.branches[:0]
    if len(branches) != width or (branches < -1).any() or (branches >= n_branches).any():
        raise ModelFileError("its tree has a value that leads nowhere")
