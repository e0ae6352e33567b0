"""Sessions of ONNX Runtime: names, types, errors, memory, threads and forks."""

from __future__ import annotations

import os
import subprocess
import threading

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx_sessions import OURS, TENSOR_TYPES, identity, python_session, run, save, torch


@pytest.fixture
def doubled(tmp_path):
    """y = x + x over float [n, 3]"""
    node = helper.make_node("Add", ["x", "x"], ["y"])
    sizes = ("n", 3)
    return save(tmp_path / "doubled.onnx", [node], [("x", TensorProto.FLOAT, sizes)], [("y", TensorProto.FLOAT, sizes)])


def value_of(dtype):
    numbers = torch.tensor([[0, 1, 2], [3, 4, 5]])
    return numbers.to(torch.float32).to(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", TENSOR_TYPES)
def test_each_dtype_passes_through_with_its_bits(dtype, tmp_path):
    session = OURS.session(identity(tmp_path / "identity.onnx", TENSOR_TYPES[dtype]), OURS.quiet())
    x = value_of(dtype)
    (y,) = OURS.run(session, None, {"x": x})
    assert y.dtype == x.dtype and y.shape == x.shape
    assert y.view(torch.uint8).equal(x.view(torch.uint8))
    assert y.data_ptr() != x.data_ptr()


@pytest.mark.parametrize("element", [TensorProto.INT4, TensorProto.UINT4], ids=["int4", "uint4"])
def test_types_that_pytorch_lacks_are_rejected_by_name(element, tmp_path):
    node = helper.make_node("DequantizeLinear", ["x", "scale"], ["y"])
    inputs = [("x", element, (1, 3)), ("scale", TensorProto.FLOAT, ())]
    path = save(tmp_path / "model.onnx", [node], inputs, [("y", TensorProto.FLOAT, (1, 3))], opset=21)
    session = OURS.session(path, OURS.quiet())
    reported = OURS.failure(lambda: OURS.run(session, None, {"x": torch.zeros(1, 3), "scale": torch.ones(())}))
    assert reported.startswith("NotImplemented: run: 'x' has type tensor(") and "int4)" in reported
    node = helper.make_node("Cast", ["x"], ["y"], to=element)
    inputs, outputs = [("x", TensorProto.FLOAT, (2,))], [("y", element, (2,))]
    cast = OURS.session(save(tmp_path / "cast.onnx", [node], inputs, outputs, opset=21), OURS.quiet())
    reported = OURS.failure(lambda: OURS.run(cast, None, {"x": torch.zeros(2)}))
    assert reported.startswith("NotImplemented: run: an output has type tensor(") and "int4)" in reported


def test_names_types_and_shapes_are_those_of_python(tmp_path):
    nodes = [helper.make_node("Add", ["x", "w"], ["y"]), helper.make_node("Shape", ["y"], ["sizes"])]
    weight = helper.make_tensor("w", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    path = save(
        tmp_path / "model.onnx",
        nodes,
        [("x", TensorProto.FLOAT, ("batch", None, 3)), ("w", TensorProto.FLOAT, (3,))],
        [("y", TensorProto.FLOAT, ("batch", None, 3)), ("sizes", TensorProto.INT64, (3,))],
        [weight],
        producer_name="tests",
        domain="org.example",
        doc_string="a model",
        model_version=7,
    )
    ours, theirs = OURS.session(path, OURS.quiet()), python_session(path)
    for found, expected in [
        (OURS.inputs(ours), theirs.get_inputs()),
        (OURS.outputs(ours), theirs.get_outputs()),
        (OURS.initializers(ours), theirs.get_overridable_initializers()),
    ]:
        assert [(name, kind, list(shape)) for name, kind, shape in found] == [
            (node.name, node.type, node.shape) for node in expected
        ]
    theirs_meta = theirs.get_modelmeta()
    assert list(OURS.meta(ours)) == [
        theirs_meta.producer_name,
        theirs_meta.graph_name,
        theirs_meta.domain,
        theirs_meta.description,
        theirs_meta.graph_description,
        theirs_meta.version,
        theirs_meta.custom_metadata_map,
    ]
    x = torch.ones(1, 2, 3)
    assert OURS.run(ours, ["sizes"], {"x": x})[0].tolist() == [1, 2, 3]
    replaced = OURS.run(ours, ["y"], {"x": x, "w": torch.zeros(3)})
    assert replaced[0].tolist() == x.tolist()


def test_custom_metadata_is_read(doubled):
    import onnx

    model = onnx.load(doubled)
    helper.set_model_props(model, {"author": "Ada", "task": "doubling"})
    onnx.save(model, doubled)
    assert OURS.meta(OURS.session(doubled))[-1] == {"author": "Ada", "task": "doubling"}


def test_the_content_of_a_file_is_a_model(doubled):
    with open(doubled, "rb") as file:
        content = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    assert OURS.run(OURS.of_bytes(content), None, {"x": torch.ones(1, 3)})[0].tolist() == [[2.0, 2.0, 2.0]]
    assert OURS.failure(lambda: OURS.of_bytes(content[: len(content) // 2])).startswith("Io: ")
    assert "1-D uint8 tensor" in OURS.failure(lambda: OURS.of_bytes(torch.ones(3)))
    assert "expected a path or a uint8 tensor, got i64" in OURS.failure(lambda: OURS.of_bytes(3))


def test_open_sizes_fit_any_batch_also_an_empty_one(doubled):
    session = OURS.session(doubled)
    for count in (1, 7, 0, 64):
        x = torch.randn(count, 3)
        assert OURS.run(session, None, {"x": x})[0].equal(x + x)


def test_inputs_that_are_not_contiguous_or_need_gradients_are_read_by_their_elements(doubled):
    session = OURS.session(doubled)
    x = torch.randn(3, 2, requires_grad=True).t()
    assert OURS.run(session, None, {"x": x})[0].equal((x + x).detach())
    assert not OURS.run(session, None, {"x": x})[0].requires_grad


def test_a_feed_that_does_not_fit_is_an_error_of_its_kind(doubled):
    session = OURS.session(doubled, OURS.quiet())
    x = torch.ones(1, 3)

    def failure(feeds, names=None):
        return OURS.failure(lambda: OURS.run(session, names, feeds))

    assert failure({}) == "InvalidArgument: run: required inputs [x] are missing from the feeds []"
    assert failure({"x": x, "z": x}) == "InvalidArgument: run: no input named 'z'; inputs: [x]"
    assert failure({"x": x}, ["z"]) == "InvalidArgument: run: no output named 'z'; outputs: [y]"
    assert failure({"x": x.double()}) == (
        "DtypeMismatch float32 float64: run: 'x' must have dtype float32, got float64"
    )
    assert failure({"x": torch.ones(3, 2)}) == (
        "ShapeMismatch [n, 3] [3, 2]: run: 'x' must have shape [n, 3], got [3, 2]"
    )
    assert failure({"x": torch.ones(3)}).startswith("ShapeMismatch [n, 3] [3]: ")
    assert failure({"x": torch.ones(1, 3, device="meta")}) == (
        "DeviceMismatch cpu meta: run: 'x' must be on the CPU, got a tensor on meta"
    )
    assert failure({"x": x.to_sparse()}) == "InvalidArgument: run: 'x' must be a dense tensor"
    assert failure({"x": "text"}) == "InvalidArgument: run: 'x' has type tensor(float), got a value of type text"
    assert failure({"x": None}) == "InvalidArgument: run: 'x' must be a tensor for tensor(float), got nil"
    assert failure({"x": x}) == "ok"


def test_a_model_that_fails_on_its_inputs_is_an_error_with_the_words_of_the_library(tmp_path):
    node = helper.make_node("Reshape", ["x", "sizes"], ["y"])
    inputs = [("x", TensorProto.FLOAT, ("n",)), ("sizes", TensorProto.INT64, (1,))]
    path = save(tmp_path / "model.onnx", [node], inputs, [("y", TensorProto.FLOAT, ("m",))])
    session = OURS.session(path, OURS.quiet())
    reported = OURS.failure(lambda: OURS.run(session, None, {"x": torch.ones(4), "sizes": torch.tensor([3])}))
    assert reported.startswith("InvalidArgument: ONNX Runtime: ") and "cannot be reshaped" in reported


def test_missing_and_invalid_files_are_io_errors_with_their_path(tmp_path):
    missing = str(tmp_path / "missing.onnx")
    assert OURS.failure(lambda: OURS.session(missing)) == (
        f"Io: InferenceSession: cannot read '{missing}': No such file or directory"
    )
    assert "Is a directory" in OURS.failure(lambda: OURS.session(str(tmp_path)))
    (tmp_path / "text.onnx").write_text("no model")
    assert OURS.failure(lambda: OURS.session(str(tmp_path / "text.onnx"))).startswith("Io: ONNX Runtime: ")


def test_an_operator_that_the_library_lacks_is_an_error_with_its_name(tmp_path):
    node = helper.make_node("NoSuchOperator", ["x"], ["y"])
    path = save(tmp_path / "model.onnx", [node], [("x", TensorProto.FLOAT, (1,))], [("y", TensorProto.FLOAT, (1,))])
    assert "NoSuchOperator" in OURS.failure(lambda: OURS.session(path))


def test_strings_are_texts_in_nested_arrays(tmp_path):
    session = OURS.session(identity(tmp_path / "identity.onnx", TensorProto.STRING, ("n", 2)))
    texts = [["a", "bé"], ["", "déjà vu"]]
    assert OURS.run(session, None, {"x": texts})[0] == texts
    flat = OURS.session(identity(tmp_path / "flat.onnx", TensorProto.STRING, ("n",)))
    assert OURS.run(flat, None, {"x": []})[0] == []
    scalar = OURS.session(identity(tmp_path / "scalar.onnx", TensorProto.STRING, ()))
    assert OURS.run(scalar, None, {"x": "word"})[0] == "word"

    def failure(value):
        return OURS.failure(lambda: OURS.run(session, None, {"x": value}))

    assert failure([["a"], ["b", "c"]]) == "InvalidArgument: run: 'x' must be nested arrays of equal lengths"
    assert failure([["a", 3]]) == "InvalidArgument: run: 'x' must be strings, got a value of type i64"
    assert failure([["a"]]).startswith("ShapeMismatch [n, 2] [1, 1]: ")


def test_sequences_are_arrays(tmp_path):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    x = helper.make_value_info("x", kind)
    node = helper.make_node("ConcatFromSequence", ["x"], ["y"], axis=0)
    split = helper.make_node("SplitToSequence", ["y"], ["parts"], axis=0)
    outputs = [("y", TensorProto.FLOAT, ("n",)), helper.make_value_info("parts", kind)]
    session = OURS.session(save(tmp_path / "model.onnx", [node, split], [x], outputs), OURS.quiet())
    assert OURS.inputs(session)[0][1] == "seq(tensor(float))"
    y, parts = OURS.run(session, None, {"x": [torch.ones(2), torch.zeros(1)]})
    assert y.tolist() == [1.0, 1.0, 0.0]
    assert [part.tolist() for part in parts] == [[1.0], [1.0], [0.0]]
    reported = OURS.failure(lambda: OURS.run(session, None, {"x": [torch.ones(2).int()]}))
    assert reported.startswith("DtypeMismatch float32 int32: ")


def test_maps_are_dicts(tmp_path):
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["cat", "dog"])
    mapped = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    y = helper.make_value_info("y", helper.make_sequence_type_proto(mapped))
    path = save(tmp_path / "model.onnx", [node], [("x", TensorProto.FLOAT, ("n", 2))], [y])
    session = OURS.session(path)
    assert OURS.outputs(session)[0][1] == "seq(map(string,tensor(float)))"
    found = OURS.run(session, None, {"x": torch.tensor([[0.25, 0.75], [1.0, 0.0]])})
    assert found == [[{"cat": 0.25, "dog": 0.75}, {"cat": 1.0, "dog": 0.0}]]


def test_a_map_is_an_input(tmp_path):
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b", "c"])
    kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    x = helper.make_value_info("x", kind)
    session = OURS.session(save(tmp_path / "model.onnx", [node], [x], [("y", TensorProto.FLOAT, (1, 3))]))
    assert OURS.run(session, None, {"x": {"c": 3.0, "a": 1.5}})[0].flatten().tolist() == [1.5, 0.0, 3.0]


def test_an_absent_optional_output_is_nil(tmp_path):
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, (2,))
    x = helper.make_value_info("x", helper.make_optional_type_proto(tensor))
    nodes = [helper.make_node("OptionalHasElement", ["x"], ["y"])]
    path = save(tmp_path / "model.onnx", nodes, [x], [("y", TensorProto.BOOL, ())])
    session = OURS.session(path, OURS.quiet())
    assert OURS.run(session, None, {"x": torch.ones(2)})[0].item() is True


def test_a_closed_session_rejects_runs_and_its_outputs_stay(doubled):
    tools = run(
        r"""
        use torch
        use onnxruntime as ort
        fn outputs(path):
            var kept = []
            with ort.InferenceSession(path) as session: kept = session.run(nil, {"x": torch.ones(2, 3)})
            kept[0] + 1.0
        fn closed(path):
            val session = ort.InferenceSession(path)
            session.close()
            session.close()
            session
        """
    )
    assert tools.outputs(doubled).tolist() == [[3.0] * 3] * 2
    session = tools.closed(doubled)
    reported = OURS.failure(lambda: OURS.run(session, None, {"x": torch.ones(2, 3)}))
    assert reported == "InvalidArgument: run: the session is closed"
    assert [name for name, _, _ in OURS.inputs(session)] == ["x"]


def test_a_bound_output_is_written_to_its_tensor(doubled):
    tools = run(
        r"""
        use torch
        use onnxruntime as ort
        fn bound(path, x, y):
            val session = ort.InferenceSession(path)
            val binding = session.io_binding()
            binding.bind_input("x", x)
            binding.bind_output("y", y)
            session.run_with_iobinding(binding)
            x.fill_(5.0)
            session.run_with_iobinding(binding)
            (binding.get_outputs()[0], binding.copy_outputs_to_cpu()[0])
        fn failure(path, y): torch.attempt(\: bound(path, torch.ones(2, 3), y)).unwrap_err().message()
        """
    )
    x, y = torch.ones(2, 3), torch.zeros(2, 3)
    version = y._version
    output, copied = tools.bound(doubled, x, y)
    assert y.tolist() == [[10.0] * 3] * 2 and y._version > version
    assert output.data_ptr() == y.data_ptr() and copied.data_ptr() != y.data_ptr()
    assert tools.bound(doubled, torch.ones(2, 3), None)[0].tolist() == y.tolist()
    assert "'y' must have dtype float32, got float64" in tools.failure(doubled, torch.zeros(2, 3).double())
    assert "must be a contiguous tensor without gradients" in tools.failure(doubled, torch.zeros(3, 2).t())
    assert tools.failure(doubled, torch.zeros(5, 3)).startswith("ONNX Runtime: ")
    assert "'y' must be a tensor or nil, got text" in tools.failure(doubled, "y")


def test_options_reach_the_library(doubled, tmp_path):
    optimized = tmp_path / "optimized.onnx"
    prefix = str(tmp_path / "profile")
    options = OURS.options(
        {
            "intra_op_num_threads": 1,
            "inter_op_num_threads": 1,
            "graph_optimization_level": 1,
            "execution_mode": 1,
            "log_severity_level": 3,
            "log_verbosity_level": 0,
            "logid": "tested",
            "enable_mem_pattern": False,
            "enable_cpu_mem_arena": False,
            "use_deterministic_compute": True,
            "optimized_model_filepath": str(optimized),
            "enable_profiling": True,
            "profile_file_prefix": prefix,
            "config session.intra_op.allow_spinning": "0",
            "dimension n": 2,
        }
    )
    session = OURS.session(doubled, options)
    assert OURS.run(session, None, {"x": torch.ones(2, 3)})[0].sum().item() == 12.0
    assert optimized.exists()
    assert OURS.inputs(session)[0][2] == [2, 3]
    profile = session.end_profiling()
    assert profile.startswith(prefix) and os.path.getsize(profile) > 100


def test_wrong_options_and_providers_are_errors(doubled):
    tools = run(
        r"""
        use torch
        use onnxruntime as ort
        fn failure(path, name, value):
            val options = ort.SessionOptions()
            setattr(options, name, value)
            torch.attempt(\: ort.InferenceSession(path, sess_options: options)).unwrap_err().message()
        fn providers(path, names, options):
            ort.InferenceSession(path, providers: names.to_value(), provider_options: options)
        fn provider_failure(path, names, options = nil):
            torch.attempt(\: providers(path, names, options)).unwrap_err()
        fn available(): ort.get_available_providers()
        fn names(path): ort.InferenceSession(path, providers: [("CPUExecutionProvider", {})]).get_providers()
        fn other(path): torch.attempt(\: ort.InferenceSession(path, sess_options: 3)).unwrap_err().message()
        fn entry(): torch.attempt(\: ort.SessionOptions().get_session_config_entry("x")).unwrap_err().message()
        fn version(): ort.__version__
        fn level(): [ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.ExecutionMode.ORT_PARALLEL]
        """
    )
    assert "intra_op_num_threads must be non-negative, got -1" in tools.failure(doubled, "intra_op_num_threads", -1)
    assert "graph_optimization_level" in tools.failure(doubled, "graph_optimization_level", 50)
    assert tools.available() == onnxruntime.get_available_providers()
    assert tools.version() == onnxruntime.__version__
    assert tools.names(doubled) == ["CPUExecutionProvider"]
    assert (
        tools.provider_failure(doubled, ["CUDAExecutionProvider"])
        .message()
        .startswith("InferenceSession: this ONNX Runtime has no provider 'CUDAExecutionProvider'; available: ")
    )
    assert "sess_options must be a SessionOptions" in tools.other(doubled)
    assert "there is no entry 'x'" in tools.entry()
    assert list(tools.level()) == [99, 1]


def test_malformed_arguments_of_the_c_abi_are_errors(doubled):
    tools = run(
        r"""
        use torch.error.{last_error}
        use torch.ffi.{rt_torch_onnx_session_new, rt_torch_onnx_session_nodes, rt_torch_onnx_session_run}
        use torch.ffi.{rt_torch_onnx_runtime_open}
        fn run(session, kinds, values):
            rt_torch_onnx_session_run(session.handle, [], ["x"], kinds, values.to_value(), [], [])
            last_error().message()
        fn uneven(path):
            rt_torch_onnx_session_new(path, 0, ["logid"], [], )
            last_error().message()
        fn nodes(session):
            rt_torch_onnx_session_nodes(session.handle, 3)
            last_error().message()
        fn options(path, name):
            rt_torch_onnx_session_new(path, 0, [name], ["much"])
            last_error().message()
        """
    )
    session = OURS.session(doubled)
    assert tools.run(session, "q", [3]).endswith("the values end inside a sequence or map")
    assert tools.run(session, "q", [-1]).endswith("a size must be a non-negative integer")
    assert tools.run(session, "z", [3]).endswith("unknown letter z, expected t, s, q, m or n")
    assert tools.run(session, "s", [3]).endswith("an array with the number of sizes, the sizes and the strings")
    assert tools.run(session, "s", [[2, 1]]).endswith("an array of strings lacks sizes")
    assert tools.run(session, "s", [[1, 2, "a"]]).endswith("expected 2 strings, got 1")
    assert tools.run(session, "s", [[1, 1, 5]]).endswith("the strings of a value must be strings, got Int")
    assert tools.run(session, "nn", [None, None]).endswith("1 names for 2 values")
    assert tools.run(session, "n", []) == "kinds has 1 letters for 0 values"
    assert tools.run(session, "q" * 150, [1] * 150).endswith("a value is nested too deeply")
    assert tools.uneven(doubled) == "1 names for 0 options"
    assert tools.nodes(session) == "which must be 0, 1 or 2, got 3"
    assert tools.options(doubled, "intra_op_num_threads") == (
        "SessionOptions: intra_op_num_threads must be an integer, got much"
    )
    assert tools.options(doubled, "color") == "SessionOptions: color is not an option"


def test_without_the_library_a_session_is_unavailable_with_the_command_that_installs_it(tmp_path):
    (tmp_path / "program.spl").write_text(
        """use torch
use torch.error.{last_error}
use torch.ffi.{rt_torch_onnx_runtime_open, rt_torch_onnx_providers}
rt_torch_onnx_providers()
print last_error()
rt_torch_onnx_runtime_open("/nonexistent")
match last_error():
    case torch.TorchError.Unavailable(message): print message
"""
    )
    done = subprocess.run([os.environ["SIMPLE_HOST"], tmp_path / "program.spl"], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "ONNX Runtime: the library is not open; open its folder first",
        "ONNX Runtime: there is no libonnxruntime.so in '/nonexistent'; install it: pip install onnxruntime",
    ]


def test_threads_share_a_session(doubled):
    session = OURS.session(doubled)
    wrong = []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(50):
            x = torch.randn(16, 3, generator=generator)
            if not OURS.run(session, None, {"x": x})[0].equal(x + x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_runs_do_not_copy_inputs_and_keep_no_memory(tmp_path):
    node = helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)
    path = save(tmp_path / "sum.onnx", [node], [("x", TensorProto.FLOAT, ("n",))], [("y", TensorProto.FLOAT, ())])
    session = OURS.session(path)
    x = torch.ones(50_000_000)  # 200 MB
    OURS.run(session, None, {"x": x})
    before, peak = memory("VmRSS"), memory("VmHWM")
    for _ in range(20):
        assert OURS.run(session, None, {"x": x})[0].item() == 50_000_000
    assert memory("VmHWM") - peak < 50_000
    assert memory("VmRSS") - before < 50_000


def memory(name) -> int:
    """Return a number of the process in kB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def test_a_child_after_a_fork_gets_an_error_and_opens_its_own_session(doubled):
    session = OURS.session(doubled)
    OURS.run(session, None, {"x": torch.ones(1, 3)})
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        reported = OURS.failure(lambda: OURS.run(session, None, {"x": torch.ones(1, 3)}))
        os.write(writer, reported.encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        reported = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    assert reported.startswith("InvalidArgument: run: the session was opened before a fork")
    assert np.isfinite(OURS.run(session, None, {"x": torch.ones(1, 3)})[0].numpy()).all()
