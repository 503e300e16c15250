"""A support vector machine as JSON and named arrays, and back; a made-up one is refused before it is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from likely.arrays import AnyArray, Array, Int64
from likely.errors import DataError, ModelFileError
from likely.models.svm.calibration import PlattScaling
from likely.models.svm.features import (
    FARTHEST,
    NARROWEST,
    FeatureBlock,
    NumericFeatures,
    OneHotFeatures,
    Preparation,
    SparseFeatures,
    TfidfFeatures,
)
from likely.models.svm.kernels import Kernel, Linear
from likely.models.svm.machine import Machine, n_pairs
from likely.scorer import Priors, class_prior
from likely.stats import ClassWeights
from likely.store.codec import (
    ByHand,
    Context,
    Form,
    Reader,
    Writer,
    expect,
    read,
    read_matrix,
    register,
    write,
    write_matrix,
)
from likely.store.container import Document
from likely.store.summaries import WORDS
from likely.table import level_key
from likely.table.schema import Schema

LARGEST = 1e120
"""Coefficients beyond this are no machine's, and their sums would overflow."""

MOST_RARE = 1e3
"""The rarity of a word is a logarithm: far below this."""


@dataclass(frozen=True, eq=False)
class LearnedMachine:
    """All that a machine is made of, how rows are made ready for it, and what it was solved from.

    `counts` is the weight of each class, `support` says which of the rows are support vectors.
    """

    preparation: Preparation
    machine: Machine
    calibration: PlattScaling
    counts: Array
    support: Int64
    rows: int
    C: float
    method: str


def write_learned(learned: LearnedMachine, writer: Writer) -> dict[str, object]:
    """The same as JSON and arrays."""
    parts = write(learned.preparation, writer)["parts"]
    data = {"preparation": parts, **write(learned.machine, writer), **write(learned.calibration, writer)}
    own = {"counts": writer.put(learned.counts), "support": writer.put(learned.support.astype(np.int64))}
    return {**data, **own, "rows": learned.rows, "C": float(learned.C).hex(), "method": learned.method}


def read_learned(data: Document, reader: Reader, schema: Schema, n_classes: int) -> LearnedMachine:
    """What `write_learned` wrote, every size and range checked."""
    preparation = read(Preparation, {"parts": data["preparation"]}, reader, schema=schema)
    if not n_classes or preparation.is_sparse != ("cells" in data["vectors"]):
        raise ModelFileError("its support vectors are kept in a form that its columns do not have")
    machine = read(Machine, data, reader, n_classes=n_classes, width=preparation.width)
    calibration = read(PlattScaling, data, reader, n_classes=n_classes)
    rows, C = data["rows"], float.fromhex(data["C"])
    if type(rows) is not int or rows < 0 or not C > 0.0:
        raise DataError("its number of rows or its price of slack is none")
    counts = reader.counts(data["counts"], (n_classes,))
    if not (counts > 0.0).all():
        raise DataError("it has a class without rows")
    support = reader.get(data["support"], (len(machine.rows),), np.int64)
    if ((support < 0) | (support >= rows)).any():
        raise DataError("its support vectors are rows that it has not learned")
    return LearnedMachine(preparation, machine, calibration, counts, support, rows, C, str(data["method"]))


def prior_shares(priors: Priors, labels: AnyArray, counts: Array) -> Array:
    """How common each class is, as counted or as given."""
    return class_prior(priors, ClassWeights(labels, counts, np.zeros(len(labels), dtype=np.int64)))


def _check_machine(machine: Machine, context: Context) -> None:
    n, n_classes, width = len(machine.rows), machine.n_classes, context["width"]
    pairs, held = n_pairs(n_classes), machine.vectors
    if machine.kernel.is_open:
        raise ModelFileError("its kernel is none")
    expect("support vectors", machine.rows, None, least=0)
    if held.shape != (n, width):
        raise ModelFileError("its support vectors do not fit its columns")
    cells = held.data if sparse.issparse(held) else held.ravel()
    expect("support vectors", cells, None, least=-LARGEST, most=LARGEST)
    if machine.n_support is not None:
        expect("support vectors", machine.n_support, n_classes, least=0, most=n)
        if machine.n_support.sum() != n:
            raise ModelFileError("its support vectors do not fit its classes")
    expect("offsets", machine.b, pairs, least=-LARGEST, most=LARGEST)
    lines: int | None = pairs if machine.n_support is None else n_classes - 1
    if machine.hyperplanes is not None:
        lines = None
        expect("planes", machine.hyperplanes, pairs, width, least=-LARGEST, most=LARGEST)
        if not isinstance(machine.kernel, Linear):
            raise ModelFileError("it has a plane, but its kernel is not linear")
    expect("coefficients", machine.dual, lines, n, least=-LARGEST, most=LARGEST)


def _check_calibration(calibration: PlattScaling, context: Context) -> None:
    pairs = n_pairs(calibration.n_classes)
    expect("slopes of probabilities", calibration.slopes, pairs, least=0.0, most=LARGEST)
    expect("shifts of probabilities", calibration.shifts, pairs, least=-LARGEST, most=LARGEST)


