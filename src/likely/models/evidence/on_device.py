"""The additive model on a GPU: rows become codes there, and every table is looked up by codes."""

from __future__ import annotations

import numpy as np

from likely.arrays import UInt8
from likely.engines.gpu.codes import codes_of_numbers, codes_of_values, polynomial_step, table_step, tree_step
from likely.engines.gpu.device import DeviceArray
from likely.engines.gpu.scores import DeviceLogJoint, Step
from likely.engines.gpu.table import DeviceTable
from likely.errors import SettingsError
from likely.models.evidence.encoding import N_CODES, BinnedNumber, Column, Encoding, Resolution
from likely.models.evidence.predictor import AdditivePredictor, class_scores
from likely.numerics import log_of


def log_joint_on_device(model: AdditivePredictor, table: DeviceTable) -> DeviceLogJoint:
    """The log joint of rows that lie on a device."""
    if model.text_models:
        raise SettingsError(
            f"Texts ({model.text_models[0].column!r}) are not scored on a GPU: bring these rows to the host."
        )
    return DeviceLogJoint(table, model.prior, log_of(model.prior) + model.beyond_prior(), _steps(model, table))


def _steps(model: AdditivePredictor, table: DeviceTable) -> list[Step]:
    """The discriminant, the trees, and last the tables, if there are any."""
    evidence, n_classes = model.evidence, len(model.classes)
    encoding, trees, discriminant = evidence.encoding, evidence.trees, evidence.discriminant
    xp = table.device.xp
    codes = xp.stack([_codes(table, column) for column in encoding.columns])
    steps = []
    if len(discriminant):
        linear, products = (class_scores(part, n_classes) for part in (discriminant.linear, discriminant.products))
        columns = discriminant.columns.astype(np.intp)
        steps.append(polynomial_step(codes, columns, discriminant.values, linear, products, discriminant.pairs()))
    if len(trees):
        leaves = class_scores(trees.leaves.reshape(-1, trees.leaves.shape[2]), n_classes)
        steps.append(tree_step(codes, trees.columns, trees.sides, leaves))
    terms = evidence.terms.tuples(len(encoding.columns))
    resolutions = encoding.coarse, encoding.tiny
    groups = np.stack([_groups(encoding, resolution) for resolution in resolutions])
    widths = np.concatenate([resolution.widths for resolution in resolutions])
    tables = class_scores(evidence.tables, n_classes)
    return [*steps, table_step(codes, terms, evidence.starts.astype(np.int64), groups, widths, tables)]


def _groups(encoding: Encoding, resolution: Resolution) -> UInt8:
    """Columns × all codes of one byte."""
    groups = np.zeros((len(encoding.columns), N_CODES), dtype=np.uint8)
    groups[:, : resolution.lookup.shape[1]] = resolution.lookup
    return groups


def _codes(table: DeviceTable, column: Column) -> DeviceArray:
    """The code of every row in a column; 0 for a category never seen, or a gap where there was none."""
    gap = column.size - 1 if column.gap else 0
    if isinstance(column, BinnedNumber):
        bins = np.arange(len(column.cuts) + 1) + 1 if len(column.means) else np.zeros(len(column.cuts) + 1)
        return codes_of_numbers(table, column.name, column.cuts, bins.astype(np.uint8), gap)
    values = (*column.levels, *column.rare)
    own = np.minimum(np.arange(len(values)) + 1, len(column.levels) + 1).astype(np.uint8)
    return codes_of_values(table, column.name, values, own, gap, unseen=0)
