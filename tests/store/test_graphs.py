"""Graphs of ONNX, operator by operator: a runtime gives what NumPy gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.arrays import AnyArray
from likely.errors import SettingsError
from likely.families.export import Tensor
from likely.store.expressions import Expression, Expressions
from likely.store.onnx import OnnxGraph, tensor, term

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

SQL = Expressions()
NAN = np.nan
X = np.array([[0.5], [-1.0], [NAN], [3.0]])
Z = np.array([[2.0], [NAN], [1.0], [0.0]])
TOWN = np.array([["u"], [""], ["new"], ["v"]], dtype=object)


def graph_of(precision: Any = "double") -> OnnxGraph:
    return OnnxGraph({"x": "numeric", "z": "numeric", "town": "nominal"}, precision)


def told(graph: OnnxGraph, **outputs: Tensor) -> dict[str, AnyArray]:
    """What a runtime makes of X, Z and TOWN."""
    made: Any = {name: (graph.as_double(each), np.dtype(np.float64), None) for name, each in outputs.items()}
    model = graph.model(["x", "z", "town"], made, {})
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    cells = np.float32 if graph._precision == "float" else np.float64
    found = session.run(list(outputs), {"x": X.astype(cells), "z": Z.astype(cells), "town": TOWN})
    return dict(zip(outputs, found, strict=True))


def same(graph: OnnxGraph, made: Tensor, expected: Any) -> None:
    found, wanted = told(graph, out=made)["out"], np.asarray(expected, dtype=float)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-6 if graph._precision == "float" else 1e-12)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_columns_are_numbers_or_codes_with_gaps_of_their_own(precision: str) -> None:
    graph = graph_of(precision)
    codes = graph.codes("town", ["v", "u"], unseen=5, gap=7)
    found = told(
        graph, numbers=graph.numbers(["x"]), both=graph.numbers(["z", "x"]), codes=codes, zeros=graph.zeros(),
        gap=graph.is_gap("x"), no_town=graph.is_gap("town"), rare=graph.codes("town", ["v"], unseen=0, gap=-1),
    )  # fmt: skip
    np.testing.assert_array_equal(found["numbers"], X)
    np.testing.assert_array_equal(found["both"], np.hstack([Z, X]))
    assert found["numbers"].dtype == (np.float32 if precision == "float" else np.float64)
    assert found["codes"].ravel().tolist() == [1.0, 7.0, 5.0, 0.0]
    assert found["rare"].ravel().tolist() == [0.0, -1.0, 0.0, 0.0]
    assert found["gap"].ravel().tolist() == [0.0, 0.0, 1.0, 0.0] and found["gap"].shape == (4, 1)
    assert found["no_town"].ravel().tolist() == [0.0, 1.0, 0.0, 0.0] and found["no_town"].shape == (4, 1)
    assert found["zeros"].tolist() == [[0.0]] * 4


def test_rows_without_numbers_have_their_zeros_too() -> None:
    graph = OnnxGraph({"town": "nominal", "x": "numeric", "z": "numeric"}, "double")
    same(graph, graph.zeros(), [[0.0]] * 4)


def test_the_empty_text_is_a_gap_unless_it_is_a_value() -> None:
    graph = graph_of()
    same(graph, graph.codes("town", ["", "u"], unseen=5, gap=7), [[1.0], [0.0], [5.0], [5.0]])


def test_what_was_asked_before_is_not_made_again() -> None:
    graph = graph_of()
    codes = graph.codes("town", ["u", "v"], unseen=2, gap=3)
    assert graph.codes("town", ["u", "v"], unseen=2, gap=3) == codes
    others = [graph.codes("town", ["v", "u"], unseen=2, gap=3), graph.codes("town", ["u", "v"], unseen=9, gap=3),
              graph.codes("town", ["u", "v"], unseen=2, gap=9)]  # fmt: skip
    assert len({codes, *others}) == 4
    one = graph.constant(1.0)
    assert graph.constant(1.0) == one
    assert len({one, graph.constant([1.0]), graph.constant(np.array(1)), graph.constant(2.0)}) == 4
    x = graph.number("x")
    assert graph.apply("Add", x, one) == graph.apply("Add", x, one) != graph.apply("Add", one, x)
    assert graph.as_int(x) == graph.as_int(x) != graph.as_double(x)
    both = graph.numbers(["x", "z"])
    assert graph.column(both, 0) == graph.column(both, 0) != graph.column(both, 1)
    names = [node.output[0] for node in graph._nodes]
    assert len(set(names)) == len(names)


def test_constants_of_text_are_told_apart() -> None:
    graph = graph_of()
    first, second = (graph.constant(np.array([text], dtype=object)) for text in ("a", "b"))
    assert graph.constant(np.array(["a"])) not in (first, second)
    values = {name: made.string_data[0] for name, made in graph._constants.items()}
    assert values[first] == b"a" and values[second] == b"b"


def test_sums_choices_and_columns() -> None:
    graph = graph_of()
    same(graph, graph.sum([graph.constant(np.array([[1.0]]))]), [[1.0]])
    graph = graph_of()
    same(graph, graph.sum([graph.constant(np.array([[k]])) for k in (1.0, 10.0, 100.0)]), [[111.0]])
    graph = graph_of()
    z = graph.number("z")
    same(graph, graph.where(graph.is_gap("z"), graph.constant(-1.0), z), [[2.0], [-1.0], [1.0], [0.0]])
    graph = graph_of()
    both = graph.constant(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    found = told(
        graph, one=graph.column(both, 1), two=graph.columns(both, [2, 0]), three=graph.columns(both, [1]),
        lines=graph.rows_of(np.array([[7.0, 8.0], [9.0, 10.0]]), graph.constant(np.array([1, 1, 0]))),
        most=graph.reduce("Max", both, 1), least=graph.reduce("Max", both, 0, keep=False),
        sums=graph.reduce("Sum", both, 0), total=graph.reduce("Sum", both, 1, keep=False),
        whole=graph.as_int(graph.constant(np.array([1.75, -1.75]))),
    )  # fmt: skip
    assert found["one"].tolist() == [2.0, 5.0] and found["two"].tolist() == [[3.0, 1.0], [6.0, 4.0]]
    assert found["three"].tolist() == [[2.0], [5.0]] and found["lines"].tolist() == [
        [9.0, 10.0],
        [9.0, 10.0],
        [7.0, 8.0],
    ]
    assert found["most"].tolist() == [[3.0], [6.0]] and found["least"].tolist() == [4.0, 5.0, 6.0]
    assert found["sums"].tolist() == [[5.0, 7.0, 9.0]] and found["total"].tolist() == [6.0, 15.0]
    assert found["whole"].tolist() == [1.0, -1.0]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.integers(-2, 4), unique=True, max_size=9).map(sorted), min_size=2, max_size=2), st.booleans()
)
def test_cuts_below_a_number_are_counted(cuts: list[list[int]], inclusive: bool) -> None:
    graph = graph_of()
    at = [np.array(each, dtype=float) for each in cuts]
    told_cuts = graph.count_cuts(graph.numbers(["x", "z"]), at, inclusive=inclusive)
    found = np.broadcast_to(told(graph, out=told_cuts)["out"], (4, 2))  # without any cut, one line says it for all
    for j, cells in enumerate((X, Z)):
        known = ~np.isnan(cells.ravel())
        expected = np.searchsorted(at[j], cells.ravel(), side="right" if inclusive else "left")
        assert found[known, j].tolist() == expected[known].tolist()


def test_many_cuts_are_counted_by_few_steps() -> None:
    for n in (1, 2, 3, 4, 7, 8, 100):
        graph = graph_of()
        cuts = np.linspace(-2.0, 3.0, n)
        same(graph, graph.apply("Gather", graph.count_cuts(graph.number("x"), [cuts], inclusive=True),
                                graph.constant(np.array([0, 1, 3])), attributes={"axis": 0}),
             [[np.searchsorted(cuts, x, side="right")] for x in (0.5, -1.0, 3.0)])  # fmt: skip
        assert len(graph._nodes) <= 7 * n.bit_length() + 6


def test_steps_are_repeated_so_many_times() -> None:
    """Powers of two beside their places: states change together, and the turn counts from zero."""

    def step(inner: OnnxGraph, turn: Tensor, before: list[Tensor]) -> list[Tensor]:
        doubled = inner.apply("Mul", before[0], inner.constant(2.0))
        return [doubled, inner.apply("Add", before[1], inner.as_double(turn))]

    for times in (0, 1, 5):
        graph = graph_of()
        states = [graph.constant(1.0), graph.constant(100.0)]
        power, total = graph.repeat(graph.constant(np.array(times)), states, step)
        found = told(graph, power=power, total=total)
        assert found["power"] == 2.0**times and found["total"] == 100.0 + sum(range(times))
        graph = graph_of()
        (alone,) = graph.repeat(
            graph.constant(np.array(times)), [graph.constant(3.0)], lambda inner, _, before: [inner.sum(before * 2)]
        )
        assert told(graph, alone=alone)["alone"] == 3.0 * 2.0**times


def test_names_of_columns_are_not_taken() -> None:
    kinds = {"likely:1": "numeric", "likely:3": "numeric"}
    graph = OnnxGraph(kinds, "double")
    made = [graph._name() for _ in range(3)]
    assert made == ["likely:2", "likely:4", "likely:5"]
    assert OnnxGraph(kinds, "double", graph)._name() == "likely:6" and graph._name() == "likely:7"
    assert graph_of()._name() == "likely:1"


def test_numbers_are_double_whatever_the_inputs_are() -> None:
    assert graph_of().number("x") == "x"
    graph = graph_of("float")
    same(graph, graph.sum([graph.number("z"), graph.constant(0.1)]), [[2.1], [NAN], [1.1], [0.1]])


def test_inputs_and_outputs_have_the_precision_that_was_asked_for() -> None:
    for precision, cells in (("double", onnx.TensorProto.DOUBLE), ("float", onnx.TensorProto.FLOAT)):
        graph = graph_of(precision)
        label = graph.as_int(graph.number("x"))
        outputs: Any = {"shares": (graph.numbers(["x", "z"]), np.dtype(np.float64), ["rows", 2]),
                        "label": (label, np.dtype(np.int64), ["rows", 1])}  # fmt: skip
        model = graph.model(["town", "x", "z"], outputs, {"who": "us", "what": "this"})
        onnx.checker.check_model(model, full_check=True)
        kinds = {one.name: one.type.tensor_type for one in (*model.graph.input, *model.graph.output)}
        assert list(kinds) == ["town", "x", "z", "shares", "label"]
        assert [one.elem_type for one in kinds.values()] == [
            onnx.TensorProto.STRING, cells, cells, cells, onnx.TensorProto.INT64,
        ]  # fmt: skip
        sizes = {name: [axis.dim_param or axis.dim_value for axis in one.shape.dim] for name, one in kinds.items()}
        assert sizes == {"town": ["rows", 1], "x": ["rows", 1], "z": ["rows", 1], "shares": ["rows", 2],
                         "label": ["rows", 1]}  # fmt: skip
        assert {prop.key: prop.value for prop in model.metadata_props} == {"who": "us", "what": "this"}
        assert {each.domain: each.version for each in model.opset_import} == {"": 17, "ai.onnx.ml": 3}
        assert model.ir_version == 8 and model.producer_name == "likely"


# Expressions of families.


def number(*of_classes: float) -> Expression:
    return Expression("number", value=of_classes)


def of_town(*numbers: float) -> Expression:
    """By the codes 1, 0 of u, v; 2 for what is unseen and 3 for a gap."""
    return SQL.number_at(numbers, SQL.code("town", ["u", "v"], [1, 0], 2, 3))


def of_x(*numbers: float) -> Expression:
    """Below 0.5, from there to below 3, from 3 on, and for a gap; the first line is no interval's."""
    return SQL.number_at(numbers, SQL.interval("x", np.array([0.5, 3.0]), 1, 4, at_most=False))


