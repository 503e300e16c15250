"""Graphs of ONNX: columns in, tensors out. The one place that knows onnx.

All is reckoned in double precision, with operators that onnxruntime has in double on every processor (operator set 17,
and 3 for categories). A category is found in a hash table, a bin by a binary search over all columns at once, so that
neither the graph nor the time for a row grows with the number of values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from likely.arrays import AnyArray, Array
from likely.errors import MissingExtra, SettingsError, to_install
from likely.families.export import Attributes, Tensor
from likely.table.levels import written

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto


from likely.store.expressions import ByCut, ByValue, Expression, as_table, joined, numbers, refuse_alike

OPERATOR_SET = 17
CATEGORY_OPERATORS = 3
FORMAT = 8
"""Versions of operators, of those for categories (ai.onnx.ml) and of the format: a runtime of 2022 knows them."""

CATEGORIES = "ai.onnx.ml"
PREFIX = "likely:"
"""Begins the names of what lies between inputs and outputs."""

Precision = Literal["double", "float"]

Output = tuple[Tensor, np.dtype[np.generic], list[int | str]]
"""A tensor, the type of its cells, and its shape."""


class OnnxGraph:
    """Makes nodes, and remembers them; a `families.export.Graph`. `precision` is that of inputs and outputs."""

    def __init__(self, kinds: Mapping[str, str], precision: Precision, outer: OnnxGraph | None = None) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtra(f"ONNX is written with onnx: {to_install('onnx')}.") from None
        self._onnx = onnx
        self._kinds, self._precision, self._outer = kinds, precision, outer
        self._nodes: list[NodeProto] = []
        self._known: dict[object, Tensor] = {}
        self._constants: dict[str, TensorProto] = {}
        self._n = 0

    # Columns.

    def numbers(self, names: Sequence[str]) -> Tensor:
        columns = [self.number(name) for name in names]
        return columns[0] if len(columns) == 1 else self.apply("Concat", *columns, attributes={"axis": 1})

    def number(self, name: str) -> Tensor:
        """A column of numbers (rows × 1)."""
        return self.as_double(Tensor(name)) if self._precision == "float" else Tensor(name)

    def codes(self, name: str, values: Sequence[Hashable], *, unseen: int, gap: int) -> Tensor:
        keys = self._keys(name, values)
        places = dict.fromkeys([""], gap) | {key: place for place, key in enumerate(keys)}
        key = (CATEGORIES, name, tuple(places), unseen, gap)
        if key not in self._known:
            self._known[key] = self._node(
                "LabelEncoder",
                [Tensor(name)],
                {"keys_strings": list(places), "values_int64s": list(places.values()), "default_int64": unseen},
                domain=CATEGORIES,
            )
        return self._known[key]

    def is_gap(self, name: str) -> Tensor:
        """Whether a cell is empty (rows × 1)."""
        if self._kinds[name] == "numeric":
            return self.apply("IsNaN", self.number(name))
        return self.apply("Equal", self.codes(name, (), unseen=1, gap=0), self.constant(np.array([[0]])))

    def zeros(self) -> Tensor:
        """A zero for each row (rows × 1)."""
        gaps = self.as_double(self.is_gap(next(iter(self._kinds))))
        return self.apply("Mul", gaps, self.constant(np.zeros((1, 1))))

    def _keys(self, name: str, values: Sequence[Hashable]) -> list[str]:
        keys = [written(value) for value in values]
        refuse_alike(f"values of column {name!r}", keys, "ONNX")
        for key in keys:
            refuse_broken(key, f"A value of column {name!r}")
        return keys

    # Tensors.

    def constant(self, values: AnyArray | Sequence[float] | float) -> Tensor:
        array = np.asarray(values, order="C")
        key = (array.dtype.str, array.shape, array.tobytes())
        if array.dtype.kind in "OU" or key not in self._known:
            name = self._name()
            self._constants[name] = self._onnx.numpy_helper.from_array(array, name)
            self._known[key] = name
        return self._known[key]

    def apply(self, operator: str, *inputs: Tensor, attributes: Attributes | None = None) -> Tensor:
        key = (operator, inputs, repr(sorted((attributes or {}).items())))
        if key not in self._known:
            self._known[key] = self._node(operator, inputs, attributes or {})
        return self._known[key]

    def sum(self, terms: Sequence[Tensor]) -> Tensor:
        total = terms[0]
        for term in terms[1:]:
            total = self.apply("Add", total, term)
        return total

    def where(self, condition: Tensor, yes: Tensor, no: Tensor) -> Tensor:
        return self.apply("Where", condition, yes, no)

    def as_double(self, tensor: Tensor) -> Tensor:
        """The same numbers in double precision."""
        return self.apply("Cast", tensor, attributes={"to": int(self._onnx.TensorProto.DOUBLE)})

    def as_int(self, tensor: Tensor) -> Tensor:
        """Whole numbers of anything."""
        return self.apply("Cast", tensor, attributes={"to": int(self._onnx.TensorProto.INT64)})

    def column(self, matrix: Tensor, place: int) -> Tensor:
        return self.apply("Gather", matrix, self.constant(np.array(place, dtype=np.int64)), attributes={"axis": 1})

    def columns(self, matrix: Tensor, places: Sequence[int]) -> Tensor:
        chosen = self.constant(np.array(places, dtype=np.int64))
        return self.apply("Gather", matrix, chosen, attributes={"axis": 1})

    def rows_of(self, table: AnyArray, places: Tensor) -> Tensor:
        return self.apply("Gather", self.constant(table), places, attributes={"axis": 0})

    def reduce(self, operator: Literal["Max", "Sum"], tensor: Tensor, axis: int, *, keep: bool = True) -> Tensor:
        if operator == "Max":
            return self.apply("ReduceMax", tensor, attributes={"axes": [axis], "keepdims": int(keep)})
        return self.apply(
            "ReduceSum", tensor, self.constant(np.array([axis], dtype=np.int64)), attributes={"keepdims": int(keep)}
        )

    def count_cuts(self, numbers: Tensor, cuts: Sequence[Array], *, inclusive: bool) -> Tensor:
        width = 1 << max(len(at) for at in cuts).bit_length()
        flat = np.full((len(cuts), width), np.inf)
        for line, at in zip(flat, cuts, strict=True):
            line[: len(at)] = at
        starts = width * np.arange(len(cuts), dtype=np.int64)
        found, step = self.constant(np.zeros((1, len(cuts)), dtype=np.int64)), width // 2
        while step:
            probe = self.rows_of(flat.ravel(), self.apply("Add", found, self.constant(starts[None] + (step - 1))))
            passed = self.as_int(self.apply("LessOrEqual" if inclusive else "Less", probe, numbers))
            more = self.apply("Mul", passed, self.constant(np.array([[step]], dtype=np.int64)))
            found, step = self.apply("Add", found, more), step // 2
        return found

    def repeat(
        self, times: Tensor, states: Sequence[Tensor], step: Callable[[OnnxGraph, Tensor, list[Tensor]], list[Tensor]]
    ) -> list[Tensor]:
        helper, kind = self._onnx.helper, self._onnx.TensorProto
        inner = OnnxGraph(self._kinds, self._precision, self)
        turn, go_on, before = inner._name(), inner._name(), [inner._name() for _ in states]
        after = step(inner, turn, before)
        same = inner._node("Identity", [go_on], {})
        body = helper.make_graph(
            inner._nodes,
            "step",
            [
                helper.make_tensor_value_info(turn, kind.INT64, []),
                helper.make_tensor_value_info(go_on, kind.BOOL, []),
                *(helper.make_tensor_value_info(name, kind.DOUBLE, None) for name in before),
            ],
            [
                helper.make_tensor_value_info(same, kind.BOOL, []),
                *(helper.make_tensor_value_info(name, kind.DOUBLE, None) for name in after),
            ],
            list(inner._constants.values()),
        )
        names = [self._name() for _ in states]
        self._nodes.append(helper.make_node("Loop", [times, "", *states], names, name=names[0], body=body))
        return names

    # The whole.

    def model(self, names: Sequence[str], outputs: Mapping[str, Output], told: Mapping[str, str]) -> ModelProto:
        """Inputs for the columns, outputs by name, and what is told of the model."""
        helper, kind = self._onnx.helper, self._onnx.TensorProto
        number = kind.DOUBLE if self._precision == "double" else kind.FLOAT
        taken = {name: kind.STRING if self._kinds[name] == "nominal" else number for name in names}
        inputs = [helper.make_tensor_value_info(name, type_, ["rows", 1]) for name, type_ in taken.items()]
        results = []
        for name, (tensor, dtype, shape) in outputs.items():
            found = tensor
            if dtype == np.float64 and self._precision == "float":
                found = self.apply("Cast", tensor, attributes={"to": int(kind.FLOAT)})
                dtype = np.dtype(np.float32)
            self._nodes.append(helper.make_node("Identity", [found], [name], name=name))
            results.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), shape))
        graph = helper.make_graph(self._nodes, "likely", inputs, results, list(self._constants.values()))
        sets = [helper.make_opsetid("", OPERATOR_SET), helper.make_opsetid(CATEGORIES, CATEGORY_OPERATORS)]
        model: ModelProto = helper.make_model(graph, opset_imports=sets, ir_version=FORMAT, producer_name="likely")
        helper.set_model_props(model, dict(told))
        return model

    def _node(
        self, operator: str, inputs: Sequence[Tensor], attributes: Mapping[str, object], domain: str = ""
    ) -> Tensor:
        name = self._name()
        # Nodes without a name are called alike by some optimisers of onnxruntime, which then refuse the graph.
        node = self._onnx.helper.make_node(operator, list(inputs), [name], name=name, domain=domain)
        node.attribute.extend(self._onnx.helper.make_attribute(key, value) for key, value in attributes.items())
        self._nodes.append(node)
        return name

    def _name(self) -> Tensor:
        if self._outer is not None:
            return self._outer._name()
        self._n += 1
        name = Tensor(f"{PREFIX}{self._n}")
        return self._name() if name in self._kinds else name


def refuse_broken(text: str, what: str) -> None:
    """Refuse text that no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"{what}, {text!r}, is broken Unicode, which ONNX cannot say; rename it.") from None


