"""Uses the C ABI from Python by ctypes alone. Usage: from_ctypes.py LIBRARY

`import simple_torch` is more convenient. This program shows what a binding for another language does.
"""

import ctypes
import sys
from ctypes import byref, c_char_p, c_double, c_int32, c_int64

library = ctypes.CDLL(sys.argv[1])
library.spt_last_error_message.restype = c_char_p


class TorchError(Exception):
    """The error record of the library: `kind` is its number in enum SptStatus."""

    def __init__(self) -> None:
        self.kind = library.spt_last_error_kind()
        super().__init__(library.spt_last_error_message().decode())


def check(status: int) -> None:
    if status != 0:
        raise TorchError


class Tensor:
    """Owns a handle."""

    def __init__(self, handle: c_int64) -> None:
        self.handle = handle

    def __del__(self) -> None:
        library.spt_release(self.handle)

    def __matmul__(self, other: "Tensor") -> "Tensor":
        out = c_int64()
        check(library.spt_matmul(self.handle, other.handle, byref(out)))
        return Tensor(out)

    def values(self) -> list[float]:
        items, count = ctypes.POINTER(c_double)(), c_int64()
        check(library.spt_to_list(self.handle, byref(items), byref(count)))
        result = items[: count.value]
        library.spt_free(items)
        return result


def tensor(values: list[float], *sizes: int) -> Tensor:
    out = c_int64()
    data, dims = (c_double * len(values))(*values), (c_int64 * len(sizes))(*sizes)
    check(library.spt_from_data(data, c_int64(len(values)), dims, c_int64(len(sizes)), byref(out)))
    return Tensor(out)


def main() -> None:
    library.spt_free.argtypes = [ctypes.c_void_p]
    library.spt_last_error_kind.restype = c_int32
    a = tensor([1, 2, 3, 4], 2, 2)
    print((a @ a).values())
    try:
        a @ tensor([1, 2, 3], 3, 1)
    except TorchError as error:
        print(f"error {error.kind}: {error}")
    del a
    live = c_int64()
    check(library.spt_live_handles(c_int64(0), byref(live)))
    print(f"live handles: {live.value}")


if __name__ == "__main__":
    main()
