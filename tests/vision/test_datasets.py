"""Image datasets match torchvision's classes on small generated files; corrupt files are Io errors."""

from __future__ import annotations

import fractions
import gzip
import os
import pickle
import random
import shutil
import struct
import tarfile
import zlib

import numpy
import pytest
import scipy.io
from embedded_simple import run, torch
from image_files import as_text, datasets, idx, make_cifar, make_mnist, theirs
from PIL import Image
from python2_pickles import python2_pickle
from torchvision.datasets.folder import default_loader
from torchvision.transforms.v2.functional import pil_to_tensor

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
        if outcome.is_ok(): "" else: reported(outcome.unwrap_err())
    fn reported(error):
        match error:
            case torch.TorchError.Io(message): "Io: " + message
            case other: "another: " + other.message()
    fn loaded(path): d.default_loader(path)
    fn loader_failure(path): reported(torch.attempt(\\: d.default_loader(path)).unwrap_err())
    fn chosen(root): d.ImageFolder(root, is_valid_file: \\path: path.ends_with("0.png"), allow_empty: true).samples
    fn imagenet(root, split):
        val dataset = d.ImageNet(root, split)
        (dataset.wnids, dataset.wnid_to_idx, dataset.classes, dataset.class_to_idx, dataset.targets,
            [for (path, _) in dataset.samples: path], dataset[-1])
    fn unpack(root):
        use vision.datasets.imagenet_archives as archives
        archives.parse_devkit_archive(root, md5: nil)
        archives.parse_train_archive(root, md5: nil)
        archives.parse_val_archive(root, md5: nil)
    fn imagenet_failure(root, split):
        match torch.attempt(\\: d.ImageNet(root, split)).unwrap_err():
            case torch.TorchError.InvalidArgument(message): "InvalidArgument: " + message
            case other: reported(other)
    fn last(name, root): made(name, root, true)[-1]
    """
)


def same_samples(name, root, train):
    expected = [(pil_to_tensor(image), target) for image, target in theirs(name, root, train)]
    found = OURS.samples(name, str(root), train)
    assert len(found) == len(expected)
    for (ours, our_target), (reference, his_target) in zip(found, expected):
        assert our_target == his_target
        assert torch.equal(ours, reference)


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST"])
def test_mnist(name, train, tmp_path):
    make_mnist(tmp_path, name)
    same_samples(name, tmp_path, train)
    classes, indices = OURS.facts(name, str(tmp_path))
    assert list(classes) == theirs(name, tmp_path, True).classes
    assert dict(indices) == theirs(name, tmp_path, True).class_to_idx


def test_mnist_from_gzip_files(tmp_path):
    raw = make_mnist(tmp_path, packed=True)
    expected = OURS.samples("MNIST", str(tmp_path), True)
    for file in raw.glob("*ubyte"):
        file.unlink()
    found = OURS.samples("MNIST", str(tmp_path), True)
    assert all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found, expected))


def test_gzip_files_with_several_members_and_zero_padding(tmp_path):
    path = make_mnist(tmp_path) / IMAGES
    expected = OURS.samples("MNIST", str(tmp_path), True)
    whole = path.read_bytes()
    path.with_name(f"{IMAGES}.gz").write_bytes(gzip.compress(whole[:900]) + gzip.compress(whole[900:]) + bytes(700))
    path.unlink()
    found = OURS.samples("MNIST", str(tmp_path), True)
    assert all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found, expected, strict=True))


def test_transforms_and_a_loader_with_workers(tmp_path):
    make_mnist(tmp_path)
    expected = [(pil_to_tensor(image) / 255, target + 100) for image, target in theirs("MNIST", tmp_path, True)][:3]
    images, targets = OURS.with_transforms(str(tmp_path))
    assert torch.equal(images, torch.stack([image for image, _ in expected]))
    assert targets.tolist() == [target for _, target in expected]


LAYOUTS = {
    "binary": {"layouts": ("binary",)},
    "Python 2": {"layouts": ("python",)},
    "both": {},
    **{
        f"protocol {p}": {"layouts": ("python",), "dumped": lambda value, p=p: pickle.dumps(as_text(value), p)}
        for p in (2, 4, 5)
    },
}


@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", [10, 100])
def test_cifar(kind, layout, train, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").mkdir()
    make_cifar(tmp_path / "theirs", kind)
    make_cifar(tmp_path / "ours", kind, **LAYOUTS[layout])
    name = f"CIFAR{kind}"
    reference = theirs(name, tmp_path / "theirs", train)
    found = OURS.samples(name, str(tmp_path / "ours"), train)
    assert len(found) == len(reference) == (20 if train and kind == 10 else 4)
    for (ours, our_target), (image, target) in zip(found, reference):
        assert our_target == target
        assert torch.equal(ours, pil_to_tensor(image))
    classes, indices = OURS.facts(name, str(tmp_path / "ours"))
    assert list(classes) == reference.classes
    assert dict(indices) == reference.class_to_idx


def make_folders(
    folder, names=("cat/1.png", "cat/b/0.png", "cat/b-c/5.PNG", "cat/b/x/4.jpg", "ant/9.jpeg", "cat/a.txt")
):
    from PIL import Image

    generator = numpy.random.default_rng(7)
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".txt":
            path.write_text("not an image")
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
    reference = datasets.ImageFolder(tmp_path, is_valid_file=lambda path: path.endswith("0.png"), allow_empty=True)
    assert [tuple(each) for each in OURS.chosen(str(tmp_path))] == reference.samples


def test_invalid_image_folders_are_reported(tmp_path):
    assert OURS.failure("ImageFolder", str(tmp_path / "none")) == f"Io: no such folder: '{tmp_path / 'none'}'"
    assert OURS.failure("ImageFolder", str(tmp_path)) == f"Io: Couldn't find any class folder in {tmp_path}."
    (tmp_path / "empty").mkdir()
    reported = OURS.failure("ImageFolder", str(tmp_path))
    with pytest.raises(FileNotFoundError) as error:
        datasets.ImageFolder(tmp_path)
    assert reported == f"Io: {error.value}"
    (tmp_path / "empty" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(Exception, match=r"broken\.png': decode_png: the file is truncated"):
        OURS.last("ImageFolder", str(tmp_path))


NAMES = {"n01440764": ("tench", "Tinca tinca"), "n01443537": ("goldfish",), "n02105855": ("Shetland sheepdog",)}


@pytest.fixture
def imagenet(tmp_path):
    for split in ("train", "val"):
        make_folders(tmp_path / split, [f"{wnid}/{split}_{i}.jpg" for wnid in NAMES for i in range(2)])
    torch.save((NAMES, ["n01443537", "n01440764"]), tmp_path / "meta.bin")
    return tmp_path


@pytest.mark.parametrize("split", ["train", "val"])
def test_imagenet(split, imagenet):
    reference = datasets.ImageNet(imagenet, split)
    wnids, indices, classes, class_indices, targets, paths, last = OURS.imagenet(str(imagenet), split)
    assert (list(wnids), dict(indices)) == (reference.wnids, reference.wnid_to_idx)
    assert [tuple(names) for names in classes] == reference.classes
    assert dict(class_indices) == reference.class_to_idx
    assert (list(targets), list(paths)) == (reference.targets, [path for path, _ in reference.samples])
    image, target = reference[len(reference) - 1]
    assert torch.equal(last[0], pil_to_tensor(image)) and last[1] == target


def packed(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, source in members:
            archive.add(source, name)


@pytest.fixture
def imagenet_archives(tmp_path):
    """The archives of four images of two classes, and of a group of classes, in ImageNet's format."""
    root, parts = tmp_path / "root", tmp_path / "parts"
    kit = parts / "ILSVRC2012_devkit_t12"
    root.mkdir()
    (kit / "data").mkdir(parents=True)
    rows = [(2, "n01443537", "goldfish", "a fish", 0), (1, "n01440764", "tench, Tinca tinca", "a fish", 0)]
    rows.append((3, "n01428580", "soft-finned fish", "a group", 2))
    fields = [("ILSVRC2012_ID", int), ("WNID", object), ("words", object), ("gloss", object), ("num_children", int)]
    scipy.io.savemat(kit / "data" / "meta.mat", {"synsets": numpy.array(rows, dtype=fields)})
    (kit / "data" / "ILSVRC2012_validation_ground_truth.txt").write_text("2\n1\n2\n")
    packed(root / "ILSVRC2012_devkit_t12.tar.gz", [("ILSVRC2012_devkit_t12", kit)], "w:gz")
    make_folders(parts, [f"{wnid}/{wnid}_{i}.jpg" for wnid in ("n01440764", "n01443537") for i in range(2)])
    for wnid in ("n01440764", "n01443537"):
        packed(parts / f"{wnid}.tar", [(image.name, image) for image in (parts / wnid).iterdir()])
    packed(root / "ILSVRC2012_img_train.tar", [(f.name, f) for f in parts.glob("*.tar")])
    make_folders(parts, [f"val/ILSVRC2012_val_{i}.jpg" for i in range(3)])
    packed(root / "ILSVRC2012_img_val.tar", [(image.name, image) for image in (parts / "val").iterdir()])
    return root


