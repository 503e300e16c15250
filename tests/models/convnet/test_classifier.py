"""A convolutional network: learns, explains, lasts, and refuses in one sentence."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

import likely
from likely import ConvNetClassifier, DataError, Loss, ModelFileError, SchemaError, SettingsError
from likely.models.persistence import packed

DIGITS = load_digits()
IMAGES, LABELS = DIGITS.images, np.array(list("abcdefghij"))[DIGITS.target]
QUICK = {"epochs": 3, "pad_to": 16, "maps": (3, 6)}


@pytest.fixture(scope="module")
def digits() -> ConvNetClassifier:
    return ConvNetClassifier(epochs=12, pad_to=16, maps=(6, 12), pool="max").fit(IMAGES[:1200], LABELS[:1200])


def test_it_learns_digits(digits: ConvNetClassifier) -> None:
    assert (digits.predict(IMAGES[1200:]) == LABELS[1200:]).mean() > 0.8
    shares = digits.predict_proba(IMAGES[1200:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(digits.predict_log_proba(IMAGES[1200:])), shares)
    held_back = [passed.held_back for passed in digits.history_]
    assert held_back[-1] < 0.5 * held_back[0]


def test_tables_of_pixels_are_images(digits: ConvNetClassifier) -> None:
    frame = pd.DataFrame(IMAGES.reshape(len(IMAGES), -1), columns=[f"p{k}" for k in range(64)])
    by_name = ConvNetClassifier(**QUICK).fit(frame.assign(digit=LABELS), "digit")
    np.testing.assert_array_equal(by_name.predict(frame[::-1]), by_name.predict(frame[frame.columns[::-1]])[::-1])
    by_place = ConvNetClassifier(**QUICK).fit(IMAGES, LABELS)
    np.testing.assert_array_equal(by_place.predict_proba(IMAGES), by_name.predict_proba(frame))
    assert by_name.feature_names_in_.tolist() == frame.columns.tolist()


def test_the_lectures_shapes_are_the_default() -> None:
    clf = ConvNetClassifier(epochs=1).fit(np.zeros((30, 28, 28)), np.arange(30) % 26)
    shapes = [array.shape for array in clf.network_.weights]
    assert shapes == [(5, 5, 1, 4), (4,), (5, 5, 4, 12), (12,), (4 * 4 * 12, 26), (26,)]
    assert clf.feature_maps(np.zeros((2, 28, 28)), layer=1).shape == (2, 12, 12, 4)
    assert clf.feature_maps(np.zeros((2, 28, 28))).shape == (2, 4, 4, 12)


def test_explanations_add_up(digits: ConvNetClassifier) -> None:
    why = digits.explain(IMAGES[:7])
    np.testing.assert_allclose(why.joint, digits.predict_joint_log_proba(IMAGES[:7]), atol=1e-9)
    np.testing.assert_allclose(why.posterior, digits.predict_proba(IMAGES[:7]), atol=1e-9)
    assert why.columns[0] == "map 1"


def test_what_the_filters_see_is_convolution(digits: ConvNetClassifier) -> None:
    """The first layer by hand: filter, shift, cut off below zero, pool."""
    from likely.models.convnet import convolve, pool

    image = np.pad(IMAGES[5] / 16.0, 4)
    weights, shifts = digits.network_.weights[:2]
    for m in range(6):
        by_hand = pool(np.maximum(convolve(image, weights[:, :, 0, m]) + shifts[m], 0.0), 2, "max")
        np.testing.assert_allclose(digits.feature_maps(IMAGES[5:6], 1)[0, :, :, m], by_hand, atol=1e-5)
    assert digits.filters(1).shape == (6, 1, 5, 5)


def test_pictures(digits: ConvNetClassifier, tmp_path: Path) -> None:
    from likely.models.convnet import plot

    drawn = {"filters": (plot.filters(digits), 6), "maps": (plot.maps(digits, IMAGES[0], layer=1), 7)}
    for name, (picture, n_tiles) in drawn.items():
        picture.save(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").read_text().count("<image") == n_tiles


def test_same_seed_same_network() -> None:
    first, second = (ConvNetClassifier(**QUICK).fit(IMAGES[:200], LABELS[:200]) for _ in range(2))
    other = ConvNetClassifier(**QUICK, random_state=1).fit(IMAGES[:200], LABELS[:200])
    np.testing.assert_array_equal(first.predict_proba(IMAGES), second.predict_proba(IMAGES))
    assert (first.predict_proba(IMAGES) != other.predict_proba(IMAGES)).any()


def test_weights_count() -> None:
    half = np.where(LABELS[:400] < "f", 1.0, 0.0)
    clf = ConvNetClassifier(**QUICK).fit(IMAGES[:400], LABELS[:400], sample_weight=half)
    assert set(clf.predict(IMAGES[:400])) <= set("abcde")
    with pytest.raises(DataError, match="weight zero"):
        ConvNetClassifier(**QUICK).fit(IMAGES[:9], LABELS[:9], sample_weight=np.zeros(9))


def test_it_lasts(digits: ConvNetClassifier, tmp_path: Path) -> None:
    digits.save(tmp_path / "digits.likely")
    for again in (likely.load(tmp_path / "digits.likely"), copy.deepcopy(digits)):
        np.testing.assert_array_equal(again.predict_proba(IMAGES), digits.predict_proba(IMAGES))
        assert again.get_params() == digits.get_params()


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [9, 9, 1]},
        {"range": [1.0, 0.0]},
        {"range": [0.0]},
        {"weights": []},
        {"weights": ["a1"] * 6},
        {"weights": None},
        {"shape": None},
    ],
)
def test_forged_files_are_refused(
    digits: ConvNetClassifier, tmp_path: Path, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = ConvNetClassifier._write_learned
    monkeypatch.setattr(ConvNetClassifier, "_write_learned", lambda clf, writer: {**written(clf, writer), **change})
    (tmp_path / "digits.likely").write_bytes(packed(digits))
    with pytest.raises(ModelFileError):
        likely.load(tmp_path / "digits.likely")


def test_lists_of_images_are_images(digits: ConvNetClassifier) -> None:
    by_array = digits.predict_proba(IMAGES[:3])
    np.testing.assert_array_equal(digits.predict_proba(list(IMAGES[:3])), by_array)
    np.testing.assert_array_equal(digits.predict_proba(IMAGES[:3].tolist()), by_array)
    with pytest.raises(DataError, match="Image 1 is 5 × 8, but image 0 is 8 × 8"):
        digits.predict([IMAGES[0], IMAGES[1][:5]])


def test_a_shape_that_contradicts_the_images_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"shape is \(4, 16\), but the images are 8 × 8 × 1"):
        ConvNetClassifier(**QUICK, shape=(4, 16)).fit(IMAGES[:20], LABELS[:20])


def test_a_column_of_names_is_no_pixel() -> None:
    frame = pd.DataFrame(IMAGES[:20].reshape(20, -1)).rename(columns=lambda k: f"p{k}").assign(p9="x")
    with pytest.raises(SchemaError, match=r"'p9' holds .* schema=\{'p9': 'ignored'\}"):
        ConvNetClassifier(**QUICK).fit(frame, LABELS[:20])


def test_live_model_that_runs_away_is_no_network() -> None:
    with pytest.raises(SettingsError, match=r"ran away in pass \d.* lower learning_rate, which is 1e\+30"):
        ConvNetClassifier(**{**QUICK, "epochs": 8}, learning_rate=1e30).fit(IMAGES[:40], LABELS[:40])


def test_an_early_end_ends_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Noise cannot be learned, so the held-back images soon say stop; the bar does not stay open."""
    rng = np.random.default_rng(0)
    net = ConvNetClassifier(maps=(8,), filter=3, pad_to=6, epochs=60, patience=0, learning_rate=0.05, progress=True)
    net.fit(rng.random((240, 6, 6)), rng.integers(0, 2, 240))
    assert len(net.history_) < 60
    assert capsys.readouterr().err.endswith(f"pass {len(net.history_)} of 60\n")


