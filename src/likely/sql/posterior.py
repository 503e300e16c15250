"""From beliefs to log joints, and from these to what is asked for: probabilities, decisions, explanations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from likely.arrays import AnyArray, Array
from likely.decide import REFUSED, LossLike, LossMatrix, as_loss
from likely.errors import SettingsError, did_you_mean, listed
from likely.explain.factors import beliefs_by_factor
from likely.families.protocol import FittedFamily, HasTokens, SQLNode, WritesSQL
from likely.families.tempered import bare
from likely.numerics import log_of
from likely.scorer import Model
from likely.sql.nodes import Node
from likely.sql.query import Query

Output = Literal["probabilities", "decision", "explanation"]
OUTPUTS: tuple[Output, ...] = ("probabilities", "decision", "explanation")
"""What a query gives beside the columns of the table."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """P(class) of a row, and its most probable class as a label; `why` has the parts that the log joint is a sum of."""

    shares: list[Node]
    prediction: Node
    why: Mapping[str, Sequence[Node]] = field(default_factory=dict)


def posterior_of_joint(
    query: Query, classes: AnyArray, prior: Array, joints: Sequence[Node], why: Mapping[str, Sequence[Node]]
) -> Posterior:
    """The posterior from log joints, shifted by their peak; a row that every class rules out has the prior."""
    kept = [query.kept(joint) for joint in joints]
    peak = query.kept(query.without_nan(query.greatest([joint.copy() for joint in kept])))
    impossible = query.equal(peak, query.number(-math.inf))
    shares = []
    for joint, share in zip(kept, prior.tolist(), strict=True):
        lowered = query.power(query.minus(joint.copy(), peak.copy()))
        shares.append(query.kept(query.case([(impossible.copy(), query.number(share))], lowered)))
    total = query.kept(query.sum([share.copy() for share in shares]))
    normal = [query.kept(query.over(share.copy(), total.copy())) for share in shares]
    labels, best = [query.value(label) for label in classes.tolist()], int(np.argmax(prior))
    whens = [(impossible.copy(), labels[best].copy())]
    whens += [(query.equal(joint.copy(), peak.copy()), label) for joint, label in zip(kept, labels, strict=True)]
    return Posterior(normal, query.case(whens), why)


def first_largest(query: Query, shares: Sequence[Node], labels: Sequence[Node]) -> Node:
    """The label of the largest share, the first of equals."""
    largest = query.kept(query.greatest([share.copy() for share in shares]))
    pairs = zip(shares, labels, strict=True)
    return query.case([(query.equal(share.copy(), largest.copy()), label.copy()) for share, label in pairs])


def asked(query: Query, classes: AnyArray, found: Posterior, output: str, loss: LossLike | None) -> dict[str, Node]:
    """The columns of the result, by name."""
    if output not in OUTPUTS:
        raise SettingsError(f"output is {output!r}, but it is {listed(OUTPUTS)}.{did_you_mean(output, OUTPUTS)}")
    if loss is not None and output != "decision":
        raise SettingsError(f"A loss is for decisions: say output='decision', not {output!r}.")
    labels = classes.tolist()
    if query.kind_of(labels) is None:
        raise SettingsError(
            f"The classes {listed(labels)} are of several types, or of one that SQL has no word for: make them all "
            "text before fitting, or predict with likely."
        )
    wanted = {"prediction": found.prediction}
    wanted |= {f"P({label})": share.copy() for label, share in zip(labels, found.shares, strict=True)}
    if output == "decision":
        return wanted | decision(query, classes, found, loss)
    if output == "explanation":
        if not found.why:
            raise SettingsError(
                "This classifier has no contributions of columns that add up: ask for 'probabilities' or 'decision'."
            )
        for part, nodes in found.why.items():
            wanted |= {f"{part}: {label}": node for label, node in zip(labels, nodes, strict=True)}
    return wanted


def decision(query: Query, classes: AnyArray, found: Posterior, loss: LossLike | None) -> dict[str, Node]:
    """The decision of least expected cost and what it is expected to cost; without a loss, every mistake costs 1.

    Where refusing has a price, decisions are text, and REFUSED where nothing else is as cheap.
    """
    from likely.decide import Loss

    given = Loss.zero_one(classes.tolist()) if loss is None else as_loss(loss)
    if given.n_rows is not None:
        raise SettingsError("Costs that differ from row to row cannot be written as SQL: give one cost matrix.")
    bound = LossMatrix.of(given, classes, 1)
    costs = np.asarray(given.costs, dtype=np.float64)[:, bound.places]
    refuses = given.refuse is not None
    names = [query.value(str(label) if refuses else label) for label in bound.labels.tolist()]
    risks = [query.kept(_expected(query, found.shares, line)) for line in costs]
    least = query.kept(query.exp.Neg(this=query.grouped(query.greatest([_negative(query, risk) for risk in risks]))))
    if bound.mistake is not None:
        chosen = found.prediction.copy()
        if refuses:
            whens = zip(classes.tolist(), names, strict=True)
            chosen = query.case([(query.equal(found.prediction.copy(), query.value(k)), name) for k, name in whens])
    else:
        pairs = zip(risks, names, strict=True)
        chosen = query.case([(query.equal(risk.copy(), least.copy()), name) for risk, name in pairs])
    if given.refuse is None:
        return {"decision": chosen, "risk": least}
    dear = query.below(query.number(given.refuse), least.copy())
    told = query.case([(dear, query.value(str(REFUSED)))], chosen)
    return {"decision": told, "risk": query.case([(dear.copy(), query.number(given.refuse))], least.copy())}


def _expected(query: Query, shares: Sequence[Node], costs: Array) -> Node:
    """Σ cost · P(class)."""
    terms = [query.times(query.number(c), p.copy()) for p, c in zip(shares, costs.tolist(), strict=True) if c != 0.0]
    if not terms:  # nothing but for a row that has no posterior
        return query.times(query.number(0.0), shares[0].copy())
    return query.sum(terms)


def _negative(query: Query, node: Node) -> Node:
    return query.exp.Neg(this=node.copy())


def log_prior(query: Query, prior: Array) -> list[Node]:
    """log P(class), one for each."""
    return [query.number(each) for each in log_of(prior).tolist()]


# Priors and families: every belief is a sum over columns, and so is the log joint.


def posterior_of_model(query: Query, model: Model, *, explain: bool = False) -> Posterior:
    """The posterior of naive Bayes and its kin; with `explain`, by the contributions of the columns."""
    places = range(len(model.classes))
    prior = log_prior(query, model.prior)
    if not explain:
        joints = [
            query.sum([prior[c], *(term for belief in model.beliefs for term in sql_terms(belief, query, c))])
            for c in places
        ]
        return posterior_of_joint(query, model.classes, model.prior, joints, {})
    why = {"prior": prior}
    for columns, beliefs in beliefs_by_factor(model).items():
        added = []
        for c in places:
            terms = [term for belief in beliefs for term in sql_terms(belief, query, c)]
            added.append(query.kept(query.sum([query.number(0.0), *terms])))
        why[", ".join(columns)] = added
    joints = [query.sum([nodes[c].copy() for nodes in why.values()]) for c in places]
    return posterior_of_joint(query, model.classes, model.prior, joints, why)


def sql_terms(belief: FittedFamily, query: Query, place: int) -> Iterable[SQLNode]:
    """What a belief adds to the log joint of one class, column by column."""
    terms = belief.sql_terms(query, place) if isinstance(belief, WritesSQL) else None
    if terms is None:
        known = isinstance(bare(belief), HasTokens)
        why = "a share of its words is 0 or 1 (smoothing=0)" if known else f"{belief.name!r} writes none"
        raise SettingsError(
            f"Column {belief.columns[0]!r} cannot be scored in SQL, because {why}; export the model as JSON or CSV, or "
            "predict with likely."
        )
    return terms