def test_the_archives_of_imagenet_are_unpacked(imagenet_archives, tmp_path, monkeypatch):
    theirs_root = tmp_path / "theirs"
    shutil.copytree(imagenet_archives, theirs_root)
    names = {key: (file, None) for key, (file, _) in datasets.imagenet.ARCHIVE_META.items()}
    monkeypatch.setattr(datasets.imagenet, "ARCHIVE_META", names)
    OURS.unpack(str(imagenet_archives))
    for split in ("train", "val"):
        reference = datasets.ImageNet(theirs_root, split)
        wnids, _, classes, class_indices, targets, paths, last = OURS.imagenet(str(imagenet_archives), split)
        assert (list(wnids), list(targets)) == (reference.wnids, reference.targets)
        assert [tuple(names) for names in classes] == reference.classes
        assert dict(class_indices) == reference.class_to_idx
        relative = [os.path.relpath(path, theirs_root) for path, _ in reference.samples]
        assert [os.path.relpath(path, imagenet_archives) for path in paths] == relative
        assert torch.equal(last[0], pil_to_tensor(reference[-1][0]))
    assert sorted(file.name for file in imagenet_archives.iterdir()) == sorted(f.name for f in theirs_root.iterdir())
    assert torch.load(imagenet_archives / "meta.bin")[1] == ["n01443537", "n01440764", "n01443537"]


