"""The public names of Python's modules exist in Simple; exceptions are listed with the reason."""

from __future__ import annotations

import importlib
import types

import pytest
from embedded_simple import run

OURS = run(
    """
    use torch
    extern fn rt_member(of: [any], name: text)
    fn followed(path):
        var at = torch
        for part in path.split(".")[1:]: at = rt_member([at], part)
        at
    fn missing(path, names):
        val place = followed(path)
        [for name in names.split(" ") if attempt(\\: rt_member([place], name)).is_err(): name]
    """,
    name="names",
)

OLD = "an old name of what is there under a newer one, which PyTorch warns of"
PROCESSES = "several devices or processes"
INSIDE = "internals of PyTorch, next to its functions"
FLOAT8 = "products of scaled float8 matrices, for GPUs"
QUANTIZED = "quantized modules"
SAVED = "saved and recomputed by operators that are chosen: it needs Python's dispatch"
KERNELS = "which kernels of GPUs attention may take, and why not"
COMPILED = "attention whose kernels Python's compiler makes"

MISSING = {
    "torch.nn": {
        PROCESSES: "parallel",
        OLD: "Container",
        INSIDE: "common_types factory_kwargs grad",
        QUANTIZED: "intrinsic qat quantizable quantized",
    },
    "torch.nn.functional": {
        FLOAT8: "ScalingType SwizzleType grouped_mm scaled_grouped_mm scaled_mm scaled_addmm scaled_addmm_",
        INSIDE: "BroadcastingList1 BroadcastingList2 BroadcastingList3 GRID_SAMPLE_INTERPOLATION_MODES "
        "GRID_SAMPLE_PADDING_MODES TYPE_CHECKING Tensor assert_int_or_pair boolean_dispatch handle_torch_function "
        "has_torch_function has_torch_function_unary has_torch_function_variadic reproducibility_notes "
        "sparse_support_notes tf32_notes",
    },
    "torch.nn.init": {
        OLD: "constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal "
        "xavier_uniform",
        INSIDE: "Tensor",
    },
    "torch.nn.utils": {OLD: "clip_grad_norm", INSIDE: "clip_grad convert_parameters fusion init memory_format"},
    "torch.nn.utils.prune": {},
    "torch.nn.utils.parametrize": {
        "classes stay what they are here": "type_before_parametrizations transfer_parametrizations_and_params",
        INSIDE: "CustomClassBase Module ModuleDict ModuleList Parameter Tensor get_swap_module_params_on_conversion "
        "is_opaque_symbolic_type is_traceable_wrapper_subclass",
    },
    "torch.nn.utils.parametrizations": {INSIDE: "Module Tensor"},
    "torch.nn.utils.rnn": {INSIDE: "PackedSequence_ Tensor bind copy_method_params"},
    "torch.nn.attention": {
        KERNELS: "SDPAParams WARN_FOR_UNFUSED_KERNELS activate_flash_attention_impl can_use_efficient_attention "
        "can_use_flash_attention current_flash_attention_impl list_flash_attention_impls "
        "register_flash_attention_impl restore_flash_attention_impl",
        INSIDE: "ContextVar warn bias varlen",
        COMPILED: "flex_attention",
    },
    "torch.optim": {INSIDE: "functional swap_in_optimizer_params_and_state"},
    "torch.optim.lr_scheduler": {INSIDE: "EPOCH_DEPRECATION_WARNING Optimizer TYPE_CHECKING Tensor bisect_right inf"},
    "torch.optim.swa_utils": {INSIDE: "LRScheduler Module Optimizer PARAM_LIST TYPE_CHECKING Tensor"},
    "torch.autograd": {
        "times of operations are not taken by the library": "DeviceType ProfilerActivity ProfilerConfig ProfilerEvent "
        "ProfilerState kineto_available profiler profiler_legacy profiler_util",
        OLD: "NestedIOFunction variable",
        INSIDE: "SavedTensor anomaly_mode enforce_grad_layout_policy grad_mode handle_torch_function "
        "has_torch_function is_tensor_like is_view_replay_enabled",
    },
    "torch.autograd.functional": {},
    "torch.autograd.forward_ad": {INSIDE: "UnpackedDualTensor"},
    "torch.autograd.function": {
        OLD: "InplaceFunction NestedIOFunction",
        INSIDE: "AUTOGRAD_FUNCTION_COUNTER BackwardCFunction FunctionMeta custom_function_call",
    },
    "torch.autograd.graph": {
        "it needs Python's dispatch": "allow_mutation_on_saved_tensors",
        INSIDE: "RemovableHandle TYPE_CHECKING TorchDispatchMode Variable log node_creation_hook queue_callback "
        "region_activation_memory_budget set_override_stale_capture_stream "
        "set_warn_on_accumulate_grad_stream_mismatch",
    },
    "torch.func": {"tracing by Python's dispatch": "functionalize", INSIDE: "debug_unwrap"},
    "torch.utils.checkpoint": {
        SAVED: "CheckpointPolicy SAC_IGNORED_OPS SelectiveCheckpointContext create_selective_checkpoint_contexts "
        "noop_context_fn GraphExecGroup",
        "reentrant checkpoints": "CheckpointFunction check_backward_validity detach_variable",
        INSIDE: "CheckpointError DefaultDeviceType LoggingTensorMode SavedTensor TYPE_CHECKING TorchDispatchMode "
        "capture_logs get_device_states set_checkpoint_debug_enabled set_checkpoint_early_stop set_device_states "
        "tree_map",
    },
}
LIBRARY = ("typing", "collections", "functools", "itertools", "contextlib", "abc", "math", "operator", "copy")
LIBRARY += ("typing_extensions", "weakref", "_weakref", "enum", "builtins", "warnings")


def names_of(path: str) -> list[str]:
    """The names that `path` exports: no foreign modules, nothing of Python's library, no future statements."""
    module = importlib.import_module(path)
    found = []
    for name in dir(module):
        value = getattr(module, name)
        is_module = isinstance(value, types.ModuleType)
        if name.startswith("_") or name == "annotations" or (is_module and value.__name__ != f"{path}.{name}"):
            continue
        home = getattr(value, "__module__", None)
        if is_module or not (isinstance(home, str) and home.split(".")[0] in LIBRARY):
            found.append(name)
    return found


@pytest.mark.parametrize("path", MISSING)
def test_public_names_of_python_exist(path):
    listed = {name for names in MISSING[path].values() for name in names.split()}
    exported = names_of(path)
    assert len(exported) > 3
    missing = set(OURS.missing(path, " ".join(exported)))
    assert missing - listed == set()
    assert {name for name in listed & set(exported) if name not in missing} == set(), (
        "is there now: take it off the list"
    )
