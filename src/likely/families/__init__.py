"""What is believed about columns given the class."""

from __future__ import annotations

from likely.errors import SettingsError, did_you_mean
from likely.families.aode import Aode
from likely.families.bernoulli import Bernoulli
from likely.families.bins import Bins
from likely.families.categorical import Categorical
from likely.families.complement import Complement
from likely.families.gaussian import Gaussian
from likely.families.lognormal import LogNormal
from likely.families.multinomial import Multinomial
from likely.families.multivariate import MultivariateGaussian
from likely.families.poisson import Poisson
from likely.families.protocol import BlockScorer, Family, Settings
from likely.families.smoothing import Laplace, MEstimate, Smoothing, smoothing_by_column
from likely.families.texts import TEXT_FAMILIES, TextBernoulli, TextComplement, TextMultinomial
from likely.families.tree_bins import TreeBins

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        Aode,
        Bernoulli,
        Bins,
        Categorical,
        Complement,
        Gaussian,
        LogNormal,
        Multinomial,
        MultivariateGaussian,
        Poisson,
        TextBernoulli,
        TextComplement,
        TextMultinomial,
        TreeBins,
    )
}
"""All families by name. A new one is a file and its place in this line."""


def family_named(name: str) -> type[Family]:
    """The family of that name, or an error that lists them."""
    if name not in FAMILIES:
        known = ", ".join(name for name, family in FAMILIES.items() if family.reads != "text")
        raise SettingsError(f"There is no family {name!r}; there are {known}.{did_you_mean(str(name), list(FAMILIES))}")
    return FAMILIES[name]


__all__ = [
    "FAMILIES",
    "TEXT_FAMILIES",
    "Aode",
    "Bernoulli",
    "Bins",
    "BlockScorer",
    "Categorical",
    "Complement",
    "Family",
    "Gaussian",
    "Laplace",
    "LogNormal",
    "MEstimate",
    "Multinomial",
    "MultivariateGaussian",
    "Poisson",
    "Settings",
    "Smoothing",
    "TextBernoulli",
    "TextComplement",
    "TextMultinomial",
    "TreeBins",
    "family_named",
    "smoothing_by_column",
]
