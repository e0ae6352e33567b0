"""The structure of a pickle, without importing a class or calling a function that it names."""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass, field
from typing import ClassVar

MAX_DEPTH = 100
MAX_VALUES = 20


@dataclass(frozen=True)
class Tensor:
    """A tensor's place in the value, with its dtype and shape."""

    name: str
    dtype: str
    shape: tuple


@dataclass
class Outline:
    """What a pickle holds: its tensors, some of the other values, and the classes that it names."""

    summary: str
    tensors: list[Tensor] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)


@dataclass
class Storage:
    dtype: str


class Stand:
    """Stands for an object of a class that the pickle names."""

    name = ""

    def __new__(cls, *arguments):
        stand = super().__new__(cls)
        stand.arguments = arguments
        stand.state = None
        stand.items = []
        return stand

    def __init__(self, *arguments):
        pass

    def __setstate__(self, state):
        self.state = state

    def __call__(self, *arguments):
        return Stand(*arguments)

    def __setitem__(self, key, value):
        self.items.append((key, value))

    def append(self, value):
        self.items.append((len(self.items), value))

    def extend(self, values):
        for value in values:
            self.append(value)

    add = append


STORAGE_DTYPES = {
    **{"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64"},
    **{"Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool"},
    **{
        "ComplexDouble": "complex128",
        "ComplexFloat": "complex64",
        "QInt8": "qint8",
        "QUInt8": "quint8",
        "QInt32": "qint32",
    },
}
REBUILT = {"torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor", "torch._utils._rebuild_qtensor"}
REBUILT_V3 = "torch._utils._rebuild_tensor_v3"
REBUILT_SPARSE = "torch._utils._rebuild_sparse_tensor"
PARAMETERS = {"torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"}
ORDERED = {"collections.OrderedDict", "collections.defaultdict"}


class OutlineReader(pickle._Unpickler):
    """Python's own reader, whose memo is a dict, so that a pickle cannot make it allocate more than it has."""

    dispatch: ClassVar = dict(pickle._Unpickler.dispatch)

    def __init__(self, file):
        super().__init__(file)
        self.named = {}

    def find_class(self, module, name):
        full = f"{module}.{name}"
        if full not in self.named:
            self.named[full] = type(name, (Stand,), {"name": full})
        return self.named[full]

    def get_extension(self, code):
        raise pickle.UnpicklingError(f"the pickle uses extension {code}, which only its writer knows")

    def persistent_load(self, pid):
        kind = pid[1] if isinstance(pid, tuple) and len(pid) > 1 and pid[0] == "storage" else None
        name = getattr(kind, "name", "").rpartition(".")[2].removesuffix("Storage")
        return Storage(STORAGE_DTYPES.get(name, name.lower() or "unknown"))

    def load_bytearray8(self):
        length = int.from_bytes(self.read(8), "little")
        self.append(bytearray(self.read(length)))

    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8


def outline_of(content: bytes) -> Outline:
    """Read one pickle. Raises pickle.UnpicklingError and others for a corrupt one."""
    reader = OutlineReader(io.BytesIO(content))
    return outlined(reader.load(), reader)


def outlines_of_legacy_file(content: bytes, magic: int) -> Outline | None:
    """The value of a file of torch.save before PyTorch 1.6, which is several pickles; None for another file."""
    file = io.BytesIO(content)
    if OutlineReader(file).load() != magic:
        return None
    for _ in ("protocol", "system"):
        OutlineReader(file).load()
    reader = OutlineReader(file)
    return outlined(reader.load(), reader)


def outlined(value, reader: OutlineReader) -> Outline:
    outline = Outline(summary_of(value))
    add_parts(outline, value, "", 0)
    plain = {*REBUILT, REBUILT_V3, *PARAMETERS, *ORDERED}
    outline.classes = sorted(
        name for name in reader.named if name not in plain and not name.startswith(("torch.", "__torch__."))
    )
    return outline


def summary_of(value) -> str:
    if isinstance(value, Stand):
        return "an ordered dict" if value.name in ORDERED else value.name
    if isinstance(value, dict | list | tuple | set):
        return f"{type(value).__name__} of {len(value)} items"
    return type(value).__name__


def add_parts(outline: Outline, value, path: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    tensor = tensor_of(value, path)
    if tensor is not None:
        outline.tensors.append(tensor)
        return
    if isinstance(value, Stand) and value.name.startswith(("torch._utils._rebuild", "torch._tensor._rebuild")):
        outline.values.append(f"{path or 'value'}: {value.name.rpartition('.')[2]}, which is not read")
        return
    for name, part in parts_of(value):
        inner = f"{path}.{name}" if path else str(name)
        add_parts(outline, part, inner, depth + 1)
    is_plain = isinstance(value, int | float | str | bool) or value is None
    if is_plain and len(outline.values) < MAX_VALUES:
        outline.values.append(
            f"{path or 'value'} = {str(value)[:60]!r}" if isinstance(value, str) else f"{path} = {value}"
        )


def parts_of(value):
    """Pairs of name and part."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list | tuple | set):
        return list(enumerate(value))
    if not isinstance(value, Stand):
        return []
    state = value.state.items() if isinstance(value.state, dict) and value.name not in ORDERED else []
    return [*value.items, *state]


def tensor_of(value, path: str) -> Tensor | None:
    """A tensor for what rebuilds one, else None."""
    if not isinstance(value, Stand):
        return None
    arguments = value.arguments
    if value.name in PARAMETERS and arguments:
        return tensor_of(arguments[0], path)
    if value.name in REBUILT and len(arguments) > 2 and isinstance(arguments[0], Storage):
        return Tensor(path or "tensor", arguments[0].dtype, tuple(arguments[2]))
    if value.name == REBUILT_V3 and len(arguments) > 6:
        dtype = getattr(arguments[6], "name", "unknown").removeprefix("torch.")
        return Tensor(path or "tensor", dtype, tuple(arguments[2]))
    if value.name == REBUILT_SPARSE and len(arguments) == 2:
        return sparse_tensor_of(*arguments, path)
    return None


def sparse_tensor_of(layout, parts, path: str) -> Tensor | None:
    """The dtype is that of the values, after the layout. The values follow the indices."""
    tensors = list(filter(None, (tensor_of(part, path) for part in parts)))
    sizes = [part.arguments[0] for part in parts if isinstance(part, Stand) and part.name == "torch.Size"]
    if not tensors or not sizes:
        return None
    name = str(layout.arguments[0]).removeprefix("torch.")
    return Tensor(path or "tensor", f"{name} {tensors[-1].dtype}", tuple(sizes[0]))
