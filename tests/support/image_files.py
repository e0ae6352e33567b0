"""Small image datasets in the format of the real ones, and torchvision's classes that read them."""

from __future__ import annotations

import gzip
import struct

import numpy
import pytest
from python2_pickles import python2_pickle

datasets = pytest.importorskip("torchvision.datasets", reason="this Python has no torchvision")


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


def make_cifar(folder, kind: int, count=4, *, layouts=("python", "binary"), dumped=python2_pickle):
    """Writes the Python version, which torchvision reads, and the binary version."""
    generator = numpy.random.default_rng(5)
    python = folder / ("cifar-10-batches-py" if kind == 10 else "cifar-100-python")
    binary = folder / ("cifar-10-batches-bin" if kind == 10 else "cifar-100-binary")
    names = [f"kind {i}" for i in range(kind)]
    files = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"] if kind == 10 else ["train", "test"]
    content = {}
    for file in files:
        pixels = generator.integers(0, 256, (count, 3072)).astype(numpy.uint8)
        labels = generator.integers(0, kind, count)
        coarse = generator.integers(0, 20, count)
        batch = {
            b"batch_label": f"{file} of some".encode(),
            b"labels" if kind == 10 else b"fine_labels": labels.tolist(),
            b"data": pixels,
            b"filenames": [f"caf\xe9_{i}.png".encode("latin1") for i in range(count)],
        }
        content[python / file] = dumped(batch)
        heads = [labels] if kind == 10 else [coarse, labels]
        records = numpy.concatenate([*(h[:, None].astype(numpy.uint8) for h in heads), pixels], 1)
        content[binary / f"{file}.bin"] = records.tobytes()
    key = b"label_names" if kind == 10 else b"fine_label_names"
    meta = {b"num_vis": 3072, key: [name.encode() for name in names]}
    content[python / ("batches.meta" if kind == 10 else "meta")] = dumped(meta)
    listed = "batches.meta.txt" if kind == 10 else "fine_label_names.txt"
    content[binary / listed] = ("\n".join(names) + "\n\n").encode()
    for path, each in content.items():
        if (path.parent == python and "python" in layouts) or (path.parent == binary and "binary" in layouts):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(each)
    return python if "python" in layouts else binary


def as_text(value):
    """Converts Python 2's strings to Python 3's."""
    if isinstance(value, dict):
        return {as_text(key): as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return value.decode("latin1") if isinstance(value, bytes) else value


def theirs(name: str, root, train: bool):
    """torchvision's dataset, without checksums, because the files are generated."""
    if name.startswith("CIFAR"):
        base = getattr(datasets, name)
        unsummed = {
            "train_list": [[file, None] for file, _ in base.train_list],
            "test_list": [[file, None] for file, _ in base.test_list],
            "meta": {**base.meta, "md5": None},
        }
        return type(name, (base,), unsummed)(str(root), train)
    return getattr(datasets, name)(str(root), **({} if name == "ImageFolder" else {"train": train}))
