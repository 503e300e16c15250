"""Losses: how they are written down, what is refused, how they show themselves."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from likely import REFUSED, Loss, SettingsError
from likely.decide import loss_tables
from likely.decide.loss import moved_on, shown_order
from likely.decide.loss_matrix import _mistake

CREDIT = {"grant": {"good": 0, "bad": 5}, "deny": {"good": 1, "bad": 0}}
COSTS = [[0.0, 5.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "loss",
    [
        Loss(CREDIT),
        Loss(pd.DataFrame(COSTS, index=["grant", "deny"], columns=["good", "bad"])),
        Loss(pd.DataFrame({"decision": ["grant", "deny"], "good": [0, 1], "bad": [5, 0]})),
        Loss(pl.DataFrame({"decision": ["grant", "deny"], "good": [0, 1], "bad": [5, 0]})),
        Loss(COSTS, decisions=["grant", "deny"], truths=["good", "bad"]),
        Loss.from_frame(pd.DataFrame(CREDIT), truth="rows"),
        Loss.from_frame(pd.DataFrame(CREDIT).T),
        Loss(Loss(CREDIT).to_frame()),
    ],
    ids=["mapping", "frame", "labels first", "polars", "array", "truths in rows", "truths in columns", "round trip"],
)
def test_all_ways_to_write_it_down_agree(loss: Loss) -> None:
    assert loss == Loss(CREDIT)
    assert loss.decisions == ("grant", "deny")
    assert loss.truths == ("good", "bad")
    np.testing.assert_array_equal(loss.costs, COSTS)


def test_files_say_where_the_truth_stands(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("true\\predicted,good,bad\ngood,0,1\nbad,5,0\n\n")
    by_truth = Loss.from_csv(file, truth="rows")
    assert by_truth == Loss({"good": {"good": 0, "bad": 5}, "bad": {"good": 1, "bad": 0}})
    assert Loss.from_csv(file) == by_truth
    with pytest.raises(SettingsError, match=r"in its rows, by its first cell 'true.*predicted', but truth='columns'"):
        Loss.from_csv(file, truth="columns")
    file.write_text(";good;bad\ngrant;0;5\n")
    assert Loss.from_csv(file, separator=";", refuse=2).options == ("grant", REFUSED)


@pytest.mark.parametrize(
    ("corner", "axis"),
    [
        ("true\\predicted", "rows"),
        ("truth / decision", "rows"),
        ("Actual vs Predicted", "rows"),
        ("actual class versus predicted class", "rows"),
        ("truth", "rows"),
        ("predicted\\true", "columns"),
        ("decide/truth", "columns"),
        ("prediction vs. actual", "columns"),
        ("decision", "columns"),
        ("predicted → / true ↓", "rows"),
        ("true → predicted ↓", "columns"),
        ("columns: true; rows: predicted", "columns"),
        ("true_class|x", "rows"),
        ("", None),
        ("cost", None),
        ("good\\bad", None),
        ("true\\actual", None),
        ("true or predicted", None),
    ],
)
def test_the_first_cell_tells_where_the_truth_stands(tmp_path: Path, corner: str, axis: Any) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(f"{corner},good,bad\ngood,0,1\nbad,5,0\n", encoding="utf-8")
    frame = pd.read_csv(file)
    if axis is None:
        with pytest.raises(SettingsError, match=r"costs.csv does not tell .* write truth.decision .*truth='rows'"):
            Loss.from_csv(file)
        for unclear in (frame, frame.set_index(frame.columns[0])):
            with pytest.raises(SettingsError, match="does not tell"):
                Loss(unclear)
        axis = "rows"
    expected = {"rows": [[0, 5], [1, 0]], "columns": [[0, 1], [5, 0]]}[axis]
    np.testing.assert_array_equal(Loss.from_csv(file, truth=axis).costs, expected)
    np.testing.assert_array_equal(Loss.from_frame(frame, truth=axis).costs, expected)
    if corner not in ("", "cost", "good\\bad", "true\\actual", "true or predicted"):
        assert (
            Loss.from_csv(file)
            == Loss(frame)
            == Loss(frame.set_index(frame.columns[0]))
            == Loss.from_csv(file, truth=axis)
        )


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        (",good,bad\ngood,0,1\nbad,1,0\n", True),
        (",good,bad\nbad,1,0\ngood,0,1\n", True),
        (",good,bad\nbad,5,0\ngood,0,1\n", False),
        (",good,bad\ngrant,0,5\ndeny,1,0\n", True),
        (",good,bad,refer\ngood,0,5,1\nbad,1,0,1\n", False),
    ],
)
def test_only_what_could_be_read_both_ways_is_refused(tmp_path: Path, text: str, clear: bool) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(text)
    if clear:
        assert Loss.from_csv(file) == Loss.from_csv(file, truth="columns")
        return
    with pytest.raises(SettingsError, match="does not tell"):
        Loss.from_csv(file)
    Loss.from_csv(file, truth="rows")


def test_it_is_shown_as_a_confusion_matrix_is() -> None:
    loss = Loss({"ask": {"good": 2, "bad": 3}, "bad": {"good": 1, "bad": 0}, "good": {"good": 0, "bad": 5}}, refuse=4)
    assert repr(loss).splitlines() == [
        "truth \\ decision  good  bad  ask  REFUSED",
        "good                 0    1    2        4",
        "bad                  5    0    3        4",
    ]
    assert "<tr><th>bad</th><td>5</td><td>0</td><td>3</td><td>4</td></tr>" in loss._repr_html_()
    frame = loss.to_frame()
    assert (frame.index.name, frame.columns.name) == ("truth", "decision")
    assert (frame.loc["bad", "good"], frame.loc["good", "bad"]) == (5, 1)
    again = Loss(frame)
    assert again.refuse == 4
    assert again.paid(["good", "ask"], ["bad", "good"]).tolist() == [5, 2]
    plain = loss.refusing(None).to_frame().reset_index().rename_axis(columns=None)
    assert Loss(plain) == again.refusing(None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no table of costs"),
        ("x,good\n", "no table of costs"),
        ("x,good,bad\ngrant,0\n", "Line 2 .* has 2 cells"),
        ("x,good,bad\ngrant,0,much\n", "'grant' under the truth 'bad' is 'much'"),
        ("x,good,bad\ngrant,0,\n", "'grant' under the truth 'bad'"),
        ("x,good,good\ngrant,0,1\n", "truth 'good' twice"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "costs.csv"
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        Loss.from_csv(file)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Loss({"grant": {"good": 0, "bad": 5}, "deny": {"good": 1}}), "'deny' has no cost for the truth 'bad'"),
        (lambda: Loss({"grant": {"good": float("nan")}}), "'grant' under the truth 'good' is nan"),
        (lambda: Loss({"grant": {"good": float("inf")}}), "'grant' under the truth 'good' is inf"),
        (lambda: Loss({"grant": {"good": None}}), "'grant' under the truth 'good' is nan"),
        (lambda: Loss({"grant": {"good": "dear"}}), "'dear', which is no number"),
        (lambda: Loss({"grant": 3}), "'grant' has 3 in place of its costs"),
        (lambda: Loss({}), "at least one decision"),
        (lambda: Loss({"grant": {}}), "at least one truth"),
        (lambda: Loss(np.zeros((2, 2))), "names of its decisions"),
        (lambda: Loss(np.zeros((2, 3)), decisions="ab", truths="xy"), r"shape \(2, 3\) do not fit 2 decisions × 2"),
        (lambda: Loss(np.full((1, 1), "x"), decisions="a", truths="x"), "Costs are numbers"),
        (lambda: Loss(np.zeros((2, 1)), decisions=["a", "a"], truths="x"), "decision 'a' twice"),
        (lambda: Loss(np.zeros((1, 1)), decisions=[None], truths="x"), "decision number 1 of a loss has no name"),
        (lambda: Loss(CREDIT, refuse=float("nan")), "price of a refusal is nan"),
        (lambda: Loss(CREDIT, refuse="dear"), "price of a refusal is 'dear'"),  # type: ignore[arg-type]
        (lambda: Loss(CREDIT, refuse=-2e300), "price of a refusal is -2e.300: give a finite number of 1e.300 at most"),
        (lambda: Loss({"grant": {"good": 2e300}}), "'good' is 2e.300: .* 1e.300 at most"),
        (lambda: Loss({"grant": {"good": -1e308}}), "'good' is -1e.308"),
        (lambda: Loss.binary(float("inf"), 1.0), "decision 'positive' under the truth 'negative' is inf"),
        (lambda: Loss({**CREDIT, REFUSED: {"good": 1, "bad": 2}}), "one price"),
        (lambda: Loss({REFUSED: {"good": 1, "bad": 1}}), "beside the refusal"),
        (lambda: Loss.from_frame(pd.DataFrame(CREDIT), truth="lines"), "'columns' or 'rows'"),  # type: ignore[arg-type]
        (lambda: Loss.zero_one([]), "at least one decision"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(make: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make()


def test_a_bad_cost_of_one_row_is_named_with_its_row() -> None:
    costs = np.zeros((5, 2, 2))
    costs[3, 1, 0] = np.nan
    with pytest.raises(SettingsError, match="'deny' under the truth 'good' in row 3 is nan"):
        Loss(costs, decisions=["grant", "deny"], truths=["good", "bad"])


def test_the_dearest_mistakes_still_add_up() -> None:
    loss = Loss.binary(1e300, 1e300, refuse=1e300)
    assert loss.paid(["no", "yes", "yes"], ["yes", "no", "yes"]).tolist() == [1e300, 1e300, 0.0]
    assert Loss(np.eye(2, dtype=np.float16), decisions="ab", truths="cd").costs.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_gains_are_negative_costs() -> None:
    assert Loss({"sell": {"up": -3, "down": 2}}).costs.min() == -3


def test_it_cannot_be_changed() -> None:
    costs = np.array(COSTS)
    loss = Loss(costs, decisions=["grant", "deny"], truths=["good", "bad"])
    costs[:] = 9
    np.testing.assert_array_equal(loss.costs, COSTS)
    with pytest.raises(ValueError, match="read-only"):
        loss.costs[0, 0] = 1
    with pytest.raises(AttributeError):
        loss.refuse = 1.0  # type: ignore[misc]


@pytest.mark.parametrize("loss", [Loss(CREDIT, refuse=0.2), Loss.zero_one(range(4)), Loss.binary(1, 5)], ids=str)
def test_copies_are_equal(loss: Loss) -> None:
    copy = pickle.loads(pickle.dumps(loss))  # noqa: S301
    assert copy == loss
    assert hash(copy) == hash(loss)
    assert loss != loss.refusing(17)
    assert loss != 3


def test_zero_one_of_many_classes_needs_no_room() -> None:
    loss = Loss.zero_one(range(100_000))
    assert loss.costs[7, 7] == 0.0
    assert loss.costs[7, 8] == loss.costs[99_999, 0] == 1.0
    assert len(pickle.dumps(loss)) < 2_000_000
    np.testing.assert_array_equal(Loss.zero_one("abc").costs, 1.0 - np.eye(3))
    np.testing.assert_array_equal(Loss.zero_one(["only"]).costs, [[0.0]])


def test_binary_names_its_classes_late() -> None:
    loss = Loss.binary(false_alarm=1, miss=5)
    assert loss.named([0, 1]) == Loss({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}})
    for classes in (
        [False, True],
        ["No", "Yes"],
        ["neg", "pos"],
        [-1, 1],
        [0.0, 1.0],
        ["0", "1"],
        ["absent", "present"],
    ):
        np.testing.assert_array_equal(loss.named(classes).costs, [[0, 5], [1, 0]])
    np.testing.assert_array_equal(loss.named(["+", "-"]).costs, [[0, 1], [5, 0]])
    for odd in (["bad", "good"], [1, 2], ["ham", "spam"], [0, True]):
        with pytest.raises(SettingsError, match=r"which of the classes .* is the positive one.*positive="):
            loss.named(odd)
    assert Loss.binary(3, 3).named(["bad", "good"]) == Loss(
        {"bad": {"bad": 0, "good": 3}, "good": {"bad": 3, "good": 0}}
    )
    bad = Loss({"bad": {"bad": 0, "good": 1}, "good": {"bad": 5, "good": 0}})
    assert Loss.binary(1, 5, positive="bad").named(["bad", "good"]) == bad
    assert Loss.binary(1, 5, negative="good").named(["bad", "good"]) == bad
    both = Loss.binary(1, 5, positive="bad", negative="good")
    assert both.named(["whatever"]) is both
    assert both.truths == ("good", "bad")
    for classes in (["a"], ["a", "b", "c"]):
        with pytest.raises(SettingsError, match="two classes"):
            loss.named(classes)
    with pytest.raises(SettingsError, match="'ugly', but the classes are 'bad', 'good'"):
        Loss.binary(positive="ugly").named(["bad", "good"])


def test_a_refusal_has_its_line() -> None:
    loss = Loss(CREDIT).refusing(0.5)
    assert loss.options == ("grant", "deny", REFUSED)
    assert loss.refusing(None) == Loss(CREDIT)
    frame = loss.to_frame()
    assert frame[REFUSED].tolist() == [0.5, 0.5]
    assert frame.loc["bad"].tolist() == [5, 0, 0.5]
    assert Loss(frame) == loss
    assert repr(loss).splitlines()[2].split() == ["bad", "5", "0", "0.5"]
    assert "<td>5</td>" in loss._repr_html_()
    assert "REFUSED" in loss._repr_html_()


def test_large_losses_show_their_beginning() -> None:
    text = repr(Loss.zero_one([f"class {k}" for k in range(30)]))
    assert "… 22 more" in text
    assert len(text.splitlines()) == 10
    by_row = Loss(np.zeros((1000, 2, 2)), decisions="ab", truths="xy", refuse=1)
    assert repr(by_row).startswith("Loss of 1,000 rows, each with its own 2 decisions × 2 truths")
    assert by_row._repr_html_().startswith("<pre>")
    assert by_row.to_frame().shape == (2000, 3)


def test_what_was_paid() -> None:
    loss = Loss(CREDIT, refuse=0.5)
    decided = np.array(["grant", "grant", "deny", "deny", REFUSED], dtype=object)
    assert loss.paid(decided, ["good", "bad", "good", "bad", "bad"]).tolist() == [0, 5, 1, 0, 0.5]
    assert Loss.binary(1, 5).paid([True, False], [False, True]).tolist() == [1, 5]
    by_row = Loss(np.arange(8).reshape(2, 2, 2), decisions="ab", truths="xy")
    assert by_row.paid(["b", "a"], ["x", "y"]).tolist() == [2, 5]
    with pytest.raises(SettingsError, match=r"decision REFUSED.*Give it a price"):
        Loss(CREDIT).paid(decided[-1:], ["good"])
    with pytest.raises(SettingsError, match="truth 'ugly'"):
        loss.paid(["grant"], ["ugly"])
    with pytest.raises(SettingsError, match="same rows"):
        loss.paid(["grant"], ["good", "bad"])
    with pytest.raises(SettingsError, match="same rows"):
        by_row.paid(["a"], ["x"])


@pytest.mark.parametrize("given", [3, 0.5, "costs.csv", None])
def test_what_is_no_table_of_costs(given: Any) -> None:
    with pytest.raises(SettingsError, match="no table of costs") as caught:
        Loss(given)
    assert "\n" not in str(caught.value)


def test_decisions_are_shown_in_the_order_of_the_truths() -> None:
    classes = ["a", "b", "c"]
    costs = {"b": dict(a=1, b=0, c=1), "a": dict(a=0, b=1, c=1), "c": dict(a=1, b=1, c=0)}
    assert str(Loss(costs)).splitlines()[0].split()[-3:] == classes
    assert shown_order(["wait", "b", "a", "c", "call"], classes) == [2, 1, 3, 0, 4]


def test_a_file_with_one_cell_in_its_first_line_is_no_table(tmp_path: Path) -> None:
    file = tmp_path / "costs.csv"
    file.write_text("cost\ngrant,1\n")
    with pytest.raises(SettingsError, match="holds no table of costs"):
        Loss.from_csv(file)


def test_as_many_classes_as_are_shown_leave_none_out() -> None:
    assert "more" not in str(Loss.zero_one("abcdefgh"))
    assert str(Loss.zero_one("abcdefghi")).count("… 1 more") == 2


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_what_every_mistake_costs(n: int) -> None:
    """Known where all cost the same, also of lines that are one line in memory, each moved on by one cell."""
    even = 3.0 * (1.0 - np.eye(n))
    assert _mistake(even) == _mistake(Loss.zero_one(list(range(n))).costs * 3.0) == 3.0
    assert _mistake(Loss.zero_one(list(range(n))).costs) == 1.0 and _mistake(-even) is None
    assert _mistake(np.zeros((n, n))) is None and _mistake(np.zeros((1, 1))) == 1.0
    assert _mistake(np.broadcast_to(even, (7, n, n))) is None
    for place in np.ndindex(n, n):
        other = even.copy()
        other[place] += 1.0
        assert _mistake(other) is None
    for place in range(2 * n - 1):
        line = np.full(2 * n - 1, 3.0)
        line[n - 1] = 0.0
        moved = np.lib.stride_tricks.as_strided(line[n - 1 :], (n, n), (-8, 8))
        assert moved_on(moved) and np.array_equal(moved, even) and _mistake(moved) == 3.0
        line[place] += 1.0
        assert _mistake(moved) is None


def test_costs_are_numbers_of_at_most_1e300() -> None:
    for sign in (1.0, -1.0):
        assert Loss([[0.0, sign * 1e300], [1.0, 0.0]], decisions="ab", truths="xy").costs[0, 1] == sign * 1e300
        with pytest.raises(SettingsError, match=r"is -?1.5e\+300: every cost is a finite number"):
            Loss([[0.0, sign * 1.5e300], [1.0, 0.0]], decisions="ab", truths="xy")


@pytest.mark.parametrize("cells", [1, 3, 1 << 22])
def test_a_bad_cost_is_named_whatever_is_looked_at_at_once(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loss_tables, "CHECKED_CELLS", cells)
    costs = np.ones((4, 3))
    costs[2, 1] = np.nan
    with pytest.raises(SettingsError, match="decision 'c' under the truth 'y' is nan"):
        Loss(costs, decisions="abcd", truths="xyz")
    rows = np.ones((5, 4, 3))
    rows[3, 1, 2] = np.inf
    with pytest.raises(SettingsError, match="decision 'b' under the truth 'z' in row 3 is inf"):
        Loss(rows, decisions="abcd", truths="xyz")


def test_classes_without_a_name_are_called_what_they_are() -> None:
    loss = Loss.binary(5.0, 1.0)
    assert sorted(str(truth) for truth in loss.truths) == ["negative", "positive"]
    assert sorted(map(repr, loss.truths)) == ["'negative'", "'positive'"]
