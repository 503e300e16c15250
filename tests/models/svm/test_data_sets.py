"""Real tables, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from likely import SVMClassifier, compare, evaluate


def test_horses_with_gaps(data_dir: Path) -> None:
    """A quarter of all cells is missing: better than the commoner class (63 %) all the same."""
    frame = pd.read_csv(data_dir / "horse_colic.csv.gz")
    report = evaluate(SVMClassifier(), frame.drop(columns="surgical_lesion"), frame["surgical_lesion"], cv=5)
    assert report.accuracy > 0.8
    assert report.calibration_error is not None
    assert report.calibration_error < 0.1


def test_messages(data_dir: Path) -> None:
    frame = pd.read_csv(data_dir / "sms_spam.csv.gz")[:1500]
    clf = SVMClassifier(kernel="linear").fit(frame["text"][:1000], frame["label"][:1000])
    assert (clf.predict(frame["text"][1000:]) == frame["label"][1000:]).mean() > 0.97
    spoken = clf.explain(frame["text"][1000:1003])
    np.testing.assert_allclose(spoken.value[:, 0], clf.decision_function(frame["text"][1000:1003]))


def test_news_of_unequal_classes(data_dir: Path) -> None:
    """The border of a Gaussian machine goes with the frequent classes; held-out rows put it right."""
    frame = pd.read_csv(data_dir / "gnad10_test_de.csv.gz")
    order = np.random.default_rng(0).permutation(len(frame))
    train, test = frame.iloc[order[:500]], frame.iloc[order[500:]]
    clf = SVMClassifier().fit(train["text"].tolist(), train["label"].to_numpy())
    by_votes = clf.classes_[clf.decision_function(test["text"].tolist()).argmax(axis=1)]
    assert (clf.predict(test["text"].tolist()) == test["label"]).mean() > (by_votes == test["label"]).mean() + 0.05


def test_votes_compared(data_dir: Path) -> None:
    frame = pd.read_csv(data_dir / "house_votes84.csv.gz")
    board = compare(frame, "Class", ["naive Bayes", "SVM", "logistic regression"], cv=5)
    assert not board.failures
    assert not board.to_frame().loc["naive Bayes", "within_noise"]
    assert board.to_frame().loc[board.best, "error"] < 0.06
