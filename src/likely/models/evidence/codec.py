"""A model of evidence as JSON and named arrays, and back; a made-up one is refused before a row is scored by it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.arrays import AnyArray, Array, Int32, UInt8
from likely.errors import DataError, ModelFileError
from likely.models.evidence.discriminant import DiscriminantSettings, QuadraticDiscriminant
from likely.models.evidence.discriminant_fit import MAX_COLUMNS
from likely.models.evidence.encoding import N_CODES, BinnedNumber, CodedCategories, Column, Encoding, Terms
from likely.models.evidence.ensemble import MAX_QUESTIONS, N_LEAVES, TreeEnsemble
from likely.models.evidence.ensemble_fit import MAX_ROUNDS
from likely.models.evidence.laplace import MAX_LAPLACE_ROWS
from likely.models.evidence.predictor import N_EXPERTS, AdditiveModel, Hyperparameters, LaplaceRows, table_starts
from likely.models.evidence.prepare import code_counts, count_plan
from likely.models.evidence.text_scores import TextExpert
from likely.stats import Summary
from likely.stats.protocol import HEAVIEST_COUNT
from likely.store.codec import Context, Form, Reader, Writer, expect, read, register, write
from likely.store.container import Document
from likely.store.summaries import read_summary, write_summary
from likely.table import level_key
from likely.table.schema import Schema

MOST_RANK = 64
MOST_TREES = 2 * MAX_ROUNDS
MOST_CODES = 1 << 16
MOST_PLACES = 1 << 30
MOST_RARE = 1e3
"""Cells of a term are named by two bytes, and places in all tables together by four; the logarithm of an inverse
frequency is small."""

SCORES = {"least": -HEAVIEST_COUNT, "most": HEAVIEST_COUNT}
"""Between which scores lie, and what they are multiplied by: far beyond any, and no product of three overflows."""


FORM, OLDER_FORMS, OLDER_FORMS_WITH_TEXTS = 5, (2, 3, 4), (3, 4)
"""Of what was learned, in a file. The first form had counted bins, which cannot be cut anew, the second one another
family for texts; the third one had no trees, the fourth one no discriminant."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What a classifier has counted and fitted; where it is stale, `corrected` is what it was before."""

    summary: Summary
    evidence: AdditiveModel
    stale: bool
    corrected: AdditiveModel | None


def write_learned(learned: Learned, writer: Writer) -> Document:
    """What `read_learned` reads."""
    return {
        "form": FORM,
        "summary": write_summary(learned.summary, writer),
        "evidence": write(learned.evidence, writer),
        "stale": learned.stale,
        "corrected": None if learned.corrected is None else write(learned.corrected, writer),
    }


def read_learned(data: Document, reader: Reader, labels: AnyArray, schema: Schema) -> Learned:
    """What was written, if its parts are about the same classes and columns."""
    older = OLDER_FORMS_WITH_TEXTS if schema.text else OLDER_FORMS
    if data.get("form") not in (FORM, *older):
        raise ModelFileError("its evidence was counted in a form that this version does not read; fit it anew")
    summary = read_summary(data["summary"], reader)
    stale, empty = data["stale"], not len(labels)
    counted = summary.classes.labels.tolist() == labels.tolist() and type(stale) is bool
    if not counted or not (summary.classes.weights.sum() > 0.0 or (empty and stale)):
        raise DataError("its counts are not those of its classes")
    if set(summary.parts) != set(count_plan(schema, texts=True)):
        raise DataError("its counts are not those of its columns")
    evidence = read_evidence(data["evidence"], reader, len(labels), len(schema.text))
    names = [*evidence.encoding.names, *schema.text]
    if names != sorted(schema.features, key=names.index):
        raise DataError("its evidence is not about the columns of its schema")
    for column in evidence.encoding.columns:
        code_counts(column, summary)  # refuses counts that do not fall into its bins
    last, n_texts = data["corrected"], evidence.text_weights.size
    corrected = None if last is None else read_evidence(last, reader, len(labels), n_texts)
    return Learned(summary, evidence, stale, corrected)


