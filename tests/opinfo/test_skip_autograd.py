"""The operations that skip autograd do so only when autograd has nothing to do."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from abi_generator import table  # noqa: E402

OPERATIONS = next(f for f in table.load_table() if f.name == "add").fields["skip_autograd"]


def functional_overloads(name: str) -> list:
    return [
        schema
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}")
        if not any(argument.is_out for argument in schema.arguments)
    ]


def has_kernel(schema, key: str) -> bool:
    full_name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    try:
        return torch._C._dispatch_has_kernel_for_dispatch_key(full_name, key)
    except RuntimeError:  # TorchScript's overloads on numbers, which the dispatcher does not have
        return False


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_has_its_own_kernels_and_returns_new_tensors(name):
    overloads = functional_overloads(name)
    assert overloads
    for schema in overloads:
        assert not has_kernel(schema, "CompositeImplicitAutograd"), f"{schema} is composed of other operations"
        assert all(value.alias_info is None for value in [*schema.arguments, *schema.returns]), (
            f"{schema} returns views"
        )


def test_views_and_composite_operations_are_detected():
    (transposed,) = functional_overloads("t")
    assert transposed.returns[0].alias_info is not None
    assert all(has_kernel(schema, "CompositeImplicitAutograd") for schema in functional_overloads("matmul"))


def test_only_these_operations_are_generated_with_the_shortcut():
    bodies = "".join(file.read_text() for file in (ROOT / "abi" / "generated").glob("bodies_*.cpp"))
    called = set(re.findall(r"\w+ shortcut.*?return at::(\w+)\(", bodies))
    assert called == set(OPERATIONS)
