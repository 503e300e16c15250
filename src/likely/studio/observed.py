"""What rows with labels show of the columns, for classifiers that keep no counts: trees and support vector machines."""

from __future__ import annotations

import warnings

import numpy as np

from likely.errors import LikelyError
from likely.models.bayes.classifier import BayesClassifier
from likely.models.classifier import Classifier
from likely.models.convnet.classifier import ConvNetClassifier
from likely.studio.columns import Facts
from likely.table import Table, index_levels
from likely.table.labels import labels_of

MOST_CELLS = 20_000_000
"""Rows × columns that are counted for a page; of a longer table its head."""


def observed(classifier: Classifier, whole: Table, aligned: Table) -> Facts | None:
    """Counts of the rows, by class; None where these have no labels, or not all classes that were learned.

    Naive Bayes counts for whoever does not: its tables say how often values come in each class, what a column alone
    tells, and how probable the values of an open cell are. Nothing of it is scored with.
    """
    schema = classifier.schema_
    if schema.target is None or schema.target not in whole or isinstance(classifier, ConvNetClassifier):
        return None
    labelled = np.flatnonzero(whole.codes(schema.target).codes >= 0)
    labelled = labelled[: max(MOST_CELLS // max(len(schema.features), 1), 1)]
    if not len(labelled):
        return None
    labels = labels_of(schema.target, whole.take(labelled))
    places = index_levels(labels.classes.tolist(), classifier.classes_.tolist())[labels.codes]
    rows, places = labelled[places >= 0], places[places >= 0]
    if len(np.unique(places)) < len(classifier.classes_):
        return None
    some, names = aligned.take(rows), tuple(schema.features)
    # A date is there part by part, as it is learned.
    known = Table(names, len(rows), lambda place: some.cells(names[place]), named=True)
    kinds = {name: schema.kinds[name] for name in names}
    families = {name: "bins" for name in names if kinds[name] == "numeric"}
    with warnings.catch_warnings(action="ignore"):  # what is to be noted about the rows stands elsewhere
        try:
            counted = BayesClassifier(families=families, schema=kinds).fit(known, classifier.classes_[places])
        except LikelyError:  # cells that naive Bayes refuses, the classifier itself may not
            return None
    return Facts.of(counted)
