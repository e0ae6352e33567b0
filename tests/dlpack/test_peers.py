"""Imports arrays of other libraries into Simple and exports tensors to them: dtype by dtype, layout by layout.

For each peer one host process runs `peers/round_trips.spl` with `peers/PEER_peer.py`, which creates, reads and writes
the peer's arrays, and prints the outcomes. The tables in this file have the expected outcomes.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

HOST = os.environ.get("SIMPLE_HOST", "")
pytestmark = pytest.mark.skipif(not HOST, reason="SIMPLE_HOST is not set")
torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

FOLDER = Path(__file__).parent / "peers"


def is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def is_at_least(package: str, *wanted: int) -> bool:
    return is_there(package) and tuple(map(int, version(package).split(".")[: len(wanted)])) >= wanted


# ---- the values

NUMBERS = [1, 2, 4, 8, 16, 32]  # two rows of three; powers of two, which every dtype represents
BOOLS = [1, 1, 0, 1, 0, 0]


@dataclass(frozen=True)
class Layout:
    """The layout of an array over the numbers."""

    shape: list[int]
    strides: list[int]
    order: list[int]  # the numbers in row-major order
    dense: list[int] | None = None  # the strides of libraries that only have contiguous rows


LAYOUTS = {
    "rows": Layout([2, 3], [3, 1], [0, 1, 2, 3, 4, 5]),
    "transposed": Layout([3, 2], [1, 3], [0, 3, 1, 4, 2, 5], dense=[2, 1]),
    "strided": Layout([2, 2], [3, 2], [0, 2, 3, 5], dense=[2, 1]),
    "scalar": Layout([], [], [4]),
    "empty": Layout([0, 3], [3, 1], []),
    "broadcast": Layout([2, 3], [0, 1], [0, 1, 2, 0, 1, 2], dense=[3, 1]),
    "reversed": Layout([2, 3], [3, -1], [2, 1, 0, 5, 4, 3], dense=[3, 1]),
    "offset": Layout([1, 3], [3, 1], [3, 4, 5]),
    "read-only": Layout([2, 3], [3, 1], [0, 1, 2, 3, 4, 5]),
}
ONE_DIMENSION = {"rows": Layout([6], [1], [0, 1, 2, 3, 4, 5]), "offset": Layout([3], [1], [3, 4, 5])}

FLOAT4 = "float4_e2m1fn_x2"  # compared as bytes
FLOAT8S = "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
INTEGERS = "uint8 uint16 uint32 uint64 int8 int16 int32 int64"
COMMON = f"bool {INTEGERS} float16 float32 float64 complex64 complex128"
DTYPES = f"{COMMON} bfloat16 complex32 {FLOAT8S} {FLOAT4}"
ALL = "*"


def values(dtype: str, layout: Layout) -> list[float]:
    numbers = [float((BOOLS if dtype == "bool" else NUMBERS)[i]) for i in layout.order]
    return [part for number in numbers for part in (number, number)] if dtype.startswith("complex") else numbers


# ---- outcomes

EITHER = "the same or another"  # depends on the address


@dataclass(frozen=True)
class Shared:
    """Imported with shared memory. A write is visible, or fails with the message.

    `here` is a write of Simple that the peer sees, `there` a write of the peer that Simple sees. For an import from a
    peer with immutable arrays, `there` is a direct write to the memory.
    """

    here: str = "seen"
    there: str = "seen"
    address: str = "same"  # "same", "another" or EITHER
    dtype: str = ""  # if it differs
    layout: dict[str, Layout] | None = None  # if it differs
    import_path: str = ""  # if it differs


@dataclass(frozen=True)
class Rejected:
    """The consumer rejects the array with this message."""

    message: str


@dataclass(frozen=True)
class Absent:
    """The peer cannot create such an array, and reports it."""

    message: str


Outcome = Shared | Rejected | Absent


@dataclass(frozen=True)
class Row:
    """The outcome for these carriers, dtypes and layouts. The first row of a table that matches applies.

    `carrier` is "in" for an import. For an export it is "tensor" (the peer receives the tensor itself and calls its
    __dlpack__) or "capsule" (the peer receives the DLPack 1 capsule of to_dlpack()).
    """

    carrier: str
    dtypes: str
    layouts: str
    outcome: Outcome

    def fits(self, carrier: str, dtype: str, layout: str) -> bool:
        return (
            carrier == self.carrier
            and (self.dtypes == ALL or dtype in self.dtypes.split())
            and (self.layouts == ALL or layout in self.layouts.split())
        )


@dataclass(frozen=True)
class Peer:
    name: str
    import_path: str  # the protocol of its imports
    rows: list[Row]
    is_dense: bool = False
    on_cuda: bool = False
    package: str = ""  # if it differs from the name
    why_copied: str = "the producer copied its memory (flag IS_COPIED)"
    always_copies: str = ""  # the message for `copy: false`, if the peer always copies


UNSUPPORTED = "BufferError" if is_at_least("numpy", 2, 5) else "RuntimeError"
ITSELF = "the NumPy array itself"
BUFFER = "the buffer protocol"
METHOD = "__dlpack__ with versions"
LEGACY = "__dlpack__ without versions"
ASKED = "a copy was requested"

READ_ONLY = "the tensor is read-only: its memory was imported without write access"
NEGATIVE = "strides[1] must be non-negative, got -1 (torch has no negative strides); copy the array in the producer"
# torch.Tensor.__dlpack__ cannot export read-only memory; to_dlpack() can.
NO_READ_ONLY_TENSORS = Row("tensor", ALL, "read-only", Rejected("pass a clone(), or a simple_torch.Tensor"))
READ_ONLY_CAPSULES = Row("capsule", ALL, "read-only", Shared(READ_ONLY, "assignment destination is read-only"))

NUMPY = Peer(
    "numpy",
    ITSELF,
    [
        # Only NumPy's own dtypes: neither its DLPack nor its buffers support those of ml_dtypes.
        Row("in", f"bfloat16 complex32 {FLOAT8S} {FLOAT4}", ALL, Rejected("BufferError: cannot include dtype '")),
        Row("in", ALL, "reversed", Rejected(NEGATIVE)),
        Row("in", ALL, "broadcast read-only", Shared(here=READ_ONLY)),
        Row("in", ALL, ALL, Shared()),
        NO_READ_ONLY_TENSORS,
        Row("tensor", FLOAT4, ALL, Rejected(f"{UNSUPPORTED}: Unsupported lanes in DLTensor dtype.")),
        Row("tensor", f"bfloat16 complex32 {FLOAT8S}", ALL, Rejected(f"{UNSUPPORTED}: Unsupported dtype in DLTensor.")),
        Row("tensor", ALL, ALL, Shared()),
        Row("capsule", FLOAT4, ALL, Rejected(f"{UNSUPPORTED}: Unsupported lanes in DLTensor dtype.")),
        Row(
            "capsule", f"bfloat16 complex32 {FLOAT8S}", ALL, Rejected(f"{UNSUPPORTED}: Unsupported dtype in DLTensor.")
        ),
        READ_ONLY_CAPSULES,
        Row("capsule", ALL, ALL, Shared()),
    ],
    why_copied=ASKED,
)

TORCH = Peer(
    "torch",
    "a torch tensor",
    [
        Row("in", ALL, "reversed read-only", Absent("TypeError: torch has no")),
        Row("in", ALL, ALL, Shared()),
        NO_READ_ONLY_TENSORS,
        Row("tensor", ALL, ALL, Shared()),
        # Python's torch ignores flags: it writes to all memory that it imports.
        Row("capsule", ALL, "read-only", Shared(here=READ_ONLY)),
        Row("capsule", ALL, ALL, Shared()),
    ],
    why_copied=ASKED,
)

JAX_IMMUTABLE = "TypeError: JAX arrays are immutable"
# JAX 0.12 and later export and import DLPack 1.
JAX_KNOWS_DLPACK_1 = is_at_least("jax", 0, 12)
JAX_EXPORTS_BY = METHOD if JAX_KNOWS_DLPACK_1 else LEGACY
# JAX 0.6, the last for Python 3.10, ignores strides and reads memory in row-major order, also for NumPy arrays.
JAX_MISREADS = {"transposed": Layout([3, 2], [1, 3], [0, 1, 2, 3, 4, 5])}
JAX_TRANSPOSES = is_at_least("jax", 0, 7)


def jax_takes(carrier: str) -> list[Row]:
    misread = Row(carrier, ALL, "transposed", Shared(there=JAX_IMMUTABLE, layout=JAX_MISREADS))
    return [
        Row(carrier, "complex32", ALL, Rejected("Invalid or unsupported DLPack complex width: 32 bits")),
        Row(carrier, FLOAT4, ALL, Rejected("DLPack types with lanes != 1 not implemented, got 2")),
        Row(carrier, ALL, "strided broadcast", Rejected("Only DLPack tensors with trivial (compact) striding")),
        # JAX copies memory that is not aligned to 64 bytes, without a report.
        Row(carrier, "complex128", "scalar", Shared(there=JAX_IMMUTABLE)),
        Row(carrier, ALL, "scalar offset", Shared("unseen", JAX_IMMUTABLE, address="another")),
        *([] if JAX_TRANSPOSES else [misread]),
        Row(carrier, ALL, ALL, Shared(there=JAX_IMMUTABLE)),
    ]


OLD_CAPSULE = Row("capsule", ALL, ALL, Rejected('DLPack tensor must be a capsule with name "dltensor"'))
JAX_HAS_NO = "TypeError: Error interpreting argument" if JAX_TRANSPOSES else "is not a valid JAX array type"
JAX_CAPSULES = [
    Row("capsule", f"complex32 {FLOAT4}", "read-only", Rejected("UNIMPLEMENTED")),
    Row("capsule", ALL, "read-only", Shared(READ_ONLY, JAX_IMMUTABLE, address=EITHER)),
    *jax_takes("capsule"),
]
JAX = Peer(
    "jax",
    BUFFER,
    [
        Row("in", ALL, "read-only", Absent("TypeError: JAX cannot create read-only arrays; all are immutable")),
        Row("in", "complex32", ALL, Absent(JAX_HAS_NO)),
        Row("in", FLOAT4, ALL, Rejected("dtype.lanes must be 2, got 1")),
        # Immutable, which its buffers report. These dtypes have only capsules, which did not report it.
        Row("in", f"bfloat16 {FLOAT8S}", ALL, Shared(here=READ_ONLY, import_path=JAX_EXPORTS_BY)),
        Row("in", ALL, ALL, Shared(here=READ_ONLY)),
        NO_READ_ONLY_TENSORS,
        *jax_takes("tensor"),
        *(JAX_CAPSULES if JAX_KNOWS_DLPACK_1 else [OLD_CAPSULE]),
    ],
    is_dense=True,
    why_copied=ASKED,
)

TENSORFLOW_IMMUTABLE = "EagerTensor' object does not support item assignment"
TENSORFLOW = Peer(
    "tensorflow",
    BUFFER,
    [
        Row("in", ALL, "read-only", Absent("TypeError: TensorFlow cannot create read-only tensors; all are immutable")),
        Row("in", "complex32 float8_e8m0fnu", ALL, Absent("ValueError: Failed to convert a NumPy array")),
        Row("in", "float8_e4m3fn", ALL, Rejected("DT_FLOAT8_E4M3FN is not supported by dlpack")),
        Row("in", "float8_e4m3fnuz", ALL, Rejected("DT_FLOAT8_E4M3FNUZ is not supported by dlpack")),
        Row("in", "float8_e5m2", ALL, Rejected("DT_FLOAT8_E5M2 is not supported by dlpack")),
        Row("in", "float8_e5m2fnuz", ALL, Rejected("DT_FLOAT8_E5M2FNUZ is not supported by dlpack")),
        Row("in", FLOAT4, ALL, Rejected("DT_FLOAT4_E2M1FN is not supported by dlpack")),
        Row("in", "bfloat16", ALL, Shared(here=READ_ONLY, import_path=LEGACY)),  # as JAX
        Row("in", ALL, ALL, Shared(here=READ_ONLY)),
        NO_READ_ONLY_TENSORS,
        Row("tensor", "complex32", ALL, Rejected("Unsupported Complex bits: 32")),
        Row("tensor", f"{FLOAT8S} {FLOAT4}", ALL, Rejected("Unsupported Type Codes: 1")),
        Row("tensor", ALL, "transposed strided broadcast", Rejected("Invalid strides array from DLPack")),
        Row("tensor", ALL, ALL, Shared(there=TENSORFLOW_IMMUTABLE)),
        OLD_CAPSULE,
    ],
    is_dense=True,
    why_copied=ASKED,
)

NOT_ARROWS = f"bfloat16 complex32 complex64 complex128 {FLOAT8S} {FLOAT4}"
# Arrays (one-dimensional, immutable) in the layouts rows and offset, tensors in the others.
PYARROW = Peer(
    "pyarrow",
    METHOD,
    [
        Row("in", ALL, "reversed", Absent("ArrowInvalid: Negative ndarray strides not supported")),
        Row(
            "in",
            "bool",
            "rows offset",
            Rejected("ArrowTypeError: Bit-packed boolean data type"),
        ),
        Row("in", "bool", "broadcast read-only", Shared(here=READ_ONLY, dtype="uint8")),
        Row("in", "bool", ALL, Shared(dtype="uint8")),  # Arrow's conversion of NumPy's bool in a tensor
        Row("in", NOT_ARROWS, ALL, Absent("ArrowNotImplementedError: Unsupported numpy type")),
        Row("in", ALL, "rows offset", Shared(here=READ_ONLY, layout=ONE_DIMENSION)),
        Row("in", ALL, "broadcast read-only", Shared(here=READ_ONLY)),
        Row("in", ALL, ALL, Shared()),
        NO_READ_ONLY_TENSORS,
        Row("tensor", FLOAT4, ALL, Rejected("ArrowTypeError: Only type with one lane are supported.")),
        Row(
            "tensor",
            f"bool bfloat16 complex32 complex64 complex128 {FLOAT8S}",
            ALL,
            Rejected("ArrowInvalid: unsupported DLPack type"),
        ),
        Row("tensor", ALL, ALL, Shared()),
        Row("capsule", FLOAT4, ALL, Rejected("ArrowTypeError: Only type with one lane are supported.")),
        Row(
            "capsule",
            f"bool bfloat16 complex32 complex64 complex128 {FLOAT8S}",
            ALL,
            Rejected("ArrowInvalid: unsupported DLPack type"),
        ),
        READ_ONLY_CAPSULES,
        Row("capsule", ALL, ALL, Shared()),
    ],
)

# PyArrow 25, the last for Python 3.10, has no DLPack 1. It exports read-only memory as NULL, marks no other array as
# read-only, and imports nothing.
PYARROW_25 = Peer(
    "pyarrow",
    LEGACY,
    [
        Row("in", ALL, "reversed", Absent("ArrowInvalid: Negative ndarray strides not supported")),
        Row("in", "bool", "rows offset", Rejected("ArrowTypeError: Bit-packed boolean data type")),
        Row("in", NOT_ARROWS, ALL, Absent("ArrowNotImplementedError: Unsupported numpy type")),
        Row("in", ALL, "broadcast read-only", Rejected("data must not be NULL for a tensor with elements")),
        Row("in", "bool", ALL, Shared(dtype="uint8")),
        Row("in", ALL, "rows offset", Shared(layout=ONE_DIMENSION)),
        Row("in", ALL, ALL, Shared()),
        *(Row(carrier, ALL, ALL, Rejected("has no attribute 'from_dlpack'")) for carrier in ("tensor", "capsule")),
    ],
    why_copied=ASKED,
    always_copies="which producers before DLPack 1 do not support; omit copy",
)

# Its tensors wrap NumPy arrays, or torch tensors for dtypes that NumPy lacks.
TVM_FFI = Peer(
    "tvm_ffi",
    METHOD,
    [
        Row("in", COMMON, "broadcast read-only", Absent("BufferError: Cannot export readonly array")),
        Row("in", COMMON, "reversed", Rejected(NEGATIVE)),
        Row("in", ALL, "reversed read-only", Absent("TypeError: torch has no")),
        Row("in", ALL, ALL, Shared()),
        NO_READ_ONLY_TENSORS,
        Row("tensor", FLOAT4, ALL, Shared(dtype="float4_e2m1fnx2")),  # its own name
        Row("tensor", ALL, ALL, Shared()),
        Row("capsule", ALL, ALL, Rejected("ValueError: Expect a dltensor field")),
    ],
    why_copied=ASKED,
)

# ---- on a CUDA device, where Simple's own tensors are never read-only

CUDA_TORCH = Peer(
    "torch_cuda",
    "a torch tensor",
    [
        Row("in", ALL, "reversed read-only", Absent("TypeError: torch has no")),
        Row("in", ALL, ALL, Shared()),
        Row("tensor", ALL, ALL, Shared()),
        Row("capsule", ALL, ALL, Shared()),
    ],
    on_cuda=True,
    package="torch",
    why_copied=ASKED,
)

CUPY_REJECTS = [
    row
    for carrier in ("tensor", "capsule")
    for row in (
        Row(carrier, "complex32", ALL, Rejected("TypeError: complex32 is not supported.")),
        Row(carrier, FLOAT4, ALL, Rejected("ValueError: vector dtypes (lanes=2) is not supported")),
        Row(carrier, FLOAT8S, ALL, Rejected("TypeError: Unsupported dtype. dtype code: 1")),
        Row(carrier, ALL, ALL, Shared()),
    )
]
CUPY = Peer(
    "cupy",
    METHOD,
    [
        Row("in", ALL, "read-only", Absent("TypeError: CuPy has no read-only arrays")),
        Row("in", f"complex32 {FLOAT8S} {FLOAT4}", ALL, Absent("ValueError: Unsupported dtype")),
        Row("in", "bool uint8 int8", "reversed", Rejected(NEGATIVE)),
        # CuPy 14 divides strides in bytes by the item size as unsigned numbers.
        Row("in", ALL, "reversed", Rejected("overflows int64")),
        Row("in", ALL, ALL, Shared()),
        *CUPY_REJECTS,
    ],
    on_cuda=True,
    why_copied=ASKED,
)

CUDA_JAX = Peer(  # observed with JAX 0.11
    "jax_cuda",
    LEGACY,
    [
        Row("in", ALL, "read-only", Absent("TypeError: JAX cannot create read-only arrays; all are immutable")),
        Row("in", "complex32", ALL, Absent("TypeError: Error interpreting argument")),
        Row("in", FLOAT4, ALL, Rejected("dtype.lanes must be 2, got 1")),
        Row("in", ALL, ALL, Shared(here=READ_ONLY)),
        Row("tensor", "complex32", ALL, Rejected("Invalid or unsupported DLPack complex width: 32 bits")),
        Row("tensor", FLOAT4, ALL, Rejected("DLPack types with lanes != 1 not implemented, got 2")),
        Row("tensor", ALL, "strided broadcast", Rejected("Only DLPack tensors with trivial (compact) striding")),
        Row("tensor", ALL, ALL, Shared(there=JAX_IMMUTABLE)),
        OLD_CAPSULE,
    ],
    is_dense=True,
    on_cuda=True,
    package="jax_cuda13_plugin",
    why_copied=ASKED,
)

TABLES = (NUMPY, TORCH, JAX, TENSORFLOW, PYARROW, TVM_FFI, CUDA_TORCH, CUPY, CUDA_JAX)
OF_GUIDE = [peer for peer in TABLES if not peer.package]  # the others import the same as on the CPU
PEERS = {peer.name: peer for peer in TABLES}
if is_there("pyarrow") and not is_at_least("pyarrow", 26):
    PEERS["pyarrow"] = PYARROW_25


# ---- observed outcomes


def outcomes_of(peer: Peer) -> dict[tuple[str, ...], list[str]]:
    """The fields of each line that the peer's process printed, by the key of the line."""
    if peer.on_cuda and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    if not is_there(peer.package or peer.name):
        pytest.skip(f"this Python has no {peer.package or peer.name}")
    return lines_of(peer.name)


