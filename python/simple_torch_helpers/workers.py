"""Datasets of Python in workers of Simple's DataLoader, which are threads."""

from __future__ import annotations

import copy
import functools
import sys
import threading
from typing import Any

_local = threading.local()


def is_iterable(dataset: Any) -> bool:
    """Return whether it is a torch.utils.data.IterableDataset."""
    data = sys.modules.get("torch.utils.data")
    return data is not None and isinstance(dataset, data.IterableDataset)


def copy_of(dataset: Any) -> Any:
    return copy.copy(dataset)


def of_thread() -> Any:
    """Return the WorkerInfo of the calling thread; None outside workers."""
    return getattr(_local, "info", None)


@functools.cache
def watch_threads() -> Any:
    """Make torch.utils.data.get_worker_info know workers that are threads; return the class of its results.

    Programs import the function under several names, so its code is replaced.
    """
    from torch.utils.data._utils import worker

    def get_worker_info() -> Any:
        import simple_torch_helpers.workers

        return simple_torch_helpers.workers.of_thread() or _worker_info  # type: ignore[name-defined] # noqa: F821

    worker.get_worker_info.__code__ = get_worker_info.__code__
    return worker.WorkerInfo


def enter(id: int, num_workers: int, seed: int, dataset: Any) -> Any:
    """Make the calling thread the worker; return what leave() needs."""
    outer = of_thread()
    _local.info = watch_threads()(id=id, num_workers=num_workers, seed=seed, dataset=dataset)
    return outer


def leave(outer: Any) -> None:
    _local.info = outer
