"""The frame below Python code that a Simple program calls: code that looks at its caller's frame finds this one."""

from __future__ import annotations

import sys
from types import CodeType, FunctionType

from simple_torch_helpers.errors import SIMPLE_FILES

FILE = "<Simple>"
# One function for each number of arguments, which is faster than a tuple; the last one takes any.
SOURCE = """
def simple(_function, /): return _function()
def simple(_function, _1, /): return _function(_1)
def simple(_function, _1, _2, /): return _function(_1, _2)
def simple(_function, _1, _2, _3, /): return _function(_1, _2, _3)
def simple(_function, /, *_values, **_named): return _function(*_values, **_named)
"""


def callers() -> list[FunctionType]:
    """Return the functions, whose globals are those of __main__, as in a script."""
    SIMPLE_FILES.add(FILE)
    module: CodeType = compile(SOURCE, FILE, "exec", dont_inherit=True)
    codes = [constant for constant in module.co_consts if isinstance(constant, CodeType)]
    return [FunctionType(code, vars(sys.modules["__main__"])) for code in codes]