def test_damaged_archives_of_imagenet_are_reported(imagenet_archives):
    root = str(imagenet_archives)
    expected = "Io: The archive ILSVRC2012_devkit_t12.tar.gz is not present in the root directory or is corrupted. "
    assert OURS.imagenet_failure(root, "val").startswith(expected)
    assert not (imagenet_archives / "meta.bin").exists()


def test_incomplete_imagenet_is_reported(imagenet):
    root = str(imagenet)
    with pytest.raises(ValueError, match="Unknown value 'test' for argument split") as error:
        datasets.ImageNet(root, "test")
    assert OURS.imagenet_failure(root, "test").lower().startswith(f"invalidargument: {str(error.value)[:40]}".lower())
    torch.save((dict(list(NAMES.items())[:2]), []), imagenet / "meta.bin")
    assert OURS.imagenet_failure(root, "val") == f"Io: '{root}/meta.bin' is broken: it has no class names for n02105855"
    torch.save([1], imagenet / "meta.bin")
    reported = f"Io: '{root}/meta.bin' is broken: it is not a table of ImageNet's classes"
    assert OURS.imagenet_failure(root, "val") == reported
    (imagenet / "meta.bin").write_bytes(b"cut off")
    assert OURS.imagenet_failure(root, "val").startswith(f"Io: {root}/meta.bin cannot be read")
    (imagenet / "meta.bin").unlink()
    assert OURS.imagenet_failure(root, "val").startswith(f"Io: The meta file '{root}/meta.bin' is not present")
    assert OURS.imagenet_failure(root + "/no", "val").startswith(f"Io: no such folder: '{root}/no/val'")


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (IMAGES, lambda data: data[:-1], "sizes [7, 28, 28] need 5488 bytes of data, got 5487"),
        (IMAGES, lambda data: data + b"x", "sizes [7, 28, 28] need 5488 bytes of data, got 5489"),
        (IMAGES, lambda data: data[:9], "it ends inside its header"),
        (IMAGES, lambda data: b"", "expected at least 4 bytes of an IDX file, got 0"),
        (IMAGES, lambda data: b"PNG!" + data, "is not the magic number of an IDX file of 1 to 3 dimensions"),
        (
            IMAGES,
            lambda data: idx(numpy.zeros(7, numpy.uint8)),
            "expected images, uint8 in 3 dimensions, got uint8 in 1",
        ),
        (IMAGES, lambda data: data[:4] + b"\xff" * 12 + b"end", "4294967295] need too many bytes of data, got 3"),
        (IMAGES, lambda data: data[:4] + b"\x80\0\0\0" * 2 + b"\0\0\0\x04", "4] need too many bytes of data, got 0"),
        (LABELS, lambda data: data[:-1] + b"\x0a", "label 10 is out of range for 10 classes"),
        (LABELS, lambda data: idx(numpy.zeros(6, numpy.uint8)), "it has 6 labels for 7 images"),
        (LABELS, lambda data: idx(numpy.zeros(7, ">i4"), 12), "expected labels, uint8 in 1 dimension, got int32 in 1"),
        (IMAGES, lambda data: gzip.compress(data) + b"?", "this gzip file is corrupt: it has trailing data"),
        (IMAGES, lambda data: gzip.compress(data)[:-9], "this gzip file is truncated"),
        (IMAGES, lambda data: gzip.compress(data)[:-8] + b"\0" * 8, "this gzip file is corrupt: "),
    ],
)
def test_corrupt_mnist_files_are_reported(file, change, message, tmp_path):
    path = make_mnist(tmp_path) / file
    path.write_bytes(change(path.read_bytes()))
    reported = OURS.failure("MNIST", str(tmp_path))
    assert reported.startswith(f"Io: '{path}' ")
    assert message in reported


