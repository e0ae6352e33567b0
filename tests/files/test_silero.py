"""Silero's voice detector in three formats, TorchScript, ONNX and safetensors, has equal results on a sound.

The package's file of safetensors has the weights of another training than its other files. So the weights of the
TorchScript file are compared in that format, and the packaged ones with the same network in Python.
"""

from __future__ import annotations

from importlib import resources

import pytest
from embedded_simple import run, torch

pytest.importorskip("silero_vad")
pytest.importorskip("onnxruntime")
safetensors = pytest.importorskip("safetensors.torch")
DATA = resources.files("silero_vad") / "data"
RATE, WINDOW, CONTEXT = 16000, 512, 64
OURS = run(
    r"""
    use onnxruntime as ort
    use torch
    use torch.nn

    # The network of the weights, as silero_vad/tinygrad_model.py has it.
    class Detector(nn.Module):
        stft_conv: any = nn.Conv1d(1, 258, 256, stride: 128, bias: false)
        conv1: any = nn.Conv1d(129, 128, 3, padding: 1)
        conv2: any = nn.Conv1d(128, 64, 3, stride: 2, padding: 1)
        conv3: any = nn.Conv1d(64, 64, 3, stride: 2, padding: 1)
        conv4: any = nn.Conv1d(64, 128, 3, padding: 1)
        lstm_cell: any = nn.LSTMCell(128, 128)
        final_conv: any = nn.Conv1d(128, 1, 1)
        fn forward(sound, state):
            val waves = self.stft_conv(nn.functional.pad(sound, [0, 64], mode: "reflect").unsqueeze(1))
            var x = (waves[:, :129] ** 2 + waves[:, 129:] ** 2).sqrt()
            for conv in [self.conv1, self.conv2, self.conv3, self.conv4]: x = conv(x).relu()
            val (h, c) = self.lstm_cell(x.squeeze(-1), state)
            (self.final_conv(h.unsqueeze(-1).relu()).sigmoid().squeeze(1).mean(1), (h, c))

    # Each returns the probability of speech for each window of the sound.
    fn of_torchscript(path, windows):
        val model = torch.jit.load(path)
        model.reset_states()
        torch.no_grad(\: torch.cat([for window in windows.to_value(): model(window[:, 64:], 16000)[0]]))
    fn of_onnx(path, windows):
        val session = ort.InferenceSession(path)
        var state = torch.zeros([2, 1, 128])
        val found = []
        for window in windows.to_value():
            val out = session.run(nil, {"input": window, "state": state, "sr": torch.tensor(16000)})
            found.push(out[0][0])
            state = out[1]
        torch.cat(found)
    fn of_safetensors(path, windows):
        val model = Detector().eval()
        model.load_state_dict(torch.load_safetensors(path))
        var state = (torch.zeros([1, 128]), torch.zeros([1, 128]))
        val found = []
        with torch.no_grad():
            for window in windows.to_value():
                val (speech, next) = model(window, state)
                found.push(speech)
                state = next
        torch.cat(found)
    """
)


def windows() -> list:
    """A second of a vowel whose pitch and loudness change, then silence. Windows begin with earlier samples."""
    time = torch.arange(2 * RATE, dtype=torch.float64) / RATE
    phase = 2 * torch.pi * torch.cumsum(120 * (1 + 0.1 * torch.sin(2 * torch.pi * 1.5 * time)), 0) / RATE
    formants = [(700, 80, 1.0), (1200, 90, 0.6), (2500, 120, 0.3)]  # Hz, half width in Hz, loudness
    loudness = [sum(g / (1 + ((120 * k - at) / width) ** 2) for at, width, g in formants) for k in range(1, 30)]
    sound = sum(each * torch.sin(k * phase) for k, each in enumerate(loudness, 1))
    sound *= 0.5 - 0.5 * torch.cos(2 * torch.pi * 4 * time)
    sound *= 0.5 / sound.abs().max()
    sound[RATE:] = 0
    padded = torch.nn.functional.pad(sound.float(), (CONTEXT, 0))
    starts = range(0, 2 * RATE - WINDOW, WINDOW)
    return [padded[start : start + CONTEXT + WINDOW].reshape(1, -1).clone() for start in starts]


class Detector(torch.nn.Module):
    """silero_vad/tinygrad_model.py"""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.stft_conv = nn.Conv1d(1, 258, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(129, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm_cell = nn.LSTMCell(128, 128)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, sound, state):
        waves = self.stft_conv(torch.nn.functional.pad(sound, (0, 64), mode="reflect").unsqueeze(1))
        x = (waves[:, :129] ** 2 + waves[:, 129:] ** 2).sqrt()
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            x = conv(x).relu()
        state = self.lstm_cell(x.squeeze(-1), state)
        return self.final_conv(state[0].unsqueeze(-1).relu()).sigmoid().squeeze(1).mean(1), state


@torch.no_grad()
def python_answers(path) -> torch.Tensor:
    model, state, found = Detector().eval(), (torch.zeros(1, 128), torch.zeros(1, 128)), []
    model.load_state_dict(safetensors.load_file(path))
    for window in windows():
        speech, state = model(window, state)
        found.append(speech)
    return torch.cat(found)


def test_three_formats_detect_the_same_speech(tmp_path):
    script = torch.jit.load(str(DATA / "silero_vad.jit"))
    expected = OURS.of_torchscript(str(DATA / "silero_vad.jit"), windows())
    assert expected.max() > 0.5 and expected[-1] < 0.1
    for name in ("silero_vad.onnx", "silero_vad_16k_op15.onnx"):
        found = OURS.of_onnx(str(DATA / name), windows())
        assert torch.allclose(found, expected, atol=1e-4), name
    values = [value for name, value in script.state_dict().items() if name.startswith("_model.")]
    path = str(tmp_path / "weights.safetensors")
    safetensors.save_file(dict(zip(Detector().state_dict(), values, strict=True)), path)
    assert torch.allclose(OURS.of_safetensors(path, windows()), expected, atol=1e-5)


def test_the_packaged_safetensors_file_detects_the_speech_that_python_detects():
    path = str(DATA / "silero_vad_16k.safetensors")
    found = OURS.of_safetensors(path, windows())
    assert found.max() > 0.5 and found[-1] < 0.1
    assert torch.allclose(found, python_answers(path), atol=1e-6)