def _check_preparation(preparation: Preparation, context: Context) -> None:
    """Each column of the schema is made use of once at most."""
    columns, schema = preparation.columns, context["schema"]
    if len(set(columns)) != len(columns) or not set(columns) <= set(schema.features) or not preparation.width:
        raise ModelFileError("its prepared columns are not those of its schema")
    if len(preparation.parts) > 1 and any(isinstance(part, SparseFeatures) for part in preparation.parts):
        raise ModelFileError("it mixes a sparse matrix with other columns")


def _check_numbers(part: NumericFeatures, context: Context) -> None:
    n = len(part.columns)
    expect("means", part.centre, n)
    expect("means", part.fill, n)
    expect("widths", part.scale, n, least=NARROWEST)
    expect("columns with gaps", part.holed, None, least=0, most=n - 1)
    if (np.diff(part.holed) <= 0).any():
        raise ModelFileError("it marks gaps in columns that do not exist")


def _check_sparse(part: SparseFeatures, context: Context) -> None:
    n = len(part.columns)
    expect("sparse columns", part.places, n, least=0)
    expect("widths", part.scale, n, least=NARROWEST)
    if (np.diff(part.places) <= 0).any():
        raise ModelFileError("its sparse columns are not in order")


def _check_categories(part: OneHotFeatures, context: Context) -> None:
    if len(set(map(level_key, part.levels))) != len(part.levels) or None in part.levels:
        raise ModelFileError("it names a value of a column twice")


def _check_text(part: TfidfFeatures, context: Context) -> None:
    expect("rarities of words", part.idf, len(part.words), least=NARROWEST, most=MOST_RARE)


VECTORS = ByHand(
    lambda rows, writer: write_matrix(rows, writer, "rows"),
    lambda data, reader, context: read_matrix(data, reader, "rows", context["width"]),
)
CLASSES = frozenset({"n_classes"})

register(NumericFeatures, Form(tag=("part", "numbers"), check=_check_numbers))
register(SparseFeatures, Form(tag=("part", "sparse"), check=_check_sparse))
register(OneHotFeatures, Form(tag=("part", "categories"), check=_check_categories))
register(
    TfidfFeatures, Form(tag=("part", "text"), names=WORDS | {"idf": "rarity", "tokenizer": "recipe"}, check=_check_text)
)
register(Preparation, Form(check=_check_preparation))
register(
    Machine,
    Form(
        names={"rows": "vector_rows", "hyperplanes": "plane"},
        left_out=CLASSES,
        by_hand={"vectors": VECTORS},
        check=_check_machine,
    ),
)
register(PlattScaling, Form(left_out=CLASSES, check=_check_calibration))


# For those who score rows without this package.

MOST_CELLS = 120_000
"""Support vectors × features that are written out."""


def described(preparation: Preparation, machine: Machine, calibration: PlattScaling) -> Document | None:
    """How rows are made ready, support vectors or planes, sigmoids of pairs; None where these are too many numbers."""
    parts = [_part(part) for part in preparation.parts]
    if any(part is None for part in parts):
        return None
    told = {
        "parts": parts, "farthest": FARTHEST,
        "b": machine.b, "slopes": calibration.slopes, "shifts": calibration.shifts,
        "features": [[feature.name, feature.column] for feature in preparation.features],
        "kernel": _kernel(machine.kernel), "support": len(machine.rows), "vectors_are": machine.vectors_are,
    }  # fmt: skip
    if machine.w is not None:
        return {**told, "planes": machine.w} if machine.w.size <= MOST_CELLS else None
    n_pairs = len(machine.b)
    if machine.vectors.shape[0] * (machine.vectors.shape[1] + n_pairs) > MOST_CELLS:
        return None
    vectors = machine.vectors.toarray() if sparse.issparse(machine.vectors) else machine.vectors
    duals = np.array([machine.coefficients(place) for place in range(n_pairs)])
    return {**told, "vectors": np.asarray(vectors, dtype=np.float64), "duals": duals}


def _part(part: FeatureBlock) -> dict[str, object] | None:
    if isinstance(part, NumericFeatures):
        own = {"centre": part.centre, "scale": part.scale, "fill": part.fill, "holed": part.holed.tolist()}
        return {"is": "numbers", "columns": part.columns, **own}
    if isinstance(part, OneHotFeatures):
        return {"is": "levels", "column": part.column, "levels": part.levels, "holed": part.holed}
    if isinstance(part, TfidfFeatures):
        return {
            "is": "text", "column": part.column, "tokenizer": part.tokenizer, "words": part.words.to_list(),
            "idf": part.idf,
        }  # fmt: skip
    return None


def _kernel(kernel: Kernel) -> list[object]:
    """The name of a kernel and its fields, kernels among them."""
    fields = [_kernel(part) if isinstance(part, Kernel) else part for part in vars(kernel).values()]
    return [type(kernel).__name__, *fields]
