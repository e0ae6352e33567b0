"""The end of a Python that was started inside another program."""

from __future__ import annotations

import threading


def finish_threads() -> None:
    """Wait for all threads that are no daemons, after telling executors to end theirs, as Python's own end does.

    Unlike there, the thread that calls this need not be the one that started Python. `threading` would then
    wait for that one too, which waits for nothing but the end of the process, and for the caller itself.
    """
    locks = getattr(threading, "_shutdown_locks", None)  # until Python 3.12
    main = threading.main_thread()
    if locks is not None and main.ident != threading.get_ident():
        locks.discard(main._tstate_lock)
        locks.discard(threading.current_thread()._tstate_lock)
    threading._shutdown()
