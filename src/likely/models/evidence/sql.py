"""The additive model as a query: every column becomes a code, and tables are looked up by codes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from likely.arrays import UInt8
from likely.models.evidence.discriminant import QuadraticDiscriminant
from likely.models.evidence.encoding import BinnedNumber, Column, Encoding, Resolution
from likely.models.evidence.ensemble import TreeEnsemble
from likely.models.evidence.explain import BASE, SEPARATOR, TOGETHER, WITH_OTHERS
from likely.models.evidence.predictor import AdditivePredictor, class_scores
from likely.models.evidence.text_scores import CorrectedText, CountedText, TextScorer, as_scores
from likely.sql.nodes import Node
from likely.sql.posterior import Posterior, log_prior, posterior_of_joint
from likely.sql.query import Query


class HasEvidence(Protocol):
    """A classifier whose evidence adds up."""

    model_: AdditivePredictor


def sql_posterior(classifier: HasEvidence, query: Query, *, explain: bool) -> Posterior:
    """Log prior, what lies beyond it, and the entries of all tables; with `explain`, each by itself."""
    check_is_fitted(classifier)
    model = classifier.model_
    n_classes, terms = len(model.classes), _terms(query, model, explain)
    n_scores = 1 if n_classes == 2 else n_classes
    prior, beyond = log_prior(query, model.prior), list(map(query.number, model.beyond_prior().tolist()))
    if not explain:
        scores = [
            query.kept(query.sum([query.number(0.0), *(nodes[s] for nodes in terms.values())])) for s in range(n_scores)
        ]
        added = _by_class(query, scores, n_classes)
        joints = [query.sum([prior[c], beyond[c], added[c]]) for c in range(n_classes)]
        return posterior_of_joint(query, model.classes, model.prior, joints, {})
    if len(model.evidence.discriminant):
        mean = class_scores(model.evidence.discriminant.base.sum(axis=0)[None], n_classes)[0]
        beyond = list(map(query.number, (model.beyond_prior() + mean).tolist()))
    why = {"prior": prior, BASE: beyond}
    for name, nodes in terms.items():
        why[name] = _by_class(query, [query.kept(node) for node in nodes], n_classes)
    joints = [query.sum([nodes[c].copy() for nodes in why.values()]) for c in range(n_classes)]
    return posterior_of_joint(query, model.classes, model.prior, joints, why)


def _terms(query: Query, model: AdditivePredictor, explain: bool) -> dict[str, list[Node]]:
    """What each column, pair, triple and text adds to every score, and the trees together.

    The discriminant is one polynomial, or with `explain` shared among its columns.
    """
    evidence = model.evidence
    encoding, terms = evidence.encoding, evidence.terms
    codes = [_code(query, column) for column in encoding.columns]
    coarse = _grouped(query, [column.coarse for column in encoding.columns], codes, terms.pairs)
    tiny = _grouped(query, [column.tiny for column in encoding.columns], codes, terms.triples)
    cells = [code.copy() for code in codes]
    cells += [query.kept(_cell(query, coarse, encoding.coarse, term)) for term in terms.pairs.tolist()]
    cells += [query.kept(_cell(query, tiny, encoding.tiny, term)) for term in terms.triples.tolist()]
    names = [*encoding.names, *(SEPARATOR.join(names) for names in evidence.term_names())]
    starts = evidence.starts.tolist()
    ends = [*starts, len(evidence.tables)][1:]
    found: dict[str, list[Node]] = {}
    for name, cell, first, last in zip(names, cells, starts, ends, strict=True):
        entries = evidence.tables[first:last]
        found[name] = [query.number_at(entries[:, s].tolist(), cell.copy()) for s in range(entries.shape[1])]
    for weight, text in zip(evidence.text_weights.tolist(), model.text_models, strict=True):
        found[text.column] = _words(query, text, weight, evidence.tables.shape[1])
    rest = [_leaves(query, evidence.trees, codes)] if len(evidence.trees) else []
    if len(evidence.discriminant):
        z = _standard_scores(query, evidence.discriminant, encoding, codes)
        if explain:
            shares = _shares(query, evidence.discriminant, z)
            names = [encoding.names[k] + WITH_OTHERS for k in evidence.discriminant.columns.tolist()]
            found |= dict(zip(names, shares, strict=True))
        else:
            rest.append(_polynomial(query, evidence.discriminant, z))
    if rest:
        name = TOGETHER
        while name in found:
            name += " "
        found[name] = [query.sum(list(parts)) for parts in zip(*rest, strict=True)]
    return found


def _leaves(query: Query, trees: TreeEnsemble, codes: list[Node]) -> list[Node]:
    """What all trees add to every score: the answers to the questions of a tree are the bits of a leaf's number."""
    leaves = []
    for tree in range(len(trees)):
        asked = trees.questions(tree)
        bits = [
            query.case([(_is_among(query, codes[k], side), query.whole(1 << len(asked) - 1 - place))], query.whole(0))
            for place, (k, side) in enumerate(asked)
        ]
        leaves.append(query.kept(query.sum(bits)) if bits else query.whole(0))
    return [
        query.sum(
            [
                query.number(0.0),
                *(
                    query.number_at(trees.leaves[tree, trees.asked_leaves(tree), s].tolist(), leaf.copy())
                    for tree, leaf in enumerate(leaves)
                ),
            ]
        )
        for s in range(trees.leaves.shape[2])
    ]


