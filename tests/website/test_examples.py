"""The examples of the reference print what the pages show, and the names of the modules in COMPLETE have one."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys

import pytest

from website import examples, operator_facts, reference
from website.library import public_modules
from website.repository import ROOT

# Operators of the list that an example cannot call here.
ANOTHER_DEVICE = "only CUDA has it"
OF_MODULES = "a kernel of quantized modules, whose weights are packed"
WITHOUT_EXAMPLE = {
    **dict.fromkeys(
        ["batch_norm_elemt", "batch_norm_gather_stats", "batch_norm_gather_stats_with_counts", "batch_norm_stats",
         "batch_norm_update_stats", "conv_depthwise3d", "pin_memory", "record_stream"], ANOTHER_DEVICE),
    **dict.fromkeys(
        ["fbgemm_linear_fp16_weight", "fbgemm_linear_fp16_weight_fp32_activation", "fbgemm_linear_int8_weight",
         "fbgemm_linear_int8_weight_fp32_activation", "fbgemm_linear_quantize_weight", "fbgemm_pack_gemm_matrix_fp16",
         "fbgemm_pack_quantized_matrix", "fused_moving_avg_obs_fake_quant", "quantized_batch_norm", "quantized_gru",
         "quantized_gru_cell", "quantized_lstm", "quantized_lstm_cell", "quantized_rnn_relu_cell",
         "quantized_rnn_tanh_cell"], OF_MODULES),
    "convolution_overrideable": "a place for other backends",
    "copy_sparse_to_sparse": "copy() calls it",
    "fractional_max_pool3d": "its samples depend on the number of threads",
    "from_file": "needs a file",
    "get_gradients": "of distributed autograd",
    "linalg__powsum": "linalg.vector_norm() calls it",
    "nested_to_padded_tensor": "to_padded_tensor() calls it",
    "resize_as_sparse": "of operators on sparse tensors",
}  # fmt: skip


@pytest.mark.parametrize("module", [examples, operator_facts, reference])
def test_the_examples_of_the_functions(module):
    assert doctest.testmod(module).failed == 0


def test_each_operator_has_an_example_or_a_reason():
    page = (ROOT / "docs" / "reference" / "operators.md").read_text()
    listed = set(re.findall(r"^### `(\w+)`", page, re.M))
    have = {name.removeprefix("aten.") for name in examples.by_name() if name.startswith("aten.")}
    assert listed - have == set(WITHOUT_EXAMPLE)
    assert have - listed == set()


# Modules of which each name has an example, but for these.
COMPLETE = {
    "torch": ["Stream"],
    "torch.nn": ["DataParallel", "LinearCrossEntropyLoss", "LinearCrossEntropyOptions", "PythonModule",
                 "RNNBase", "RNNCellBase"],
    "torch.nn.functional": ["multi_head_attention_forward"],
    "torch.nn.init": [],
    "torch.optim": ["Optimizer"],
    "torch.optim.lr_scheduler": ["LRScheduler"],
    "torch.distributions": ["Distribution", "ExponentialFamily", "Transform", "biject_to", "identity_transform",
                            "register_kl", "transform_to"],
    "torch.distributions.constraints": [],
    "torch.metrics": [],
    "torch.metrics.functional": [],
    "torch.utils.data": ["NativeDataset", "NativeIterableDataset"],
    "std.io_runtime": ["exit"],
    "torch.amp": [],
    "torch.autograd": [],
    "torch.autograd.forward_ad": [],
    "torch.autograd.function": [],
    "torch.autograd.functional": [],
    "torch.autograd.graph": [],
    "torch.backends": [],
    "torch.backends.mha": [],
    "torch.dlpack": [],
    "torch.func": [],
    "torch.jit": ["script"],
    "torch.nn.attention": [],
    "torch.nn.modules.module": [],
    "torch.nn.parameter": ["PythonBuffer", "PythonParameter", "PythonTransientBuffer"],
    "torch.nn.utils": ["optimize_for_inference"],
    "torch.nn.utils.parametrizations": [],
    "torch.nn.utils.parametrize": ["ParametrizationList"],
    "torch.nn.utils.prune": ["BasePruningMethod", "Identity", "PruningContainer"],
    "torch.nn.utils.rnn": [],
    "torch.optim.swa_utils": [],
    "torch.random": [],
    "torch.serialization": [],
    "torch.sparse": ["spsolve"],
    "torch.testing": [],
    "torch.utils.checkpoint": [],
    "torch.utils.dlpack": [],
    "torch.utils.tensorboard": [],
    "python": [],
    "std.math": [],
    "std.statistics": [],
    "std.itertools": [],
    "std.abc": [],
    "std.actors": ["ActorState", "round_robin"],
    "std.argparse": ["Action"],
    "std.base64": [],
    "std.bisect": [],
    "std.collection_classes": [],
    "std.collections": [],
    "std.concurrent": [],
    "std.contextlib": ["GeneratorScope"],
    "std.copy": [],
    "std.csv": [],
    "std.dataclasses": [],
    "std.datetime": [],
    "std.delegation": [],
    "std.enum": ["auto"],
    "std.exceptions": ["CLASSES", "Caught", "CaughtError", "caught", "exception_type", "raised_error",
                       "stands_for"],
    "std.fs": ["reason"],
    "std.functools": ["CachedProperty"],
    "std.futures": [],
    "std.gc": [],
    "std.glob": [],
    "std.gzip": [],
    "std.hash": [],
    "std.heap": ["heapify", "heappop", "heappush"],
    "std.io": [],
    "std.json": [],
    "std.log": [],
    "std.memory": [],
    "std.operator": [],
    "std.os": [],
    "std.path": [],
    "std.pathlib": [],
    "std.pickle": [],
    "std.pprint": [],
    "std.process": ["exit", "run_command"],
    "std.python_builtins": [],
    "std.queue": [],
    "std.random": ["can_shuffle"],
    "std.regex": [],
    "std.sdn": [],
    "std.shutil": [],
    "std.spec": [],
    "std.sqlite": [],
    "std.string": [],
    "std.subprocess": [],
    "std.sync": [],
    "std.sys": ["exit"],
    "std.tempfile": [],
    "std.textwrap": [],
    "std.threading": [],
    "std.time": [],
    "std.traceback": [],
    "std.types": [],
    "std.typing": [],
    "std.unicodedata": [],
    "std.url": [],
    "std.user_collections": [],
    "std.uuid": [],
    "std.warnings": [],
    "std.zip": [],
    "std.zlib": [],
    "std.text": [],
    "dl": [],
    "pure": [],
    "pure.nn": [],
    "pure.training": [],
    "text.generation": [],
    "text.models": ["all_minilm_l6_v2"],
    "text.pretrained_tokenizer": [],
    "text.tokenizers": [],
    "vision.datasets": ["CIFAR10", "CIFAR100", "FashionMNIST", "ImageNet", "MNIST"],
    "vision.datasets.utils": ["download_and_extract_archive", "download_url"],
    "vision.io": [],
    "vision.models.native": ["convnext_base", "convnext_large", "convnext_small", "convnext_tiny", "vit_b_16",
                             "vit_b_32", "vit_h_14", "vit_l_16", "vit_l_32"],
    "vision.transforms": ["PythonTransform"],
    "vision.transforms.functional": [],
    "vision.utils": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def pages() -> str:
    return "".join(reference.pages().values())


@pytest.mark.parametrize("module", COMPLETE)
def test_each_name_of_a_module_has_an_example(module, pages):
    without = []
    for name, found in public_modules()[module].names.items():
        place = reference.places()[(found.module, found.declaration.name)]
        section = re.split(r"\n###? ", pages.partition(f"## `{place.name}` ")[2], maxsplit=1)[0]
        without += [] if "\nExample:\n" in section else [name]
    assert sorted(without) == sorted(COMPLETE[module])


def test_each_file_is_read_as_it_is_written():
    for file in examples.all_files():
        assert file.path.read_text() == file.text(), f"run tools/generate_examples.py ({file.path.name})"


def test_no_example_fails_or_is_there_twice():
    names = [name for file in examples.all_files() for example in file.examples for name in example.names]
    assert sorted(names) == sorted(set(names))
    for file in examples.all_files():
        for example in file.examples:
            assert example.code and example.output, example.names
            assert not example.output[0].startswith("error: "), example.names


@pytest.mark.skipif(not os.environ.get("SIMPLE_HOST"), reason="SIMPLE_HOST is not set")
def test_the_examples_print_what_is_shown():
    if os.environ.get("SIMPLE_TORCH") == "off":
        pytest.skip("there is no PyTorch")
    generator = ROOT / "tools" / "generate_examples.py"
    done = subprocess.run([sys.executable, generator, "--check"], capture_output=True, text=True, check=False)
    if done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, f"run {generator}:\n{done.stdout}{done.stderr}"


def test_an_example_is_a_function_that_prints_its_last_value():
    assert examples.as_function("f()", ["val x = 1", "x + 1"], "print({})") == [
        "fn f():",
        "    val x = 1",
        "    print(x + 1)",
    ]
    assert examples.as_function("f()", ["print 1"], "print({})") == ["fn f():", "    print 1"]
