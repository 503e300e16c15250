"""Mutation testing: one small change of the code at a time, and whether its tests notice.

`make mutants` draws a sample of each package with a fixed seed; `make mutants ARGS=--all` tries every change,
`ARGS="--only stats/moments --sample 50"` some of a module, and `ARGS="--again FILE"` those who survived a run whose
lines are in the file. A mutant lives in a process of its own, forked from one in which package and tests are loaded
already: a changed function gets its new code there. Its tests are those of its package, of the homes of the package's
modules and of its users that call the function, the quickest first. Who calls what is noted in one run of each test
file, which is kept until the file or a package changes. What is no function (a number at the
head of a module, a default, a compiled kernel and those that call it) is loaded anew through an import hook, without
the compiler's cache, which does not look at constants, and with checks of bounds. Changes that change nothing stand in
`equivalent.toml`, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import gc
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SRC, TESTS = ROOT / "src" / "likely", ROOT / "tests"
PACKAGES = ("decide", "stats", "families", "evaluation", "store")
USERS = {
    "decide": ("models/test_calibrated.py",),
    "stats": ("families", "models/bayes", "naive_bayes/test_agreement.py", "naive_bayes/test_edges.py", "explain"),
    "families": ("models/bayes", "naive_bayes/test_agreement.py", "naive_bayes/test_edges.py", "explain"),
    "evaluation": ("comparison",),
    "store": ("models/test_export.py", "models/test_onnx.py", "models/test_pmml.py"),
}
"""Tests of those who use a package most: they notice a change as well as its own."""

MOST_MEMORY = 16 << 30
FEW_TESTS = 5
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
        case ast.Constant(value=int() | float() as number):  # to a large number one adds nothing
            yield node, "value", number + 1 if number + 1 != number else 2 * number
        case ast.Return(value=ast.expr()) if ast.unparse(node) != "return None":
            yield node, "value", ast.Constant(None)


# Compiled functions that a change makes stale: cached machine code knows nothing of it.


def kernels(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The compiled functions of a module."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {f.name: f for f in functions if any("kernel" in ast.unparse(d) for d in f.decorator_list)}


def with_callers(tree: ast.Module, names: set[str]) -> set[str]:
    """The names with those of the kernels that have or call one of them."""
    compiled, size = kernels(tree), -1
    while len(names) > size:
        size = len(names)
        names = names | {
            k for k, f in compiled.items() if names & {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}
        }
    return names


def uncache(tree: ast.Module, names: set[str]) -> set[str]:
    """Let all kernels that have or call one of the names be compiled anew; the names with those of the kernels."""
    compiled, names = kernels(tree), with_callers(tree, names)
    for name in names & compiled.keys():
        compiled[name].decorator_list = [_uncached(decorator) for decorator in compiled[name].decorator_list]
    return names


def _uncached(decorator: ast.expr) -> ast.expr:
    """The same decorator without the cache."""
    call = decorator if isinstance(decorator, ast.Call) else ast.Call(decorator, [], [])
    return ast.Call(call.func, call.args, [*call.keywords, ast.keyword("cache", ast.Constant(False))])


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
        if f"from {dotted(mutant.module)} import" in text and "@kernel" in text:
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
        exec(compile(ast.fix_missing_locations(tree), path, "exec"), vars(module))


# Which tests reach a function: noted in one run of each test file, in a process of its own.

FEW_EXAMPLES = 10
"""Of generated cases, which all go the same ways, so many are looked at."""

Reached = dict[str, tuple[float, set[str]]]
"""Of each test of a file the seconds that it takes, and the functions that it calls, as `module:Class.function`."""


class Noted:
    """A plugin of pytest that notes the functions of this package that each test calls, fixtures included."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()
        self.shared: set[CodeType] = set()  # by fixtures, which may be those of a whole file
        self.found: Reached = {}
        threading.setprofile(self.note)
        sys.setprofile(self.note)

    def note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.codes.add(frame.f_code)

    def pytest_sessionstart(self) -> None:
        from hypothesis import settings  # pytest wants to see it first

        settings.register_profile("few", settings.default, max_examples=FEW_EXAMPLES)
        settings.load_profile("few")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self.codes = set()
        sys.setprofile(self.note)  # another test may have ended it
        result = yield
        self.shared |= self.codes.copy()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self.codes, begun = set(), time.process_time()
        result = yield
        codes, self.codes = self.codes, set()
        self.found[item.nodeid] = time.process_time() - begun, named(codes)
        return result

    def told(self) -> dict[str, tuple[float, list[str]]]:
        """What each test reaches, with what fixtures of its file do."""
        shared = named(self.shared)
        return {test: (seconds, sorted(names | shared)) for test, (seconds, names) in self.found.items()}


