"""Records values of Python's PyTorch in expected_values.h: run with a Python that has torch.

The C++ tests compare the library with these values. Optimizers run unfused and fused in Python; the fused
numbers are kept, since the library calls the same kernels.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

TEXTS = {
    "whole floats": "torch.ones(2, 3)",
    "fractions": "torch.tensor([[1.5, -2.25], [0.0, 100.0]])",
    "scientific": "torch.tensor([1e-5, 1.0, 1e5])",
    "wide range of whole numbers": "torch.tensor([1.0, 100000.0])",
    "not finite": "torch.tensor([1.0, float('nan'), float('inf'), -float('inf')])",
    "only zeros": "torch.zeros(3)",
    "scalar": "torch.tensor(3.14159)",
    "integer scalar": "torch.tensor(7)",
    "integers": "torch.arange(-2, 10).reshape(3, 4)",
    "bools": "torch.tensor([True, False])",
    "float64": "torch.tensor([0.1], dtype=torch.float64)",
    "uint8": "torch.tensor([1, 255], dtype=torch.uint8)",
    "half": "torch.tensor([0.5, 2.0], dtype=torch.float16)",
    "empty": "torch.zeros(0)",
    "empty matrix": "torch.zeros(2, 0, dtype=torch.int64)",
    "three dimensions": "torch.arange(8.0).reshape(2, 2, 2)",
    "wrapped line": "torch.arange(40)",
    "summarized": "torch.arange(1001)",
    "summarized matrix": "torch.arange(3000.0).reshape(60, 50)",
    "summarized long rows": "torch.arange(2002).reshape(2, 1001)",
    "complex": "torch.complex(torch.tensor([1.0, -2.5]), torch.tensor([-1.0, 0.25]))",
    "requires grad": "torch.ones(2, requires_grad=True)",
    "has a grad_fn": "-torch.ones(2, requires_grad=True)",
    "suffix on its own line": "torch.arange(16, dtype=torch.float64) + 0.5",
}


def recorded_texts() -> str:
    rows = []
    for name, code in TEXTS.items():
        rows.append(f'    {{"{name}", R"~({eval(code, {"torch": torch, "float": float})!r})~"}},')
    return "\n".join(rows)


def weights_after(make, steps: int) -> list[float]:
    """Four weights after `steps` steps against a loss with a different curvature for each."""
    weights = torch.tensor([1.0, -2.0, 0.5, 3.0], requires_grad=True)
    optimizer = make([weights])
    curvature = torch.tensor([1.0, 0.5, 2.0, 0.1])
    for _ in range(steps):
        optimizer.zero_grad()
        (weights * weights * curvature).sum().backward()
        optimizer.step()
    return weights.tolist()


OPTIMIZERS = {
    "kAdam": lambda p: torch.optim.Adam(p, lr=0.1, fused=True),
    "kAdamDecayAmsgrad": lambda p: torch.optim.Adam(p, lr=0.05, weight_decay=0.1, amsgrad=True, fused=True),
    "kAdamW": lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.2, fused=True),
    "kSgd": lambda p: torch.optim.SGD(p, lr=0.1, fused=True),
    "kSgdMomentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01, fused=True),
    "kSgdNesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, fused=True),
}


def recorded_optimizers() -> str:
    return "\n".join(
        f"inline constexpr double {name}[] = {{{', '.join(repr(v) for v in weights_after(make, 5))}}};"
        for name, make in OPTIMIZERS.items()
    )


def recorded_random() -> str:
    torch.manual_seed(42)
    normal = ", ".join(repr(v) for v in torch.randn(4).tolist())
    uniform = ", ".join(repr(v) for v in torch.rand(4).tolist())
    return (
        f"inline constexpr double kRandnOfSeed42[] = {{{normal}}};\n"
        f"inline constexpr double kRandAfterIt[] = {{{uniform}}};"
    )


def recorded_functions() -> str:
    x = torch.tensor([-2.0, -0.5, 0.0, 0.5, 2.0])
    names = ["gelu", "silu", "mish", "hardswish", "softplus", "elu"]
    lines = [
        f'    {{"{name}", {{{", ".join(repr(v) for v in getattr(torch.nn.functional, name)(x).tolist())}}}}},'
        for name in names
    ]
    return "\n".join(lines)


def main() -> None:
    text = f"""\
// Recorded from Python's PyTorch {torch.__version__.split("+")[0]} by record_expected.py.
// clang-format off
#pragma once

#include <array>
#include <string>

namespace expected {{

struct Text {{
  std::string name;
  std::string text;
}};

// The output of Python's print for the tensors of record_expected.py.
inline const Text kTexts[] = {{
{recorded_texts()}
}};

// Four weights after 5 steps.
{recorded_optimizers()}

{recorded_random()}

struct Activation {{
  const char* name;
  std::array<double, 5> at;  // -2, -0.5, 0, 0.5, 2
}};

inline constexpr Activation kActivations[] = {{
{recorded_functions()}
}};

}}  // namespace expected
"""
    (Path(__file__).parent / "expected_values.h").write_text(text)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        sys.exit(print(__doc__))
    main()
