"""Small tables to try things on: a user sees every number that leads to a posterior."""

from __future__ import annotations

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


def _columns(rows: str, names: list[str]) -> Columns:
    cells = [row.split() for row in rows.split("·")]
    return {name: [row[place] for row in cells] for place, name in enumerate(names)}