def named(codes: set[CodeType]) -> set[str]:
    """The functions of this package among some, by module and full name."""
    own = [code for code in codes if code.co_filename.startswith(str(SRC))]
    return {
        f"{Path(code.co_filename).relative_to(SRC).with_suffix('')}:{code.co_qualname.replace('.<locals>', '')}"
        for code in own
    }


def suite_of(package: str, own: bool = False) -> list[Path]:
    """The test files of a package and those stated as homes of its modules; those of its users, unless `own`."""
    homes: dict[str, str] = tomllib.loads((TESTS / "homes.toml").read_text())
    stated = {TESTS / home for module, home in homes.items() if module.startswith(f"{package}/")}
    users = [] if own else [TESTS / user for user in USERS[package]]
    folders = [TESTS / package, *(user for user in users if user.is_dir())]
    own = {path for folder in folders for path in folder.glob("test_*.py")}
    return sorted(own | stated | {user for user in users if user.is_file()})


@cache
def sources() -> bytes:
    """What tells whether notes still hold: the code of all packages, which share them."""
    paths = [path for package in PACKAGES for path in sorted((SRC / package).glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).digest()


def notes_of(path: Path) -> Path:
    """Where it is kept what the tests of a file reach, until the file or the packages change."""
    digest = hashlib.sha256(path.read_bytes() + sources())
    return Path(tempfile.gettempdir()) / f"likely-reach-{digest.hexdigest()[:24]}.json"


def note(path: Path) -> int:
    """Fork a process that notes what the tests of a file reach; its number."""
    if child := os.fork():
        return child
    code = 3
    try:
        silence()
        noted = Noted()
        code = int(pytest.main([*QUIET, str(path)], plugins=[noted]))
        if not code:
            notes_of(path).write_text(json.dumps(noted.told()))
    finally:
        os._exit(code)


def reached_by(files: Sequence[Path], jobs: int) -> dict[Path, Reached]:
    """What the tests of each file reach."""
    waiting, running = [path for path in files if not notes_of(path).exists()], dict[int, Path]()
    while waiting or running:
        while waiting and len(running) < jobs:
            path = waiting.pop()
            running[note(path)] = path
        child, status = os.wait()
        path = running.pop(child)
        if status:
            raise SystemExit(f"{path} fails without any change.")
    told = {path: json.loads(notes_of(path).read_text()) for path in files}
    return {path: {test: (took, set(names)) for test, (took, names) in each.items()} for path, each in told.items()}


@cache
def callers_of(module: str, kernel: str) -> frozenset[str]:
    """Functions that name a kernel, which leaves no trace itself when it is called; also by way of other kernels."""
    found: set[str] = set()
    for path in SRC.rglob("*.py"):
        text, own = path.read_text(), str(path.relative_to(SRC).with_suffix(""))
        if own == module or (f"from {dotted(module)} import" in text and kernel in text):
            tree = ast.parse(text)
            for name, function in functions_of(tree):
                if any(isinstance(node, ast.Name) and node.id == kernel for node in ast.walk(function)):
                    found |= callers_of(own, name) if name in kernels(tree) and name != kernel else {f"{own}:{name}"}
    return frozenset(found)


def functions_of(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of a tree by their full names."""
    for child in ast.iter_child_nodes(node):
        name = f"{within}.{child.name}".lstrip(".") if isinstance(child, ast.FunctionDef | ast.ClassDef) else within
        if isinstance(child, ast.FunctionDef):
            yield name, child
        yield from functions_of(child, name)


@cache
def asks_for(path: Path, kernel: str) -> frozenset[str]:
    """The tests of a file that name a kernel, which they may call themselves."""
    text = path.read_text()
    tests = functions_of(ast.parse(text)) if kernel in text else ()
    return frozenset(
        f"{path.relative_to(ROOT)}::{name}" for name, test in tests
        if any(kernel in (getattr(node, "id", ""), getattr(node, "attr", "")) for node in ast.walk(test))
    )  # fmt: skip


@dataclass(frozen=True)
class Suite:
    """The tests of a package, and what each reaches."""

    reached: dict[Path, Reached]

    def tests_of(self, mutant: Mutant, tree: ast.Module) -> dict[str, float]:
        """The tests that reach a mutant with their seconds, the quickest first."""
        own, name, package = f"{mutant.module}:", mutant.function, mutant.module.split("/")[0]
        if name in kernels(tree):
            wanted = tuple(callers_of(mutant.module, name))
        else:  # what stands in a class or at the head of a module is reached by all that use the module
            wanted = (own + name,) if name in dict(functions_of(tree)) else (own,)
        found = {
            test: seconds
            for reached in self.reached.values() for test, (seconds, names) in reached.items()
            # A test that calls nothing of the package may look at what stands in a class or at the head of a module.
            if any(each.startswith(wanted) for each in names)
            or (wanted == (own,) and not any(each.startswith(f"{package}/") for each in names))
        }  # fmt: skip
        for path, reached in self.reached.items():
            changed = with_callers(tree, {name}) if name in kernels(tree) else ()
            asking = {test for kernel in changed for test in asks_for(path, kernel)}
            found |= {test: seconds for test, (seconds, _) in reached.items() if test.split("[")[0] in asking}
            # What one test keeps, others of its file may look at.
            if "cache" in path.read_text() and found.keys() & reached.keys():
                found |= {test: seconds for test, (seconds, _) in reached.items()}
        return dict(sorted(found.items(), key=lambda pair: pair[1]))


# The tests of a mutant, in a process of its own.

QUIET = ("-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")


class Chosen:
    """A plugin of pytest that keeps some tests, in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.places), key=lambda item: self.places[item.nodeid])


