"""A trial of files of ExecuTorch: its runtime checks a file's structure, but aborts the process for other damage.

outcomes() starts this file as a program, which forks once for each file, loads it and runs it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from typing import Any

BINDINGS = "executorch.extension.pybindings"


def outcomes(paths: list[str], method: str, seconds: int) -> list[str]:
    """Return for each file the signal that ended the process of its trial, such as "SIGABRT"; "" if none did.

    A file that the runtime rejects by an exception has no signal. SIGALRM: the method ran longer than `seconds`.

    Raises:
        RuntimeError: the trial could not run.
    """
    request = {"search": sys.path, "paths": paths, "method": method, "seconds": seconds}
    command = [sys.executable, __file__]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the trial ended with code {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def runtime() -> Any:
    """The bindings alone: executorch.runtime imports the compiler, which takes seconds."""
    name = "_C" if importlib.util.find_spec(f"{BINDINGS}._C") else "_portable_lib"
    return importlib.import_module(f"{BINDINGS}.{name}")


def examples(meta: Any, other: Any) -> list[Any]:
    """Inputs of a method: ones, and zeros of integers, which are valid indices; `other` where it names no tensor."""
    import torch

    # c10::ScalarType numbers its types in this order.
    dtypes = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32)
    dtypes += (torch.float64, None, None, None, torch.bool)
    made: list[Any] = []
    for index in range(meta.num_inputs()):
        try:
            tensor = meta.input_tensor_meta(index)
        except Exception:  # it has several types
            made.append(other)
            continue
        dtype = dtypes[tensor.dtype()]
        fill = torch.ones if dtype.is_floating_point else torch.zeros
        made.append(fill(tuple(tensor.sizes()), dtype=dtype))
    return made


def run(bindings: Any, path: str, method: str) -> None:
    import torch

    level = bindings.Verification.InternalConsistency
    program = bindings._load_program(path, enable_etdump=False, debug_buffer_size=0, program_verification=level)
    loaded, meta = program.load_method(method), program.method_meta(method)
    # A corrupt file may have a tensor where it names none, so that a call with one crashes.
    for other in (1, torch.ones(1)):
        with contextlib.suppress(Exception):
            loaded.call(examples(meta, other))


def outcome(bindings: Any, path: str, method: str, seconds: int) -> str:
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)  # the runtime's log
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(seconds)
        try:
            run(bindings, path, method)
        finally:
            os._exit(0)  # also after an exception
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""


def main() -> None:
    request = json.load(sys.stdin)
    sys.path[:] = request["search"]  # without this folder, which Python put first
    import torch  # noqa: F401  the bindings need its libraries

    bindings = runtime()
    print(json.dumps([outcome(bindings, path, request["method"], request["seconds"]) for path in request["paths"]]))


if __name__ == "__main__":
    main()
