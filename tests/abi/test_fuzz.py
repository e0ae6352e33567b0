"""Random calls of every function of the C ABI: each returns a status, none crashes, no handle leaks.

Handles are live, released or arbitrary numbers. Numbers are small, negative, huge or NaN. Strings are missing, empty or
malformed, and lists contain 0. Pointers are valid or NULL. The seed is fixed; SIMPLE_LONG_TESTS=1 makes 10^6 calls.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import tomllib

torch = pytest.importorskip("torch", reason="this Python has no torch", exc_type=ModuleNotFoundError)

ROOT = Path(__file__).resolve().parents[2]

from embedded_abi import SplArray, SplValue, open_front  # noqa: E402

from abi_generator import table  # noqa: E402

INTERNAL = 14
LAST_KIND = max(kind["number"] for kind in tomllib.loads((ROOT / "abi" / "kinds.toml").read_text())["error"])
CALLS = 1_000_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 30_000
MAX_HANDLES = 60
LARGEST_SIZE = 1 << 16

# Functions that are not called at random, with the reason.
EXCLUDED = {
    "py_shutdown": "it shuts Python down",
    "set_num_threads": "it would start any number of threads",
    "from_blob": "it accepts an address",
}
NUMBERS = [0, 1, 2, 3, 5, -1, -2, 7, 64, 2**62, -(2**63), 2**63 - 1]
FLOATS = [0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan")]
TEXTS = [
    None,
    b"",
    b"cpu",
    b"cuda:7",
    b"float32",
    b"sum",
    b"add",
    b"Tensor",
    b"softmax",
    b"tv",
    b"\xff\xfe",
    b"x" * 300,
]
C_TYPES = {
    "int64_t": ctypes.c_int64,
    "int32_t": ctypes.c_int32,
    "double": ctypes.c_double,
    "bool": ctypes.c_bool,
    "const char*": ctypes.c_char_p,
}


class Fuzzer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.front = open_front()
        self.handles: list[int] = []
        self.freed: list[int] = [12345, -1, 0]
        self.kept: list[object] = []

    # ---- arguments

    def handle(self) -> int:
        pool = self.handles if self.handles and self.random.random() < 0.85 else self.freed + NUMBERS
        return self.random.choice(pool)

    def number(self) -> int:
        return self.random.choice(NUMBERS)

    def text(self) -> bytes | None:
        return self.random.choice(TEXTS)

    def argument(self, kind: str) -> list:
        """The C arguments for one argument of the table."""
        if kind in table.HANDLES:
            return [ctypes.c_int64(self.handle())]
        if kind in {"i64", "i32"}:
            return [C_TYPES["int64_t" if kind == "i64" else "int32_t"](self.number())]
        if kind == "f64":
            return [ctypes.c_double(self.random.choice(FLOATS))]
        if kind == "bool":
            return [ctypes.c_bool(self.random.random() < 0.5)]
        if kind == "text":
            return [ctypes.c_char_p(self.text())]
        if kind in {"dims", "tensors", "objects", "f64s", "texts"}:
            return self.list_of(kind)
        if kind == "anys":
            return [ctypes.byref(self.array(2))]
        if kind in {"values", "buffer"}:
            count = self.random.randrange(4)
            return [self.values(count, 2), ctypes.c_int64(self.random.choice([count, -1]))]
        return [ctypes.c_void_p(None)]  # addresses and DLPack structures

    def list_of(self, kind: str) -> list:
        count = self.random.randrange(5)
        length = ctypes.c_int64(self.random.choice([count, count, count, -1]))
        if self.random.random() < 0.1:
            return [None, length if length.value <= 0 else ctypes.c_int64(self.random.choice([0, 3]))]
        if kind == "f64s":
            items = (ctypes.c_double * max(count, 1))(*[self.random.choice(FLOATS) for _ in range(count)])
        elif kind == "texts":
            items = (ctypes.c_char_p * max(count, 1))(*[self.text() for _ in range(count)])
        else:
            one = self.number if kind == "dims" else self.handle
            items = (ctypes.c_int64 * max(count, 1))(*[one() for _ in range(count)])
        self.kept.append(items)
        return [items, length]

    def values(self, count: int, depth: int):
        items = (SplValue * max(count, 1))(*[self.value(depth) for _ in range(count)])
        self.kept.append(items)
        return items

    def array(self, depth: int) -> SplArray:
        count = self.random.randrange(4)
        array = SplArray(self.values(count, depth), count, count)
        self.kept.append(array)
        return array

    def value(self, depth: int) -> SplValue:
        value = SplValue()
        value.tag = self.random.choice([0, 1, 2, 3, 4, 5, 16, 17, 18, 99])
        if value.tag == 1:
            value.as_bool = True
        elif value.tag in {2, 16, 18}:
            value.as_int = self.handle()
        elif value.tag == 3:
            value.as_float = self.random.choice(FLOATS)
        elif value.tag == 4:
            text = self.text()
            self.kept.append(text)
            value.as_string = text
        elif value.tag in {5, 17}:
            if depth > 0 and self.random.random() < 0.9:
                value.as_array = ctypes.pointer(self.array(depth - 1))
            else:
                value.as_array = ctypes.POINTER(SplArray)()
        return value

    # ---- calls

    def call(self, function) -> None:
        self.kept.clear()
        arguments = [part for arg in function.args for part in self.argument(arg.kind)]
        outs = [out for result in function.results for out in self.outs(result.kind)]
        status = getattr(self.front, f"spt_{function.name}")(*arguments, *[ctypes.byref(out) for out in outs])
        assert 0 <= status <= LAST_KIND, (function.name, status)
        assert status != INTERNAL, (function.name, self.front.spt_last_error_message())  # INTERNAL is a bug
        if status == 0:
            self.take(function, arguments, outs)

    def outs(self, kind: str) -> list:
        types = table.KINDS[kind].out
        return [(C_TYPES.get(each) or ctypes.c_void_p)() for each in types]

    def take(self, function, arguments: list, outs: list) -> None:
        """Keeps new handles and frees other results."""
        at = 0
        for result in function.results:
            if result.kind in table.HANDLES:
                self.keep(outs[at].value)
                at += 1
            elif result.kind in table.LISTS:
                self.take_list(result.kind, outs[at].value, outs[at + 1].value)
                at += 2
            else:
                if result.kind == "text":
                    self.front.spt_free(outs[at])
                elif result.kind == "anys" and outs[at].value:
                    self.take_array(outs[at].value)
                at += 1
        if function.name == "op_call":
            self.take_values(arguments[3], outs[0].value)
        while len(self.handles) > MAX_HANDLES:
            self.release(self.handles.pop(self.random.randrange(len(self.handles))))

    def keep(self, *handles: int) -> None:
        """Stores a handle for later calls, except for tensors that would make them endless.

        one_hot(t, -1) of whatever memory held has any size. And LibTorch walks through empty tensors: topk of
        [5, 0, 2**63 - 1] along -2 does not end, in Python either.
        """
        for handle in filter(None, handles):
            if self.is_endless(handle):
                self.release(handle)
            else:
                self.handles.append(handle)

    def is_endless(self, handle: int) -> bool:
        sizes, count = ctypes.POINTER(ctypes.c_int64)(), ctypes.c_int64()
        if self.front.spt_shape(ctypes.c_int64(handle), ctypes.byref(sizes), ctypes.byref(count)) != 0:
            return False  # not a tensor
        product = math.prod(max(sizes[i], 1) for i in range(count.value))
        self.front.spt_free(sizes)
        return product > LARGEST_SIZE

    def take_list(self, kind: str, address: int | None, count: int) -> None:
        if kind in table.HANDLE_LISTS and address:
            self.keep(*(ctypes.c_int64 * count).from_address(address))
        self.front.spt_free(ctypes.c_void_p(address))

    def take_array(self, address: int) -> None:
        array = SplArray.from_address(address)
        letters = array.items[0].as_string.decode() if array.len else ""
        for letter, i in zip(letters, range(2, array.len)):
            item = array.items[i]
            if letter in "tg":
                self.keep(item.as_int)
            elif letter == "l":
                inner = item.as_array.contents
                self.keep(*(inner.items[j].as_int for j in range(inner.len)))
        self.front.spl_array_free(ctypes.c_void_p(address))

    def take_values(self, buffer, count: int) -> None:
        for value in buffer[:count]:
            if value.tag in {16, 18}:
                self.keep(value.as_int)
            elif value.tag in {5, 17}:
                inner = value.as_array.contents
                self.keep(*(inner.items[j].as_int for j in range(inner.len) if inner.items[j].tag == 16))
                self.front.spl_array_free(value.as_array)

    def release(self, handle: int) -> None:
        self.front.spt_release(ctypes.c_int64(handle))
        self.freed = [*self.freed[-50:], handle]

    def live(self) -> int:
        count = ctypes.c_int64()
        assert self.front.spt_live_handles(0, ctypes.byref(count)) == 0
        return count.value

    def end(self) -> None:
        ended = ctypes.c_int64()
        while self.front.spt_scope_end(ctypes.byref(ended)) == 0:
            pass
        for handle in self.handles:
            self.release(handle)


def main() -> None:
    functions = [f for f in table.load_table(ROOT) if f.name not in EXCLUDED and not f.name.startswith("py_")]
    fuzzer = Fuzzer(seed=20260711)
    for call in range(CALLS):
        function = fuzzer.random.choice(functions)
        if os.environ.get("SIMPLE_FUZZ_TRACE"):
            print(call, function.name, file=sys.stderr, flush=True)
        fuzzer.call(function)
    fuzzer.end()
    assert fuzzer.live() == 0, f"{fuzzer.live()} handles are left"
    print(f"{CALLS} calls")


def test_random_calls_return_a_status_and_leak_no_handle(tmp_path: Path) -> None:
    """Runs in a separate process and folder, because the calls switch grad mode off and write files."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, __file__], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    last_line = done.stdout.splitlines()[-1:]  # MKL prints a message for decompositions of NaN
    assert (done.returncode, last_line) == (0, [f"{CALLS} calls"]), done.stderr[-3000:]


if __name__ == "__main__":
    main()
