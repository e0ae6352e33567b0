"""New tensors follow dl.config.sdn and the environment until the program overrides them."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import run

SHOW = "use torch\nval t = torch.ones([1])\nprint t.dtype(), t.device(), torch.tensor([1]).dtype()"


@pytest.fixture
def shown(tmp_path: Path):
    """The output of `code` with `settings` as dl.config.sdn."""

    def show(settings: str, code: str = SHOW, **variables: str) -> str:
        (tmp_path / "dl.config.sdn").write_text(settings)
        done = run("-e", code, folder=tmp_path, environment={"HOME": str(tmp_path), **variables})
        return done.stdout + done.stderr

    return show


def test_defaults_match_pytorch(tmp_path: Path) -> None:
    done = run("-e", SHOW, folder=tmp_path, environment={"HOME": str(tmp_path)})
    assert done.stdout == "torch.float32 cpu torch.int64\n"


@pytest.mark.parametrize(("name", "dtype"), [("f64", "float64"), ("bf16", "bfloat16"), ("i32", "int32")])
def test_the_dtype_of_the_settings(shown, name: str, dtype: str) -> None:
    assert shown(f"dtype: {name}\n") == f"torch.{dtype} cpu torch.int64\n"


def test_environment_overrides_files(shown) -> None:
    assert shown("dtype: f64\n", SIMPLE_DL_DTYPE="f16") == "torch.float16 cpu torch.int64\n"


def test_program_overrides_both(shown) -> None:
    chosen = SHOW.replace("\n", "\ntorch.set_default_dtype(torch.float32)\n", 1)
    assert shown("dtype: f64\n", chosen) == "torch.float32 cpu torch.int64\n"


def test_auto_selects_an_available_device(shown) -> None:
    import torch

    there = "cuda:0" if torch.cuda.is_available() else "cpu"
    assert shown("device: auto\n") == f"torch.float32 {there} torch.int64\n"
    assert shown("", 'use torch\nprint torch.zeros([1], device: "auto").device()') == f"{there}\n"


def test_missing_device_lists_the_available_devices(shown) -> None:
    printed = shown("device: cuda:77\n")
    assert "no device cuda:77; available devices: cpu" in printed


def test_invalid_setting_is_reported_with_its_location(shown) -> None:
    assert "dl.config.sdn:1:" in shown("dtype: f7\n")
    assert "variable SIMPLE_DL_DEVICE: unknown device `tpu`" in shown("", SIMPLE_DL_DEVICE="tpu")


def test_invalid_setting_is_reported_each_time(shown) -> None:
    twice = "use torch\nfor i in 0..2: print attempt(\\: torch.zeros([2])).is_err()"
    assert shown("device: cuda:77\n", twice) == "true\ntrue\n"


@pytest.mark.parametrize(
    ("first", "dtype"),
    [
        ('torch.hann_window(3, device: "cpu")', "float64"),
        ("torch.normal(0.0, 1.0, [2])", "float64"),
        ('torch.op("zeros", [2])', "float64"),
        ("torch.tensor([1.0])", "float64"),
        ("torch.tensor([torch.Complex(1.0, 2.0)])", "complex128"),
        ("torch.arange(3) / 2", "float64"),
    ],
)
def test_settings_apply_to_any_first_call(shown, first: str, dtype: str) -> None:
    assert shown("dtype: f64\n", f"use torch\nprint(({first}).dtype())") == f"torch.{dtype}\n"


def test_programs_choice_keeps_the_other_settings(shown) -> None:
    code = 'use torch\ntorch.set_default_device("cpu")\nprint torch.ones([1]).dtype()'
    assert shown("dtype: f64\n", code) == "torch.float64\n"
