"""Datasets of pictures against torchvision's classes, on small files made here; broken files are Io errors."""

from __future__ import annotations

import gzip
import pickle
import random
import struct

import numpy
import pytest
from twins import run, torch

datasets = pytest.importorskip("torchvision.datasets", reason="this Python has no torchvision")
from torchvision.transforms.v2.functional import pil_to_tensor  # noqa: E402

OURS = run(
    """
    use torch
    use vision.datasets as d
    fn made(name, root, train):
        match name:
            case "MNIST": d.MNIST(root, train)
            case "FashionMNIST": d.FashionMNIST(root, train: train)
            case "CIFAR10": d.CIFAR10(root, train)
            case "CIFAR100": d.CIFAR100(root, train)
            case "ImageFolder": d.ImageFolder(root)
    fn samples(name, root, train):
        val dataset = made(name, root, train)
        [for i in 0..len(dataset): dataset[i]]
    fn facts(name, root):
        val dataset = made(name, root, true)
        (dataset.classes, dataset.class_to_idx)
    fn paths(root): d.ImageFolder(root).samples
    fn with_transforms(root):
        val dataset = d.MNIST(root, transform: \\x: x.float() / 255, target_transform: \\t: t + 100)
        val loader = torch.utils.data.DataLoader(dataset, batch_size: 3, num_workers: 2)
        [for batch in loader: batch][0]
    fn failure(name, root):
        val outcome = torch.attempt(\\: made(name, root, true))
        if outcome.is_ok(): "" else: told(outcome.unwrap_err())
    fn told(error):
        match error:
            case torch.TorchError.Io(message): "Io: " + message
            case other: "another: " + other.message()
    fn chosen(root): d.ImageFolder(root, is_valid_file: \\path: path.ends_with("0.png"), allow_empty: true).samples
    fn last(name, root): made(name, root, true)[-1]
    """
)


def idx(array: numpy.ndarray, code: int = 8) -> bytes:
    return struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def make_mnist(folder, name="MNIST", *, packed=False, count=7):
    generator = numpy.random.default_rng(3)
    raw = folder / name / "raw"
    raw.mkdir(parents=True)
    for start, n in (("train", count), ("t10k", 3)):
        files = {
            f"{start}-images-idx3-ubyte": idx(generator.integers(0, 256, (n, 28, 28)).astype(numpy.uint8)),
            f"{start}-labels-idx1-ubyte": idx(generator.integers(0, 10, n).astype(numpy.uint8)),
        }
        for file, content in files.items():
            (raw / file).write_bytes(content)
            if packed:
                (raw / f"{file}.gz").write_bytes(gzip.compress(content))
    return raw


def make_cifar(folder, kind: int, count=4):
    """Both versions: the Python one for torchvision, the binary one for ours."""
    generator = numpy.random.default_rng(5)
    python = folder / ("cifar-10-batches-py" if kind == 10 else "cifar-100-python")
    binary = folder / ("cifar-10-batches-bin" if kind == 10 else "cifar-100-binary")
    python.mkdir()
    binary.mkdir()
    names = [f"kind {i}" for i in range(kind)]
    files = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"] if kind == 10 else ["train", "test"]
    for file in files:
        pixels = generator.integers(0, 256, (count, 3072)).astype(numpy.uint8)
        labels = generator.integers(0, kind, count)
        coarse = generator.integers(0, 20, count)
        batch = {"data": pixels, "labels" if kind == 10 else "fine_labels": labels.tolist()}
        (python / file).write_bytes(pickle.dumps(batch, protocol=2))
        heads = [labels] if kind == 10 else [coarse, labels]
        records = numpy.concatenate([*(h[:, None].astype(numpy.uint8) for h in heads), pixels], 1)
        (binary / f"{file}.bin").write_bytes(records.tobytes())
    key = "label_names" if kind == 10 else "fine_label_names"
    (python / ("batches.meta" if kind == 10 else "meta")).write_bytes(pickle.dumps({key: names}))
    (binary / ("batches.meta.txt" if kind == 10 else "fine_label_names.txt")).write_text("\n".join(names) + "\n\n")
    return binary


