"""Files of torch.save whose values need Python's pickle."""

from __future__ import annotations

import os
import tempfile
from typing import Any


def save(value: Any, path: str) -> None:
    """Write a file of `torch.save` atomically: a failure leaves an earlier file as it was, and no other.

    Raises:
        OSError: the file cannot be written.
        Exception: what pickle raises for an object that it cannot write.
    """
    import torch  # the program may never save

    folder, name = os.path.split(os.path.abspath(path))
    try:
        descriptor, part = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None  # not the name of the temporary file
    try:
        with os.fdopen(descriptor, "wb") as file:
            torch.save(value, file)
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def parameter(tensor: Any) -> Any:
    """Return a Parameter on the tensor's memory, which torch.load reads as a Parameter."""
    import torch

    return torch.nn.Parameter(tensor.detach(), tensor.requires_grad)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
