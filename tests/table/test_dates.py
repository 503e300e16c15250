"""Dates are learned by their parts, whoever brings them: pandas, Polars, Arrow, NumPy, Python or text."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import likely
from likely import BayesClassifier, EvidenceClassifier, Schema, TreeClassifier
from likely.errors import SchemaError
from likely.table import as_table
from likely.table.dates import ELAPSED, part_of

MOMENTS = [datetime(2024, 2, 29, 23, 30), None, datetime(2025, 3, 1, 6, 0)]
TEXTS = ["2024-02-29 23:30", None, "2025-03-01T06:00:00"]
SOURCES = {
    "pandas": pd.DataFrame({"when": pd.Series(MOMENTS)}),
    "polars": pl.DataFrame({"when": MOMENTS}),
    "arrow": pa.table({"when": pa.array(MOMENTS)}),
    "numpy": {"when": np.array(["2024-02-29T23:30", "NaT", "2025-03-01T06:00"], dtype="datetime64[s]")},
    "python": {"when": MOMENTS},
    "rows": [{"when": moment} for moment in MOMENTS],
    "text": {"when": TEXTS},
    "zones": {"when": ["2024-02-29T23:30:00Z", None, "2025-03-01 06:00:00.000+02:00"]},
    "zone": pd.DataFrame({"when": pd.to_datetime(pd.Series(MOMENTS)).dt.tz_localize("Asia/Tokyo")}),
    "category": {"when": pd.Categorical(TEXTS)},
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_parts(source: str) -> None:
    table = as_table(SOURCES[source])  # type: ignore[arg-type]
    schema = Schema.infer(table, overrides={"when": "date"})
    assert schema.features == tuple(f"when: {part}" for part in ("year", "month", "weekday", "hour", ELAPSED))
    assert schema.inputs == ("when",)
    assert table.numbers("when: year").tolist()[::2] == [2024, 2025]
    assert [table.codes("when: month").levels[k] for k in table.codes("when: month").codes[::2]] == [2, 3]
    assert [table.codes("when: weekday").levels[k] for k in table.codes("when: weekday").codes[::2]] == [
        "Thursday", "Saturday",
    ]  # fmt: skip
    assert table.numbers("when: hour").tolist()[::2] == [23, 6]
    days = table.numbers(f"when: {ELAPSED}")
    assert days[0] == pytest.approx((datetime(2024, 2, 29, 23, 30) - datetime(1970, 1, 1)) / timedelta(days=1))
    assert np.isnan(days[1])
    assert table.gaps("when: month") == 1
    assert table.slice(2, 3).numbers("when: hour").tolist() == [6]


@pytest.mark.parametrize("cells", [[date(2024, 5, 1), date(2024, 6, 2)] * 15, ["2024-05-01", "2024-06-02"] * 15])
def test_dates_without_a_clock_have_no_hours_and_one_year_is_none(cells: list[object]) -> None:
    schema = Schema.infer({"day": cells})
    assert schema["day"].kind == "date"
    assert schema.features == ("day: month", "day: weekday", f"day: {ELAPSED}")
    assert "learned by month, weekday and days since 1970" in schema["day"].why


def test_durations_times_and_other_texts_are_no_dates() -> None:
    table = pd.DataFrame({"span": pd.to_timedelta([1, 2], "h"), "code": ["2024-05-01", "2024-05"], "n": [20240501, 1]})
    kinds = Schema.infer(table).kinds
    assert (kinds["span"], kinds["code"], kinds["n"]) == ("ignored", "nominal", "numeric")


def test_a_user_knows_better() -> None:
    table = {"day": [date(2024, 5, 1), date(2024, 6, 2)] * 15}
    assert Schema.infer(table, overrides={"day": "ignored"}).features == ()
    assert Schema.infer(table, overrides={"day": "nominal"}).features == ("day",)
    assert Schema.infer(table, overrides={f"day: {ELAPSED}": "ignored"}).features == ("day: month", "day: weekday")
    with pytest.raises(SchemaError, match="can only be 'ignored'"):
        Schema.infer(table, overrides={"day: month": "numeric"})
    with pytest.raises(SchemaError, match=r"'n' holds int64 and cannot be read as dates.*schema=\{'n': 'ignored'\}"):
        Schema.infer({"n": [1, 2]}, overrides={"n": "date"})
    with pytest.raises(SchemaError, match=r"'d', row 1: 'soon' is no date"):
        Schema.infer({"d": ["2024-05-01", "soon"]}, overrides={"d": "date"})


def test_a_real_column_is_not_replaced() -> None:
    table = {"day": [date(2024, 5, 1), date(2024, 6, 2)], "day: month": ["May", "June"]}
    assert "day: month" in Schema.infer(table).nominal
    assert as_table(table).codes("day: month").levels == ("May", "June")
    assert part_of("day: month") == ("day", "month")
    assert part_of("no part: here") is None


def test_the_schema_survives_a_file_and_older_ones_are_read() -> None:
    schema = Schema.infer({"day": [date(2024, 5, 1), date(2024, 6, 2)], "n": [1.5, 2.5]})
    told = schema.to_dict()
    assert Schema.from_dict(told) == schema
    assert "parts" not in told["columns"][1]  # type: ignore[index]
    told["columns"][0]["parts"] = ["century"]  # type: ignore[index]
    with pytest.raises(SchemaError, match="no schema"):
        Schema.from_dict(told)


def weekends(n: int = 400) -> pd.DataFrame:
    days = pd.date_range("2024-01-01", periods=n, freq="7h")
    return pd.DataFrame({"when": days, "x": np.arange(n) % 5, "y": np.where(days.day_of_week >= 5, "free", "work")})


@pytest.mark.parametrize("make", [BayesClassifier, EvidenceClassifier, TreeClassifier])
def test_classifiers_learn_weekends_from_dates_and_say_so(make: type, tmp_path: Path) -> None:
    table = weekends()
    clf = make().fit(table[["when", "x"]], table["y"])
    later = pd.DataFrame({"when": pd.to_datetime(["2024-05-04 12:00", "2024-05-06 12:00"]), "x": [1, 1]})
    assert clf.predict(later).tolist() == ["free", "work"]
    assert clf.n_features_in_ == 2
    assert "when: weekday" in str(clf.explain(later))
    clf.save(tmp_path / "m.likely")
    again = likely.load(tmp_path / "m.likely")
    np.testing.assert_array_equal(again.predict_proba(later), clf.predict_proba(later))
    spelt = later.assign(when=later["when"].astype(str))
    np.testing.assert_array_equal(again.predict_proba(spelt), clf.predict_proba(later))


@pytest.mark.parametrize("model", ["naive", "evidence", "tree"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_files_give_the_model_of_memory(model: str, suffix: str, tmp_path: Path) -> None:
    table, path = weekends(), tmp_path / f"t{suffix}"
    writers = {".csv": table.to_csv, ".parquet": table.to_parquet}
    if suffix == ".jsonl":
        text = table.assign(when=table["when"].astype(str)).to_json(orient="records", lines=True)
        path.write_text(text)
    else:
        writers[suffix](path, index=False)  # type: ignore[operator]
    of_file, of_rows = likely.train(path, "y", model=model), likely.train(table, "y", model=model)
    np.testing.assert_allclose(of_file.predict_proba(table), of_rows.predict_proba(table), rtol=1e-9)
    assert of_file.schema_["when"].parts == of_rows.schema_["when"].parts


def test_a_bad_date_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    weekends().to_csv(path, index=False)
    clf = likely.train(path, "y", model="naive")
    (tmp_path / "new.csv").write_text("when,x\n2024-05-04,1\nsoon,2\n")
    with pytest.raises(SchemaError, match=r"line 3: .*'when'.*'soon' is no date"):
        from likely.streaming.transform import predict_file

        predict_file(clf, tmp_path / "new.csv", tmp_path / "out.csv")


def test_time_is_that_of_the_zone() -> None:
    there = pd.DataFrame({"t": [datetime(2024, 1, 1, 23, tzinfo=UTC)]})
    assert as_table(there.assign(t=there["t"].dt.tz_convert("Asia/Tokyo"))).numbers("t: hour").tolist() == [8]


@pytest.mark.parametrize(
    "cells",
    [
        np.array([5, 10**12]).view("M8[D]"),
        np.array([5, 2**32 + 19_000]).view("M8[D]"),
        np.array([5, -(2**62)]).view("M8[s]"),
        np.array([5, 10**15]).view("M8[Y]"),
        pd.Series(np.array([5, 2**61]).view("M8[s]")),
        pa.array([5, 2**31 - 1], pa.int32()).cast(pa.date32()),
        pa.array([5, -(2**62)]).cast(pa.timestamp("ms")),
    ],
    ids=str,
)
def test_a_date_that_would_wrap_round_to_another_is_refused_by_its_row(cells: object) -> None:
    with pytest.raises(SchemaError, match=r"'d', row 1: .* too far from our time"):
        BayesClassifier().fit({"d": cells}, ["p", "q"])
    BayesClassifier(schema={"d": "ignored"}).fit({"d": cells, "x": [1.0, 2.0]}, ["p", "q"])


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"])
def test_every_unit_of_numpy_is_read(unit: str) -> None:
    """The seventh step after 1970 of each; those below a microsecond are 1970 itself."""
    moment = np.datetime64(7, unit)
    found = as_table({"d": np.array([moment, np.datetime64("NaT", unit)])}).cells(f"d: {ELAPSED}").numbers("d")
    assert found[0] == pytest.approx(moment.astype("M8[us]").astype(np.int64) / 86_400e6, rel=1e-12)
    assert np.isnan(found[1])