def theirs(name: str, root, train: bool):
    """torchvision's, which is not to compare checksums: the files are made here."""
    if name.startswith("CIFAR"):
        base = getattr(datasets, name)
        unsummed = {
            "train_list": [[file, None] for file, _ in base.train_list],
            "test_list": [[file, None] for file, _ in base.test_list],
            "meta": {**base.meta, "md5": None},
        }
        return type(name, (base,), unsummed)(str(root), train)
    return getattr(datasets, name)(str(root), **({} if name == "ImageFolder" else {"train": train}))


def same_samples(name, root, train):
    wanted = [(pil_to_tensor(picture), target) for picture, target in theirs(name, root, train)]
    found = OURS.samples(name, str(root), train)
    assert len(found) == len(wanted)
    for (ours, our_target), (his, his_target) in zip(found, wanted):
        assert our_target == his_target
        assert torch.equal(ours, his)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_mnist(name, train, tmp_path):
    make_mnist(tmp_path, name)
    same_samples(name, tmp_path, train)
    classes, indices = OURS.facts(name, str(tmp_path))
    assert list(classes) == theirs(name, tmp_path, True).classes
    assert dict(indices) == theirs(name, tmp_path, True).class_to_idx


def test_mnist_from_packed_files(tmp_path):
    raw = make_mnist(tmp_path, packed=True)
    wanted = OURS.samples("MNIST", str(tmp_path), True)
    for file in raw.glob("*ubyte"):
        file.unlink()
    found = OURS.samples("MNIST", str(tmp_path), True)
    assert all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found, wanted))


def test_transforms_and_a_loader_with_workers(tmp_path):
    make_mnist(tmp_path)
    wanted = [(pil_to_tensor(picture) / 255, target + 100) for picture, target in theirs("MNIST", tmp_path, True)][:3]
    pictures, targets = OURS.with_transforms(str(tmp_path))
    assert torch.equal(pictures, torch.stack([picture for picture, _ in wanted]))
    assert targets.tolist() == [target for _, target in wanted]


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("kind", [10, 100])
def test_cifar(kind, train, tmp_path):
    make_cifar(tmp_path, kind)
    same_samples(f"CIFAR{kind}", tmp_path, train)
    classes, indices = OURS.facts(f"CIFAR{kind}", str(tmp_path))
    assert list(classes) == theirs(f"CIFAR{kind}", tmp_path, True).classes
    assert dict(indices) == theirs(f"CIFAR{kind}", tmp_path, True).class_to_idx


def make_folders(
    folder, names=("cat/1.png", "cat/b/0.png", "cat/b-c/5.PNG", "cat/b/x/4.jpg", "ant/9.jpeg", "cat/a.txt")
):
    from PIL import Image

    generator = numpy.random.default_rng(7)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".txt":
            path.write_text("no picture")
        else:
            mode = "RGB" if path.suffix != ".png" else "L"
            size = (9, 7, 3) if mode == "RGB" else (9, 7)
            Image.fromarray(generator.integers(0, 256, size).astype(numpy.uint8), mode).save(path)


@pytest.mark.filterwarnings("ignore")
def test_image_folder(tmp_path):
    make_folders(tmp_path)
    same_samples("ImageFolder", tmp_path, True)
    assert [tuple(each) for each in OURS.paths(str(tmp_path))] == theirs("ImageFolder", tmp_path, True).samples
    classes, indices = OURS.facts("ImageFolder", str(tmp_path))
    assert (list(classes), dict(indices)) == (["ant", "cat"], {"ant": 0, "cat": 1})
    his = datasets.ImageFolder(tmp_path, is_valid_file=lambda path: path.endswith("0.png"), allow_empty=True)
    assert [tuple(each) for each in OURS.chosen(str(tmp_path))] == his.samples


