"""examples/vision/explain.spl: the explained class, an image of three panels, errors of one line."""

from __future__ import annotations

import re

import pytest

PROGRAM = "examples/vision/explain.spl"
Image = pytest.importorskip("PIL.Image")


def test_the_cat_is_explained_in_an_image_of_three_panels(simple, tmp_path):
    out = tmp_path / "explain.png"
    done = simple(PROGRAM, "--out", str(out))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("chelsea.png: tiger cat, 39.4 %")
    shares = re.findall(r"left ([\d.]+) %  middle ([\d.]+) %  right ([\d.]+) %", done.out)
    assert [abs(sum(map(float, row)) - 100) < 0.2 for row in shares] == [True, True]
    image = Image.open(out)
    assert (image.mode, image.size) == ("RGB", (4 + 3 * 228, 232))


def test_another_class_has_another_explanation(simple, tmp_path):
    files = [tmp_path / f"{name}.png" for name in ("lynx", "window screen")]
    for file in files:
        assert simple(PROGRAM, "--class", file.stem, "--out", str(file)).code == 0
    assert files[0].read_bytes() != files[1].read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--class"], "--class needs a value; usage: explain.spl"),
        (["--class", "tigers"], "no class 'tigers'; ImageNet has names such as 'tabby'"),
        (["--best"], "unknown option --best; usage: explain.spl"),
        (["a.png", "b.png"], "one photograph at a time; usage: explain.spl"),
    ],
)
def test_wrong_options_are_errors_of_one_line(simple, words, message):
    done = simple(PROGRAM, *words)
    assert done.code == 1
    assert done.err.count("\n") == 1 and message in done.err
