"""Images from arrays and tables, and letters that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from likely.errors import DataError, SettingsError
from likely.table import as_table
from likely.table.images import as_images, flattened, padded, read_pixels, scaled, shape_of
from likely.teaching.letters import draw_letters


def test_pixels_keep_their_places() -> None:
    images = np.arange(2 * 3 * 4 * 2).reshape(2, 3, 4, 2)
    rows, shape = flattened(images, None)
    table = as_table(rows)
    read = read_pixels(table, tuple(table.names)).reshape(-1, *shape_of(24, shape))
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
        read_pixels(table, ("a", "b"))


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


@pytest.mark.parametrize("settings", [{"n": 2.5}, {"n": 3, "letters": []}, {"n": 3, "seed": -1}])
def test_wishes_for_letters_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        draw_letters(**settings)


def test_a_word_is_its_letters() -> None:
    assert set(draw_letters(40, "AL")[1]) == {"A", "L"}


class TestWhatImagesAre:
    @pytest.mark.parametrize(
        "table", [[[1, 2], [3, 4]], [{"a": 1}], ["a text", "another"], [], None, np.ones((2, 3)), "images.csv"]
    )
    def test_tables_are_none(self, table: Any) -> None:
        assert as_images(table) is None

    def test_arrays_and_lists_are(self) -> None:
        images = np.arange(24).reshape(2, 3, 4)
        for given in (images, list(images), tuple(images.tolist()), images.tolist()):
            np.testing.assert_array_equal(as_images(given), images)

    def test_ragged_ones_are_named(self) -> None:
        with pytest.raises(DataError, match="Image 1 is 1 × 2, but image 0 is 2 × 2"):
            as_images([[[1, 2], [3, 4]], [[1, 2]]])
        with pytest.raises(DataError, match="Image 1 has no height"):
            as_images([[[1, 2], [3, 4]], [[1, 2], [3]]])


def test_pixels_are_scaled_by_what_was_learned() -> None:
    greys = np.array([[0.0, 51.0, 255.0]])
    np.testing.assert_allclose(scaled(greys, ("a", "b", "c"), 0.0, 255.0), [[0.0, 0.2, 1.0]])
    assert scaled(np.array([[7.0]]), ("a",), 7.0, 7.0).tolist() == [[0.0]]
    with pytest.raises(DataError, match="Row 0 has a pixel in column 'b'"):
        scaled(np.array([[0.0, 1e9]]), ("a", "b"), 0.0, 1.0)


def test_sparse_images_are_refused() -> None:
    table = as_table(sparse.csr_array(np.eye(3)))
    with pytest.raises(DataError, match="toarray"):
        read_pixels(table, tuple(table.names))