def test_an_expression_is_a_tensor() -> None:
    gap = SQL.missing("x")
    x = SQL.case([(gap, number(0.0))], SQL.real("x"))
    cases: list[tuple[Expression, list[float]]] = [
        (x, [0.5, -1.0, 0.0, 3.0]),
        (SQL.minus(x, number(1.0)), [-0.5, -2.0, -1.0, 2.0]),
        (SQL.times(x, number(3.0)), [1.5, -3.0, 0.0, 9.0]),
        (SQL.over(x, number(4.0)), [0.125, -0.25, 0.0, 0.75]),
        (SQL.sum([x, number(1.0), x]), [2.0, -1.0, 1.0, 7.0]),
        (SQL.ln(SQL.sum([x, number(2.0)])), np.log([2.5, 1.0, 2.0, 5.0]).tolist()),
        (SQL.case([(SQL.equal(x, number(3.0)), number(7.0))], number(8.0)), [8.0, 8.0, 8.0, 7.0]),
        (SQL.case([(SQL.below(x, number(0.5)), number(7.0))], number(8.0)), [8.0, 7.0, 7.0, 8.0]),
        (SQL.case([(SQL.at_most(x, number(0.5)), number(7.0))], number(8.0)), [7.0, 7.0, 7.0, 8.0]),
        (SQL.case([(SQL.either(gap, SQL.below(x, number(0.0))), number(7.0))], number(8.0)), [8.0, 7.0, 7.0, 8.0]),
        (
            SQL.case([(gap, number(1.0)), (SQL.below(x, number(0.0)), number(2.0)),
                      (SQL.below(x, number(1.0)), number(3.0))],
                     number(4.0)),
            [3.0, 2.0, 1.0, 4.0],
        ),
        (SQL.unless(gap, number(5.0)), [5.0, 5.0, 0.0, 5.0]),
        (of_town(10.0, 20.0, 30.0, 40.0), [20.0, 40.0, 30.0, 10.0]),
        (of_x(-1.0, 10.0, 20.0, 30.0, 40.0), [20.0, 10.0, 40.0, 30.0]),
        (SQL.times(number(0.5), of_x(-1.0, 10.0, 20.0, 30.0, 40.0)), [10.0, 5.0, 20.0, 15.0]),
    ]  # fmt: skip
    graph = graph_of()
    found = told(graph, **{f"o{k}": tensor(graph, asked) for k, (asked, _) in enumerate(cases)})
    for k, (asked, expected) in enumerate(cases):
        np.testing.assert_allclose(found[f"o{k}"], np.array(expected)[:, None], rtol=1e-12, err_msg=str(asked))


