"""ONNX Runtime in Simple and in Python: the same models on the same inputs, and small models for tests."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from embedded_simple import run, torch
from onnx import TensorProto, helper, numpy_helper

OURS = run(
    r"""
    use torch
    use onnxruntime as ort
    fn session(path, options = nil): ort.InferenceSession(path, sess_options: options)
    fn of_bytes(content): ort.InferenceSession(content)
    fn options(values):
        val made = ort.SessionOptions()
        for (name, value) in values.to_value():
            if name.starts_with("config "): made.add_session_config_entry(name[7:], value)
            elif name.starts_with("dimension "): made.add_free_dimension_override_by_name(name[10:], value)
            else: setattr(made, name, value)
        made
    fn quiet():
        val made = ort.SessionOptions()
        made.log_severity_level = 4
        made
    fn nodes(of): [for node in of: (node.name, node.type, node.shape)]
    fn inputs(session): nodes(session.get_inputs())
    fn outputs(session): nodes(session.get_outputs())
    fn initializers(session): nodes(session.get_overridable_initializers())
    fn meta(session):
        val found = session.get_modelmeta()
        [found.producer_name, found.graph_name, found.domain, found.description, found.graph_description, found.version,
            found.custom_metadata_map]
    fn run(session, names, feeds): session.run(if names == nil: nil else: names.to_value(), feeds.to_value())
    fn failure(body):
        match torch.attempt(body):
            case Ok(_): "ok"
            case Err(error): reported(error)
    fn reported(error):
        match error:
            case torch.TorchError.InvalidArgument(m): "InvalidArgument: {m}"
            case torch.TorchError.ShapeMismatch(expected, got, m): "ShapeMismatch {expected} {got}: {m}"
            case torch.TorchError.DtypeMismatch(expected, got, m): "DtypeMismatch {expected} {got}: {m}"
            case torch.TorchError.DeviceMismatch(expected, got, m): "DeviceMismatch {expected} {got}: {m}"
            case torch.TorchError.NotImplemented(m): "NotImplemented: {m}"
            case torch.TorchError.Unavailable(m): "Unavailable: {m}"
            case torch.TorchError.Io(m): "Io: {m}"
            case other: "another: {other.message()}"
    """
)
TENSOR_TYPES = {
    "bool": TensorProto.BOOL,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "uint16": TensorProto.UINT16,
    "int16": TensorProto.INT16,
    "uint32": TensorProto.UINT32,
    "int32": TensorProto.INT32,
    "uint64": TensorProto.UINT64,
    "int64": TensorProto.INT64,
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "float8_e4m3fn": TensorProto.FLOAT8E4M3FN,
    "float8_e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ,
    "float8_e5m2": TensorProto.FLOAT8E5M2,
    "float8_e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ,
}


def save(path, nodes, inputs, outputs, initializers=(), opset=19, **fields) -> str:
    """Write a model. Inputs and outputs are names with a type and sizes, or finished ValueInfoProtos."""

    def info(value):
        return value if not isinstance(value, tuple) else helper.make_tensor_value_info(*value)

    graph = helper.make_graph(nodes, "tested", list(map(info, inputs)), list(map(info, outputs)), list(initializers))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, **fields)
    onnx.save(model, path)
    return str(path)


def identity(path, element, sizes=("n", 3)) -> str:
    node = helper.make_node("Identity", ["x"], ["y"])
    return save(path, [node], [("x", element, sizes)], [("y", element, sizes)])


def python_session(path, **options):
    made = onnxruntime.SessionOptions()
    made.log_severity_level = 4
    for name, value in options.items():
        setattr(made, name, value)
    return onnxruntime.InferenceSession(str(path), made, providers=["CPUExecutionProvider"])


def proto_value(path):
    """Return the value in a file of onnx's test data: an array, or a list of them."""
    content = path.read_bytes()
    tensor = onnx.TensorProto()
    tensor.ParseFromString(content)
    return numpy_helper.to_array(tensor)


def same(ours, theirs) -> bool:
    """Whether two outputs have the same type, shape and bits."""
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if theirs.dtype == object:
        return np.array_equal(np.array(ours, dtype=object).reshape(theirs.shape), theirs)
    found = ours.numpy()
    return found.dtype == theirs.dtype and found.shape == theirs.shape and found.tobytes() == theirs.tobytes()


def as_feed(value):
    if isinstance(value, list):
        return [as_feed(item) for item in value]
    return value.tolist() if value.dtype == object else torch.from_numpy(np.array(value))
