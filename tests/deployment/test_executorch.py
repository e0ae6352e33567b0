"""Files of ExecuTorch that Simple writes run in its runtime, to the values of the module."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from embedded_simple import run, torch

pytest.importorskip("executorch", reason="this Python has no executorch", exc_type=ModuleNotFoundError)
MOBILE = run(
    r"""
    use torch
    use torch.nn
    use executorch
    class Net(nn.Module):
        conv: any = nn.Conv2d(3, 8, 3, padding: 1)
        norm: any = nn.BatchNorm2d(8)
        fc: any = nn.Linear(8, 5)
        fn forward(image): self.fc(self.norm(self.conv(image)).relu().mean([2, 3]))
    fn network():
        torch.manual_seed(0)
        Net().eval()
    fn call(net, x): torch.no_grad(\: net(x))
    fn write(net, x, file, backend = nil): executorch.export(net, x, file, backend: backend)
    fn runs(file, x): executorch.load(file)(x)[0]
    fn loads(file): executorch.load(file)
    fn calls(method, x): method(x)[0]
    fn is_io(method, x):
        match torch.attempt(\: method(x)):
            case Err(torch.TorchError.Io(message)): message
            case other: "{other}"
    fn rejection(method, x): torch.attempt(\: method(x)).unwrap_err().message()
    fn load_failure(file, method): torch.attempt(\: executorch.load(file, method)).unwrap_err().message()
    fn failure(net, x, file, backend = nil): torch.attempt(\: write(net, x, file, backend)).unwrap_err().message()
    """
)
X = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("backend", [None, "xnnpack"])
def test_a_native_module_runs_in_the_runtime(backend, tmp_path):
    net, file = MOBILE.network(), str(tmp_path / "net.pte")
    MOBILE.write(net, X, file, backend)
    with open(file, "rb") as content:
        assert content.read(8)[4:] == b"ET12"
    found = MOBILE.runs(file, X)
    assert found.shape == (2, 5) and torch.allclose(found, MOBILE.call(net, X), atol=1e-5)


@pytest.mark.parametrize("backend", [None, "xnnpack"])
def test_inputs_may_have_any_strides(backend, tmp_path):
    net, file = MOBILE.network(), str(tmp_path / "net.pte")
    MOBILE.write(net, X.contiguous(memory_format=torch.channels_last), file, backend)
    for x in (X, X.contiguous(memory_format=torch.channels_last), X.flip(3).transpose(2, 3)):
        assert torch.allclose(MOBILE.runs(file, x), MOBILE.call(net, x), atol=1e-5)


def test_a_module_of_python_runs_in_the_runtime(tmp_path):
    net, file = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval(), str(tmp_path / "net.pte")
    x = torch.randn(5, 4)
    MOBILE.write(net, x, file)
    assert torch.allclose(MOBILE.runs(file, x), net(x).detach(), atol=1e-6)


def test_wrong_arguments_are_errors(tmp_path):
    net = MOBILE.network()
    assert MOBILE.failure(net, X, "x.pte", "vulkan") == "executorch.export: no backend 'vulkan'; available: xnnpack"
    assert MOBILE.failure(3, X, "x.pte") == "executorch.export: expected a module, got a value of type i64"
    for module in (net, torch.nn.Sequential(torch.nn.Linear(4, 3))):
        message = MOBILE.failure(module.train(), X, "x.pte")
        assert message == "executorch.export: the module is in training mode; call eval() first"
    net.eval()
    assert "No such file or directory" in MOBILE.failure(net, X, str(tmp_path / "missing" / "x.pte"))


def test_files_that_cannot_be_loaded_are_errors(tmp_path):
    file = tmp_path / "net.pte"
    assert MOBILE.load_failure(str(file), "forward") == f"executorch.load: '{file}' does not exist"
    MOBILE.write(MOBILE.network(), X, str(file))
    assert MOBILE.load_failure(str(file), "train") == (
        f"executorch.load: '{file}' has no method 'train'; it has forward"
    )
    file.write_bytes(file.read_bytes()[:1000])
    assert MOBILE.load_failure(str(file), "forward").startswith(f"executorch.load: '{file}' cannot be loaded: ")


def without_digest(tmp_path) -> str:
    file = tmp_path / "other.pte"
    MOBILE.write(MOBILE.network(), X, str(file))
    file.write_bytes(file.read_bytes()[:-40])
    return str(file)


def processes() -> list[str]:
    command = ["pgrep", "--full", "--parent", str(os.getpid()), "executorch_process.serve"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def test_a_file_without_a_digest_runs_in_a_process_of_its_own(tmp_path):
    method = MOBILE.loads(without_digest(tmp_path))
    assert len(processes()) == 1
    assert torch.allclose(MOBILE.calls(method, X), MOBILE.call(MOBILE.network(), X), atol=1e-5)
    del method
    MOBILE.network()  # the host keeps the value of the last call
    assert processes() == []


def test_the_runtime_of_a_file_without_a_digest_starts_again_after_its_end(tmp_path):
    method = MOBILE.loads(without_digest(tmp_path))
    os.kill(int(processes()[0]), signal.SIGSEGV)  # as a damaged file does
    assert MOBILE.is_io(method, X).endswith("other.pte': the runtime ended with SIGSEGV")
    assert torch.allclose(MOBILE.calls(method, X), MOBILE.call(MOBILE.network(), X), atol=1e-5)


def test_rejected_inputs_name_those_of_the_file(tmp_path):
    sealed = str(tmp_path / "net.pte")
    MOBILE.write(MOBILE.network(), X, sealed)
    for file in (sealed, without_digest(tmp_path)):
        message = MOBILE.rejection(MOBILE.loads(file), torch.ones(2, 3, 8, 9))
        assert message.endswith(". The file was written with the inputs (torch.float32 [2, 3, 8, 8])")
