"""apply_chat_template() of text.pretrained_tokenizer against transformers, with templates as models have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from programs import run

PROGRAM = Path(__file__).parent / "chat_template_answers.spl"
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
    "'\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA_2 = (
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
    "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
    "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant') }}{% endif %}"
    "{% if loop.index0 == 0 and system_message != false %}"
    "{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}"
    "{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}"
    "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
    "{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
TOOLS = """{%- set ns = namespace(count=0) %}
{%- macro described(tool) -%}{{ tool.function.name }}: {{ tool.function.parameters | tojson(indent=2) }}{%- endmacro %}
{%- if tools %}{% for tool in tools %}
  {{ described(tool) }}
  {%- endfor %}{% endif %}
{%- for message in messages %}
    {%- if message.role == 'ignored' %}{% continue %}{% endif %}
    {%- set ns.count = ns.count + 1 %}
    {% generation %}[{{ ns.count }}] {{ message.role | upper }}: {{ message.content | trim }}{% endgeneration %}

    {%- if message.tool_calls is defined %}{{ message.tool_calls | tojson }}{% endif %}
{%- endfor %}{{ year }}{{ documents | length if documents else '' }}{{ unknown_token_name }}
"""
CHAT = [
    {"role": "system", "content": "Be brief. "},
    {"role": "user", "content": "Hi, caf\u00e9 \u5317\u4eac & <b>?"},
    {"role": "assistant", "content": " Hello {{ x }}! "},
]
ASKED = [*CHAT, {"role": "user", "content": "Which year?"}]
CALLED = [*ASKED, {"role": "assistant", "content": None, "tool_calls": [{"name": "f\u00e9", "arguments": {"x": 1.5}}]}]
SCHEMA = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["x"]}}}]


def saved(folder: Path, template: Any) -> Path:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({character: i for i, character in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>", pad_token="<p>")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    return folder


def in_configuration(folder: Path, template: Any) -> Path:
    """A folder as earlier versions of transformers saved it."""
    saved(folder, None)
    config = folder / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "chat_template": template}))
    return folder


def answers(tmp_path: Path, calls: list[tuple[Path, Any, dict[str, Any]]]) -> list[Any]:
    request = tmp_path / "request.json"
    request.write_text(json.dumps([
        {"folder": str(folder), "conversation": conversation, "options": options}
        for folder, conversation, options in calls
    ]))  # fmt: skip
    result = run(PROGRAM, request)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def plain(value: Any) -> Any:
    if hasattr(value, "items"):
        return [[name, plain(items)] for name, items in value.items()]
    return value.tolist() if hasattr(value, "tolist") else value


OPTIONS: list[dict[str, Any]] = [
    {"tokenize": False},
    {"tokenize": False, "add_generation_prompt": True},
    {"tokenize": False, "continue_final_message": True},
    {},
    {"return_dict": False},
    {"return_tensors": "pt", "max_length": 30, "truncation": True},
    {"tokenize": False, "tools": SCHEMA, "year": 2026, "documents": [{"title": "a", "text": "b"}]},
    {"tokenize": False, "bos_token": "<other>"},
]


@pytest.mark.parametrize("template", [CHATML, LLAMA_2, TOOLS], ids=["chatml", "llama_2", "tools"])
def test_conversations_become_the_text_and_tokens_of_transformers(tmp_path: Path, template: str) -> None:
    folders = [saved(tmp_path / "file", template), in_configuration(tmp_path / "configuration", template)]
    calls: list[tuple[Path, Any, dict[str, Any]]] = []
    for folder in folders:
        calls += [(folder, chat, options) for chat in (CHAT, ASKED) for options in OPTIONS]
        calls.append((folder, [CHAT, ASKED], {"padding": True, "return_tensors": "pt"}))
        calls.append((folder, [CHAT, ASKED], {"tokenize": False}))
    calls.append((folders[0], CALLED, {"tokenize": False, "chat_template": TOOLS}))
    for (folder, chat, options), found in zip(calls, answers(tmp_path, calls), strict=True):
        expected = plain(AutoTokenizer.from_pretrained(folder).apply_chat_template(chat, **options))
        assert found == expected, (folder.name, options)


def test_a_template_is_chosen_by_its_name_and_by_tools(tmp_path: Path) -> None:
    folder = in_configuration(
        tmp_path / "named",
        [{"name": "default", "template": "default"}, {"name": "tool_use", "template": "tools"},
         {"name": "rag", "template": "documents"}],
    )  # fmt: skip
    calls = [(folder, CHAT, {"tokenize": False, **options})
             for options in ({}, {"tools": SCHEMA}, {"chat_template": "rag"}, {"chat_template": "own"})]  # fmt: skip
    assert answers(tmp_path, calls) == ["default", "tools", "documents", "own"]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert answers(tmp_path, calls) == [tokenizer.apply_chat_template(chat, **options) for _, chat, options in calls]


def test_conversations_and_templates_that_do_not_fit_are_rejected(tmp_path: Path) -> None:
    llama, none = saved(tmp_path / "llama", LLAMA_2), saved(tmp_path / "none", None)
    named = in_configuration(tmp_path / "named", [{"name": "rag", "template": "x"}, {"name": "tool", "template": "y"}])
    text = {"tokenize": False}
    cases: list[tuple[Path, Any, dict[str, Any], str]] = [
        (llama, CHAT[1:] + CHAT[2:], text, "Conversation roles must alternate user/assistant"),
        (llama, [], text, "a conversation must be an array of at least one dict, such as {"),
        (llama, ["Hi"], text, "a conversation must be an array of at least one dict, such as {"),
        (llama, [{"role": "user"}], text, "'dict object' has no attribute 'content'"),
        (llama, CHAT, {"add_generation_prompt": True, "continue_final_message": True}, "are not compatible"),
        (llama, [{"role": "user"}], {"continue_final_message": True}, "the final message has no text that could be"),
        (llama, CHAT, {"chat_template": "x", "continue_final_message": True}, "does not contain the final message"),
        (llama, CHAT, {"chat_template": "a\n{% for %}"}, "line 2 of the template: Expected an expression, got 'end"),
        (llama, CHAT, {"chat_template": "{{ ().__class__.__bases__ }}"}, "access to attribute '__class__' of 'tuple'"),
        (llama, CHAT, {"chat_template": "{% do messages.append(1) %}"}, "Encountered unknown tag 'do'"),
        (llama, CHAT, {"chat_template": "{{ messages.append(1) }}"}, "attribute 'append' of 'list' object is unsafe"),
        (llama, CHAT, {"chat_template": "{{ 1 // 0 }}"}, "by zero"),
        (none, CHAT, text, "the tokenizer has no chat template; pass one as chat_template"),
        (named, CHAT, text, "has several templates and none is the default; pass one of rag, tool as chat_template"),
    ]
    found = answers(tmp_path, [case[:3] for case in cases])
    for error, (_, _, _, message) in zip(found, cases, strict=True):
        assert error.startswith("InvalidArgument: apply_chat_template: "), error
        assert message in error


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("raise ModuleNotFoundError(\"No module named 'jinja2'\")", "No module named 'jinja2'"),
        ("__version__ = '3.1.5'", "version 3.1.5 is installed, whose sandbox is not safe"),
    ],
)
def test_a_missing_or_unsafe_jinja_is_unavailable(tmp_path: Path, module: str, message: str) -> None:
    folder = saved(tmp_path / "tokenizer", CHATML)
    (tmp_path / "path").mkdir()
    (tmp_path / "path/jinja2.py").write_text(module)
    request = tmp_path / "request.json"
    request.write_text(json.dumps([{"folder": str(folder), "conversation": CHAT, "options": {}}]))
    done = run(PROGRAM, request, environment={"PYTHONPATH": str(tmp_path / "path")})
    assert (done.returncode, done.stderr) == (0, "")
    (error,) = json.loads(done.stdout)
    assert error.startswith(f"Unavailable: apply_chat_template: the Python package jinja2 is required: {message}; inst")
