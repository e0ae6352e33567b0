"""Help texts and completions for terminals and line editors."""

from __future__ import annotations

import pydoc
import rlcompleter
from importlib.util import find_spec
from itertools import count, takewhile

import __main__
from simple_torch_helpers.packages import install_command


def help_text(value: object) -> str:
    """Return the output of help() without a pager. A str is looked up by name.

    >>> help_text("math.hypot").splitlines()[0]
    'Python Library Documentation: built-in function hypot in math'
    """
    return pydoc.render_doc(value, renderer=pydoc.plaintext).strip()


def completions(code: str) -> list[str]:
    """Return the sorted completions of the last name in the code.

    >>> completions("sys.maxsi")
    []
    """
    start = max(code.rfind(c) for c in " ([{,=+-*/%&|^~<>!:;\t\n") + 1
    completer = rlcompleter.Completer(__main__.__dict__)
    found = takewhile(lambda name: name is not None, (completer.complete(code[start:], i) for i in count()))
    return sorted({code[:start] + name.rstrip("() ") for name in found})


def install_hint(module: str) -> str | None:
    """Return the command that installs the module's package, or None when the module is installed.

    >>> install_hint("math") is None
    True
    """
    package = module.partition(".")[0]
    return None if find_spec(package) else install_command(package)
