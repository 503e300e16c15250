"""Mutation testing: one small change of the code at a time, and whether its tests notice.

`make mutants` draws a sample of each package with a fixed seed; `make mutants ARGS=--all` tries every change, and
`ARGS="--only stats/moments --sample 50"` some of a module. A mutant lives in a process of its own, forked from one in
which the libraries are loaded already; an import hook hands it the changed module. Its tests are those that mirror the
module, then those of its package. Kernels that are changed, and those that call them, are compiled anew, since the
compiler's cache does not look at constants. Changes that change nothing stand in `equivalent.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.util
import os
import random
import resource
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC, TESTS = ROOT / "src" / "likely", ROOT / "tests"
PACKAGES = ("decide", "stats", "families", "evaluation", "store")
MOST_MEMORY = 16 << 30
LIBRARIES = (
    "numba",
    "pandas",
    "polars",
    "pyarrow.compute",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.naive_bayes",
    "sklearn.utils.estimator_checks",
)
"""Loaded before the first fork, so that no mutant has to."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.MatMult: ast.Mult, ast.BitXor: ast.BitOr,
}  # fmt: skip
# Threads, copies and compilation change no result; what is only named in a type or said in an error is no code.
SILENT = {"n_jobs", "strict", "copy", "nogil", "cache", "inline", "slots", "frozen", "eq", "kw_only", "repr", "init"}
TYPES = {"NDArray", "Callable", "Literal", "Annotated", "tuple", "dict", "list"}
ANNOTATIONS = {"annotation", "returns", "decorator_list"}


@dataclass(eq=False)
class Mutant:
    """A change of one node: its `field`, or one place of it, becomes `value`."""

    module: str
    line: int
    function: str
    holder: object
    field: str | int
    value: object
    before: str
    after: str = ""

    def swap(self) -> None:
        """Change the tree, or change it back."""
        held = vars(self.holder) if isinstance(self.field, str) else self.holder
        held[self.field], self.value = self.value, held[self.field]  # type: ignore[index]

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line} in {self.function or 'the module'}: {self.before}  →  {self.after}"


def mutants_of(module: str, node: ast.AST, function: str = "") -> Iterator[Mutant]:
    """Every change of a module, in the order of its lines."""
    if isinstance(node, ast.Raise) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        return
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in TYPES:
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for change in changes(node):
        mutant = Mutant(module, vars(node).get("lineno", 0), function, *change, ast.unparse(node))
        mutant.swap()
        mutant.after = ast.unparse(ast.fix_missing_locations(node))
        mutant.swap()
        yield mutant
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            silent = field in ANNOTATIONS or (isinstance(child, ast.keyword) and child.arg in SILENT)
            if isinstance(child, ast.AST) and not silent:
                yield from mutants_of(module, child, function)


def changes(node: ast.AST) -> Iterator[tuple[object, str | int, object]]:
    """What may be changed at a node: where, and into what."""
    match node:
        case ast.Compare(ops=ops):
            yield from ((ops, place, SWAPS[type(op)]()) for place, op in enumerate(ops))
        case ast.BinOp(op=ast.BitOr(), right=ast.Constant() | ast.Name()):
            return  # a type
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op):
            yield node, "op", SWAPS[type(op)]()
        case ast.UnaryOp(op=ast.Not() | ast.Invert() as op):
            yield node, "operand", ast.UnaryOp(op, node.operand)
        case ast.UnaryOp(op=ast.USub()):
            yield node, "op", ast.UAdd()
        case ast.Constant(value=bool() as flag):
            yield node, "value", not flag
        case ast.Constant(value=int() | float() as number):
            yield node, "value", number + 1
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield node, "value", ast.Constant(None)


# Compiled functions that a change makes stale: cached machine code knows nothing of it.


