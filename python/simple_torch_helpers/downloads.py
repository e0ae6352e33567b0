"""Downloads of torch.hub by the library's own downloader, which resumes and verifies them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

_fetch: ContextVar[Callable[..., None] | None] = ContextVar("fetch", default=None)


def call(fetch: Callable[..., None], function: Callable[..., Any], args: list[Any], named: dict[str, Any]) -> Any:
    """Call the function; what torch.hub downloads meanwhile in this context, `fetch` downloads.

    Args:
        fetch: called with the URL, the file's path, the first digits of its SHA-256 or None, and whether progress is
            shown.
    """
    _replace_downloader()
    token = _fetch.set(fetch)
    try:
        return function(*args, **named)
    finally:
        _fetch.reset(token)


@functools.cache
def _replace_downloader() -> None:
    """Replace the function of torch.hub by one that acts in the same way outside call()."""
    import torch.hub

    original = torch.hub.download_url_to_file

    @functools.wraps(original)
    def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
        fetch = _fetch.get()
        if fetch is None:
            original(url, dst, hash_prefix, progress)
        else:
            fetch(url, str(dst), hash_prefix, progress)

    torch.hub.download_url_to_file = download_url_to_file
