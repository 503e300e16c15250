"""A tree as JSON and named arrays, and back; a made-up one is refused before anything walks down it."""

from __future__ import annotations

from collections import Counter

import numpy as np

from likely.arrays import AnyArray
from likely.engines.memory import USUAL_TOKENIZER
from likely.errors import DataError, ModelFileError
from likely.models.tree.data import word_feature
from likely.models.tree.tree import LEAF, Feature, Surrogates, Tree
from likely.stats.protocol import HEAVIEST_COUNT
from likely.store.codec import Context, Form, Reader, Writer, expect, read, register, write
from likely.store.container import Document
from likely.table import level_key
from likely.table.schema import Schema

FLAT = ("column", "threshold", "first_child", "n_children", "values", "majority_branch")
STAND_INS = ("column", "threshold", "low", "high", "values")


def write_tree(tree: Tree, writer: Writer) -> object:
    """Features in the document, nodes in arrays."""
    return write(tree, writer)


def read_tree(data: object, reader: Reader, classes: AnyArray) -> Tree:
    """The tree that `write_tree` wrote: every node has one parent, every place that it names exists."""
    return read(Tree, data, reader, classes=classes)


def check_features(tree: Tree, schema: Schema, most_words: object) -> None:
    """Every test of a loaded tree is on a column of the schema, and no text has more words than were asked for."""
    texts, others = set(schema.text), set(schema.features) - set(schema.text)
    words = Counter(feature.column for feature in tree.features if feature.word is not None)
    if not ({f.name for f in tree.features if f.word is None} <= others and set(words) <= texts):
        raise DataError("its tree tests columns that are not in its schema")
    if words and not (isinstance(most_words, int) and max(words.values()) <= most_words):
        raise DataError("its tree asks for more words than it may")


def _check_feature(feature: Feature, context: Context) -> None:
    values = feature.levels or ()
    if feature.cuts < 0 or len(set(map(level_key, values))) != len(values):
        raise ModelFileError(f"its tree names a value of {feature.name!r} twice, or fewer cuts than none")
    if feature.word is not None and feature != word_feature(*feature.word):
        raise ModelFileError("its tree asks for a word under another name")


def _check_tree(tree: Tree, context: Context) -> None:
    if len({feature.name for feature in tree.features}) != len(tree.features):
        raise ModelFileError("its tree names a column twice")
    n, own = len(tree.counts), tree.surrogates
    expect("class counts", tree.counts, None, len(tree.classes), least=0.0, most=HEAVIEST_COUNT)
    if not n or not len(tree.classes) or not np.isfinite(tree.counts.sum()):
        raise ModelFileError("its tree has no nodes, or more cases than can be counted")
    if not tree.counts[0].any():
        raise ModelFileError("its tree has not grown from any case")
    for of_nodes in (
        tree.column, tree.threshold, tree.first_child, tree.n_children, tree.values, tree.majority_branch
    ):  # fmt: skip
        expect("nodes", of_nodes, n)
    for of_stand_ins in (own.column, own.threshold, own.low, own.high, own.values):
        expect("stand-ins", of_stand_ins, len(own.column))
    expect("stand-ins", own.starts, n + 1)
    expect("branches", tree.branches, None)
    _check_shape(tree)
    _check_tests(tree)
    _check_stand_ins(tree)


register(Feature, Form(check=_check_feature))
register(Surrogates)
register(
    Tree,
    Form(
        names={name: f"nodes.{name}" for name in FLAT}
        | {"majority_branch": "nodes.usual"}
        | {f"surrogates.{name}": f"stand_ins.{name}" for name in STAND_INS}
        | {"surrogates.starts": "stand_in_starts"},
        left_out=frozenset({"classes", "decided"}),
        check=_check_tree,
    ),
)


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
    if (tree.n_children[cuts] != 2).any():
        raise ModelFileError("its tree has a cut that is no cut")
    for node in inner[~numeric[tree.column[inner]]]:
        _check_map(tree, int(tree.values[node]), int(tree.column[node]), int(tree.n_children[node]))


def _check_stand_ins(tree: Tree) -> None:
    own = tree.surrogates
    n = len(own.column)
    if own.starts[0] != 0 or own.starts[-1] != n or (np.diff(own.starts) < 0).any():
        raise ModelFileError("its stand-ins do not fit its nodes")
    if n and not ((own.column >= 0) & (own.column < len(tree.features))).all():
        raise ModelFileError("its tree has a stand-in on a column that does not exist")
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


# For those who walk down a tree without this package.


def described(tree: Tree, smoothing: float) -> Document:
    """Tests, branches, stand-ins for gaps, and the share of every class in each node."""
    own = tree.surrogates
    return {
        "features": [
            {"name": feature.name, "column": feature.column, "levels": feature.levels, "word": feature.word}
            for feature in tree.features
        ],
        "missing": tree.missing,
        "column": tree.column,
        "threshold": tree.threshold,
        "first": tree.first_child,
        "children": tree.n_children,
        "values": tree.values,
        "branches": tree.branches,
        "majority": tree.majority_branch,
        "counts": tree.counts,
        "sizes": tree.sizes,
        "shares": tree.probabilities(smoothing),
        "stand_ins": {
            "starts": own.starts, "column": own.column, "threshold": own.threshold, "low": own.low,
            "high": own.high, "values": own.values,
        },
        "tokenizer": USUAL_TOKENIZER,
    }  # fmt: skip