def read_evidence(data: object, reader: Reader, n_classes: int, n_texts: int) -> AdditiveModel:
    """A model that was written: every code has its cell, every term its columns."""
    return read(AdditiveModel, data, reader, n_classes=n_classes, n_texts=n_texts)


def _build(
    encoding: Encoding, terms: Terms, hyperparameters: Hyperparameters, intercept: Array,
    texts: tuple[TextExpert, ...] = (), trees: TreeEnsemble | None = None,
    discriminant: QuadraticDiscriminant | None = None, **arrays: Array,
) -> AdditiveModel:  # fmt: skip
    """The model, with the places of its tables: found only once all terms are known to be sound."""
    for each in (terms, hyperparameters.terms):
        _check_terms(each.pairs, 2, encoding)
        _check_terms(each.triples, 3, encoding)
        _refuse_wide(encoding, each)
    return AdditiveModel(
        encoding=encoding,
        terms=terms,
        starts=table_starts(encoding, terms)[:-1],
        hyperparameters=hyperparameters,
        intercept=intercept,
        texts=texts,
        trees=TreeEnsemble.empty(len(intercept)) if trees is None else trees,
        discriminant=QuadraticDiscriminant.empty(len(intercept)) if discriminant is None else discriminant,
        **arrays,
    )


def _check_evidence(evidence: AdditiveModel, context: Context) -> None:
    n_classes, n_texts = context["n_classes"], context["n_texts"]
    n_scores = 1 if n_classes == 2 else n_classes
    n_cells = int(table_starts(evidence.encoding, evidence.terms)[-1])
    expect("scores", evidence.tables, n_cells, n_scores, **SCORES)
    expect("scores", evidence.intercept, n_scores, **SCORES)
    expect("shares of texts", evidence.text_weights, n_texts, **SCORES)
    if evidence.texts and len(evidence.texts) != n_texts:
        raise ModelFileError("its evidence has not one expert for each text")
    for text in evidence.texts:
        _check_text(text, n_scores)
    _check_trees(evidence.trees, len(evidence.encoding.columns), n_scores)
    _check_discriminant(evidence.discriminant, len(evidence.encoding.columns), n_scores)
    _check_hyperparameters(evidence.hyperparameters, evidence.encoding.columns, n_classes, n_texts)


def _check_text(text: TextExpert, n_scores: int) -> None:
    n_words = len(text.words)
    expect("frequencies of words", text.rarity, n_words, least=0.0, most=MOST_RARE)
    expect("frequencies of words", text.typical, n_words, least=0.0, most=MOST_RARE)
    expect("scores of words", text.coefficients, n_words, n_scores, **SCORES)
    expect("scores of words", text.count_coefficients, n_words, n_scores, **SCORES)
    expect("scores of texts", text.intercept, n_scores, **SCORES)


def _check_trees(trees: TreeEnsemble, n_columns: int, n_scores: int) -> None:
    n_trees = len(trees)
    if n_trees > MOST_TREES:
        raise ModelFileError("its evidence has more trees than are ever grown")
    expect("questions of trees", trees.columns, n_trees, MAX_QUESTIONS, least=0, most=max(n_columns - 1, 0))
    expect("questions of trees", trees.sides, n_trees, MAX_QUESTIONS, N_CODES, least=0, most=1)
    expect("leaves of trees", trees.leaves, n_trees, N_LEAVES, n_scores, **SCORES)
    expect("leaves of trees", trees.covers, n_trees, N_LEAVES, least=0.0, most=HEAVIEST_COUNT)
    if n_trees and not n_columns:
        raise ModelFileError("its evidence has trees, but no columns")