def patched(mutant: Mutant, tree: ast.Module) -> bool:
    """Give a function that is loaded already its changed code; whether that says all there is to say."""
    parts = mutant.function.split(".")
    outer = next((".".join(parts[: k + 1]) for k in range(len(parts))
                  if ".".join(parts[: k + 1]) in dict(functions_of(tree))), "")  # fmt: skip
    if not outer or outer in kernels(tree) or outer in called_at_import(tree):
        return False
    path = SRC / f"{mutant.module}.py"
    before = codes_of(compile(tree, path, "exec"))
    mutant.swap()
    after = codes_of(compile(tree, path, "exec"))
    mutant.swap()
    changed = {key for key in before if key[0] == outer and before[key] != after[key]}
    loaded = [each for each in gc.get_objects() if isinstance(each, FunctionType)
              and each.__code__.co_filename == str(path) and key_of(each.__code__) in changed]  # fmt: skip
    for function in loaded:
        function.__code__ = after[key_of(function.__code__)]
    return bool(loaded)


def called_at_import(node: ast.AST) -> set[str]:
    """Names that are used while a module is loaded: what they have made by then, new code does not change."""
    names = {node.id} if isinstance(node, ast.Name) else set()
    for field, value in ast.iter_fields(node):
        if field not in ANNOTATIONS | {"body"} or not isinstance(node, ast.FunctionDef):
            for child in value if isinstance(value, list) else [value]:
                names |= called_at_import(child) if isinstance(child, ast.AST) else set()
    return names


def key_of(code: CodeType) -> tuple[str, int]:
    """What tells the functions of a module apart."""
    return code.co_qualname, code.co_firstlineno


