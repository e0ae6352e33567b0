"""A process for a file of ExecuTorch without a digest: damage may end the process, and the program goes on.

The runtime checks a file's structure, but aborts or crashes for other damage, at the load or in a later call.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import signal
import subprocess
import sys
import threading
from multiprocessing.connection import Connection, Pipe
from typing import Any

import torch

BINDINGS = "executorch.extension.pybindings"
PROGRAM = """
import json, sys
descriptor, search = int(sys.argv[1]), json.loads(sys.argv[2])
sys.path[:] = search
from simple_torch_helpers import executorch_process
executorch_process.serve(descriptor)
"""


class RuntimeProcess:
    """A process that has loaded a file; it ends with this object.

    Raises:
        OSError: the file is damaged, or the trial of `method` ran longer than `seconds`.
    """

    def __init__(self, path: str, method: str, seconds: int) -> None:
        self._path, self._method, self._seconds = path, method, seconds
        self._lock = threading.Lock()
        self.method_names: list[str] = []
        self._start()

    def execute(self, inputs: Any) -> list[Any]:
        """Call the method with tensors and numbers; return its outputs, which are copies.

        Raises:
            OSError: the runtime ended. The next call starts it again.
            RuntimeError: the runtime rejects the inputs.
        """
        with self._lock:
            if self._process.poll() is not None:
                self._start()
            return self._answer(list(inputs))

    def _start(self) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            descriptor = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(descriptor), json.dumps(sys.path)],
                pass_fds=[descriptor],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # the runtime's log
            )
        self.method_names = self._answer([self._path, self._method, self._seconds])

    def _answer(self, request: list[Any]) -> list[Any]:
        try:
            self._connection.send_bytes(packed(request))
            kind, *values = unpacked(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise OSError(f"the runtime ended with {ending(self._process.wait())}") from None
        except BaseException:  # without the answer, the next call would receive it
            self._process.kill()
            self._process.wait()
            raise
        if kind != "ok":
            raise {"damaged": OSError, "error": RuntimeError}[kind](values[0])
        return values

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.close()
            self._process.kill()
            self._process.wait()


def ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def packed(values: list[Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def unpacked(content: bytes) -> list[Any]:
    return torch.load(io.BytesIO(content), weights_only=True)


def runtime() -> Any:
    """The bindings alone: executorch.runtime imports the compiler, which takes seconds."""
    name = "_C" if importlib.util.find_spec(f"{BINDINGS}._C") else "_portable_lib"
    return importlib.import_module(f"{BINDINGS}.{name}")


def loaded_program(bindings: Any, path: str) -> Any:
    level = bindings.Verification.InternalConsistency
    return bindings._load_program(path, enable_etdump=False, debug_buffer_size=0, program_verification=level)


# c10::ScalarType numbers its types in this order.
DTYPES = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)
DTYPES += (torch.complex32, torch.complex64, torch.complex128, torch.bool)


def rejection(error: Exception, meta: Any) -> str:
    """The runtime's message, which has only a number, and the inputs that the method was written with."""
    kinds = []
    for index in range(meta.num_inputs()):
        with contextlib.suppress(Exception):  # a number
            tensor = meta.input_tensor_meta(index)
            kinds.append(f"{DTYPES[tensor.dtype()]} {list(tensor.sizes())}")
    return f"{str(error).rstrip('.')}. The file was written with the inputs ({', '.join(kinds)})"


class MethodHere:
    """A method of executorch.runtime in this process."""

    def __init__(self, method: Any) -> None:
        self._method = method

    def execute(self, inputs: Any) -> Any:
        try:
            return self._method.execute(inputs)
        except RuntimeError as error:
            raise RuntimeError(rejection(error, self._method.metadata)) from None


def examples(meta: Any, other: Any) -> list[Any]:
    """Inputs of a method: ones, and zeros of integers, which are valid indices; `other` where it names no tensor."""
    made: list[Any] = []
    for index in range(meta.num_inputs()):
        try:
            tensor = meta.input_tensor_meta(index)
        except Exception:  # it has several types
            made.append(other)
            continue
        dtype = DTYPES[tensor.dtype()]
        fill = torch.ones if dtype.is_floating_point or dtype.is_complex else torch.zeros
        made.append(fill(tuple(tensor.sizes()), dtype=dtype))
    return made


def run(bindings: Any, path: str, method: str) -> None:
    program = loaded_program(bindings, path)
    loaded, meta = program.load_method(method), program.method_meta(method)
    # A corrupt file may have a tensor where it names none, so that a call with one crashes.
    for other in (1, torch.ones(1)):
        with contextlib.suppress(Exception):
            loaded.call(examples(meta, other))


def outcome(bindings: Any, path: str, method: str, seconds: int) -> str:
    """The signal that ended a copy of this process, which ran the method, such as "SIGABRT"; "" if none did.

    A file that the runtime rejects by an exception has no signal. SIGALRM: the method ran longer than `seconds`.
    """
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            run(bindings, path, method)
        finally:
            os._exit(0)  # also after an exception
    _, status = os.waitpid(child, 0)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""


def reply_of_load(bindings: Any, path: str, method: str, seconds: int) -> tuple[list[Any], Any]:
    """The reply with the names of the methods, and the program and its method; None if it could not be loaded."""
    signal_name = outcome(bindings, path, method, seconds)
    if signal_name == "SIGALRM":
        return ["damaged", f"cannot be checked: '{method}' runs longer than {seconds} s"], None
    if signal_name:
        return ["damaged", f"is corrupt: the runtime ends with {signal_name}"], None
    try:
        program = loaded_program(bindings, path)
        # Of a name that the file has: load_method() of another one is no exception in all versions.
        names = [program.get_method_name(index) for index in range(program.num_methods())]
        return ["ok", *names], (program, program.load_method(method)) if method in names else None
    except Exception as error:
        return ["damaged", f"cannot be loaded: {error}"], None


def reply_of_call(method: Any, inputs: list[Any]) -> list[Any]:
    try:
        return ["ok", *method.call(inputs)]
    except Exception as error:
        return ["error", rejection(error, method.method_meta())]


def serve(descriptor: int) -> None:
    """Load the file that the first message names, and answer calls until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which then ends this process
    with Connection(descriptor) as connection, contextlib.suppress(EOFError):
        reply, loaded = reply_of_load(runtime(), *unpacked(connection.recv_bytes()))
        connection.send_bytes(packed(reply))
        while loaded is not None:
            connection.send_bytes(packed(reply_of_call(loaded[1], unpacked(connection.recv_bytes()))))
