"""What a support vector machine says about itself: contributions, cases, a picture, a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from likely import SVMClassifier
from likely.errors import DataError, LikelyError, SchemaError, SettingsError
from likely.teaching import datasets
from tests.models.svm.test_classifier import ROWS, SIDES, mixed


class TestExplanation:
    def test_columns_add_up_to_the_value(self) -> None:
        X, y = mixed()
        clf = SVMClassifier(kernel="linear", schema={"note": "text"}).fit(X, y)
        why = clf.explain(X)
        assert why.columns == ("age", "town", "note")
        np.testing.assert_allclose(why.value[:, 0], clf.decision_function(X), atol=1e-12)
        frame = why.to_frame()
        parts = frame[(frame["row"] == 3) & (frame["factor"] != "f")]["contribution"].sum()
        assert parts == pytest.approx(clf.decision_function(X)[3])
        assert "well (above 0) against ill" in str(why)
        assert "<pre>" in why._repr_html_()

    def test_pairs_of_several_classes(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SVMClassifier(kernel="linear").fit(X, y)
        why = clf.explain(X[:5])
        np.testing.assert_allclose(why.value, clf.decision_pairs(X[:5]), atol=1e-12)
        assert list(why.pairs) == [(0, 1), (0, 2), (1, 2)]
        assert clf.w_.shape == (3, 4)
        assert len(clf.margin_) == len(clf.b_) == 3
        with pytest.raises(SettingsError, match="no row 9"):
            why.lines(9)

    def test_a_curved_machine_says_why_not(self) -> None:
        clf = SVMClassifier().fit(ROWS, SIDES)
        with pytest.raises(LikelyError, match="kernel='linear'"):
            clf.explain(ROWS)
        assert not hasattr(clf, "w_")

    def test_cases_name_strangers(self) -> None:
        clf = SVMClassifier().fit(ROWS, SIDES)
        with pytest.raises(DataError, match="7"):
            clf.cases(ROWS, [1, 1, 7, 7])

    def test_picture(self, tmp_path: Path) -> None:
        X, y = load_iris(return_X_y=True)
        picture = SVMClassifier(C="hard", kernel="linear", scale=False).fit(ROWS, SIDES).plot(ROWS, SIDES)
        assert "3 of 4 rows are support vectors" in picture.description
        picture.save(tmp_path / "p.svg")
        several = SVMClassifier().fit(X, y)
        assert "150 rows" in several.plot(X, y, ("x2", "x3")).description
        with pytest.raises(SchemaError, match="x9"):
            several.plot(X, y, ("x2", "x9"))
        for columns in ("x2", ("x1", "x2", "x3")):
            with pytest.raises(SettingsError, match="two columns of numbers"):
                several.plot(X, y, columns)  # type: ignore[arg-type]
        patients = datasets.patients()
        with pytest.raises(SettingsError, match="not 'sex'; the columns of numbers are 'age'"):
            SVMClassifier().fit(patients, "drug").plot(patients, "drug", ("age", "sex"))

    def test_a_picture_of_landmarks_does_not_call_them_support_vectors(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SVMClassifier(max_rows=100, landmarks=12).fit(X, y)
        assert "12 of 150 rows are landmarks" in clf.plot(X, y).description
        assert "12 landmarks" in clf._repr_mimebundle_()["text/html"]

    def test_the_picture_draws_both_edges_and_the_border(self) -> None:
        """Four points: f = −1, 0, 1 lie where x + y is 2, 3/2 and 1; three rows in circles."""
        picture = SVMClassifier(C="hard", kernel="linear", scale=False).fit(ROWS, SIDES).plot(ROWS, SIDES)
        axes = picture.figure.axes[0]
        lines = [path.vertices for contour in axes.collections for path in contour.get_paths() if len(path) > 50]
        sums = sorted(float(np.median(line.sum(axis=1))) for line in lines)
        np.testing.assert_allclose(sums, [1.0, 1.5, 2.0], atol=1e-9)
        circles = next(marks for marks in axes.collections if len(marks.get_offsets()) == 3)
        assert not len(circles.get_facecolor())
        assert sorted(np.asarray(circles.get_offsets()).tolist()) == [[0.0, 2.0], [1.0, 0.0], [2.0, 0.0]]

    def test_notebook_page_escapes_names(self) -> None:
        clf = SVMClassifier().fit({"<b>": [1.0, 2.0, 3.0, 4.0]}, ["<i>", "<i>", "k", "k"])
        page = clf._repr_mimebundle_()["text/html"]
        assert "support vectors" in page
        assert "&lt;b&gt;" in page
        assert "<b>:" not in page
        assert "SVMClassifier" in SVMClassifier()._repr_mimebundle_()["text/html"]
