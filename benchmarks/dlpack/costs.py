"""Compares the time of sharing memory by DLPack with the alternatives.

    SIMPLE_BUILD=build/release python3 benchmarks/dlpack/costs.py

1. native.cpp: export and release, and export and import of a tensor in C++, against ATen's functions.
2. tables.cpp: import and export of a Python tensor, by our C exchange table and by torch's.
3. calls.cpp: a call of a native function with three torch tensors, by the bridge and by pybind11.
4. In Python, import and export of one object by simple_torch.Tensor, against torch, NumPy, tvm-ffi and nanobind (into
   native code). Rounds alternate, and each time is the minimum of its rounds; 3 and 4 subtract the empty loop.
5. release.cpp: the time for which a native thread waits when it releases tensors over NumPy's memory while Python
   computes.

A goal is the largest accepted ratio; a row that misses it ends with MISSED.
"""

from __future__ import annotations

import ctypes
import math
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("SIMPLE_BUILD", ROOT / "build" / "release"))
PROGRAMS = ["benchmark_dlpack", "benchmark_release"]
LIBRARIES = ["benchmark_tables", "benchmark_calls", "benchmark_nanobind"]
subprocess.run(["cmake", "--build", BUILD, "--target", *PROGRAMS, *LIBRARIES], check=True, stdout=subprocess.DEVNULL)
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "benchmarks"), str(BUILD / "benchmarks")]

import benchmark_nanobind  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import simple_torch  # noqa: E402
import torch  # noqa: E402  (before benchmark_calls, which needs its libraries)
from alternating import CALLS, ROUNDS, compared  # noqa: E402

import benchmark_calls  # noqa: E402  isort: skip
import tvm_ffi  # noqa: E402

NATIVE_GOALS = {"export": 0.9, "round-trip": 0.62}


def show(name: str, theirs: float, ours: float, goal: float | None) -> None:
    ratio = ours / theirs
    verdict = "" if goal is None else f"   (goal {goal}) {'' if ratio <= goal else 'MISSED'}"
    print(f"{name:<56}{theirs:9.0f} ns{ours:9.0f} ns{ratio:8.2f}{verdict}")


def by_exchange_table(theirs: object, ours: object) -> tuple[float, float]:
    library = ctypes.PyDLL(str(BUILD / "benchmarks" / "benchmark_tables.so"))
    library.round_trips.restype = ctypes.c_double
    library.round_trips.argtypes = [ctypes.py_object, ctypes.c_int64]
    minimum = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for i, tensor in enumerate((theirs, ours)):
            minimum[i] = min(minimum[i], library.round_trips(tensor, CALLS))
    return minimum[0], minimum[1]


def output(program: str) -> str:
    return subprocess.run([BUILD / "bin" / program], capture_output=True, text=True, check=True).stdout


def main() -> None:
    print(f"{'':<56}{'theirs':>12}{'ours':>12}{'ratio':>8}")
    for line in output("benchmark_dlpack").splitlines():
        name, theirs, ours = line.split()
        show(f"{name} in C++ (ATen)", float(theirs), float(ours), NATIVE_GOALS[name])
    tensor, array, own = torch.ones(2, 3), np.ones((2, 3)), simple_torch.from_dlpack(np.ones((2, 3)))
    jax_array = jax.numpy.ones((2, 3))
    take, into_nanobind = simple_torch.from_dlpack, benchmark_nanobind.take
    by_pybind11, by_the_bridge = benchmark_calls.by_pybind11, benchmark_calls.by_the_bridge
    show("into a Python tensor and back (torch's C table)", *by_exchange_table(tensor, own), 0.55)
    rows = [
        (
            "three torch tensors into a native call (pybind11)",
            lambda: by_pybind11(tensor, tensor, tensor),
            lambda: by_the_bridge(tensor, tensor, tensor),
            0.7,
        ),
        ("a torch tensor in (tvm-ffi)", lambda: tvm_ffi.from_dlpack(tensor), lambda: take(tensor), 0.7),
        ("a torch tensor in (torch)", lambda: torch.from_dlpack(tensor), lambda: take(tensor), 0.05),
        ("a torch tensor in (nanobind)", lambda: into_nanobind(tensor), lambda: take(tensor), None),
        ("a NumPy array in (nanobind)", lambda: into_nanobind(array), lambda: take(array), None),
        ("a NumPy array in (torch)", lambda: torch.from_dlpack(array), lambda: take(array), 0.12),
        ("a tensor to NumPy (torch's to NumPy)", lambda: np.from_dlpack(tensor), lambda: np.from_dlpack(own), 0.12),
        ("a JAX array in (torch)", lambda: torch.from_dlpack(jax_array), lambda: take(jax_array), 0.5),
    ]
    for name, theirs, ours, goal in rows:
        show(name, *compared(theirs, ours), goal)
    median, last = map(int, output("benchmark_release").split())
    print(f"releasing while Python computes: {median} ns, 99th percentile {last} ns   (goal 1000)")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