# What families write for SQL, as tensors: a code is a look-up, an interval a search among cuts.

OPERATORS = {
    "minus": "Sub", "times": "Mul", "over": "Div", "equal": "Equal", "below": "Less", "at_most": "LessOrEqual",
    "either": "Or", "ln": "Log",
}  # fmt: skip


def term(graph: OnnxGraph, of_classes: Sequence[Expression]) -> Tensor:
    """Rows × classes of what a column adds, given an expression for each class."""
    whole = joined(of_classes)
    if whole is not None:
        return tensor(graph, whole)
    alone = [graph.sum([graph.zeros(), tensor(graph, each)]) for each in of_classes]
    return graph.apply("Concat", *alone, attributes={"axis": 1})


def tensor(graph: OnnxGraph, told: Expression) -> Tensor:
    """The tensor of an expression: rows × 1, rows × classes, or 1 × classes where it is the same for all rows."""
    if told.kind == "number":
        return graph.constant(np.array([numbers(told)]))
    if told.kind == "real":
        return graph.number(str(told.value))
    if told.kind == "missing":
        return graph.is_gap(str(told.value))
    if told.kind == "case":
        return _case(graph, told)
    found = as_table(told)
    if found is not None:
        return _looked_up(graph, found)
    parts = [tensor(graph, part) for part in told.parts]
    if told.kind == "sum":
        return graph.sum(parts)
    if told.kind not in OPERATORS:
        raise SettingsError(f"What a family adds ({told.kind!r}) is not known in ONNX: export the model as SQL.")
    return graph.apply(OPERATORS[told.kind], *parts)


def _looked_up(graph: OnnxGraph, found: ByValue | ByCut) -> Tensor:
    if isinstance(found, ByValue):
        n = len(found.values)
        codes = graph.codes(found.column, found.values, unseen=n + 1, gap=n)
        return graph.rows_of(found.table, graph.column(codes, 0))
    bins = graph.count_cuts(graph.number(found.column), [np.array(found.cuts)], inclusive=True)
    gap = graph.constant(np.array([[len(found.cuts) + 1]]))
    return graph.rows_of(found.table, graph.column(graph.where(graph.is_gap(found.column), gap, bins), 0))


def _case(graph: OnnxGraph, told: Expression) -> Tensor:
    *parts, otherwise = told.parts
    chosen = tensor(graph, otherwise)
    for condition, result in zip(reversed(parts[::2]), reversed(parts[1::2]), strict=True):
        chosen = graph.where(tensor(graph, condition), tensor(graph, result), chosen)
    return chosen
