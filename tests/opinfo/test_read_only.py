"""Read-only memory: operators that read accept it, except those in a list; operators that write reject it.

The operators are those of PyTorch's samples, with their in-place and `out=` forms, and composite operators, called by
name. SIMPLE_LONG_TESTS=1 uses more samples. A change of LibTorch fails here; docs/dlpack-read-only.md has the list for
users.
"""

from __future__ import annotations

import itertools
import os
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

from embedded_abi import AbiError, Unreplayable  # noqa: E402
from read_only import Findings, Probe, ReadOnlyAbi  # noqa: E402

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "dlpack-read-only.md"
LONG = os.environ.get("SIMPLE_LONG_TESTS") == "1"
SAMPLES, CALLS = (4, 4) if LONG else (2, 2)  # of each operator with each dtype; of each overload with each
DTYPES = (
    torch.float32,
    torch.int64,
    torch.complex64,
    torch.bool,
    torch.bfloat16,
)  # a short run uses the first available
LEAST_OVERLOADS, LEAST_WRITERS = 560, 575

# Readers that LibTorch rejects, and the arguments that must not be read-only.
REJECTED = {
    "aten._ctc_loss_backward.Tensor": {"neg_log_likelihood"},
    "aten._ctc_loss_backward.default": {"neg_log_likelihood"},
    "aten._scaled_dot_product_flash_attention_for_cpu.default": {"attn_mask"},
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default": {"attn_mask"},
    "aten.aminmax.default": {"self"},  # bools, also below
    "aten.channel_shuffle.default": {"self"},
    "aten.lstm.input": {"input", "hx", "params"},
    "aten.max.default": {"self"},
    "aten.min.default": {"self"},
    "aten.native_batch_norm.default": {"running_mean", "running_var"},  # it writes them; the schema does not declare it
}
if torch.__version__.startswith("2.11"):
    REJECTED["aten._ctc_loss_backward.Tensor"] |= {"input_lengths", "target_lengths"}
# Rejected by name with every tensor read-only, in addition to those: they write, if only running statistics.
WRITERS_BY_NAME = {"_native_batch_norm_legit", "_batch_norm_with_update", "zero_"}
# Forms that write to the tensor's fields (sizes, strides) and not to its memory.
FIELDS_ONLY = {
    "aten.as_strided_.default",
    "aten.detach_.default",
    "aten.resize_.default",
    "aten.resize_as_.default",
    "aten.squeeze_.default",
    "aten.squeeze_.dim",
    "aten.squeeze_.dims",
    "aten.t_.default",
    "aten.transpose_.default",
    "aten.unsqueeze_.default",
}
WHILE_TRAINING_ONLY = {"aten._native_batch_norm_legit.default", "aten.rrelu_with_noise.default"}
# Integers and bools have no NaN; there may be no index.
WHERE_THERE_IS_SOMETHING_TO_WRITE = {"aten.nan_to_num_.default", "aten.scatter_add_.default"}


def samples():
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        dtypes = [dtype for dtype in DTYPES if dtype in op.supported_dtypes("cpu")]
        for dtype in dtypes if LONG else dtypes[:1]:
            needs_grad = dtype == torch.float32 and op.supports_autograd
            yield op, itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=needs_grad), SAMPLES)


def differentiate(result) -> None:
    for tensor in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
            tensor.sum().abs().backward(retain_graph=True)


def detached(value):
    return torch.utils._pytree.tree_map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, value)


def is_rejected_by_name(abi: ReadOnlyAbi, op, sample) -> bool:
    try:
        abi.call_by_name_locked(op.name.split(".")[-1], detached([sample.input, *sample.args]), detached(sample.kwargs))
    except AbiError as error:
        return "read-only" in str(error)
    except (Unreplayable, AttributeError):
        pass  # cannot be passed: a list of tensors and others
    return False


def probe_samples(abi: ReadOnlyAbi, findings: Findings, by_name: set[str]) -> None:
    for op, generated in samples():
        try:
            for sample in generated:
                with Probe(abi, findings, CALLS, REJECTED):
                    differentiate(op(sample.input, *sample.args, **sample.kwargs))
                if is_rejected_by_name(abi, op, sample):
                    by_name.add(op.name)
        except (RuntimeError, NotImplementedError, AssertionError, TypeError, ValueError, ImportError):
            continue  # PyTorch itself rejects the sample here, as without CUDA


