"""A saved classifier comes back as it was, and can go on learning."""

from __future__ import annotations

import datetime
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import likely
from likely import BayesClassifier, EvidenceClassifier, Laplace, MEstimate, Schema, SettingsError
from likely.stats import feature_counts
from likely.store.plain import DEEPEST, from_plain, to_plain

rng = np.random.default_rng(5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.likely"


def mixed(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    y = rng.integers(0, 3, n)
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + y),
            "town": rng.choice(["Ulm", "Bonn", "Köln ☂", None], n),
            "visits": rng.poisson(2 + y),
            "income": np.exp(rng.normal(size=n)),
            "member": rng.random(n) < 0.4,
        }
    )
    return table, y


def back(clf: BayesClassifier, path: Path) -> Any:
    clf.save(path)
    return likely.load(path)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"families": {"visits": "poisson", "income": "lognormal"}, "missing": "value", "unseen": "smooth"},
        {"smoothing": {"town": MEstimate(3, p={"Ulm": 0.5, "Bonn": 0.25, "Köln ☂": 0.25}), "member": Laplace(0.5)}},
        {"priors": {0: 0.5, 1: 0.25, 2: 0.25}, "variance": "ml", "variance_floor": 1e-6, "n_jobs": 2},
        {"priors": [0.2, 0.3, 0.5], "schema": {"visits": "nominal"}},
    ],
    ids=str,
)
def test_mixed_tables(settings: dict[str, Any], path: Path) -> None:
    X, y = mixed()
    clf = BayesClassifier(**settings).fit(X, y)
    again = back(clf, path)
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert again.get_params() == clf.get_params()
    assert again.schema_ == clf.schema_
    assert again.feature_names_in_.tolist() == list(X.columns)
    np.testing.assert_allclose(
        again.partial_fit(X, y).predict_log_proba(X), clf.partial_fit(X, y).predict_log_proba(X), rtol=1e-12
    )
    assert (again + clf).summary_.n_rows == 4 * len(X)


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("dense_cells", [0, 1 << 22], ids=["kept sparse", "kept dense"])
def test_sparse_counts(family: str, dense_cells: int, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_counts, "DENSE_CELLS", dense_cells)
    X = sparse.random_array((60, 400), density=0.03, rng=rng, format="csr")
    clf = BayesClassifier(families=family).fit(X, rng.integers(0, 9, 60))
    again = back(clf, path)
    np.testing.assert_array_equal(again.predict_joint_log_proba(X), clf.predict_joint_log_proba(X))
    assert again.schema_ == clf.schema_


def test_a_wide_sparse_schema_stays_small(path: Path) -> None:
    X = sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [5, 77, 49_999, 5])), shape=(4, 50_000))
    BayesClassifier().fit(X, [0, 1, 0, 1]).save(path)
    assert path.stat().st_size < 3_000_000


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        [1, 2],
        [True, False],
        [1.0, 2.0],
        [("x", 1), ("x", (2, None))],
        [1, "one"],
        [1, True],
        [datetime.date(2026, 1, 2), datetime.date(2026, 1, 3)],
        [Decimal("1.10"), Decimal("2")],
        [b"\x00\xff", b""],
        [frozenset({1, 2}), frozenset({3})],
        [np.int8(3), np.int8(4)],
        ["\ud800", "ok"],
    ],
    ids=repr,
)
def test_labels_keep_their_type(labels: list[Any], path: Path) -> None:
    X = [[0.0], [9.0], [0.5], [9.5]]
    clf = BayesClassifier().fit(X, labels * 2)
    again = back(clf, path)
    assert again.predict(X).tolist() == clf.predict(X).tolist()
    assert again.classes_.dtype.kind == clf.classes_.dtype.kind
    assert [type(label) for label in again.classes_.tolist()] == [type(label) for label in clf.classes_.tolist()]


@pytest.mark.parametrize(
    "kind", ["AODEClassifier", "BayesClassifier", "EvidenceClassifier", "TreeClassifier", "SVMClassifier"]
)
def test_one_and_true_are_two_values(kind: str, path: Path) -> None:
    X = {"a": [1, True, "x", 2.5] * 10}
    clf = getattr(likely, kind)(schema={"a": "nominal"}).fit(X, ["p", "q"] * 20)
    assert back(clf, path).predict_proba(X).tolist() == clf.predict_proba(X).tolist()