def codes_of(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """The functions and methods of a module's code, those within functions left aside."""
    found = {}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found[key_of(inner)] = inner
            if "<locals>" not in inner.co_qualname:
                found |= codes_of(inner)
    return found


def unload() -> None:
    """Forget this package and its tests, so that they are loaded anew."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith((str(SRC), str(TESTS))):
            del sys.modules[name]


def silence() -> None:
    """Let this process print nothing."""
    os.dup2(quiet := os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(quiet, 2)


def load(files: Sequence[Path]) -> None:
    """Load tests, and with them the package, without running any: no process that is forked has to."""
    told = os.dup(1), os.dup(2)
    silence()
    pytest.main([*QUIET, "--collect-only", *map(str, files)])
    for place, stream in enumerate(told, 1):
        os.dup2(stream, place)


def start(mutant: Mutant, tree: ast.Module, suite: Suite) -> int:
    """Fork a process that runs the tests of a mutant; its number."""
    tests = suite.tests_of(mutant, tree)
    if not mutant.after:  # a control: that modules can be loaded anew, few tests show
        tests = dict(list(tests.items())[:FEW_TESTS])
    if child := os.fork():
        return child
    code = 3
    try:
        seconds = int(120 + 10 * sum(tests.values()))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # of computing: how busy the machine is counts not
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        silence()
        if not patched(mutant, tree):
            unload()
            vars(importlib.import_module("numba.core.config"))["BOUNDSCHECK"] = 1  # of what is compiled anew
            sys.meta_path.insert(0, Changed(changed_modules(mutant, tree)))
        files = dict.fromkeys(str(ROOT / test.split("::")[0]) for test in tests)
        code = int(pytest.main([*QUIET, *files], plugins=[Chosen(list(tests))])) if tests else 0
    finally:
        os._exit(code)


def run(tasks: Sequence[tuple[Mutant, ast.Module]], suite: Suite, jobs: int) -> Iterator[tuple[int, bool, float]]:
    """Of each task, as it ends: its place, whether a test failed, and how many seconds of computing that took."""
    waiting, running = list(enumerate(tasks))[::-1], dict[int, int]()
    while waiting or running:
        while waiting and len(running) < jobs:
            place, task = waiting.pop()
            running[start(*task, suite)] = place
        child, status, used = os.wait4(-1, 0)
        yield running.pop(child), status != 0, used.ru_utime + used.ru_stime


def try_out(
    package: str, drawn: list[Mutant], trees: dict[str, ast.Module], suite: Suite, jobs: int
) -> tuple[int, int, float]:
    """Name those that survive: how many mutants were tried, how many survived, and how long that was computed."""
    control = [Mutant(name, 0, next(iter(kernels(tree))), tree, "body", tree.body, "")
               for name, tree in trees.items() if kernels(tree)][:1]  # fmt: skip
    tasks = [(mutant, trees[mutant.module]) for mutant in (*control, *drawn)]
    tried, survivors, computed = 0, 0, 0.0
    try:
        for place, failed, seconds in run(tasks, suite, jobs):
            if place < len(control):
                if failed:
                    raise SystemExit(f"{package}: the tests fail when a module is loaded anew without any change.")
                continue
            tried, computed = tried + 1, computed + seconds
            if not failed:
                survivors += 1
                print(f"survived  {tasks[place][0]}", flush=True)
            print(f"{package}: {tried} of {len(drawn)}", end="\r", file=sys.stderr, flush=True)
    except KeyboardInterrupt:  # what was tried so far tells something, too
        print(f"{package}: interrupted")
    return tried, survivors, computed


def main() -> int:
    """Draw mutants, try them, and tell the score of each package and who survived."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--all", action="store_true", help="every mutant, not a sample")
    parser.add_argument("--sample", type=int, default=40, help="mutants of each package (40)")
    parser.add_argument("--only", default="", help="a package, or the beginning of a module such as stats/mom")
    parser.add_argument("--own", action="store_true", help="without the tests of users: a lower bound, and quicker")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", type=Path, help="what an earlier run printed: only those who survived it")
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
        if chosen.again:
            listed = set(chosen.again.read_text().splitlines())
            drawn = [mutant for mutant in found if f"survived  {mutant}" in listed]
        elif chosen.all:
            drawn = found
        else:
            drawn = random.Random(chosen.seed).sample(found, min(chosen.sample, len(found)))
        if not drawn:
            continue
        load(files := suite_of(package, chosen.own))
        suite = Suite(reached_by(files, chosen.jobs))
        tried, survivors, computed = try_out(package, drawn, trees, suite, chosen.jobs)
        noticed = f"{1.0 - survivors / max(tried, 1):.1%} of {tried} noticed"
        print(f"{package}: {noticed} ({len(found)} in all; {computed:,.0f} seconds of computing)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
