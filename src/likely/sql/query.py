"""One SELECT in steps: what is worked out once is a column of its own, in the first step that can have it.

q = Query(dialect_named("postgres"), "loans")
x = q.kept(q.ln(q.real("income")))          # a hidden column, which later expressions use by its name
q.written({"score": q.times(q.number(0.5), x)})
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence

import numpy as np

from likely.arrays import Array
from likely.errors import SettingsError, listed
from likely.sql.dialects import SQLDialect
from likely.sql.features import date_part, split_words
from likely.sql.nodes import Node, Nodes
from likely.table.dates import Part
from likely.text.tokenizer import Tokenizer

PREFIX = "likely_"
"""Names of what stands between the table and the result; a table of the user has no such names."""

ROWS = f"{PREFIX}rows"
"""What the table is called inside the query."""

ROW = f"{PREFIX}row"
"""A whole row, where an engine carries it along as one value."""

MOST_IN_CASE = 64
"""Up to so many values a CASE is faster than a join, by `benchmarks/engines.py`."""

FEW_VALUES = 4
"""Up to so many values a CASE is not slower than an array."""

STEEP = 1e100
"""Deviations beyond which nothing is told apart any more."""

NEAR_ZERO = 1e-140
"""Differences below this many deviations have squares that may vanish, which is an error in some engines."""

MOST_READ = 2000
"""Numbers of a query that people may want to read."""

LOG_ROOT_TAU = 0.5 * math.log(2.0 * math.pi)

LARGE = 1e140
"""Deviations up to this, and from its inverse on, have squares that are floats."""

FARTHEST = 8e307
"""Half of the largest float: differences of such numbers are still floats."""


TableName = str | Sequence[str]
"""The name of a table, or its parts: catalogue and schema before it."""

PLAIN_NAME = re.compile(r"\w+(\.\w+){1,2}")


def table_parts(table: TableName) -> tuple[str, ...]:
    """The parts of a name: as given, or as the dots between plain words divide it.

    >>> table_parts("sales.loans"), table_parts("of Mr. X"), table_parts(["a.b"])
    (('sales', 'loans'), ('of Mr. X',), ('a.b',))
    """
    if isinstance(table, str):
        return tuple(table.split(".")) if PLAIN_NAME.fullmatch(table) else (table,)
    if not 1 <= len(table) <= 3:
        raise SettingsError(f"The name of a table has one to three parts, not {len(table)}.")
    return tuple(table)


class Query(Nodes):
    """Expressions over a table, and the SELECT that they make.

    `columns` are those of the table that the result is to have, None for all; `parts` are the parts of dates by the
    names under which they are asked for, `written` dates that are held as texts, `cut` texts that are cut into words.
    """

    def __init__(
        self, dialect: SQLDialect, table: TableName, columns: Sequence[str] | None = None,
        parts: Mapping[str, tuple[str, Part]] | None = None, written: Collection[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(dialect)
        self.parts, self.written_dates = {} if parts is None else parts, written
        self.table, self.columns = table_parts(table), None if columns is None else tuple(columns)
        if columns is None and dialect.star == "none":
            raise SettingsError(
                f"{dialect.name} cannot name all columns but some: say which of the table the result is to have "
                "(columns=[…])."
            )
        self._hidden: dict[str, tuple[int, Node]] = {}
        self._known: dict[Hashable, Node | list[Node]] = {}
        self._joins: list[tuple[Node, Node]] = []
        self.cut: dict[str, Tokenizer] = {}

    # What is worked out once.

    def kept(self, node: Node, key: Hashable = None) -> Node:
        """A column that holds the value of an expression; the same key gives the same column."""
        if key is not None and key in self._known:
            return self._known[key].copy()
        level = 1 + max((self._hidden[name][0] for name in self._used(node)), default=0)
        name = f"{PREFIX}{len(self._hidden)}"
        self._hidden[name] = level, node
        if key is not None:
            self._known[key] = self.column(name)
        return self.column(name)

    def _used(self, node: Node) -> set[str]:
        return {each.name for each in node.find_all(self.exp.Column) if each.name in self._hidden}

    def _once(self, key: Hashable, make: Callable[[], Node]) -> Node:
        if key not in self._known:
            return self.kept(make(), key)
        return self._known[key].copy()

    # Cells.

    def cell(self, name: str) -> Node:
        """A cell of the table as it is, or a part of a date."""
        if name in self.parts:
            return self._once(("part", name), lambda: self._table_cell(name))
        return self.column(name, ROWS)

    def _table_cell(self, name: str) -> Node:
        """The same without a step in between, as joins need it, which are made with the table itself."""
        if name not in self.parts:
            return self.column(name, ROWS)
        column, part = self.parts[name]
        return date_part(self, self.column(column, ROWS), part, written=column in self.written_dates)

    def real(self, name: str) -> Node:
        """A cell as a number, null for a gap."""
        return self._once(("real", name), lambda: self._raw(name))

    def _raw(self, name: str) -> Node:
        return self.without_nan(self.as_float(self.cell(name)))

    def missing(self, name: str) -> Node:
        """Whether a number is not there."""
        return self.null(self.real(name))

    def interval(self, name: str, cuts: Array, first: int, gap: int, *, at_most: bool) -> Node:
        """In which interval a number lies: `first` and on; `gap` where there is none, null where it is infinite.

        A number that equals a cut lies below it with `at_most`, else above.
        """

        def make() -> Node:
            x = self.real(name)
            codes = [self.whole(first + k) for k in range(len(cuts) + 1)]
            before, numbers = self.at_most if at_most else self.below, [self.number(cut) for cut in cuts.tolist()]
            found = self.by_halves(x, numbers, codes, before)
            return self.case([(self.null(x.copy()), self.whole(gap)), (self.finite(x.copy()), found)])

        return self._once(("interval", name, first, gap, at_most, cuts.tobytes()), make)

    def code(self, name: str, values: Sequence[Hashable], codes: Sequence[int], unseen: int, gap: int) -> Node:
        """The code of a category: by a CASE if there are few of them, else by a join."""
        key = ("code", name, tuple(values), tuple(codes), unseen, gap)
        return self._once(key, lambda: self._code(name, values, codes, unseen, gap))

    def _code(self, name: str, values: Sequence[Hashable], codes: Sequence[int], unseen: int, gap: int) -> Node:
        raw = self.cell(name)
        if not values:
            return self.case([(self.null(raw), self.whole(gap))], self.whole(unseen))
        cell = self._typed_cell(raw, values, name)
        keys = [self.typed_value(value, values) for value in values]
        gap_here = self.null(cell.copy()), self.whole(gap)
        if FEW_VALUES < len(values) <= MOST_IN_CASE and self.dialect.position is not None:
            return self.case([gap_here], self._position(cell, keys, codes, unseen))
        if len(values) <= MOST_IN_CASE or not self.dialect.joins:
            by_code: dict[int, list[Node]] = {}
            for key, code in zip(keys, codes, strict=True):
                by_code.setdefault(code, []).append(key)
            whens = [(self.among(cell.copy(), some), self.whole(code)) for code, some in by_code.items()]
            return self.case([gap_here, *whens], self.whole(unseen))
        rows = [[key, self.whole(code)] for key, code in zip(keys, codes, strict=True)]
        found = self._joined(rows, self._typed_cell(self._table_cell(name), values, name))[1]
        if name in self.parts:  # whether it is a gap is told one step later
            found = self.kept(found)
        return self.case([gap_here], self.known_or(found, self.whole(unseen)))

    def _position(self, cell: Node, keys: list[Node], codes: Sequence[int], unseen: int) -> Node:
        """The code of a value by its place in an array: shorter than a CASE, and planned in a fraction of the time."""
        array = self.exp.Array(expressions=keys)
        place = self.known_or(self.call(str(self.dialect.position), array, cell.copy()), self.whole(0))
        numbers = [unseen, *codes]
        if numbers == list(range(unseen, unseen + len(numbers))):
            return self.sum([place, self.whole(unseen)]) if unseen else place
        return self.whole_at(numbers, place)

    def _typed_cell(self, cell: Node, values: Sequence[Hashable], name: str) -> Node:
        """A cell in the type of some values, where NaN is a gap."""
        typed = self.typed(cell, values, name)
        return self.without_nan(typed) if all(isinstance(value, float) for value in values) else typed

    def _joined(self, rows: Sequence[Sequence[Node]], cell: Node) -> list[Node]:
        """The columns of a table of values, joined where its first column equals a cell."""
        place = len(self._joins)
        names = [f"{PREFIX}{'key' if k == 0 else f'value_{k - 1}'}" for k in range(len(rows[0]))]
        alias = f"{PREFIX}values_{place}"
        self._joins.append((self.values(rows, alias, names), self.equal(cell.copy(), self.column(names[0], alias))))
        return [self.column(name, alias) for name in names]

    # Densities.

    def log_bell(self, x: Node, mean: Array, deviation: Array, place: int) -> Node:
        """The log density of a number under the bell curve of one class; 0 for a gap.

        `mean` and `deviation` are those of all classes. Beyond 1e100 deviations a number counts as one that is so far
        away; an infinite one makes the whole row null.
        """
        cell = self._once(
            ("plain", x.name, mean.tobytes(), deviation.tobytes()), lambda: self._plain(x, mean, deviation)
        )
        m, d = float(mean[place]), float(deviation[place])
        if self.dialect.strict and abs(m) < NEAR_ZERO * float(deviation.max()):
            m = 0.0
        gap = self.minus(cell, self.number(m)) if m else cell
        if 1.0 / LARGE < d < LARGE:
            square = self.times(self.times(self.number(0.5 / d**2), gap), gap.copy())
        else:
            z = self.times(gap, self.number(1.0 / d))
            square = self.times(self.times(self.number(0.5), self.grouped(z)), self.grouped(z.copy()))
        density = self.exp.Sub(this=self.number(-math.log(d) - LOG_ROOT_TAU), expression=square)
        return self.known_or(density, self.number(0.0))

    def _plain(self, x: Node, mean: Array, deviation: Array) -> Node:
        """A number of ordinary size for all classes; NaN for an infinite one, so that nothing follows from it."""
        most = STEEP * min(float(deviation.min()), FARTHEST / STEEP)
        most = max(min(most - float(np.abs(mean).max()), FARTHEST), float(np.abs(mean).max()))
        near = self.clamped(x.copy(), most)
        if not self.dialect.strict:
            return near
        # What is next to zero, but not zero, has a square that vanishes, which is an error there.
        tiny = self.below(self.size(x.copy()), self.number(NEAR_ZERO * float(deviation.max())))
        return self.case([(tiny, self.number(0.0))], near)

    # Texts.

    def words(
        self, name: str, tokenizer: Tokenizer, words: Sequence[str], lines: Array, *, distinct: bool = False
    ) -> list[Node]:
        """For each column of `lines` (words × anything) its sum over the words of a text; null without known words.

        A word counts as often as it is there, or with `distinct` once. The words of each different text are joined with
        a table of their weights, and the sums with the rows.
        """
        key = ("words", name, distinct, lines.tobytes())
        if key not in self._known:
            self._known[key] = self._words(name, tokenizer, words, lines, distinct)
        return [node.copy() for node in self._known[key]]

    def tf_idf_words(
        self, name: str, tokenizer: Tokenizer, words: Sequence[str], rarity: Array, lines: Array, counts: Array
    ) -> list[Node]:
        """For each column of `lines` its sum over the words of a text, by their tf-idf, and of `counts`, as they come.

        tf-idf is (1 + log occurrences) · rarity, divided by the length of the text's vector; null without known words.
        """
        n, each = f"{PREFIX}occurrences", self.exp.Sum
        count = self.as_float(self.column(n))
        factor = self.grouped(self.sum([self.number(1.0), self.ln(count.copy())]))
        names = [f"{PREFIX}weight_{k}" for k in range(1 + 2 * lines.shape[1])]
        columns = [self.column(one) for one in names]
        value = self.grouped(self.times(factor.copy(), columns[0]))
        length = self.root(each(this=self.times(value, value.copy())))
        sums = []
        for line, own in zip(columns[1 : 1 + lines.shape[1]], columns[1 + lines.shape[1] :], strict=True):
            part = self.over(each(this=self.times(factor.copy(), line)), length.copy())
            sums.append(self.sum([part, each(this=self.times(count.copy(), own))]))
        weights = np.hstack([rarity[:, None], rarity[:, None] * lines, counts])
        tokens = self._tokens(name, tokenizer)
        text, token = f"{PREFIX}text", f"{PREFIX}token"
        found = [self.column(text), self.column(token), self.named(self.exp.Count(this=self.exp.Star()), n)]
        counted = self.exp.select(*found).from_(tokens.subquery(self.quoted(f"{PREFIX}split")))
        counted = counted.group_by(self.column(text), self.column(token))
        return self._sums_by_text(name, counted, words, weights, sums)

    def _words(self, name: str, tokenizer: Tokenizer, words: Sequence[str], lines: Array, distinct: bool) -> list[Node]:
        self.cut[name] = tokenizer
        if not len(words):
            return [self.exp.cast(self.exp.Null(), "double") for _ in range(lines.shape[1])]
        tokens = self._tokens(name, tokenizer)
        sums = [self.exp.Sum(this=self.column(f"{PREFIX}weight_{k}")) for k in range(lines.shape[1])]
        return self._sums_by_text(name, tokens.distinct() if distinct else tokens, words, lines, sums)

    def _tokens(self, name: str, tokenizer: Tokenizer) -> Node:
        """The words of every different text, a line for each."""
        exp, text = self.exp, f"{PREFIX}text"
        self.cut[name] = tokenizer
        texts = exp.select(self.named(self.column(name), text)).distinct().from_(self.source())
        split = self.named(split_words(self, self.column(text), tokenizer, name), f"{PREFIX}token")
        return exp.select(self.column(text), split).from_(texts.subquery(self.quoted(f"{PREFIX}texts")))

    def _sums_by_text(
        self, name: str, tokens: Node, words: Sequence[str], lines: Array, sums: Sequence[Node]
    ) -> list[Node]:
        """Words joined with columns of `lines`, weight_0 and so on; some sums of them by text, joined with the rows."""
        exp, place = self.exp, len(self._joins)
        text, token, alias = f"{PREFIX}text", f"{PREFIX}token", f"{PREFIX}words_{place}"
        names = [f"{PREFIX}weight_{k}" for k in range(lines.shape[1])]
        rows = [[self.value(word), *map(self.number, line)] for word, line in zip(words, lines.tolist(), strict=True)]
        weights = self.values(rows, f"{PREFIX}weights", [f"{PREFIX}key", *names])
        told = [self.named(each, names[k]) for k, each in enumerate(sums)]
        found = exp.select(self.column(text), *told).from_(tokens.subquery(self.quoted(f"{PREFIX}tokens")))
        found = found.join(weights, on=self.equal(self.column(token), self.column(f"{PREFIX}key")), join_type="inner")
        found = found.group_by(self.column(text))
        on = self.equal(self.cell(name), self.column(text, alias))
        self._joins.append((found.subquery(self.quoted(alias)), on))
        return [self.kept(self.column(names[k], alias)) for k in range(len(sums))]

    # The whole.

    def source(self) -> Node:
        """The table itself; each part of its name is quoted."""
        parts = [self.quoted(part) for part in self.table]
        return self.exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))

    def select(self, wanted: Mapping[str, Node]) -> Node:
        """The SELECT: the columns of the table, and these."""
        exp, own = self.exp, set(self.columns or ())
        twice = [name for name in wanted if name in own]
        if twice:
            raise SettingsError(
                f"The table has a column {listed(twice)} already: leave it out (columns=[…]), or rename it there."
            )
        last, source, steps = self._used_by(wanted.values()), self._first(), []
        hidden = self._needed(last)
        levels = sorted({level for level, _ in hidden.values()})
        for level in levels:
            later = last | self._used_by(node for at, node in hidden.values() if at > level)
            before = [name for name, (at, _) in hidden.items() if at < level and name in later]
            columns = [*self._carried(level == levels[0]), *self._passed(before)]
            columns += [self.named(node, name) for name, (at, node) in hidden.items() if at == level]
            step = exp.select(*columns, copy=False).from_(source, copy=False)
            for joined, on in self._joins if level == levels[0] else ():
                step = step.join(joined, on=on, join_type="left", copy=False)
            if self.dialect.fence:
                step = step.offset(0, copy=False)
            steps.append((self.quoted(f"{PREFIX}step_{level}"), step))
            source = exp.Table(this=steps[-1][0].copy())
        shown = exp.select(*self._shown(list(hidden)), *(self.named(node, name) for name, node in wanted.items()))
        shown = shown.from_(source, copy=False)
        for name, step in steps:
            shown = shown.with_(name, as_=step, copy=False)
        return shown

    def written(self, wanted: Mapping[str, Node]) -> str:
        """The SELECT as text; for people in lines, if it is not too long for them anyway."""
        readable = self.n_numbers <= MOST_READ
        return str(self.select(wanted).sql(dialect=self.dialect.name, pretty=readable, comments=False))

    def _used_by(self, nodes: Iterable[Node]) -> set[str]:
        return {name for node in nodes for name in self._used(node)}

    def _needed(self, names: set[str]) -> dict[str, tuple[int, Node]]:
        """The hidden columns that are asked for, and those that these are made of, in the order they were made."""
        found, pending = set(names), list(names)
        while pending:
            more = self._used(self._hidden[pending.pop()][1]) - found
            found |= more
            pending += more
        return {name: self._hidden[name] for name in self._hidden if name in found}

    def _first(self) -> Node:
        table = self.source()
        table.set("alias", self.exp.TableAlias(this=self.quoted(ROWS)))
        return table

    def _carried(self, first: bool) -> list[Node]:
        """What a step takes along of the table."""
        exp = self.exp
        if self.columns is not None:
            return [self.column(name, ROWS if first else None) for name in self.columns]
        if self.dialect.star == "row":
            return [self.named(self.column(ROWS), ROW) if first else self.column(ROW)]
        return [exp.Column(this=exp.Star(), table=self.quoted(ROWS))] if first else [exp.Star()]

    def _passed(self, names: Sequence[str]) -> list[Node]:
        """What a step takes along of the steps before."""
        by_star = self.columns is None and self.dialect.star == "exclude"
        return [] if by_star else [self.column(name) for name in names]

    def _shown(self, hidden: Sequence[str]) -> list[Node]:
        exp = self.exp
        if self.columns is not None:
            return [self.column(name) for name in self.columns]
        if not hidden:
            return [exp.Star()]
        if self.dialect.star == "row":
            return [exp.Dot(this=self.grouped(self.column(ROW)), expression=exp.Star())]
        return [exp.Star(**{"except_": [self.quoted(name) for name in hidden]})]