def probe_recurrent_layers(probe: Probe) -> None:
    """The samples do not include them."""
    x, state = torch.randn(4, 2, 3), torch.randn(1, 2, 5)
    for name, gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        weights = [torch.randn(5 * gates, 3), torch.randn(5 * gates, 5), torch.randn(5 * gates), torch.randn(5 * gates)]
        states = [state, state.clone()] if name == "lstm" else state
        func = getattr(torch.ops.aten, name).input
        probe.try_readers(func, [x, states, weights, True, 1, 0.0, False, False, False])


def probe_attention(probe: Probe) -> None:
    """The first samples have no mask."""
    query, key, value = torch.randn(3, 4, 4, 6, 8)
    mask = torch.zeros(6, 6)
    forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    out, logsumexp = forward(query, key, value, attn_mask=mask)
    probe.try_readers(forward.default, [query, key, value, 0.0, False, mask])
    probe.try_readers(backward.default, [out, query, key, value, out, logsumexp, 0.0, False, mask])


def probe_extremes(probe: Probe) -> None:
    """The samples of a short run have no bools."""
    for func in (torch.ops.aten.max.default, torch.ops.aten.min.default, torch.ops.aten.aminmax.default):
        probe.try_readers(func, [torch.tensor([True, False])])


@pytest.fixture(scope="module")
def abi() -> ReadOnlyAbi:
    warnings.simplefilter("ignore")
    return ReadOnlyAbi()


@pytest.fixture(scope="module")
def by_name() -> set[str]:
    return set()


@pytest.fixture(scope="module")
def findings(abi, by_name) -> Findings:
    found = Findings()
    probe_samples(abi, found, by_name)
    probe_recurrent_layers(Probe(abi, found, CALLS))
    probe_attention(Probe(abi, found, CALLS))
    probe_extremes(Probe(abi, found, CALLS))
    assert abi.live() == 0
    print(f"\n{len(found.overloads())} overloads; {len(found.writers)} that write: "
          f"{sum(bool(each['read-only']) for each in found.writers.values())} rejected")  # fmt: skip
    return found


def test_rejected_readers_are_those_in_the_list(findings: Findings, by_name: set[str]) -> None:
    assert findings.rejected == REJECTED
    readers = {overload.split(".")[1] for overload in REJECTED}
    assert {name for name in by_name if name.split(".")[-1] not in readers} == WRITERS_BY_NAME
    assert by_name >= {"nn.functional.channel_shuffle", "native_batch_norm"}


def test_documentation_has_the_list() -> None:
    text = DOCUMENT.read_text()
    names = {overload.split(".")[1] for overload in REJECTED}
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_documentation_shows_the_error(findings: Findings) -> None:
    shown = " ".join(DOCUMENT.read_text().split("```")[1].split())
    assert {message for message in findings.messages if shown not in " ".join(message.split())} == set()


def test_no_reader_fails_for_another_reason(findings: Findings) -> None:
    assert findings.failed == {}


def test_read_only_memory_never_changes(findings: Findings) -> None:
    assert findings.changed == set()


def test_writers_are_rejected(findings: Findings) -> None:
    wrote_nothing = {name for name, outcomes in findings.writers.items() if outcomes["nothing written"]}
    assert wrote_nothing <= FIELDS_ONLY | WHILE_TRAINING_ONLY | WHERE_THERE_IS_SOMETHING_TO_WRITE
    assert wrote_nothing >= FIELDS_ONLY


def test_each_error_mentions_read_only_and_suggests_a_clone(findings: Findings) -> None:
    assert findings.messages
    assert {message for message in findings.messages if "use its .clone()" not in message} == set()


def test_probe_coverage_does_not_shrink(findings: Findings) -> None:
    assert len(findings.overloads()) >= LEAST_OVERLOADS
    assert sum(bool(each["read-only"]) for each in findings.writers.values()) >= LEAST_WRITERS
