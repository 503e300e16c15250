"""Priors and families as a query: every belief is a sum over columns, and so is the log joint."""

from __future__ import annotations

from collections.abc import Iterable

from likely.errors import SettingsError
from likely.explain.factors import beliefs_by_factor
from likely.families.protocol import FittedFamily, HasTokens, SQLNode, WritesSQL
from likely.families.tempered import bare
from likely.scorer import Model
from likely.sql.posterior import Posterior, log_prior, posterior_of_joint
from likely.sql.query import Query


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
