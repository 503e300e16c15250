"""What is believed about columns given the class."""

from __future__ import annotations

from typing import TypeVar

from likely.errors import SettingsError, did_you_mean
from likely.families.aode import Aode
from likely.families.bernoulli import Bernoulli, TextBernoulli
from likely.families.bins import Bins
from likely.families.categorical import Categorical
from likely.families.complement import Complement, TextComplement
from likely.families.gaussian import Gaussian, LogNormal
from likely.families.multinomial import Multinomial, TextMultinomial
from likely.families.multivariate import MultivariateGaussian
from likely.families.outcomes import BlockScorer
from likely.families.poisson import Poisson
from likely.families.protocol import Family, FittedFamily, Settings
from likely.families.smoothing import Smoothing, smoothing_by_column
from likely.families.tree_bins import TreeBins

F = TypeVar("F", bound=Family)

FAMILIES: dict[str, type[Family]] = {}
"""All families by name. Where several suit a column equally well, the one that was registered first is taken."""

TEXT_FAMILIES: dict[str, type[TextMultinomial] | type[TextComplement] | type[TextBernoulli]] = {
    "multinomial": TextMultinomial,
    "complement": TextComplement,
    "bernoulli": TextBernoulli,
}
"""What families of counts are called for text columns, too."""


def register(family: type[F]) -> type[F]:
    """Make a family known by its name; what it says about itself is all that the other parts ask for."""
    FAMILIES[family.name] = family
    return family


for _family in (
    Gaussian,
    LogNormal,
    Poisson,
    Bins,
    TreeBins,
    Categorical,
    Bernoulli,
    Multinomial,
    Complement,
    MultivariateGaussian,
    Aode,
    *TEXT_FAMILIES.values(),
):
    register(_family)


def family_named(name: str) -> type[Family]:
    """The family of that name, or an error that lists them."""
    if name not in FAMILIES:
        known = ", ".join(name for name, family in FAMILIES.items() if family.reads != "text")
        raise SettingsError(f"There is no family {name!r}; there are {known}.{did_you_mean(str(name), list(FAMILIES))}")
    return FAMILIES[name]


__all__ = [
    "FAMILIES",
    "TEXT_FAMILIES",
    "BlockScorer",
    "Family",
    "FittedFamily",
    "Multinomial",
    "MultivariateGaussian",
    "Settings",
    "Smoothing",
    "family_named",
    "register",
    "smoothing_by_column",
]