def test_classes_that_differ_in_numbers_alone_are_one_tensor() -> None:
    graph = graph_of()
    same(graph, term(graph, [of_town(1.0, 2.0, 3.0, 4.0), of_town(10.0, 20.0, 30.0, 40.0)]),
         [[2.0, 20.0], [4.0, 40.0], [3.0, 30.0], [1.0, 10.0]])  # fmt: skip
    assert sum(node.op_type == "LabelEncoder" for node in graph._nodes) == 1


def test_classes_that_differ_otherwise_stand_side_by_side() -> None:
    graph = graph_of()
    same(graph, term(graph, [of_town(1.0, 2.0, 3.0, 4.0), number(9.0), of_x(-1.0, 10.0, 20.0, 30.0, 40.0)]),
         [[2.0, 9.0, 20.0], [4.0, 9.0, 10.0], [3.0, 9.0, 40.0], [1.0, 9.0, 30.0]])  # fmt: skip


def test_what_onnx_has_no_operator_for_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"'root'.*export the model as SQL"):
        tensor(graph_of(), Expression("root", (number(1.0),)))
    with pytest.raises(SettingsError, match="Two values of column 'town' are both written '1'"):
        graph_of().codes("town", ["1", 1], unseen=2, gap=3)
    with pytest.raises(SettingsError, match=r"A value of column 'town'.*broken Unicode"):
        graph_of().codes("town", ["\ud800"], unseen=2, gap=3)
