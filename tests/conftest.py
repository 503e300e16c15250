"""What all tests share: how hard Hypothesis tries, and where larger data sets lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

REPO = Path(__file__).resolve().parents[1]

# Small examples would be left to Python; `LIKELY_KERNELS=interpreted make test` has them be.
os.environ.setdefault("LIKELY_KERNELS", "compiled")

# The first example may compile a kernel, so no deadline. The usual run repeats itself exactly; the thorough
# one (pytest --hypothesis-profile=thorough) looks for new examples.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("usual", derandomize=True, max_examples=60, **PATIENT)
settings.register_profile("thorough", max_examples=1000, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return REPO


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of larger data sets: `LIKELY_DATA`, or `shared/data` beside the repository."""
    folder = Path(os.environ.get("LIKELY_DATA", REPO.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"the larger data sets are not at {folder}; set LIKELY_DATA to their folder")
    return folder
