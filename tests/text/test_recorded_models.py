"""Native text models, and modules with tied weights, can be recorded: by torch.export and by torch.jit.trace."""

from __future__ import annotations

import pytest
from embedded_simple import run, torch

OURS = run(
    r"""
    use python as py
    use text.models
    use torch
    use torch.jit
    use torch.nn

    class Logits(nn.Module):
        net: any = nil
        fn forward(ids): self.net(ids).logits
    class States(nn.Module):
        net: any = nil
        fn forward(ids, mask): self.net(ids, attention_mask: mask).last_hidden_state
    class Tied(nn.Module):
        emb: any = nn.Embedding(50, 16)
        out: any = nn.Linear(16, 50, bias: false)
        fn forward(ids): self.out(self.emb(ids))

    fn model(name):
        torch.manual_seed(0)
        if name == "tied":
            val made = Tied()
            made.out.weight = made.emb.weight
            return made.eval()
        val sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 1}
        val heads = {"num_attention_heads": 4}
        match name:
            case "gpt2":
                val config = models.GPT2Config(vocab_size: 50, n_embd: 32, n_layer: 1, n_head: 2, n_positions: 16)
                Logits(net: models.GPT2LMHeadModel(config)).eval()
            case "llama":
                val config = models.LlamaConfig(**sizes, **heads, num_key_value_heads: 2)
                Logits(net: models.LlamaForCausalLM(config)).eval()
            case _: States(net: models.BertModel(models.BertConfig(**sizes, **heads))).eval()

    fn in_python(net): py.module(net)
    fn call(net, args): torch.no_grad(\: net(*args))
    fn traced_call(net, args, others): torch.no_grad(\: torch.jit.trace(net, tuple(args))(*others))
    """
)
IDS, OTHERS = torch.tensor([[1, 2, 3]]), torch.tensor([[4, 0, 3]])
INPUTS = {
    **{name: ([IDS], [OTHERS]) for name in ("tied", "gpt2", "llama")},
    # Nothing is masked when the model is recorded.
    "bert": ([IDS, torch.tensor([[1, 1, 1]])], [OTHERS, torch.tensor([[1, 1, 0]])]),
}


@pytest.mark.parametrize("name", INPUTS)
def test_an_exported_model_has_the_values_of_the_model(name):
    net, (args, others) = OURS.model(name), INPUTS[name]
    exported = torch.export.export(OURS.in_python(net), tuple(args))
    assert torch.allclose(exported.module()(*others), OURS.call(net, others), atol=1e-6)
    # The recording leaves nothing in the model.
    assert torch.allclose(exported.module()(*args), OURS.call(net, args), atol=1e-6)


@pytest.mark.parametrize("name", INPUTS)
def test_a_traced_model_has_the_values_of_the_model(name):
    net, (args, others) = OURS.model(name), INPUTS[name]
    assert torch.allclose(OURS.traced_call(net, args, others), OURS.call(net, others), atol=1e-6)
