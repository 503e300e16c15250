"""Convolution and pooling by hand, and the shapes of the lecture's network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.signal import correlate2d

from likely.errors import DataError, SettingsError
from likely.models.convnet import Layers, convolve, pool

IMAGE = [[int(digit) for digit in row] for row in ("11100", "01110", "00111", "00110", "01100")]
FILTER = [[int(digit) for digit in row] for row in ("101", "010", "101")]


def test_worked_example_m() -> None:
    assert convolve(IMAGE, FILTER).tolist() == [[4, 3, 4], [2, 4, 3], [2, 3, 4]]


def test_the_lectures_network() -> None:
    assert Layers((4, 12), 5).sizes((28, 28)) == [(28, 28), (24, 24), (12, 12), (8, 8), (4, 4)]


def test_convolve_is_scipys_correlation() -> None:
    rng = np.random.default_rng(0)
    image, weights = rng.normal(size=(9, 12)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(convolve(image, weights), correlate2d(image, weights, "valid"))


@pytest.mark.parametrize("kind", ["mean", "max"])
def test_pooling_shrinks_a_map(kind: str) -> None:
    cells = np.arange(24.0).reshape(4, 6)
    want = [[getattr(cells[i : i + 2, j : j + 2], kind)() for j in (0, 2, 4)] for i in (0, 2)]
    assert pool(cells, 2, kind).tolist() == want


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DataError, match="3 × 3 does not fit into an image of 2 × 5"):
        convolve(np.ones((2, 5)), FILTER)
    with pytest.raises(DataError, match="cannot be cut into squares"):
        pool(np.ones((3, 4)))
    with pytest.raises(SettingsError, match="'mean' or 'max'"):
        pool(np.ones((2, 2)), kind="median")
    with pytest.raises(DataError, match="3 dimensions"):
        convolve(np.ones((2, 2, 2)), FILTER)


@pytest.mark.parametrize("image", [[[1, 2], [3]], [["a"]], [[np.nan]], [[]], None])
def test_what_is_no_image_is_refused(image: Any) -> None:
    for operation in (lambda: convolve(image, [[1]]), lambda: pool(image, 1)):
        with pytest.raises(DataError, match="image"):
            operation()


def test_a_pool_has_whole_squares() -> None:
    with pytest.raises(SettingsError, match=r"size is 1\.5"):
        pool(np.ones((3, 3)), 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [{"maps": ()}, {"maps": (0,)}, {"filter": 0}, {"pool": "sum"}, {"filter": 2.5}])
def test_layers_that_are_none(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Layers(**{"maps": (4,), "filter": 5, **settings})


def test_images_are_padded_to_the_next_size_that_fits() -> None:
    layers = Layers((4, 12), 5)
    assert layers.padded((16, 8)) == (16, 16)
    assert layers.padded((27, 28)) == (28, 28)
    assert layers.padded((8, 8), least=28) == (28, 28)
    with pytest.raises(SettingsError, match="does not fit the layers"):
        layers.sizes((10, 28))