def _check_discriminant(discriminant: QuadraticDiscriminant, n_columns: int, n_scores: int) -> None:
    n = len(discriminant)
    if n > min(MAX_COLUMNS, n_columns):
        raise ModelFileError("its quadratic discriminant has more columns than it can have")
    expect("columns of the discriminant", discriminant.columns, n, least=0, most=max(n_columns - 1, 0))
    if (np.diff(discriminant.columns) <= 0).any():
        raise ModelFileError("its quadratic discriminant has a column twice")
    expect("values of the discriminant", discriminant.values, n, N_CODES, **SCORES)
    expect("scores of the discriminant", discriminant.linear, n, n_scores, **SCORES)
    expect("scores of the discriminant", discriminant.products, n * (n + 1) // 2, n_scores, **SCORES)
    expect("scores of the discriminant", discriminant.base, n, n_scores, **SCORES)


def _check_encoding(encoding: Encoding, context: Context) -> None:
    if len({column.name for column in encoding.columns}) != len(encoding.columns):
        raise ModelFileError("its evidence names a column twice")
    if not 1 <= encoding.rank <= MOST_RANK:
        raise ModelFileError("its evidence has a rank that no model has")


def _refuse_wide(encoding: Encoding, terms: Terms) -> None:
    """Refuse terms with more cells than their codes can name, or than places can be counted for."""
    widths_of_terms = (encoding.coarse.widths[terms.pairs], encoding.tiny.widths[terms.triples])
    cells = np.concatenate([widths.astype(np.int64).prod(axis=1) for widths in widths_of_terms])
    if (cells > MOST_CODES).any() or cells.sum() > MOST_PLACES:
        raise ModelFileError("its evidence has terms of more cells than a term can have")


def _check_terms(terms: Int32, order: int, encoding: Encoding) -> None:
    expect("terms of evidence", terms, None, order, least=0, most=len(encoding.columns) - 1)
    if (np.diff(terms, axis=1) <= 0).any():
        raise ModelFileError("its evidence combines a column with itself")


def _check_hyperparameters(
    hyperparameters: Hyperparameters, columns: tuple[Column, ...], n_classes: int, n_texts: int
) -> None:
    expect(
        "weights of columns", hyperparameters.feature_weights, len(columns) + n_texts, least=0.0, most=HEAVIEST_COUNT
    )
    expect("offsets of classes", hyperparameters.class_offsets, n_classes, **SCORES)
    expect("class counts", hyperparameters.class_shares, n_classes, least=0.0, most=HEAVIEST_COUNT)
    expect("shares of experts", hyperparameters.stacking_weights, N_EXPERTS, least=0.0, most=HEAVIEST_COUNT)
    expect("spreads of experts", hyperparameters.variances, N_EXPERTS - 1, N_EXPERTS, least=0.0, most=HEAVIEST_COUNT)
    for place, used in enumerate((False, True)):
        needed = [True, used and len(hyperparameters.terms.pairs), used and len(hyperparameters.terms.triples)]
        if hyperparameters.stacking_weights[place + 1] > 0.0 and any(
            n and not s > 0.0 for n, s in zip(needed, hyperparameters.variances[place], strict=True)
        ):
            raise ModelFileError("its evidence was made in ways that no model is made in")
    if not (0.0 <= hyperparameters.tree_weight <= HEAVIEST_COUNT and 0 <= hyperparameters.n_rounds <= MOST_TREES):
        raise ModelFileError("its evidence has trees in a number or with a weight that no model has")
    settings = hyperparameters.discriminant
    fair = 0.0 < settings.pooling <= HEAVIEST_COUNT and 0.0 < settings.shrinkage <= 1.0
    if not (fair and 0.0 <= hyperparameters.discriminant_weight <= HEAVIEST_COUNT):
        raise ModelFileError("its quadratic discriminant was fitted in a way that no model is")
    _check_laplace_rows(hyperparameters.laplace_rows, columns, n_classes)


def _check_laplace_rows(rows: LaplaceRows, columns: tuple[Column, ...], n_classes: int) -> None:
    n_rows, n_scores = len(rows.codes), 1 if n_classes == 2 else n_classes
    expect("rows that were seen", rows.codes, n_rows, len(columns))
    expect("classes of rows", rows.y, n_rows, least=0, most=n_classes - 1)
    strange = (rows.codes >= np.array([column.size for column in columns], dtype=np.int64)).any()
    if n_rows > MAX_LAPLACE_ROWS or strange:
        raise ModelFileError("its evidence keeps rows that it cannot have seen")
    expect("curvatures of rows", rows.hessian, n_rows, n_scores, least=0.0, most=HEAVIEST_COUNT)
    expect("weights of rows", rows.weight, n_rows, least=0.0, most=HEAVIEST_COUNT)
    expect("scores of rows", rows.prior_log_odds, n_rows, n_scores, **SCORES)


def _check_column(column: Column) -> None:
    expect(f"counts of {column.name!r}", column.mass, None, least=0.0, most=HEAVIEST_COUNT)
    if len(column.mass) > np.iinfo(np.uint8).max - 1:
        raise ModelFileError(f"its column {column.name!r} has more codes than a column can have")
    for groups in (column.coarse, column.tiny):
        expect(f"codes of {column.name!r}", groups, len(column.mass) + 1)
        _check_groups(groups, column.name)


def _check_groups(groups: UInt8, name: str) -> None:
    """Groups of codes: 0 for the code that says nothing, then every number in use."""
    if groups[0] != 0 or set(groups.tolist()) != set(range(int(groups.max()) + 1)) or (groups[1:] == 0).any():
        raise ModelFileError(f"the codes of its column {name!r} are not grouped as they can be")


def _check_numeric(column: BinnedNumber, context: Context) -> None:
    _check_column(column)
    expect(f"means of {column.name!r}", column.means, len(column.mass) - column.gap)
    expect(f"cuts of {column.name!r}", column.cuts, max(len(column.means) - 1, 0))
    if (np.diff(column.cuts) <= 0.0).any():
        raise ModelFileError(f"the cuts of its column {column.name!r} are not in order")


def _check_nominal(column: CodedCategories, context: Context) -> None:
    _check_column(column)
    values = (*column.levels, *column.rare)
    if (
        len({level_key(value) for value in values}) != len(values)
        or len(column.mass) != len(column.levels) + bool(column.rare) + column.gap
    ):
        raise ModelFileError(f"the categories of its column {column.name!r} do not fit its codes")


# What files call the fields.
TERMS = {"terms.pairs": "pairs", "terms.triples": "triples"}
LAPLACE_ROWS = {
    "codes": "seen",
    "hessian": "bend",
    "y": "seen_classes",
    "weight": "seen_weights",
    "prior_log_odds": "before",
}
HYPERPARAMETERS = {
    "feature_weights": "weights",
    "class_offsets": "offsets",
    "class_shares": "counted",
    "stacking_weights": "shares",
    "variances": "spreads",
}
MODEL = {
    "encoding.columns": "columns",
    "encoding.rank": "rank",
    "intercept": "base",
    "text_weights": "texts",
    "texts": "words",
    "hyperparameters": "ways",
}

register(BinnedNumber, Form(check=_check_numeric))
register(CodedCategories, Form(check=_check_nominal))
register(Encoding, Form(check=_check_encoding))
register(Terms)
register(TextExpert)
register(TreeEnsemble)
register(QuadraticDiscriminant)
register(DiscriminantSettings)
register(LaplaceRows)
register(
    Hyperparameters,
    Form(names=TERMS | HYPERPARAMETERS | {f"laplace_rows.{name}": place for name, place in LAPLACE_ROWS.items()}),
)
register(
    AdditiveModel,
    Form(names=TERMS | MODEL, left_out=frozenset({"starts"}), build=_build, check=_check_evidence),
)
