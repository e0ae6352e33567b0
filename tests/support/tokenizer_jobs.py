"""Runs texts through tokenizers in Simple and in Python, and compares everything that they return."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tokenizers import Encoding, Tokenizer

import mixed_scripts
from programs import run

LINES = 10_000 if os.environ.get("SIMPLE_LONG_TESTS") == "1" else 1000
PROGRAM = Path(__file__).parents[1] / "text/tokenizer_answers.spl"
FIELDS = (
    "ids",
    "type_ids",
    "tokens",
    "offsets",
    "attention_mask",
    "special_tokens_mask",
    "word_ids",
    "sequence_ids",
)
Input = tuple[Any, Any]


class Job:
    """Texts to encode by the tokenizer of a file, in Simple and in Python."""

    def __init__(self, path: Path, inputs: list[Input], **options: Any) -> None:
        self.path, self.inputs = path, inputs
        self.options = {
            "is_pretokenized": False,
            "add_special_tokens": True,
            "batch": False,
            "brief": False,
            "decoded": [],
            **options,
        }

    def request(self) -> dict[str, Any]:
        return {"tokenizer": str(self.path), "inputs": self.inputs, **self.options}

    def tokenizer(self) -> Tokenizer:
        found = Tokenizer.from_file(str(self.path))
        for name in ("truncation", "padding"):
            settings = self.options.get(name, {})
            if settings is None:
                getattr(found, f"no_{name}")()
            elif settings:
                getattr(found, f"enable_{name}")(**settings)
        found.encode_special_tokens = self.options.get("encode_special_tokens", False)
        return found

    def expected(self) -> dict[str, Any]:
        tokenizer = self.tokenizer()
        flags = {name: self.options[name] for name in ("is_pretokenized", "add_special_tokens")}
        if self.options["batch"]:
            inputs = [first if second is None else (first, second) for first, second in self.inputs]
            made = tokenizer.encode_batch(inputs, **flags)
        else:
            made = [tokenizer.encode(first, second, **flags) for first, second in self.inputs]
        brief = self.options["brief"]
        ids = [encoding.ids for encoding in made] + self.options["decoded"]
        return {
            "encodings": [encoding.ids if brief else fields(encoding) for encoding in made],
            "texts": [[tokenizer.decode(some), tokenizer.decode(some, skip_special_tokens=False)] for some in ids],
            "size": tokenizer.get_vocab_size(),
            "model_size": tokenizer.get_vocab_size(with_added_tokens=False),
        }


def fields(encoding: Encoding) -> dict[str, Any]:
    found = {name: getattr(encoding, name) for name in FIELDS}
    found["offsets"] = [list(span) for span in encoding.offsets]
    return {**found, "overflowing": [fields(part) for part in encoding.overflowing]}


def answers(folder: Path, jobs: list[Job]) -> list[dict[str, Any]]:
    """What Simple returns for each job."""
    source, target = folder / "jobs.json", folder / "answers.json"
    source.write_text(json.dumps([job.request() for job in jobs]))
    result = run(PROGRAM, source, target)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(target.read_text())


def check(folder: Path, jobs: list[Job]) -> None:
    for job, found in zip(jobs, answers(folder, jobs), strict=True):
        assert "error" not in found, (job.path, job.options, found)
        expected = job.expected()
        for text, own, other in zip(job.inputs, found["encodings"], expected["encodings"], strict=True):
            assert own == other, (job.path.name, job.options, text)
        for ids, own, other in zip(expected["encodings"], found["texts"], expected["texts"], strict=False):
            assert own == other, (job.path.name, ids)
        assert found == expected


def singles(texts: list[str]) -> list[Input]:
    return [(text, None) for text in texts]


def pairs(count: int, seed: int) -> list[Input]:
    texts = mixed_scripts.lines(2 * count, seed)
    return list(zip(texts[::2], texts[1::2], strict=True))


def saved(tokenizer: Tokenizer, folder: Path) -> Path:
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path
