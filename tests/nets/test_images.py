"""Images from arrays and tables, and letters that are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import DataError, SettingsError
from likely.nets.images import flattened, padded, read_images, shape_of
from likely.nets.letters import draw_letters
from likely.table import as_table


def test_pixels_keep_their_places() -> None:
    images = np.arange(2 * 3 * 4 * 2).reshape(2, 3, 4, 2)
    rows, shape = flattened(images, None)
    table = as_table(rows)
    read = read_images(table, tuple(table.names), shape_of(24, shape))
    np.testing.assert_array_equal(read, images)


@pytest.mark.parametrize(
    ("n", "given"), [(10, None), (12, (3, 5)), (12, (3,)), (12, (0, 12)), (12, "3x4"), (12, (-1, -1)), (12, (5, -1))]
)
def test_shapes_that_do_not_fit(n: int, given: object) -> None:
    with pytest.raises(SettingsError):
        shape_of(n, given)


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "missing"), (1e300, "1e\\+300")])
def test_a_bad_pixel_is_named(bad: float, word: str) -> None:
    table = as_table({"a": [1.0, 2.0], "b": [3.0, bad]})
    with pytest.raises(DataError, match=f"Row 1 has a pixel in column 'b' that is {word}"):
        read_images(table, ("a", "b"), (1, 2, 1))


def test_padding_puts_the_image_into_the_middle() -> None:
    wide = padded(np.ones((1, 2, 2, 1), dtype=np.float32), 5, 4)
    assert wide.shape == (1, 5, 4, 1)
    assert wide[0, 1:3, 1:3, 0].tolist() == [[1, 1], [1, 1]]
    assert wide.sum() == 4


def test_letters_are_drawn_and_differ() -> None:
    images, labels = draw_letters(60, ["A", "L"], seed=3)
    again, _ = draw_letters(60, ["A", "L"], seed=3)
    assert images.shape == (60, 28, 28)
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, again)
    assert (images.reshape(60, -1).max(axis=1) > 60).all()  # none is empty
    assert set(labels) == {"A", "L"}
    mean = {letter: images[labels == letter].mean(axis=0) for letter in "AL"}
    nearer = [min("AL", key=lambda letter: float(np.square(image - mean[letter]).sum())) for image in images]
    assert (np.array(nearer) == labels).mean() > 0.8


def test_no_letters_are_refused() -> None:
    with pytest.raises(SettingsError):
        draw_letters(0)
