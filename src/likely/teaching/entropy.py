"""Entropy as a number of questions: how many yes/no questions it takes to find out which alternative holds.

>>> shares = [0.10, 0.15, 0.16, 0.19, 0.40]
>>> round(entropy(shares), 2), round(huffman(shares).expected, 2), round(shannon_fano(shares).expected, 2)
(2.15, 2.2, 2.25)
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import fsum

import numpy as np

from likely.errors import DataError
from likely.measures import entropy

Shares = Sequence[float] | Mapping[Hashable, float]
"""Probabilities of alternatives: numbered from 0, or by name."""

SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Answer:
    """A leaf of a scheme: one alternative is left, and nothing is asked any more."""

    name: Hashable
    share: float

    def __iter__(self) -> Iterator[Answer]:
        yield self


class Question:
    """A node of a scheme: “is it one of those on the left?”."""

    def __init__(self, left: Node, right: Node) -> None:
        self.left, self.right = left, right

    @cached_property
    def share(self) -> float:
        """How probable it is that this question has to be asked."""
        return fsum(answer.share for answer in self)

    def __iter__(self) -> Iterator[Answer]:
        """All answers below, from left to right; a tree may be as deep as there are alternatives."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            if isinstance(node, Answer):
                yield node
            else:
                pending += [node.right, node.left]


Node = Answer | Question


@dataclass(frozen=True, eq=False)
class QuestionScheme:
    """A way of asking: a tree of questions, its expected length and its efficiency."""

    name: str
    tree: Node

    @cached_property
    def codes(self) -> dict[Hashable, str]:
        """The answers that lead to each alternative: 0 to the left, 1 to the right."""
        return dict(_codes(self.tree))

    @cached_property
    def lengths(self) -> dict[Hashable, int]:
        """Questions until each alternative is known."""
        return {name: len(code) for name, code in self.codes.items()}

    @cached_property
    def expected(self) -> float:
        """Expected number of questions, in bits per alternative."""
        return fsum(answer.share * self.lengths[answer.name] for answer in self.tree)

    @cached_property
    def entropy(self) -> float:
        """The number below which no scheme can come."""
        return entropy([answer.share for answer in self.tree])

    @property
    def efficiency(self) -> float:
        """Entropy over expected length: 1 where no question is wasted."""
        return self.entropy / self.expected if self.expected > 0.0 else 1.0

    def __str__(self) -> str:
        head = f"{self.name}: {self.expected:.3f} questions expected, efficiency {self.efficiency:.3f}"
        return "\n".join([head, *_drawn(self.tree)])


def linear_traversal(shares: Shares) -> QuestionScheme:
    """Ask for one alternative after the other, in the order given."""
    return QuestionScheme("linear traversal", _divided(_answers(shares), lambda answers: 1))


def equal_size(shares: Shares) -> QuestionScheme:
    """Ask for one half of the alternatives, in the order given; probabilities play no part."""
    return QuestionScheme("equal-size subsets", _divided(_answers(shares), lambda answers: len(answers) // 2))


def shannon_fano(shares: Shares) -> QuestionScheme:
    """From the top: sort by probability, then cut where both sides are about equally probable."""
    ordered = sorted(_answers(shares), key=lambda answer: answer.share)
    return QuestionScheme("Shannon–Fano", _divided(ordered, _fairest_cut))


def huffman(shares: Shares) -> QuestionScheme:
    """From the bottom: always join the two least probable sets. No scheme asks fewer questions."""
    order = count()
    heap: list[tuple[float, int, Node]] = [(answer.share, next(order), answer) for answer in _answers(shares)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (first, _, left), (second, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (first + second, next(order), Question(left, right)))
    return QuestionScheme("Huffman", heap[0][2])


SCHEMES: tuple[Callable[[Shares], QuestionScheme], ...] = (linear_traversal, equal_size, shannon_fano, huffman)


def _answers(shares: Shares) -> list[Answer]:
    named = shares.items() if isinstance(shares, Mapping) else enumerate(shares)
    answers = [Answer(name, float(share)) for name, share in named]
    if not answers:
        raise DataError("There is nothing to ask for: give at least one probability.")
    for answer in answers:
        if not answer.share >= 0.0:
            raise DataError(f"The probability of {answer.name!r} is {answer.share:g}, but it must not be below 0.")
    total = fsum(answer.share for answer in answers)
    if not abs(total - 1.0) <= SUM_TOLERANCE:
        raise DataError(f"The probabilities sum to {total:g}, but they must sum to 1: divide them by their sum.")
    return answers


def _divided(answers: list[Answer], cut: Callable[[list[Answer]], int]) -> Node:
    """Cut again and again; built from the right so that a long line of alternatives needs no deep recursion."""
    pending: list[Node] = []
    while len(answers) > 1:
        place = cut(answers)
        pending.append(_divided(answers[:place], cut))
        answers = answers[place:]
    tree: Node = answers[0]
    for left in reversed(pending):
        tree = Question(left, tree)
    return tree


def _fairest_cut(answers: list[Answer]) -> int:
    """The first place where the two sides differ least."""
    below = np.cumsum([answer.share for answer in answers])[:-1]
    gap = np.abs(2.0 * below - (below[-1] + answers[-1].share))
    return int(np.flatnonzero(gap <= gap.min() + SUM_TOLERANCE)[0]) + 1


def _codes(tree: Node) -> Iterator[tuple[Hashable, str]]:
    pending: list[tuple[Node, str]] = [(tree, "")]
    while pending:
        node, path = pending.pop()
        if isinstance(node, Answer):
            yield node.name, path
        else:
            pending += [(node.right, path + "1"), (node.left, path + "0")]


def _drawn(tree: Node) -> Iterator[str]:
    """The tree in lines: a node, then what is on its left and on its right."""
    pending: list[tuple[Node, str, str]] = [(tree, "", "")]
    while pending:
        node, first, rest = pending.pop()
        if isinstance(node, Answer):
            yield f"{first}{node.name}  {node.share:.3g}"
        else:
            yield f"{first}· {node.share:.3g}"
            pending += [(node.right, f"{rest}└─ ", f"{rest}   "), (node.left, f"{rest}├─ ", f"{rest}│  ")]