def _standard_scores(
    query: Query, discriminant: QuadraticDiscriminant, encoding: Encoding, codes: list[Node]
) -> list[Node]:
    """z of each column of the discriminant."""
    return [
        query.kept(query.number_at(line[: encoding.columns[k].size].tolist(), codes[k].copy()))
        for line, k in zip(discriminant.values, discriminant.columns.tolist(), strict=True)
    ]


def _shares(query: Query, discriminant: QuadraticDiscriminant, z: list[Node]) -> list[list[Node]]:
    """What each column of the discriminant adds to every score beyond its mean: products are shared evenly."""
    left, right = discriminant.pairs()
    shares = []
    for a, (linear, base) in enumerate(zip(discriminant.linear, discriminant.base, strict=True)):
        places = np.flatnonzero((left == a) | (right == a))
        others = left[places] + right[places] - a
        factors = np.where(others == a, 1.0, 0.5)[:, None] * discriminant.products[places]
        share = []
        for s in range(len(linear)):
            inner = [
                query.times(query.number(float(factor)), z[b].copy())
                for factor, b in zip(factors[:, s], others, strict=True)
            ]
            slope = query.grouped(query.sum([query.number(float(linear[s])), *inner]))
            share.append(query.sum([query.number(-float(base[s])), query.times(z[a].copy(), slope)]))
        shares.append(share)
    return shares


def _polynomial(query: Query, discriminant: QuadraticDiscriminant, z: list[Node]) -> list[Node]:
    """What the quadratic discriminant adds to every score: Σ_a z_a · (linear + Σ_(b ≥ a) products · z_b)."""
    left, right = discriminant.pairs()
    scores = []
    for linear, products in zip(discriminant.linear.T, discriminant.products.T, strict=True):
        terms = []
        for a in range(len(z)):
            inner = [
                query.times(query.number(float(products[place])), z[right[place]].copy())
                for place in np.flatnonzero(left == a)
            ]
            slope = query.grouped(query.sum([query.number(float(linear[a])), *inner]))
            terms.append(query.times(z[a].copy(), slope))
        scores.append(query.sum(terms))
    return scores


def _is_among(query: Query, code: Node, side: UInt8) -> Node:
    """Whether a code is one of those with side 1: it lies in one of the runs of them."""
    signed = side.astype(np.int8)
    starts, ends = np.flatnonzero(np.diff(signed, prepend=0) == 1), np.flatnonzero(np.diff(signed, append=0) == -1)
    runs = [
        query.equal(code.copy(), query.whole(int(low)))
        if low == high
        else query.both(
            query.at_most(query.whole(int(low)), code.copy()), query.at_most(code.copy(), query.whole(int(high)))
        )
        for low, high in zip(starts, ends, strict=True)
    ]
    found = runs[0]
    for run in runs[1:]:
        found = query.either(found, run)
    return query.grouped(found)


def _by_class(query: Query, scores: list[Node], n_classes: int) -> list[Node]:
    """One score is shared out evenly, for the second class and against the first."""
    if n_classes != 2:
        return [score.copy() for score in scores]
    signs = class_scores(np.ones((1, 1)), 2)[0].tolist()
    return [query.times(query.number(sign), scores[0].copy()) for sign in signs]


def _code(query: Query, column: Column) -> Node:
    """The code of a cell: 0 for a category never seen, then bins or categories, last the gap."""
    gap = column.size - 1 if column.gap else 0
    if not isinstance(column, BinnedNumber):
        rare = 1 + len(column.levels)
        codes = [*range(1, rare), *(rare for _ in column.rare)]
        return query.code(column.name, (*column.levels, *column.rare), codes, 0, gap)
    if len(column.means):
        return query.interval(column.name, column.cuts, 1, gap, at_most=True)
    return query.kept(query.case([(query.missing(column.name), query.whole(gap))], query.whole(0)))


def _grouped(query: Query, groups: list[UInt8], codes: list[Node], terms: NDArray[np.int32]) -> dict[int, Node]:
    """Coarse codes of the columns that take part in some terms."""
    return {k: query.kept(query.whole_at(groups[k].tolist(), codes[k].copy())) for k in np.unique(terms).tolist()}


def _cell(query: Query, coarse: dict[int, Node], resolution: Resolution, term: list[int]) -> Node:
    """The cell of a pair or triple: its codes are the digits of one number."""
    cell = coarse[term[0]].copy()
    for k in term[1:]:
        cell = query.times(cell, query.whole(int(resolution.widths[k])))
        cell = query.sum([cell, coarse[k].copy()])
    return cell


def _words(query: Query, text: TextScorer, weight: float, n_scores: int) -> list[Node]:
    """What the words of a text add to every score: a sum over them."""
    if isinstance(text, CorrectedText):
        expert, words = text.expert, text.expert.words.to_list()
        lines = weight * expert.coefficients, weight * expert.count_coefficients
        told = query.tf_idf_words(text.column, expert.tokenizer, words, expert.rarity, *lines) if words else []
    else:
        assert isinstance(text, CountedText)
        tokenizer, words, evidence = text.lines()
        told = query.words(text.column, tokenizer, words, weight * as_scores(evidence)) if words else []
    return [query.known_or(node, query.number(0.0)) for node in told] or [query.number(0.0) for _ in range(n_scores)]