@cache
def lines_of(peer: str) -> dict[tuple[str, ...], list[str]]:
    run = subprocess.run(
        [HOST, FOLDER / "round_trips.spl", FOLDER, f"{peer}_peer"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    lines = [line.split(" ~ ") for line in run.stdout.splitlines()]
    return {tuple(line[: keys_of(line[0])]): line[keys_of(line[0]) :] for line in lines}


def keys_of(kind: str) -> int:
    return 2 if kind in ("lives", "copy") else 3


def expected(peer: Peer, carrier: str, dtype: str, layout: str) -> Outcome:
    return next(row.outcome for row in peer.rows if row.fits(carrier, dtype, layout))


def compared(peer: Peer, carrier: str, dtype: str, layout: str, outcome: Outcome) -> tuple[list[str], list[str]]:
    """The expected and the printed fields. Messages that contain the table's message are replaced with it."""
    printed_fields = outcomes_of(peer)[carrier, dtype, layout]
    if isinstance(outcome, Rejected | Absent):
        expected_fields = ["rejected" if isinstance(outcome, Rejected) else "none", outcome.message]
        return expected_fields, replace_messages(printed_fields, expected_fields, messages=1)
    lies = (outcome.layout or LAYOUTS)[layout]
    strides = lies.dense if peer.is_dense and lies.dense else lies.strides
    address, here, there = (
        ("empty", outcome.here, printed_fields[-1])
        if layout == "empty"
        else (outcome.address, outcome.here, outcome.there)
    )
    about = [outcome.dtype or dtype, str(lies.shape), str(values(dtype, lies)), address]
    if carrier == "in":
        about[2:2] = [str(strides)]
        about += [outcome.import_path or peer.import_path, ""]
    expected_fields = ["imported", *about, here, there]
    if address == EITHER:
        expected_fields = [
            t if w == EITHER and t in ("same", "another") else w for w, t in zip(expected_fields, printed_fields)
        ]
    return expected_fields, replace_messages(printed_fields, expected_fields, messages=2)


def replace_messages(printed_fields: list[str], expected_fields: list[str], *, messages: int) -> list[str]:
    """`printed_fields`, with the last `messages` fields replaced with the expected messages that they contain."""
    if len(printed_fields) != len(expected_fields):
        return printed_fields
    return (
        printed_fields[:-messages]
        + [w if w in t and w != "seen" else t for t, w in zip(printed_fields, expected_fields)][-messages:]
    )


CARRIERS = ("in", "tensor", "capsule")


def layouts_of(peer: Peer, carrier: str) -> list[str]:
    never_leave = ("reversed", "read-only") if peer.on_cuda else ("reversed",)
    return [layout for layout in LAYOUTS if carrier == "in" or layout not in never_leave]


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_outcome_matches_the_table(peer, carrier, dtype):
    pairs = {
        layout: compared(peer, carrier, dtype, layout, expected(peer, carrier, dtype, layout))
        for layout in layouts_of(peer, carrier)
    }
    assert {layout: was for layout, (_, was) in pairs.items()} == {
        layout: expected_fields for layout, (expected_fields, _) in pairs.items()
    }


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_memory_lives_while_either_side_uses_it(peer):
    numbers = str([float(number) for number in NUMBERS])
    lives, outcome_of_export = outcomes_of(peer), expected(peer, "tensor", "float32", "rows")
    out = ["rejected", outcome_of_export.message] if isinstance(outcome_of_export, Rejected) else ["imported", numbers]
    assert (lives["lives", "in"], replace_messages(lives["lives", "out"], out, messages=1)) == ([numbers], out)


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_copy_is_made_only_on_request(peer):
    numbers = str([float(number) for number in NUMBERS])
    imported = ["imported", numbers, "same", peer.import_path, ""]
    shared = ["rejected", peer.always_copies] if peer.always_copies else imported
    assert replace_messages(outcomes_of(peer)["copy", "false"], shared, messages=1) == shared
    assert outcomes_of(peer)["copy", "true"] == ["imported", numbers, "another", peer.import_path, peer.why_copied]


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_every_row_of_the_table_is_used(peer):
    met = {
        next(i for i, row in enumerate(peer.rows) if row.fits(carrier, dtype, layout))
        for carrier in CARRIERS
        for dtype in DTYPES.split()
        for layout in layouts_of(peer, carrier)
    }
    assert met == set(range(len(peer.rows)))


@pytest.mark.parametrize("peer", PEERS.values(), ids=PEERS)
def test_every_printed_line_is_tested(peer):
    judged_rows = {(c, d, lay) for c in CARRIERS for d in DTYPES.split() for lay in layouts_of(peer, c)}
    others = {("lives", "in"), ("lives", "out"), ("copy", "true"), ("copy", "false")}
    assert set(outcomes_of(peer)) == judged_rows | others


# ---- libraries through other libraries


def printed(program: str) -> str:
    run = subprocess.run([HOST, FOLDER / program], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_scikit_learn_in_the_memory_of_simple_tensors():
    pytest.importorskip("sklearn")
    assert printed("scikit_learn.spl").splitlines() == [
        "same memory: true",
        "scaled in place: true, mean true",
        "back at the same address: true",
        "as alone: true true true",
        "right: true",
        "copied bytes: 0",
    ]


# ---- the guide

GUIDE = (Path(__file__).parents[2] / "docs" / "dlpack.md").read_text()


def table_of_guide(heading: str) -> list[list[str]]:
    """The rows below the heading, without the separator."""
    section = GUIDE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line.strip("|").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines]


def test_guides_dtypes_match_the_table():
    names, *lines = table_of_guide("Dtypes")
    documented = {
        (name.lower().replace("-", "_"), dtype): word
        for dtypes, *words in lines
        for dtype in dtypes.split()
        for name, word in zip(names[1:], words)
    }
    words = {(True, True): "both", (True, False): "in", (False, True): "out", (False, False): "-"}
    crosses = {
        (peer.name, dtype): words[
            isinstance(expected(peer, "in", dtype, "rows"), Shared),
            isinstance(expected(peer, "tensor", dtype, "rows"), Shared),
        ]
        for peer in OF_GUIDE
        for dtype in DTYPES.split()
    }
    assert documented == crosses


def test_guides_errors_match_the_table():
    outcomes = [row.outcome for peer in TABLES for row in peer.rows]
    happening = [outcome.message for outcome in outcomes if isinstance(outcome, Rejected)]
    quoted = [words for _, cell, _ in table_of_guide("Rejected input")[1:] for words in cell[1:-1].split("`, `")]
    assert [words for words in quoted if not any(words in printed_fields for printed_fields in happening)] == []