def kernels(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The compiled functions of a module."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {f.name: f for f in functions if any("njit" in ast.unparse(d) for d in f.decorator_list)}


def uncache(tree: ast.Module, names: set[str]) -> set[str]:
    """Let all kernels that have or call one of the names be compiled anew; the names with those of the kernels."""
    compiled, size = kernels(tree), -1
    while len(names) > size:
        size = len(names)
        names = names | {
            k for k, f in compiled.items() if names & {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
        }
    for decorator in (d for name in names & compiled.keys() for d in compiled[name].decorator_list):
        if isinstance(decorator, ast.Call):
            decorator.keywords = [word for word in decorator.keywords if word.arg != "cache"]
    return names


def changed_modules(mutant: Mutant, tree: ast.Module) -> dict[str, tuple[Path, ast.Module]]:
    """The trees of the changed module, and of those that import a kernel or a number which is stale by it."""
    mutant.swap()
    # A number at the head of a module is frozen into every kernel that names it.
    heads = {n.id for top in tree.body if isinstance(top, ast.Assign | ast.AnnAssign) for n in ast.walk(top)
             if isinstance(n, ast.Name) and top.lineno <= mutant.line <= (top.end_lineno or 0)}  # fmt: skip
    stale = uncache(tree, {mutant.function.split(".")[0]} & kernels(tree).keys() | heads)
    found = {dotted(mutant.module): (SRC / f"{mutant.module}.py", tree)}
    for path in SRC.rglob("*.py") if stale else ():
        text = path.read_text()
        if f"from {dotted(mutant.module)} import" in text and "njit" in text:
            uncache(theirs := ast.parse(text), stale)
            found[dotted(str(path.relative_to(SRC).with_suffix("")))] = (path, theirs)
    return found


def dotted(module: str) -> str:
    """A module as it is imported."""
    return "likely." + module.replace("/", ".")


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Hands out changed modules in place of those on disk."""

    def __init__(self, trees: dict[str, tuple[Path, ast.Module]]) -> None:
        self.trees = trees

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        return (
            importlib.util.spec_from_file_location(name, self.trees[name][0], loader=self)
            if name in self.trees
            else None
        )

    def exec_module(self, module: ModuleType) -> None:
        path, tree = self.trees[module.__name__]
        exec(compile(tree, path, "exec"), vars(module))


# The tests of a mutant, in a process of its own.


def tests_of(module: str) -> list[str]:
    """The tests that mirror a module or are stated as its home; then those of its package."""
    homes: dict[str, str] = tomllib.loads((TESTS / "homes.toml").read_text())
    package, name = module.split("/")
    home = TESTS / homes.get(module, f"{package}/test_{name}.py")
    return [str(path) for path in (home, TESTS / package) if path.exists()]


def start(module: str, mutant: Mutant | None, tree: ast.Module, seconds: int) -> int:
    """Fork a process that runs the tests of a module, changed or as it is; its number."""
    if child := os.fork():
        return child
    code = 3
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # of computing: how busy the machine is counts not
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        os.dup2(quiet := os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(quiet, 2)
        if mutant is not None:
            sys.meta_path.insert(0, Changed(changed_modules(mutant, tree)))
        for some in tests_of(module):
            code = int(pytest.main(["-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", some]))
            if code:
                break
    finally:
        os._exit(code)


def run(tasks: Sequence[tuple[str, Mutant | None, ast.Module, int]], jobs: int) -> Iterator[tuple[int, bool, float]]:
    """Of each task, as it ends: its place, whether a test failed, and how many seconds of computing that took."""
    waiting, running = list(enumerate(tasks))[::-1], dict[int, int]()
    while waiting or running:
        while waiting and len(running) < jobs:
            place, task = waiting.pop()
            running[start(*task)] = place
        child, status, used = os.wait4(-1, 0)
        yield running.pop(child), status != 0, used.ru_utime + used.ru_stime


def main() -> int:
    """Draw mutants, try them, and tell the score of each package and who survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--all", action="store_true", help="every mutant, not a sample")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each package (40)")
    parser.add_argument("--only", default="", help="a package, or the beginning of a module such as stats/mom")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    os.chdir(ROOT)
    for library in LIBRARIES:
        importlib.import_module(library)
    told = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text())["mutant"]
    equivalent = {(one["module"], one["code"], one["before"], one["after"]) for one in told}
    for package in PACKAGES:
        texts = {f"{package}/{path.stem}": path.read_text() for path in sorted((SRC / package).glob("[!_]*.py"))}
        trees = {name: ast.parse(text) for name, text in texts.items() if name.startswith(chosen.only)}
        lines = {name: text.splitlines() for name, text in texts.items()}
        found = [
            mutant for name, tree in trees.items() for mutant in mutants_of(name, tree)
            if (name, lines[name][mutant.line - 1].strip(), mutant.before, mutant.after) not in equivalent
        ]  # fmt: skip
        drawn = found if chosen.all else random.Random(chosen.seed).sample(found, min(chosen.sample, len(found)))
        if not drawn:
            continue
        # Twice: the first run may compile kernels, and only the second tells how long a mutant may take.
        [_, (_, failed, seconds)] = run([(drawn[0].module, None, trees[drawn[0].module], 3600)] * 2, 1)
        if failed:
            print(f"{package}: the tests fail without any change.")
            return 2
        tasks = [(mutant.module, mutant, trees[mutant.module], int(30 + 2 * seconds)) for mutant in drawn]
        survivors = 0
        for place, failed, _ in run(tasks, chosen.jobs):
            if not failed:
                survivors += 1
                print(f"survived  {drawn[place]}", flush=True)
        noticed = f"{1.0 - survivors / len(drawn):.1%} of {len(drawn)} noticed"
        print(f"{package}: {noticed} ({len(found)} in all)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
