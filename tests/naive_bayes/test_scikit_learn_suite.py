"""scikit-learn's own tests of naive Bayes, with `likely.naive_bayes` in place of `sklearn.naive_bayes`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sklearn

EXCLUDED = {
    "test_gnb_check_update_with_no_data": "calls GaussianNB._update_mean_variance, which is private to scikit-learn",
}
"""Tests of theirs that cannot hold here, and why."""

if sklearn.__version__ < "1.9":
    EXCLUDED["test_predict_joint_proba"] = "until 1.9 it compares with a difference of large numbers to all digits"

THEIRS, OURS = "from sklearn.naive_bayes import", "from likely.naive_bayes import"
# pytest no longer wants a generator for parameters.
GENERATOR = "yield_namespace_device_dtype_combinations()"


def load() -> ModuleType:
    found = find_spec("sklearn")
    assert found is not None and found.origin is not None
    path = Path(found.origin).parent / "tests" / "test_naive_bayes.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(THEIRS) == source.count("sklearn.naive_bayes") == 1
    module = ModuleType("scikit_learn_suite")
    source = source.replace(THEIRS, OURS).replace(GENERATOR, f"list({GENERATOR})")
    exec(compile(source, str(path), "exec"), vars(module))
    return module


# Their suite lets this warning of a too small alpha pass where it does not expect one.
pytestmark = pytest.mark.filterwarnings("ignore:alpha too small")

SUITE = load()
TESTS: dict[str, Any] = {name: test for name, test in vars(SUITE).items() if name.startswith("test_")}
for _name, _reason in EXCLUDED.items():
    TESTS[_name] = pytest.mark.skip(reason=_reason)(TESTS[_name])
globals().update(TESTS)


@pytest.fixture
def global_random_seed() -> int:
    return 42


@pytest.fixture(params=[np.float32, np.float64])
def global_dtype(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_the_suite_is_whole() -> None:
    assert len(TESTS) >= 30
    assert {cls.__module__.split(".")[0] for cls in SUITE.ALL_NAIVE_BAYES_CLASSES} == {"likely"}