def test_folders_without_what_is_needed_are_told(tmp_path):
    assert OURS.failure("ImageFolder", str(tmp_path / "none")) == f"Io: there is no folder '{tmp_path / 'none'}'"
    assert OURS.failure("ImageFolder", str(tmp_path)) == f"Io: Couldn't find any class folder in {tmp_path}."
    (tmp_path / "empty").mkdir()
    told = OURS.failure("ImageFolder", str(tmp_path))
    with pytest.raises(FileNotFoundError) as error:
        datasets.ImageFolder(tmp_path)
    assert told == f"Io: {error.value}"
    (tmp_path / "empty" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(Exception, match=r"broken\.png': the PNG file cannot be decoded: it is truncated"):
        OURS.last("ImageFolder", str(tmp_path))


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (IMAGES, lambda data: data[:-1], "its sizes [7, 28, 28] need 5488 bytes, and 5487 follow"),
        (IMAGES, lambda data: data + b"x", "its sizes [7, 28, 28] need 5488 bytes, and 5489 follow"),
        (IMAGES, lambda data: data[:9], "it ends within its sizes"),
        (IMAGES, lambda data: b"", "an idx file has 4 bytes at least, this one 0"),
        (IMAGES, lambda data: b"PNG!" + data, "is not the start of an idx file of 1 to 3 dimensions"),
        (IMAGES, lambda data: idx(numpy.zeros(7, numpy.uint8)), "pictures are bytes in 3 dimensions, not uint8 in 1"),
        (LABELS, lambda data: idx(numpy.zeros(6, numpy.uint8)), "it has 6 labels for 7 pictures"),
        (LABELS, lambda data: idx(numpy.zeros(7, ">i4"), 12), "labels are bytes in 1 dimension, not int32 in 1"),
        (IMAGES, lambda data: gzip.compress(data)[:-9], "this gzip file is truncated"),
        (IMAGES, lambda data: gzip.compress(data)[:-8] + b"\0" * 8, "this gzip file is broken: "),
    ],
)
def test_broken_mnist_files_are_told(file, change, message, tmp_path):
    path = make_mnist(tmp_path) / file
    path.write_bytes(change(path.read_bytes()))
    told = OURS.failure("MNIST", str(tmp_path))
    assert told.startswith(f"Io: '{path}' ")
    assert message in told


def test_a_missing_file_is_told(tmp_path):
    path = tmp_path / "MNIST" / "raw" / IMAGES
    assert OURS.failure("MNIST", str(tmp_path)) == f"Io: Dataset not found: there is neither '{path}' nor '{path}.gz'"
    names = tmp_path / "cifar-10-batches-bin" / "batches.meta.txt"
    assert OURS.failure("CIFAR10", str(tmp_path)) == f"Io: Dataset not found: there is no '{names}'"


def test_broken_cifar_files_are_told(tmp_path):
    folder = make_cifar(tmp_path, 10)
    path = folder / "data_batch_3.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert (
        OURS.failure("CIFAR10", str(tmp_path))
        == f"Io: '{path}' is broken: its 12291 bytes are no whole records of 3073"
    )
    path.write_bytes(b"\x63" + whole[1:])
    assert OURS.failure("CIFAR10", str(tmp_path)).endswith("there is a label 99, and there are 10 classes")
    path.unlink()
    assert OURS.failure("CIFAR10", str(tmp_path)) == f"Io: '{path}' cannot be read: there is no such file"


def test_mutated_files_are_read_or_told(tmp_path):
    raw = make_mnist(tmp_path, packed=True, count=2)
    (raw / IMAGES).unlink()
    path = raw / f"{IMAGES}.gz"
    whole = path.read_bytes()
    generator = random.Random(1)
    for _ in range(200):
        changed = bytearray(whole)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        path.write_bytes(changed[: generator.choice([len(changed), generator.randrange(len(changed))])])
        told = OURS.failure("MNIST", str(tmp_path))
        assert told == "" or told.startswith("Io: ")
