"""What files of models hold, read without running anything in them: the command `simple model info`."""

from __future__ import annotations

import ast
import json
import math
import re
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from simple_torch_helpers.pickle_outline import Outline, Tensor, outline_of, outlines_of_legacy_file

MAX_JSON = 100_000_000
MAX_RECORD = 1 << 30
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
# torch._export.serde.schema.ScalarType
EXPORT_DTYPES = (
    *("unknown", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64"),
    *("complex128", "bool", "bfloat16", "uint16"),
)
# Other formats' names of dtypes; the order of bytes precedes NumPy's.
NUMPY_DTYPES = {
    **{"b1": "bool", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "i1": "int8", "i2": "int16"},
    **{"i4": "int32", "i8": "int64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64"},
    **{"c16": "complex128"},
}
SAFETENSORS_DTYPES = {
    **{"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16", "I32": "int32"},
    **{"BF16": "bfloat16", "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64"},
    **{"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "C64": "complex64"},
}
ONNX_DTYPES = {"float": "float32", "double": "float64"}
EXECUTORCH_DTYPES = {
    **{"BYTE": "uint8", "CHAR": "int8", "SHORT": "int16", "INT": "int32", "LONG": "int64", "HALF": "float16"},
    **{"FLOAT": "float32", "DOUBLE": "float64", "FLOAT8E5M2": "float8_e5m2", "FLOAT8E4M3FN": "float8_e4m3fn"},
}


class ModelFileError(Exception):
    """The file cannot be read; the message has the reason."""


@dataclass
class Contents:
    """What a file holds. Texts are for people; tensors are rows of name, dtype and shape."""

    format: str
    producer: str = ""
    facts: list[tuple[str, str]] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)


def info(path: str) -> tuple[str, str, list[list[str]], list[list]]:
    """Return the format, the producer, pairs of facts, and rows of name, dtype and shape.

    Raises:
        ModelFileError: the file cannot be read, is corrupt, or has no known format.
    """
    try:
        contents = reader_of(path)(path)
    except ModelFileError:
        raise
    except OSError as error:
        raise ModelFileError(f"'{path}' cannot be read: {error.strerror or error}") from None
    except Exception as error:  # readers of formats raise whatever a corrupt file makes them meet
        raise ModelFileError(f"'{path}' cannot be read: {type(error).__name__}: {error}") from None
    rows = [[each.name, each.dtype, list(each.shape)] for each in contents.tensors]
    return contents.format, contents.producer, [list(fact) for fact in contents.facts], rows


def described(path: str) -> list:
    """What info() returns, as a list; a list of the message if it fails."""
    try:
        return list(info(path))
    except ModelFileError as error:
        return [str(error)]


def reader_of(path: str):
    """The function that reads a file of this kind, by its first bytes."""
    with open(path, "rb") as file:
        start = file.read(16)
    size = Path(path).stat().st_size
    if start.startswith(b"PK"):
        return read_zip
    if start.startswith(b"\x93NUMPY"):
        return read_npy
    if start[4:6] == b"ET" and start[6:8].isdigit():
        return read_executorch
    if len(start) > 8 and start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= size - 8:
        return read_safetensors
    if start[:1] == b"\x80":
        return read_pickle
    if path.endswith(".onnx") or start[:1] == b"\x08":
        return read_onnx
    raise ModelFileError(
        f"'{path}' has none of the known formats: torch.save, pickle, TorchScript, .pt2, safetensors, ONNX, .npy, "
        ".npz, .pte"
    )


# ---- zip archives


def read_zip(path: str) -> Contents:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        members = {name.partition("/")[2]: name for name in names if "/" in name}
        if "constants.pkl" in members and "data.pkl" in members:
            return read_torchscript(archive, members)
        if "archive_format" in members or any(name.endswith("models/model.json") for name in names):
            return read_exported(archive, members)
        if "data.pkl" in members:
            return read_saved(archive, members)
        if names and all(name.endswith(".npy") for name in names):
            return read_npz(archive)
    raise ModelFileError(f"'{path}' is a zip archive without a model: it holds {', '.join(names[:5]) or 'nothing'}")


def record(archive: zipfile.ZipFile, name: str, limit: int = MAX_RECORD) -> bytes:
    """The bytes of a record, whose checksum zipfile verifies."""
    if archive.getinfo(name).file_size > limit:
        raise ModelFileError(f"the record {name} has {archive.getinfo(name).file_size} bytes, more than {limit}")
    return archive.read(name)


def text_record(archive: zipfile.ZipFile, members: dict[str, str], name: str) -> str:
    return record(archive, members[name], 10_000).decode().strip() if name in members else ""


def storage_facts(archive: zipfile.ZipFile, members: dict[str, str]) -> list[tuple[str, str]]:
    sizes = [archive.getinfo(full).file_size for name, full in members.items() if name.startswith("data/")]
    return [("storages", f"{len(sizes)}, {sum(sizes)} bytes")]


def read_saved(archive: zipfile.ZipFile, members: dict[str, str]) -> Contents:
    outline = outline_of(record(archive, members["data.pkl"]))
    facts = [*storage_facts(archive, members), *outline_facts(outline)]
    version = text_record(archive, members, "version")
    return Contents(
        "torch.save", f"PyTorch, archive version {version}" if version else "PyTorch", facts, outline.tensors
    )


def outline_facts(outline: Outline) -> list[tuple[str, str]]:
    facts = [("value", outline.summary)]
    if outline.values:
        facts.append(("other values", ", ".join(outline.values)))
    if outline.classes:
        facts.append(("classes of Python", ", ".join(outline.classes)))
    return facts


def read_torchscript(archive: zipfile.ZipFile, members: dict[str, str]) -> Contents:
    outline = outline_of(record(archive, members["data.pkl"]))
    facts = [("class", outline.summary), *storage_facts(archive, members)]
    source = source_of(archive, members, outline.summary)
    for name, arguments, result in methods_of(source, outline.summary):
        facts.append((f"method {name}", f"({arguments}) -> {result}"))
    extra = sorted(name[6:] for name in members if name.startswith("extra/"))
    if extra:
        facts.append(("extra files", ", ".join(extra)))
    version = text_record(archive, members, "version")
    return Contents("TorchScript", f"PyTorch, archive version {version}", facts, outline.tensors)


def source_of(archive: zipfile.ZipFile, members: dict[str, str], class_name: str) -> str:
    package = class_name.rpartition(".")[0].replace(".", "/")
    name = f"code/{package}.py"
    return record(archive, members[name]).decode() if name in members else ""


def methods_of(source: str, class_name: str) -> list[tuple[str, str, str]]:
    """Name, arguments and result of each method of a class in TorchScript's source."""
    _, found, body = source.partition(f"class {class_name.rpartition('.')[2]}(")
    body = re.split(r"^class ", body, maxsplit=1, flags=re.MULTILINE)[0] if found else ""
    methods = []
    for match in re.finditer(r"^  def (\w+)\(\w+: [^,)]+(?:,\s*(.*?))?\) -> (.*?):\n", body, re.MULTILINE | re.DOTALL):
        methods.append((match[1], " ".join((match[2] or "").split()), " ".join(match[3].split())))
    return methods


def read_exported(archive: zipfile.ZipFile, members: dict[str, str]) -> Contents:
    """A file of torch.export.save or of torch._inductor.aoti_compile_and_package."""
    contents = Contents(".pt2", "torch.export")
    models = [name for name in members if name.startswith("models/") and name.endswith(".json")]
    for name in models:
        model = json.loads(record(archive, members[name], MAX_JSON))
        contents.producer = f"torch.export of PyTorch {model.get('torch_version', '(unknown)')}"
        contents.facts += exported_facts(model)
    for name in sorted(name for name in members if name.endswith("_weights_config.json")):
        for key, entry in json.loads(record(archive, members[name], MAX_JSON))["config"].items():
            contents.tensors.append(exported_tensor(key, entry["tensor_meta"]))
    libraries = sum(name.endswith(".so") for name in members)
    if libraries:
        contents.facts.append(("compiled", f"{libraries} libraries of AOTInductor"))
    return contents


def exported_tensor(name: str, meta: dict) -> Tensor:
    number = meta["dtype"]
    dtype = EXPORT_DTYPES[number] if 0 <= number < len(EXPORT_DTYPES) else f"dtype {number}"
    return Tensor(name, dtype, tuple(size.get("as_int", "dynamic") for size in meta["sizes"]))


def exported_facts(model: dict) -> list[tuple[str, str]]:
    graph = model["graph_module"]["graph"]
    signature = model["graph_module"]["signature"]
    facts = []
    for kind, specs, key in (
        ("input", signature["input_specs"], "user_input"),
        ("output", signature["output_specs"], "user_output"),
    ):
        for spec in specs:
            name = spec.get(key, {}).get("arg", {}).get("as_tensor", {}).get("name")
            if name is not None:
                tensor = exported_tensor(name, graph["tensor_values"][name])
                facts.append((kind, f"{name}: {tensor.dtype} {list(tensor.shape)}"))
    facts.append(("operators", str(len(graph["nodes"]))))
    return facts


def read_npz(archive: zipfile.ZipFile) -> Contents:
    tensors = []
    for name in archive.namelist():
        with archive.open(name) as file:
            tensors.append(npy_header(file, name.removesuffix(".npy")))
    return Contents(".npz", "NumPy", [], tensors)


# ---- single files


def npy_header(file, name: str) -> Tensor:
    """Source: numpy.lib.format."""
    start = file.read(8)
    if start[:6] != b"\x93NUMPY":
        raise ModelFileError(f"{name} is no array of NumPy")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    if length > 1_000_000:
        raise ModelFileError(f"the header of {name} has {length} bytes")
    header = ast.literal_eval(file.read(length).decode("latin-1"))
    descr = str(header["descr"])
    return Tensor(name, NUMPY_DTYPES.get(descr.lstrip("<>|="), descr), tuple(header["shape"]))


def read_npy(path: str) -> Contents:
    with open(path, "rb") as file:
        return Contents(".npy", "NumPy", [], [npy_header(file, "array")])


def read_safetensors(path: str) -> Contents:
    size = Path(path).stat().st_size
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > MAX_JSON:
            raise ModelFileError(f"'{path}' cannot be read: its header has {length} bytes")
        header = json.loads(file.read(length))
    metadata = header.pop("__metadata__", {})
    tensors = [
        Tensor(name, SAFETENSORS_DTYPES.get(entry["dtype"], entry["dtype"]), tuple(entry["shape"]))
        for name, entry in header.items()
    ]
    end = max((entry["data_offsets"][1] for entry in header.values()), default=0)
    if end != size - 8 - length:
        raise ModelFileError(
            f"'{path}' is truncated or corrupt: its tensors end at {end}, the data at {size - 8 - length}"
        )
    facts = [(f"metadata {key}", str(value)) for key, value in metadata.items()]
    return Contents("safetensors", "", facts, tensors)


def read_pickle(path: str) -> Contents:
    content = Path(path).read_bytes()
    legacy = outlines_of_legacy_file(content, LEGACY_MAGIC)
    if legacy is not None:
        return Contents("torch.save before PyTorch 1.6", "PyTorch", outline_facts(legacy), legacy.tensors)
    outline = outline_of(content)
    return Contents("pickle", "Python", outline_facts(outline), outline.tensors)


def read_onnx(path: str) -> Contents:
    try:
        import onnx
    except ImportError:
        raise ModelFileError("ONNX files need Python's package onnx: bin/simple setup --all installs it") from None
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    facts = [("IR version", str(model.ir_version))]
    facts += [("opset", f"{each.domain or 'ai.onnx'} {each.version}") for each in model.opset_import]
    weights = {each.name for each in graph.initializer}
    facts += [("input", onnx_value(each)) for each in graph.input if each.name not in weights]
    facts += [("output", onnx_value(each)) for each in graph.output]
    graphs = list(onnx_graphs(graph))
    inner = sum(len(each.node) for each in graphs[1:])
    facts.append(("operators", f"{len(graph.node)}, and {inner} in subgraphs" if inner else str(len(graph.node))))
    facts += [(f"metadata {each.key}", each.value) for each in model.metadata_props]
    if model.doc_string:
        facts.append(("description", model.doc_string))
    weights_of_all = [weight for each in graphs for weight in onnx_weights(each)]
    tensors = [Tensor(name, onnx_dtype(each.data_type), tuple(each.dims)) for name, each in weights_of_all]
    if not graph.node and not tensors:
        raise ModelFileError(f"'{path}' has none of the known formats, or is an ONNX file without a graph")
    return Contents("ONNX", " ".join(filter(None, (model.producer_name, model.producer_version))), facts, tensors)


def onnx_graphs(graph):
    """The graph, and those of its nodes' branches and loops."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from onnx_graphs(inner)


def onnx_weights(graph):
    """Name and value of the initializers, and of constants of more than one element."""
    yield from ((each.name, each) for each in graph.initializer)
    for node in graph.node:
        value = next((each.t for each in node.attribute if each.name == "value"), None)
        if node.op_type == "Constant" and value is not None and math.prod(value.dims) > 1:
            yield node.output[0], value


def onnx_dtype(number: int) -> str:
    import onnx

    name = onnx.TensorProto.DataType.Name(number).lower()
    return ONNX_DTYPES.get(name, name)


def onnx_value(value) -> str:
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return f"{value.name}: {(kind or 'unknown type').removesuffix('_type')}"
    tensor = value.type.tensor_type
    sizes = [onnx_size(each) for each in tensor.shape.dim]
    shape = f" [{', '.join(sizes)}]" if tensor.HasField("shape") else ", any shape"
    return f"{value.name}: {onnx_dtype(tensor.elem_type)}{shape}"


def onnx_size(size) -> str:
    return size.dim_param or (str(size.dim_value) if size.HasField("dim_value") else "dynamic")


def read_executorch(path: str) -> Contents:
    """The extended header (executorch/schema/extended_header.h), and the program where the package can read it."""
    with open(path, "rb") as file:
        start = file.read(64)
    facts = [("file identifier", start[4:8].decode())]
    size = Path(path).stat().st_size
    if start[8:10] == b"eh":
        program, segments = struct.unpack_from("<QQ", start, 16)
        if program > size or segments > size:
            raise ModelFileError(f"'{path}' is truncated: its program has {program} bytes, the file {size}")
        facts += [("program", f"{program} bytes"), ("segments", f"{size - segments if segments else 0} bytes")]
    contents = Contents(".pte", "ExecuTorch", facts)
    try:
        from executorch.exir._serialize import _deserialize_pte_binary
    except ImportError:
        facts.append(("methods", "not read: Python's package executorch is not installed"))
        return contents
    for plan in _deserialize_pte_binary(Path(path).read_bytes()).program.execution_plan:
        contents.facts += executorch_facts(plan)
        contents.tensors += executorch_tensors(plan)
    return contents


def executorch_tensor(name: str, value) -> Tensor:
    dtype = value.scalar_type.name
    return Tensor(name, EXECUTORCH_DTYPES.get(dtype, dtype.lower()), tuple(value.sizes))


def executorch_facts(plan) -> list[tuple[str, str]]:
    facts = [("method", plan.name)]
    for kind, indices in (("input", plan.inputs), ("output", plan.outputs)):
        for index in indices:
            value = plan.values[index].val
            if hasattr(value, "scalar_type"):
                tensor = executorch_tensor("", value)
                facts.append((kind, f"{tensor.dtype} {list(tensor.shape)}"))
            else:
                facts.append((kind, type(value).__name__))
    facts.append(("planned memory", f"{sum(plan.non_const_buffer_sizes)} bytes"))
    facts.append(("operators", ", ".join(sorted({each.name for each in plan.operators})) or "none"))
    if plan.delegates:
        facts.append(("delegates", ", ".join(sorted({each.id for each in plan.delegates}))))
    return facts


def executorch_tensors(plan) -> list[Tensor]:
    constants = []
    for index, value in enumerate(plan.values):
        tensor = value.val
        if hasattr(tensor, "scalar_type") and getattr(tensor, "data_buffer_idx", 0) > 0:
            constants.append(executorch_tensor(f"constant {index}", tensor))
    return constants