def test_a_label_that_could_not_be_read_back_is_refused_when_saving(path: Path) -> None:
    class Odd:
        pass

    with pytest.warns(UserWarning, match="Odd"):
        clf = BayesClassifier().fit([[0.0], [9.0]], [Odd(), Odd()])
    with pytest.raises(SettingsError, match="Odd"):
        clf.save(path)
    assert list(path.parent.iterdir()) == []


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.datetimes()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.fractions(),
    lambda inner: st.tuples(inner, inner) | st.lists(inner, max_size=3).map(tuple) | st.frozensets(st.integers()),
    max_leaves=8,
)


@given(plain)
def test_every_plain_value_comes_back(value: Any) -> None:
    again = from_plain(to_plain(value))
    assert again == value or repr(again) == repr(value)  # a NaN is not equal to itself
    assert type(again) is type(value)


def nested(how: str, levels: int) -> Any:
    if how == "keys":
        return {nested("tuples", levels - 1): 1}
    value: Any = 1
    for _ in range(levels):
        value = (value,) if how == "tuples" else {"a": value}
    return value


@pytest.mark.parametrize("how", ["tuples", "dicts", "keys"])
def test_a_value_is_nested_as_deeply_as_it_can_be_read_and_no_deeper(how: str) -> None:
    assert from_plain(to_plain(nested(how, DEEPEST))) == nested(how, DEEPEST)
    with pytest.raises(SettingsError, match="nested too deeply"):
        to_plain(nested(how, DEEPEST + 1))


def test_a_schema_as_a_setting(path: Path) -> None:
    X, y = mixed()
    clf = BayesClassifier(schema=Schema.infer(X, overrides={"visits": "nominal"})).fit(X, y)
    assert back(clf, path).get_params()["schema"] == clf.schema


def test_provenance_holds_names_without_folders(path: Path) -> None:
    from likely import store

    BayesClassifier().fit([[0.0], [9.0]], [0, 1]).save(path, sources=["/secret/place/rows.csv", "more.csv"])
    found = store.read(path)
    assert found.saved.provenance.sources == ("rows.csv", "more.csv")
    assert b"secret" not in path.read_bytes()


def test_what_does_not_exist_is_the_usual_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        likely.load(tmp_path / "none.likely")
    with pytest.raises(FileNotFoundError):
        BayesClassifier().fit([[0.0], [9.0]], [0, 1]).save(tmp_path / "no folder" / "m.likely")


def test_a_link_stays_a_link_and_the_mode_is_kept(path: Path) -> None:
    clf = BayesClassifier().fit([[0.0], [9.0]], [0, 1])
    clf.save(path)
    path.chmod(0o640)
    link = path.with_name("link.likely")
    link.symlink_to(path)
    clf.save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["link.likely", "model.likely"]


def test_a_new_file_gets_the_usual_mode(path: Path) -> None:
    before = os.umask(0o027)
    try:
        BayesClassifier().fit([[0.0], [9.0]], [0, 1]).save(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_columns_that_say_the_same_come_back(path: Path) -> None:
    """Rounding may take their correlation a little beyond 1."""
    numbers = np.random.default_rng(3).integers(0, 4, 200) * 1.1
    table, y = np.stack([numbers, 0.3 * numbers, 0.7 * numbers, numbers + 2.0], axis=1), np.arange(200) % 2
    clf = likely.FullBayesClassifier().fit(table[:3], y[:3])
    for start in range(3, 200, 3):
        clf.partial_fit(table[start : start + 3], y[start : start + 3])
        (seen,) = clf.summary_.parts.values()
        if np.abs(seen.cross).max() > 1.0:
            break
    assert np.abs(seen.cross).max() > 1.0
    clf.save(path)
    np.testing.assert_array_equal(likely.load(path).predict_proba(table), clf.predict_proba(table))


def test_a_file_of_before_lacks_settings_that_came_later(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"a": [1.0, 2.0, 3.0, 4.0] * 5, "b": ["x", "y"] * 10}
    clf = EvidenceClassifier().fit(table, ["no", "yes"] * 10)
    all_of = EvidenceClassifier.get_params
    monkeypatch.setattr(
        EvidenceClassifier, "get_params",
        lambda self, deep=True: {name: of for name, of in all_of(self, deep).items() if name != "depth"},
    )  # fmt: skip
    clf.save(path)
    monkeypatch.undo()
    np.testing.assert_array_equal(likely.load(path).predict_proba(table), clf.predict_proba(table))
