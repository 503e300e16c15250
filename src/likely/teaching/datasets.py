"""Small tables to try things on: a user sees every number that leads to a posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from likely.errors import SettingsError, did_you_mean, listed
from likely.teaching.mails import mails, new_mails

Columns = dict[str, list[object]]

_PATIENTS = """
male 20 normal A · female 73 normal B · female 37 high A · male 33 low B · female 48 high A · male 29 normal A ·
female 52 normal B · male 42 low B · male 61 normal B · female 30 normal A · female 26 low B · male 54 high A
"""

_GOLF = """
sunny hot high weak no · sunny hot high strong no · overcast hot high weak yes · rainy mild high weak yes ·
rainy cool normal weak yes · rainy cool normal strong no · overcast cool normal strong yes · sunny mild high weak no ·
sunny cool normal weak yes · rainy mild normal weak yes · sunny mild normal strong yes · overcast mild high strong yes ·
overcast hot normal weak yes · rainy mild high strong no
"""

_COLDS = "yes yes yes no sick · yes yes no no sick · no no yes yes sick · yes no no no healthy · no no no no healthy"


def patients() -> Columns:
    """Twelve patients: sex, age and blood pressure, and which of two drugs helped."""
    table = _columns(_PATIENTS, ["sex", "age", "blood_pressure", "drug"])
    table["age"] = [int(str(age)) for age in table["age"]]
    return table


def golf() -> Columns:
    """Fourteen days: the weather, and whether golf was played."""
    return _columns(_GOLF, ["outlook", "temperature", "humidity", "wind", "play"])


def colds() -> Columns:
    """Five people: four symptoms, sick or healthy."""
    return _columns(_COLDS, ["runny_nose", "cough", "red_skin", "fever", "state"])


def dwarfs() -> Columns:
    """Four short German mails, two of them spam."""
    return {
        "text": [
            "Sieben Zwerge fraßen sieben Ziegen",
            "Sieben Wölfe fraßen sieben Böcke",
            "Sieben Ziegen traten sieben Wölfe",
            "Sieben Böcke traten sieben Zwerge",
        ],
        "label": ["OK", "OK", "SPAM", "SPAM"],
    }


def dishes() -> Columns:
    """Four lists of Vietnamese food words: from the north (B) or from the south (N)."""
    return {
        "text": [
            "hanoi pho chaolong hanoi",
            "hanoi buncha pho omai",
            "pho banhgio omai",
            "saigon hutiu banhbo pho",
        ],
        "label": ["B", "B", "B", "N"],
    }


def of_sklearn(name: str) -> Columns:
    """A table that comes with scikit-learn, with the names of the classes in the column `target`."""
    from importlib import import_module

    loaded = vars(import_module("sklearn.datasets"))[f"load_{name}"]()
    columns = {str(column): values.tolist() for column, values in zip(loaded.feature_names, loaded.data.T, strict=True)}
    return {**columns, "target": [str(loaded.target_names[code]) for code in loaded.target]}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table by name: what it holds, which column is to be predicted, and how it is made."""

    about: str
    target: str | None
    make: Callable[[], Columns]


DATASETS: dict[str, Dataset] = {
    "mails": Dataset("an inbox of 600 mails: dates, categories, numbers, text, gaps (made up)", "kind", mails),
    "new-mails": Dataset("twenty mails of the weeks after, without the kind", None, new_mails),
    "patients": Dataset("twelve patients and the drug that helped", "drug", patients),
    "golf": Dataset("fourteen days of weather, and whether golf was played", "play", golf),
    "colds": Dataset("five people with four symptoms, sick or healthy", "state", colds),
    "dwarfs": Dataset("four short German texts, two of them spam", "label", dwarfs),
    "dishes": Dataset("four lists of Vietnamese food words, from north or south", "label", dishes),
    "iris": Dataset("150 flowers of three species (scikit-learn)", "target", lambda: of_sklearn("iris")),
    "wine": Dataset("178 wines of three growers (scikit-learn)", "target", lambda: of_sklearn("wine")),
    "tumours": Dataset("569 breast tumours (scikit-learn)", "target", lambda: of_sklearn("breast_cancer")),
}
"""What `likely datasets` offers."""


def dataset(name: str) -> Columns:
    """The table of this name, column by column.

    >>> sorted(set(dataset("mails")["kind"]))
    ['later', 'read', 'skip']
    """
    if name not in DATASETS:
        raise SettingsError(
            f"There is no table {name!r}; there are {listed(list(DATASETS))}.{did_you_mean(name, list(DATASETS))}"
        )
    return DATASETS[name].make()


def _columns(rows: str, names: list[str]) -> Columns:
    cells = [row.split() for row in rows.split("·")]
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}