def test_missing_file_is_reported(tmp_path):
    path = tmp_path / "MNIST" / "raw" / IMAGES
    assert OURS.failure("MNIST", str(tmp_path)) == f"Io: Dataset not found: neither '{path}' nor '{path}.gz' exists"
    reported = OURS.failure("CIFAR10", str(tmp_path))
    python, binary = tmp_path / "cifar-10-batches-py", tmp_path / "cifar-10-batches-bin"
    assert reported == f"Io: Dataset not found: neither '{python}' nor '{binary}' exists; pass download: true"
    binary.mkdir()
    names = binary / "batches.meta.txt"
    assert OURS.failure("CIFAR10", str(tmp_path)) == f"Io: Dataset not found: '{names}' does not exist"
    python.mkdir()
    reported = OURS.failure("CIFAR10", str(tmp_path))
    assert reported == f"Io: '{python / 'data_batch_1'}' cannot be read: no such file"


def test_corrupt_cifar_files_are_reported(tmp_path):
    folder = make_cifar(tmp_path, 10, layouts=("binary",))
    path = folder / "data_batch_3.bin"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert (
        OURS.failure("CIFAR10", str(tmp_path))
        == f"Io: '{path}' is broken: expected records of 3073 bytes, got 12291 bytes in total"
    )
    path.write_bytes(b"\x63" + whole[1:])
    why = "label 99 is out of range for 10 classes"
    assert OURS.failure("CIFAR10", str(tmp_path)) == f"Io: '{path}' is broken: {why}"
    path.unlink()
    assert OURS.failure("CIFAR10", str(tmp_path)) == f"Io: '{path}' cannot be read: no such file"


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"data": numpy.zeros((2, 3072), numpy.uint8), "labels": [1]}, "it has 1 labels for 2 images"),
        ({"data": numpy.zeros((2, 3071), numpy.uint8), "labels": [1, 2]}, "expected data with rows of 3072 bytes"),
        ({"data": numpy.zeros((2, 3072), numpy.int8), "labels": [1, 2]}, "expected data with rows of 3072 bytes"),
        ({"data": [1], "labels": [1]}, "expected data with rows of 3072 bytes"),
        ({"data": numpy.zeros((1, 3072), numpy.uint8), "labels": ["a"]}, "expected labels that are a list of integers"),
        ({"data": numpy.zeros((1, 3072), numpy.uint8), "labels": 3}, "expected labels that are a list of integers"),
        ({"labels": [1]}, "expected a dict with the key 'data'"),
        ({"data": numpy.zeros((1, 3072), numpy.uint8)}, "expected a dict with the key 'fine_labels'"),
        ([1], "expected a dict with the key 'data'"),
        (fractions.Fraction(1, 2), "it contains a fractions.Fraction; only tensors"),
        (
            {"data": numpy.zeros((4, 3072), numpy.uint8), "labels": [1, 2, 10, 3]},
            "label 10 is out of range for 10",
        ),
        (
            {"data": numpy.zeros((1, 3072), numpy.uint8), "labels": [-1]},
            "label -1 is out of range for 10 classes",
        ),
    ],
    ids=range(12),
)
def test_invalid_cifar_batches_are_reported(batch, message, tmp_path):
    folder = make_cifar(tmp_path, 10)
    path = folder / "data_batch_2"
    path.write_bytes(pickle.dumps(batch, 2))
    reported = OURS.failure("CIFAR10", str(tmp_path))
    assert reported.startswith(f"Io: '{path}' ")
    assert message in reported


