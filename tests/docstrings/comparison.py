"""Compares what a statement produced in Python and in Simple."""

from __future__ import annotations

import re
from typing import Any

from run_simple import Outcome

WORDS = {"True": "true", "False": "false", "None": "nil"}


def words_of_simple(output: str) -> str:
    """Python's output with the constants of Simple, and strings of collections without quotes."""
    plain = re.sub(r"\b(True|False|None)\b", lambda found: WORDS[found[0]], output)
    return re.sub(r"(?<![A-Za-z0-9])'([^'\n]*)'", r"\1", plain).replace("torch.Size([", "[").replace("])", "]")


def difference(path: str, theirs: tuple[str, Any], ours: tuple[str, Any]) -> str:
    """How one line differs, or an empty text."""
    (kind, payload), (our_kind, our_payload) = theirs, ours
    if kind == "callable" and our_kind == "object":  # a function of Python, an object with __call__() in Simple
        return ""
    if kind != our_kind:
        return f"{path}: {our_kind} {our_payload!r:.80}, not {kind} {payload!r:.80}"
    if kind == "tensor":
        if payload[0] != our_payload[0]:
            return f"{path}: {our_payload[0]}, not {payload[0]}"
        if payload[1] != our_payload[1]:
            return f"{path}: other values"
        return ""
    if kind == "float":
        return "" if payload == our_payload else f"{path}: {our_payload}, not {payload}"
    if kind == "object":
        (name, _, text), (our_name, _, our_text) = payload.partition(";"), our_payload.partition(";")
        our_name = re.sub(r"_\d+$", "", our_name)  # run_simple.py numbers repeated definitions
        if not text:  # Python prints an address
            return "" if name.lstrip("_") == our_name else f"{path}: object {our_name}, not {name}"
        return "" if text == our_text else f"{path}: prints {our_text!r:.200}, not {text!r:.200}"
    return "" if payload == our_payload else f"{path}: {our_payload!r:.200}, not {payload!r:.200}"


def differences(theirs: tuple[str, list[tuple[str, str, Any]]], ours: Outcome) -> str:
    """The first difference of two runs of a statement, or an empty text."""
    output, lines = theirs
    if ours.failure is not None:
        return f"fails: {ours.failure}"
    expected = {path: (kind, payload) for kind, path, payload in lines}
    found = {path: (kind, payload) for kind, path, payload in ours.lines}
    for path, line in expected.items():
        if path not in found:
            if next(iter(expected)) != path and path.endswith("!"):
                continue
            return f"{path}: absent, not {line!r:.100}"
        if different := difference(path, line, found[path]):
            return different
    if extra := [path for path in found if path not in expected]:
        return f"{extra[0]}: {found[extra[0]]!r:.100}, which Python does not have"
    if output.rstrip() != ours.output.rstrip() and words_of_simple(output).rstrip() != ours.output.rstrip():
        return f"prints {ours.output!r:.200}, not {output!r:.200}"
    return ""
