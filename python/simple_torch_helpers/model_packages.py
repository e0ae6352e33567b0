"""Packages of models: their results, the files that they miss, and tokens while they are generated."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any


def form(value: Any) -> str:
    """Return how a value of a package is represented: as the result of a model, as a callable, or as it is."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    kinds = [Mapping, *([torch.nn.Module] if torch else []), *([numpy.ndarray] if numpy else [])]
    if isinstance(value, tuple(kinds)):
        return "result"
    return "callable" if callable(value) or isinstance(value, type(sys)) else "object"


def is_generative(module: Any) -> bool:
    """Return whether transformers can generate tokens by the model."""
    utils = sys.modules.get("transformers.generation.utils")
    return utils is not None and isinstance(module, utils.GenerationMixin)


def missing_file(error: BaseException | None) -> tuple[str, str] | None:
    """Return the repository and the file of Hugging Face of an error, from the calls that it came through."""
    for one in _chain(error):
        for frame, _ in traceback.walk_tb(one.__traceback__):
            repository, file = frame.f_locals.get("repo_id"), frame.f_locals.get("filename")
            if isinstance(repository, str) and isinstance(file, str):
                return repository, file.removeprefix("./")
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def cache_folder() -> str:
    """Return the folder in which Hugging Face keeps files."""
    from huggingface_hub import constants

    return constants.HF_HUB_CACHE


def installed_version(package: str) -> str:
    """Return the version, without a suffix such as +cpu."""
    return version(package).split("+")[0]


def stream(receive: Callable[[Any], Any], tokenizer: Any) -> tuple[Any, Any]:
    """Return a streamer of transformers and a criterion that stops when `receive` has returned False.

    Args:
        receive: called with each token's number, or with a tokenizer with each piece of text.
    """
    import torch
    from transformers import StoppingCriteria, TextStreamer
    from transformers.generation.streamers import BaseStreamer

    is_stopped = False

    def deliver(item: Any) -> None:
        nonlocal is_stopped
        if not is_stopped:
            is_stopped = receive(item) is False

    class Pieces(TextStreamer):
        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            if text:
                deliver(text)

    pieces = None if tokenizer is None else Pieces(tokenizer, skip_special_tokens=True)

    class Stream(BaseStreamer):
        """Notes where the prompt ends. The tokens themselves are delivered by Stop, which comes first."""

        delivered: int | None = None

        def put(self, value: Any) -> None:
            if value.ndim > 1 and value.shape[0] > 1:
                raise ValueError(f"generate: a streamer receives one sequence, got {value.shape[0]} sequences")
            if self.delivered is None:
                self.delivered = value.shape[-1]

        def end(self) -> None:
            if pieces is not None:
                pieces.end()

    class Stop(StoppingCriteria):
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            new = input_ids[0, streamer.delivered :].cpu()
            streamer.delivered = input_ids.shape[1]
            if pieces is not None:
                pieces.put(new)
            else:
                for number in new.tolist():
                    deliver(number)
            return torch.full((input_ids.shape[0],), is_stopped, dtype=torch.bool, device=input_ids.device)

    streamer = Stream()
    return streamer, Stop()