def test_code_in_a_batch_is_not_executed(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/was_run",)

    folder = make_cifar(tmp_path, 10)
    (folder / "data_batch_2").write_bytes(pickle.dumps({"data": Evil()}, 2))
    assert f"'{folder / 'data_batch_2'}' cannot be read: it contains a posix.system" in OURS.failure(
        "CIFAR10", str(tmp_path)
    )
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize("dumped", [python2_pickle, lambda value: pickle.dumps(as_text(value), 5)], ids=["2", "5"])
def test_truncated_and_flipped_batches_are_read_or_reported(dumped, tmp_path):
    folder = make_cifar(tmp_path, 100, layouts=("python",), dumped=dumped)
    path = folder / "train"
    whole = path.read_bytes()
    generator = random.Random(2)
    near = len(whole) - 3072 * 4  # the approximate size of everything but pixels
    for _ in range(200):
        path.write_bytes(whole[: generator.choice([generator.randrange(len(whole)), generator.randrange(near)])])
        reported = OURS.failure("CIFAR100", str(tmp_path))
        assert reported.startswith(f"Io: '{path}' cannot be read: the pickle is corrupt: ")
    counted = {"read": 0, "reported": 0}
    for _ in range(500):
        changed = bytearray(whole)
        place = generator.choice([generator.randrange(400), generator.randrange(len(whole) - 400, len(whole))])
        changed[place] ^= 1 << generator.randrange(8)
        path.write_bytes(changed)
        reported = OURS.failure("CIFAR100", str(tmp_path))
        assert reported == "" or reported.startswith("Io: ")
        counted["reported" if reported else "read"] += 1
    assert min(counted.values()) > 20, counted


def test_mutated_files_are_read_or_reported(tmp_path):
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
        reported = OURS.failure("MNIST", str(tmp_path))
        assert reported == "" or reported.startswith("Io: ")


def pixels(channels, dtype=numpy.uint8):
    chance = numpy.random.default_rng(channels)
    shape = (7, 5) if channels == 1 else (7, 5, channels)
    return chance.integers(0, numpy.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def save_image(path, format_and_mode):
    image_format, mode = format_and_mode.split()
    image = Image.fromarray(pixels({"L": 1, "1": 1, "P": 1, "RGBA": 4, "LA": 2}.get(mode, 3)))
    if mode in ("1", "P"):
        image = image.convert(mode)
    if mode == "animated":
        image.save(path, image_format, save_all=True, append_images=[image.rotate(90)], lossless=True)
    else:
        image.save(path, image_format)


FILES = ["BMP RGB", "BMP L", "BMP 1", "BMP P", "PPM RGB", "PPM L", "TIFF RGB", "TIFF L", "TIFF RGBA", "WEBP RGB"]
FILES += ["WEBP RGBA", "WEBP animated", "GIF RGB", "PNG LA", "PNG P", "PNG RGBA", "JPEG L"]


@pytest.mark.parametrize("format_and_mode", FILES)
def test_every_format_of_image_folder_has_the_pixels_of_torchvision(format_and_mode, tmp_path):
    path = tmp_path / "image"
    save_image(path, format_and_mode)
    expected = pil_to_tensor(default_loader(path))
    ours = OURS.loaded(str(path))
    assert ours.dtype == torch.uint8
    assert ours.equal(expected)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_of_16_bits_are_bytes_as_in_torchvision(channels, tmp_path):
    path = tmp_path / "wide.png"
    write_wide_png(path, pixels(channels, numpy.uint16).reshape(7, 5, channels))
    expected = pil_to_tensor(default_loader(path))
    ours = OURS.loaded(str(path))
    assert ours.dtype == torch.uint8
    assert ours.equal(expected)


def write_wide_png(path, values):
    """Pillow writes 16 bits for gray images only."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    height, width, channels = values.shape
    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 2: 4, 3: 2, 4: 6}[channels], 0, 0, 0)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + content)


def test_files_that_no_decoder_reads_are_io_errors(tmp_path):
    path = tmp_path / "words.bmp"
    path.write_text("BM words")
    assert OURS.loader_failure(str(path)).startswith(f"Io: '{path}': Pillow cannot read the image: ")
    assert OURS.loader_failure(str(tmp_path / "none.bmp")).startswith("Io: ")