def test_decisions_and_evaluation(digits: ConvNetClassifier) -> None:
    loss = Loss.zero_one(list("abcdefghij"), refuse=0.05)
    decided = digits.decide(IMAGES[1200:], loss)
    sure = decided != likely.REFUSED
    assert 0.3 < sure.mean() < 1.0
    right = decided[sure] == LABELS[1200:][sure]
    assert right.mean() > (digits.predict(IMAGES[1200:]) == LABELS[1200:]).mean()
    for images in (IMAGES[:60].reshape(60, -1), IMAGES[:60], list(IMAGES[:60])):
        assert likely.evaluate(ConvNetClassifier(**QUICK), images, LABELS[:60], cv=2).n_rows == 60


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"maps": (0,)}, "maps"),
        ({"pool": "sum"}, "pool"),
        ({"epochs": 0}, "epochs"),
        ({"held_back": 1.0}, "held_back"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"random_state": -1}, "random_state"),
        ({"shape": (3, 3)}, "shape"),
        ({"maps": 4}, "maps"),
        ({"epochs": True}, "epochs"),
        ({"held_back": "much"}, "held_back"),
        ({"learning_rate": "fast"}, "learning_rate"),
        ({"learning_rate": np.inf}, "learning_rate"),
        ({"patience": -1}, "patience"),
        ({"schema": "pixels"}, "schema"),
        ({"schema": {"x0": "nominal"}}, "schema"),
        ({"pad_to": 5000}, "too many"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ConvNetClassifier(**settings).fit(IMAGES[:20].reshape(20, -1), LABELS[:20])


def test_bad_images_are_refused(digits: ConvNetClassifier) -> None:
    with pytest.raises(DataError, match="Row 2 has a pixel in column 'x9' that is missing"):
        bad = IMAGES[:5].copy()
        bad[2, 1, 1] = np.nan
        digits.predict(bad)
    with pytest.raises(DataError, match="The images are 4 × 16, but those learned were 8 × 8 × 1"):
        digits.predict(IMAGES[:5].reshape(5, 4, 16))
    with pytest.raises(DataError, match=r"'x9' that is 1e\+20, but those learned lie between 0 and 16"):
        bad = IMAGES[:5].copy()
        bad[2, 1, 1] = 1e20
        digits.predict(bad)
    with pytest.raises(SettingsError, match="counted from 1"):
        digits.feature_maps(IMAGES[:1], layer=3)
    with pytest.raises(SettingsError, match="counted from 1"):
        digits.filters(0)


TOO_QUICK = {"check_classifiers_train": "one pass is too little to learn from; asked below of a net that has learned"}


@parametrize_with_checks(
    [ConvNetClassifier(epochs=1, maps=(2,), pad_to=6, shape=(1, -1), batch_size=512)],
    expected_failed_checks=lambda _: TOO_QUICK,
)
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("ways", [{}, {"readonly_memmap": True, "X_dtype": "float32"}])
def test_scikit_learn_of_a_net_that_has_learned(ways: dict[str, Any]) -> None:
    # After four passes it was the draw of the first weights, another one in each version of JAX, that decided.
    net = ConvNetClassifier(epochs=16, maps=(4,), pad_to=6, shape=(1, -1), batch_size=64, learning_rate=0.1)
    check_classifiers_train("ConvNetClassifier", net, **ways)


def test_clone_keeps_settings() -> None:
    assert clone(ConvNetClassifier(maps=(3,), pool="max")).get_params()["pool"] == "max"
