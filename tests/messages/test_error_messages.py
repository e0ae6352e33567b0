"""Every error message of the sources was read against the rules in CONTRIBUTING.md."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(Path(__file__).parent)]

import check_english  # noqa: E402
import error_messages  # noqa: E402


def test_list_has_every_message_of_the_sources():
    """A new or changed message is read against the rules, then added by `error_messages.py --write`."""
    listed = set(error_messages.LIST.read_text(encoding="utf-8").splitlines())
    found = set(error_messages.as_lines(error_messages.messages()).splitlines())
    assert sorted(found - listed) == [], "not reviewed: read them, then run tests/messages/error_messages.py --write"
    assert sorted(listed - found) == [], "gone: run tests/messages/error_messages.py --write"


def test_messages_follow_the_glossary():
    allowed = check_english.exceptions()
    wrong = []
    for row in error_messages.LIST.read_text(encoding="utf-8").splitlines():
        path, function, message = row.split("\t")
        for finding in check_english.words_in(message):
            if not any(path.startswith(prefix) and piece in message for prefix, piece in allowed):
                wrong.append((path, function, message, finding))
    assert wrong == []


def test_sources_and_documents_follow_the_glossary():
    assert [str(finding) for finding in check_english.check([])] == []
